# SPDX-License-Identifier: Apache-2.0
"""usage: fixed_point.py PKC FOLDER: prints each .pk file of the folder, parses that and prints it again."""
import pathlib
import subprocess
import sys


def printed(pkc, folder, text):
    return subprocess.run([pkc, "-", "-I", folder, "--emit=ast"], input=text, capture_output=True, check=True).stdout


pkc, folder = sys.argv[1:]
paths = sorted(pathlib.Path(folder).glob("*.pk"))
assert len(paths) >= 14, "the programs are missing"
for path in paths:
    once = printed(pkc, folder, path.read_bytes())
    twice = printed(pkc, folder, once)
    assert once == twice, f"{path}: the printed form reads back differently"
    assert len(once) > 100, f"{path}: nothing was printed"
