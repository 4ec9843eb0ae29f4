#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first ```c block of a page to a file, so that the documentation's program is compiled and run.

usage: extract.py PAGE.md OUT.c
"""
import pathlib
import re
import sys

page, out = map(pathlib.Path, sys.argv[1:])
block = re.search(r"^```c\n(.*?)^```", page.read_text(), re.M | re.S)
if block is None:
    sys.exit(f"{page} has no C program")
out.write_text(block.group(1))
