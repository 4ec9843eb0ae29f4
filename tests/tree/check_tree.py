#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the tree that a compiler cannot: layer order, file and function length, licence lines, format.

usage: check_tree.py ROOT layers|sizes|licence|format
Prints one line a violation and exits 1 if there is any.
"""
import pathlib
import re
import shutil
import subprocess
import sys

# A folder may include from itself and from those before it.
COMPILER_LAYERS = ["support", "source", "syntax", "sema", "ir", "nvptx", "driver"]
# Folders of the runtime: what each may include besides itself. The simulator is a driver: it knows nothing of the runtime above it.
RUNTIME_MAY = {
    "abi": set(),
    "include": set(),
    "src": {"abi", "include"},
    "sim": {"abi"},
    "run": {"abi", "include", "compiler"},
}
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 100
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources(root, *folders, suffixes=(".c", ".h", ".l", ".y", ".def")):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def compiler_layer_errors(root):
    for path in sources(root, "compiler", "grammar"):
        parts = path.relative_to(root).parts
        layer = "syntax" if parts[0] == "grammar" else parts[1]
        if layer not in COMPILER_LAYERS:
            continue
        allowed = COMPILER_LAYERS[: COMPILER_LAYERS.index(layer) + 1]
        for name in INCLUDE.findall(path.read_text()):
            first = name.split("/")[0]
            if first == "runtime" or (first in RUNTIME_MAY and first not in COMPILER_LAYERS and first != "abi"):
                yield f"{path}: {layer} includes {name} of the runtime"
            if first in COMPILER_LAYERS and first not in allowed:
                yield f"{path}: {layer} may not include {name}"


def runtime_layer_errors(root):
    for path in sources(root, "runtime"):
        part = path.relative_to(root / "runtime").parts[0]
        may = RUNTIME_MAY.get(part, set()) | {part}
        for name in INCLUDE.findall(path.read_text()):
            first = name.split("/")[0]
            if first in RUNTIME_MAY and first not in may:
                yield f"{path}: runtime/{part} may not include {name}"
            if first in COMPILER_LAYERS or first == "pkc":
                if "compiler" not in may:
                    yield f"{path}: runtime/{part} may not include the compiler's {name}"


def layer_errors(root):
    yield from compiler_layer_errors(root)
    yield from runtime_layer_errors(root)


def function_lengths(text):
    """(first line, length) of every function in the Linux brace style: '{' alone in column 0 opens it, '}' closes it."""
    start = None
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            yield start, number - start + 1
            start = None


def size_errors(root):
    for path in sources(root, "compiler", "grammar", "runtime", "examples", "tests", suffixes=(".c", ".h", ".l", ".y", ".py")):
        text = path.read_text()
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            yield f"{path}: {lines} lines, at most {MAX_FILE_LINES}"
        if path.suffix != ".c":
            continue
        for line, length in function_lengths(text):
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{line}: a function of {length} lines, at most {MAX_FUNCTION_LINES}"


def licence_errors(root):
    for path in sources(root, "compiler", "grammar", "runtime", "examples", "tests", suffixes=(".c", ".h", ".l", ".y", ".def", ".py")):
        head = path.read_text()[:300]
        if "SPDX-License-Identifier: Apache-2.0" not in head:
            yield f"{path}: no SPDX licence line"


def format_errors(root):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        print("clang-format is not installed: format not checked")
        return
    files = [str(p) for p in sources(root, "compiler", "runtime", "examples", "tests", suffixes=(".c", ".h"))]
    run = subprocess.run([tool, "--dry-run", "--ferror-limit=1", *files], capture_output=True, text=True, cwd=root)
    for line in run.stderr.splitlines():
        if "clang-format-violations" in line:
            yield line


CHECKS = {"layers": layer_errors, "sizes": size_errors, "licence": licence_errors, "format": format_errors}


def main():
    root, check = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    errors = list(CHECKS[check](root))
    print("\n".join(errors) if errors else f"{check}: ok")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
