# SPDX-License-Identifier: Apache-2.0
"""Holds the instructions of a module against the operations of the tile IR that it was made from.

    counts.py FILE.ir FILE.ptx      (--emit=ir and the PTX of one kernel without groups)

LLVM may neither drop nor copy what synchronises, copies or multiplies. Prints the table; exits 1 where a row differs.
"""
import re
import sys

SPAN = {"sw128": 128, "sw64": 64, "sw32": 32}
SIZE = {"bf16": 2, "f16": 2, "f32": 4, "e4m3": 1, "e5m2": 1, "i8": 1, "i32": 4, "u32": 4}
TILE = re.compile(r"tile<(\w+)\[(\d+),(\d+)\],(\w+)>")


def tiles(ir):
    """Type of each value that is a shared tile: (element, rows, columns, layout)."""
    found = {}
    for value, tile in re.findall(r"^\s*(%\S+) = \S+ .*: (tile<[^>]*>)", ir, re.M):
        elem, rows, cols, layout = TILE.match(tile).groups()
        found[value] = (elem, int(rows), int(cols), layout)
    return found


def boxes(tile):
    elem, _, cols, layout = tile
    return max(1, cols * SIZE[elem] // SPAN[layout]) if layout in SPAN else 1


def expected(ir):
    known = tiles(ir)
    want = {"try_wait": len(re.findall(r"pipe\.wait\.", ir)),
            "expect_tx": len(re.findall(r"pipe\.expect ", ir)),
            "arrive": len(re.findall(r"pipe\.arrive\.", ir)),
            "commit": len(re.findall(r"bulk\.commit", ir)),
            "wait_group": len(re.findall(r"bulk\.wait\.", ir)),
            "loads": 0, "stores": 0, "adds": 0, "wgmma": 0, "init": 0}
    for slots in re.findall(r"^\s*pipe @\w+\[(\d+)\]", ir, re.M):
        want["init"] += 2 * int(slots)
    for tile in re.findall(r"copy\.in (%[\w.]+),", ir):
        want["loads"] += boxes(known[tile])
    for kind, tile in re.findall(r"copy\.out\.(\w+) %[\w.]+, (%[\w.]+)", ir):
        want["stores" if kind == "set" else "adds"] += boxes(known[tile])
    for a in re.findall(r"mma\.issue %[\w.]+, (%[\w.]+),", ir):
        elem, _, cols, _ = known[a]
        want["wgmma"] += cols * SIZE[elem] // 32
    return want


def seen(ptx):
    def count(pattern):
        return len(re.findall(pattern, ptx, re.M))

    return {"try_wait": count(r"mbarrier\.try_wait"), "expect_tx": count(r"mbarrier\.arrive\.expect_tx"),
            "arrive": count(r"mbarrier\.arrive\.shared"), "init": count(r"mbarrier\.init"),
            "commit": count(r"cp\.async\.bulk\.commit_group"), "wait_group": count(r"cp\.async\.bulk\.wait_group"),
            "loads": count(r"cp\.async\.bulk\.tensor\.\dd\.shared::"),
            "stores": count(r"^\s*cp\.async\.bulk\.tensor\.\dd\.global\."), "adds": count(r"cp\.reduce\.async\.bulk"),
            "wgmma": count(r"wgmma\.mma_async")}


def main():
    with open(sys.argv[1]) as ir, open(sys.argv[2]) as ptx:
        want, got = expected(ir.read()), seen(ptx.read())
    for name in want:
        print(f"{name:12}{want[name]:4} in the IR{got[name]:4} in the PTX")
    sys.exit(want != got)


main()
