# SPDX-License-Identifier: Apache-2.0
"""Small .npy files without NumPy.

usage: npy.py write TYPE FILE D0,D1 FIRST     numbers FIRST, FIRST + 1, ...
       npy.py read FILE                       prints type, shape and numbers
"""
import ast
import math
import struct
import sys

CODES = {"f4": "f", "f8": "d", "i4": "i", "u2": "H"}


def write(kind, path, dims, first):
    shape = tuple(int(d) for d in dims.split(","))
    header = str({"descr": "<" + kind, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    numbers = [int(first) + i for i in range(math.prod(shape))]
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack(f"<{len(numbers)}{CODES[kind]}", *numbers))


def read(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert (10 + length) % 64 == 0 and header["fortran_order"] is False
    kind = header["descr"][1:]
    count = math.prod(header["shape"])
    numbers = struct.unpack(f"<{count}{CODES[kind]}", data[10 + length :])
    print(kind, header["shape"], *numbers)


if __name__ == "__main__":
    write(*sys.argv[2:]) if sys.argv[1] == "write" else read(*sys.argv[2:])
