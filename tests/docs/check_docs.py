#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every ```pk and ```c code block of the documentation.

usage: check_docs.py PKC STDLIB INCLUDE FILE.md...
A block of pk is a whole program; "```pk fails E0203" says that it must be refused with that code. A block of C is a whole
file; it may include pkrt/pkrt.h from INCLUDE, and NAME.pk.h, which is made from the example NAME.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

C_BLOCK = re.compile(r"^```c\n(.*?)^```", re.M | re.S)
BLOCK = re.compile(r"^```pk([^\n]*)\n(.*?)^```", re.M | re.S)


def compile_block(pkc, stdlib, text):
    """The set of codes of the errors that pkc gives for a program; None where it did not behave."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "block.pk"
        path.write_text(text)
        run = subprocess.run([pkc, str(path), "-I", stdlib, "--check", "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return None, run.stdout + run.stderr
    output = run.stdout + run.stderr
    found = [json.loads(line) for line in output.splitlines() if line.strip()]  # one object a line
    return {d["code"] for d in found if d["severity"] == "error"}, output


def make_headers(pkc, stdlib, text, folder):
    """Makes the headers NAME.pk.h that a C block includes, each from the example NAME; what went wrong."""
    examples = pathlib.Path(stdlib).parent / "examples"
    said = ""
    for name in re.findall(r'#include "(\w+)\.pk\.h"', text):
        source, header = examples / name / f"{name}.pk", pathlib.Path(folder) / f"{name}.pk.h"
        run = subprocess.run([pkc, str(source), "-I", stdlib, "--emit=header", "-o", str(header)], capture_output=True, text=True)
        said += run.stderr if run.returncode else ""
    return said


def check_c(pkc, stdlib, include, page, text):
    count, bad = 0, []
    for match in C_BLOCK.finditer(text):
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            said = make_headers(pkc, stdlib, match.group(1), folder)
            flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", f"-I{folder}"]
            run = subprocess.run(["cc", *flags, "-xc", "-"], input=match.group(1), capture_output=True, text=True)
        if run.returncode != 0:
            bad.append(f"{page}:{text[: match.start()].count(chr(10)) + 1}: the C block does not compile\n{said}{run.stderr}")
    return count, bad


def check(pkc, stdlib, include, page):
    text = page.read_text()
    count, bad = check_c(pkc, stdlib, include, page, text)
    for match in BLOCK.finditer(text):
        count += 1
        line = text[: match.start()].count("\n") + 1
        words = match.group(1).split()
        want = set(words[1:]) if words[:1] == ["fails"] else set()
        got, output = compile_block(pkc, stdlib, match.group(2))
        if got is None or (got != want if not want else not want <= got):
            bad.append(f"{page}:{line}: expected {sorted(want) or 'no error'}, got {sorted(got or ['a crash'])}\n{output}")
    return count, bad


def main():
    pkc, stdlib, include = sys.argv[1:4]
    total, failures = 0, []
    for name in sys.argv[4:]:
        count, bad = check(pkc, stdlib, include, pathlib.Path(name))
        total += count
        failures += bad
    print("\n".join(failures))
    print(f"{total} code blocks, {len(failures)} failed")
    return 1 if failures or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
