# SPDX-License-Identifier: Apache-2.0
"""How lit runs the files of this folder.

A test is a .pk or .test file with RUN lines. It may use

    %pkc %pkrun      the programs that were built
    %check FILE      runs pkc --check on FILE (options before it) and compares its diagnostics with the
                     `//~ error E0110: text` comments in it: see expect.py
    %values FILE     runs the kernels of FILE and compares what they write with its `//=` comments: see values.py
    %filecheck       FileCheck; %s the file, %t a scratch file, %S its folder, %stdlib, %examples, %ptxas, %nvdisasm

and `REQUIRES: ptxas` or `nvdisasm` where it needs a tool of the CUDA toolkit, `REQUIRES: pkrun` where it runs kernels.
Folders called inputs hold what tests read.
"""
import os
import shutil
import sys

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "dev")))
programs = os.path.join(build, "bin")
llvm_tools = "/usr/lib/llvm-22/bin"


def tool(name, *folders):
    """Path of a program in one of the folders or on PATH; None where there is none."""
    return shutil.which(name, path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))


config.name = "pkc"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".pk", ".test"]
config.excludes = ["inputs", "project"]  # project: built by tests/install
config.test_source_root = here
config.test_exec_root = os.path.join(build, "tests", "lit")
config.environment["PATH"] = os.pathsep.join([llvm_tools, os.environ.get("PATH", "")])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

pkc = os.path.join(programs, "pkc")
filecheck = lit_config.params.get("filecheck") or tool("FileCheck-22") or tool("FileCheck", llvm_tools)
cuda = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")

config.substitutions += [
    ("%check", f"{sys.executable} {os.path.join(here, 'expect.py')} {pkc}"),
    ("%pkc", pkc),
    ("%filecheck", f"{filecheck} --dump-input=fail"),
    ("%stdlib", os.path.join(root, "stdlib")),
    ("%examples", os.path.join(root, "examples")),
    ("%python", sys.executable),
]
if os.path.exists(os.path.join(programs, "pkrun")):
    config.available_features.add("pkrun")
    config.substitutions.append(("%pkrun", os.path.join(programs, "pkrun")))
values = f"{sys.executable} {os.path.join(here, 'values.py')} {pkc} {os.path.join(programs, 'pkrun')}"
config.substitutions.append(("%values", values + (f" --ptxas {tool('ptxas', cuda)}" if tool("ptxas", cuda) else "")))
for name in ("ptxas", "nvdisasm"):
    path = tool(name, cuda)
    if path:
        config.available_features.add(name)
        config.substitutions.append((f"%{name}", path))
