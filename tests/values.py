#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of a file and compares every element that they write with what the file says.

usage: values.py PKC PKRUN [--ptxas PTXAS] [--backend sim|cuda] [pkc option ...] FILE.pk

The comments directly before a kernel say what to do:

    //= run M=33 N=70 a=2            a run: named dimensions and scalars, and options of pkrun (--ranks 2, --launches 2)
    //= in X[i, j]: i - j            what X holds before; without it, random numbers of X's element type
    //= Y[i, j]: a * X[i, j]         what Y must hold afterwards, a Python expression; one such line for each output
    //= let P[i, j]: sum(..)         a table that the lines after it may use; each element is computed once
    //= within Y: 1e-3               how far off Y may be, relative to the larger of 1 and the number; by default half a unit
                                     in the last place of Y's type, or a little more than that

Expressions know the indices, dimensions, const parameters and scalars by name, rank, ranks, and the tensors as they were
before the launch: X[i, j] on this rank, X.at(r)[i, j] on rank r, zero beyond the edges. Helpers: cdiv, bf16 f16 f32 e4m3
e5m2 (rounding), i8 i32 u32 (wrapping), inf, and Python's math. A kernel that ptxas (where there is one) spills or warns about
is a failure. Numbers are random with a fixed seed, so a failure repeats.
"""
import ast
import itertools
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

KERNEL = re.compile(r"^\s*kernel\s+(\w+)\s*(?:<(.*?)>)?\s*\((.*?)\)\s*(?:\{|$)", re.M | re.S)
RAW = {"bf16": "u2", "f16": "f2", "f32": "f4", "e4m3": "u1", "e5m2": "u1", "i8": "i1", "i32": "i4", "u32": "u4"}
CODES = {"u2": "H", "f2": "e", "f4": "f", "u1": "B", "i1": "b", "i4": "i", "u4": "I"}
FORMATS = {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2)}


def round_to(kind, x):
    """x as the nearest number of a floating-point type, ties to even; 8-bit types saturate, as cvt.satfinite does."""
    exponent_bits, fraction = FORMATS[kind]
    if math.isnan(x):
        return x
    bias = 2 ** (exponent_bits - 1) - 1
    most = 448.0 if kind == "e4m3" else (2 - 2.0**-fraction) * 2.0**bias
    if math.isinf(x) or x == 0:
        return math.copysign(most, x) if kind in ("e4m3", "e5m2") and x else x
    unit = 2.0 ** (max(math.frexp(x)[1] - 1, 1 - bias) - fraction)
    y = round(x / unit) * unit
    if abs(y) > most:
        return math.copysign(most if kind in ("e4m3", "e5m2") else math.inf, x)
    return math.copysign(y, x)


def decode(kind, raw):
    if kind == "bf16":
        return struct.unpack("<f", struct.pack("<I", raw << 16))[0]
    if kind not in ("e4m3", "e5m2"):
        return raw
    exponent_bits, fraction = FORMATS[kind]
    sign, e, f = -1.0 if raw >> 7 else 1.0, raw >> fraction & (1 << exponent_bits) - 1, raw & (1 << fraction) - 1
    bias = 2 ** (exponent_bits - 1) - 1
    if kind == "e5m2" and e == 31:
        return math.nan if f else sign * math.inf
    if kind == "e4m3" and raw & 0x7F == 0x7F:
        return math.nan
    return sign * (f / 2**fraction * 2.0 ** (1 - bias) if e == 0 else (1 + f / 2**fraction) * 2.0 ** (e - bias))


BYTES = {kind: {decode(kind, raw): raw for raw in range(256)} for kind in ("e4m3", "e5m2")}


def encode(kind, x):
    if kind == "bf16":
        return struct.unpack("<I", struct.pack("<f", round_to("bf16", x)))[0] >> 16
    if kind in ("e4m3", "e5m2"):
        y = round_to(kind, x)
        return 0x80 if y == 0 and math.copysign(1, y) < 0 else BYTES[kind][y] if y else 0
    return x if kind in ("f16", "f32") else int(x)


class Tensor:
    def __init__(self, kind, dims, ranks):
        self.kind, self.dims, self.count = kind, dims, math.prod(dims)
        self.data = [None] * ranks
        self.rank = 0

    def at(self, rank):
        other = Tensor.__new__(Tensor)
        other.__dict__.update(self.__dict__, rank=rank)
        return other

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        dims = self.dims
        if len(index) == 2 and len(dims) == 2 and 0 <= index[0] < dims[0] and 0 <= index[1] < dims[1]: # the usual case, fast
            return self.data[self.rank][index[0] * dims[1] + index[1]]
        assert len(index) == len(dims), "wrong number of indices"
        at = 0
        for i, n in zip(index, self.dims):
            assert i >= 0, "an index before the tensor"
            if i >= n:
                return 0
            at = at * n + i
        return self.data[self.rank][at]


def write_npy(path, kind, dims, numbers):
    header = str({"descr": "<" + RAW[kind], "fortran_order": False, "shape": tuple(dims)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack(f"<{len(numbers)}{CODES[RAW[kind]]}", *[encode(kind, x) for x in numbers]))


def read_npy(path, kind):
    with open(path, "rb") as stream:
        data = stream.read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    stored = header["descr"][1:] # pkrun widens what NumPy has no type for
    raw = struct.unpack(f"<{math.prod(header['shape'])}{CODES[stored]}", data[10 + length :])
    return [decode(kind, x) for x in raw] if stored == RAW[kind] else list(raw)


def wrap(bits, signed):
    def to(x):
        x = int(x) & (1 << bits) - 1
        return x - (1 << bits) if signed and x >> (bits - 1) else x

    return to


HELPERS = {k: (lambda x, k=k: round_to(k, x)) for k in FORMATS}
HELPERS |= {"i8": wrap(8, True), "i32": wrap(32, True), "u32": wrap(32, False)}
HELPERS |= {"cdiv": lambda a, b: -(-a // b), "inf": math.inf, "nan": math.nan, "math": math, "exp2": lambda x: 2.0**x}


def numbers(kind, count, rng):
    """Few significant bits, so that sums of products are exact in single precision."""
    if kind in ("i8", "i32"):
        return [rng.randint(-100, 100) for _ in range(count)]
    if kind == "u32":
        return [rng.choice((rng.randint(0, 100), rng.randint(0, 2**32 - 1))) for _ in range(count)]
    return [rng.randint(-8, 8) / rng.choice((1, 2, 4)) for _ in range(count)]


class Rule:
    def __init__(self, text):
        name, indices, expression = re.match(r"(\w+)\[(.*?)\]:\s*(.*)$", text).groups()
        self.name, self.indices = name, [i.strip() for i in indices.split(",")]
        self.code = compile(expression, text, "eval")

    def values(self, tensor, names):
        out = []
        for at in itertools.product(*[range(n) for n in tensor.dims]):
            out.append(eval(self.code, {**names, **dict(zip(self.indices, at))}))
        return out


class Table:
    """What a `let` line defines, an element at a time."""

    def __init__(self, rule, names):
        self.rule, self.names, self.known = rule, names, {}

    def __getitem__(self, index):
        if index not in self.known:
            at = dict(zip(self.rule.indices, index if isinstance(index, tuple) else (index,)))
            self.known[index] = eval(self.rule.code, {**self.names, **at})
        return self.known[index]


class Kernel:
    def __init__(self, name, consts, params, lines):
        self.name, self.runs, self.inputs, self.outputs, self.within, self.tables = name, [], {}, {}, {}, []
        self.consts = [c.split("=") for c in re.findall(r"\w+\s*=\s*[^,]+", consts or "")]
        self.params = re.findall(r"(\w+)\s*:\s*(?:peer\s+)?(\w+)\s*(?:\[((?:[^][]|\[[^]]*\])*)\])?", params)
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "run":
                self.runs.append(rest.split())
            elif word == "in":
                rule = Rule(rest)
                self.inputs[rule.name] = rule
            elif word == "let":
                self.tables.append(Rule(rest))
            elif word == "within":
                which, _, bound = rest.partition(":")
                self.within[which] = float(bound)
            else:
                rule = Rule(line)
                self.outputs[rule.name] = rule


def parse(path):
    text = open(path, encoding="utf-8").read()
    kernels = []
    for m in KERNEL.finditer(text):
        lines = []
        for line in reversed(text[: m.start()].rstrip("\n").split("\n")):
            if not line.startswith("//"):
                break
            if line.startswith("//= "):
                lines.insert(0, line[4:])
        kernels.append(Kernel(*m.groups(), lines))
    return kernels


def split_dims(text):
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


class Run:
    def __init__(self, kernel, words, seed, folder):
        self.kernel, self.words, self.folder, self.rng = kernel, words, folder, random.Random(seed)
        self.ranks = int(words[words.index("--ranks") + 1]) if "--ranks" in words else 1
        self.names = dict(HELPERS, ranks=self.ranks)
        for name, value in kernel.consts:
            self.names[name.strip()] = eval(value.replace("/", "//"), dict(self.names))
        for word in words:
            name, equals, value = word.partition("=")
            if equals:
                self.names[name] = {"true": True, "false": False}.get(value) if value in ("true", "false") else ast.literal_eval(value)
        self.tensors = {}
        for name, kind, dims in kernel.params:
            if dims and kind != "signal":
                sizes = [eval(d.replace("/", "//"), dict(self.names)) for d in split_dims(dims)]
                self.tensors[name] = Tensor(kind, sizes, self.ranks)

    def file(self, name, rank, what):
        return os.path.join(self.folder, f"{what}.{name}.{rank}.npy")

    def fill(self):
        options = []
        for name, t in self.tensors.items():
            rule = self.kernel.inputs.get(name)
            if name in self.kernel.outputs and not rule:
                continue
            for rank in range(self.ranks):
                names = self.names_on(rank)
                values = rule.values(t, names) if rule else numbers(t.kind, t.count, self.rng)
                t.data[rank] = [decode(t.kind, encode(t.kind, x)) for x in values]
                write_npy(self.file(name, rank, "in"), t.kind, t.dims, values)
            options += ["--in", f"{name}={self.file(name, '{rank}', 'in')}"]
        return options

    def names_on(self, rank):
        names = {**self.names, **{n: u.at(rank) for n, u in self.tensors.items()}, "rank": rank}
        for rule in self.kernel.tables:
            names[rule.name] = Table(rule, names)
        return names

    def problem(self, name, rank, names):
        t, rule = self.tensors[name], self.kernel.outputs[name]
        want, got = rule.values(t, names), read_npy(self.file(name, rank, "out"), t.kind)
        bound = self.kernel.within.get(name)
        if bound is None:
            bound = 2.0 ** -(FORMATS[t.kind][1] + 1) if t.kind in FORMATS else 0
            bound = max(bound, 1e-6) if t.kind in FORMATS else 0
        wrong = []
        for i, (w, g) in enumerate(zip(want, got)):
            w = float(w) if t.kind in FORMATS else w
            same = g == w or (w != w and g != g) or (math.isfinite(w) and abs(g - w) <= bound * max(1, abs(w)))
            if not same:
                wrong.append((i, w, g))
        if not wrong:
            return None
        i, w, g = wrong[0]
        at = []
        for n in reversed(t.dims):
            at.insert(0, i % n)
            i //= n
        return f"rank {rank}: {len(wrong)} of {t.count} elements of {name} are wrong, the first is {name}{at}: {g}, not {w}"

    def check(self, pkrun, ptx, backend):
        command = [pkrun, ptx, self.kernel.name, *self.words, "--backend", backend, *self.fill()]
        for name in self.kernel.outputs:
            command += ["--out", f"{name}={self.file(name, '{rank}', 'out')}"]
        # A few workers go round the loops of tasks; the default number would give each at most one.
        environment = {"PKSIM_SMS": "3", **os.environ}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            return done.stderr.strip() or done.stdout.strip()
        for rank in range(self.ranks):
            names = self.names_on(rank)
            for name in self.kernel.outputs:
                problem = self.problem(name, rank, names)
                if problem:
                    return problem
        return None


def assemble(ptxas, ptx):
    done = subprocess.run([ptxas, "-arch=sm_90a", "-v", ptx, "-o", os.devnull], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode or "warning" in text or re.search(r"[1-9]\d* bytes (spill|stack)", text) or "(C7" in text:
        return text.strip()
    return None


def take(words, name, default):
    """The value of an option at the front, and the words after it."""
    return (words[1], words[2:]) if words[0] == name else (default, words)


def main(pkc, pkrun, *words):
    ptxas, words = take(words, "--ptxas", None)
    backend, words = take(words, "--backend", "sim")
    options, path = words[:-1], words[-1]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "k.ptx")
        done = subprocess.run([pkc, path, *options, "-o", ptx], capture_output=True, text=True)
        if done.returncode:
            print(done.stderr)
            return 1
        why = ptxas and assemble(ptxas, ptx)
        if why:
            print(why)
            failures += 1
        for kernel in parse(path):
            if not kernel.runs or not kernel.outputs:
                print(f"{kernel.name}: nothing is run, or nothing compared")
                failures += 1
            for words in kernel.runs:
                why = Run(kernel, words, kernel.name + " ".join(words), folder).check(pkrun, ptx, backend)
                if why:
                    print(f"{kernel.name} {' '.join(words)}: {why}")
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
