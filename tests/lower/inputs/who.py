#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every primitive, and a matrix product, in every kind of role.

usage: who.py PKC
Every role may call every primitive; products are for whole warpgroups (E0443 elsewhere).
"""
import json
import subprocess
import sys

ROLES = {"loader": False, "storer": False, "consumer(1)": True, "communicator(4)": False, "role own: warps(2)": False, "role own: warpgroups(1)": True}
CALLS = [
    "store_async(Y@0[0, 0], t);", "store_add_async(Y@all[0, 0], t);", "store_min_async(Y@0[0, 0], t);", "store_max_async(Y@0[0, 0], t);",
    "reduce(Y[0:64, 0:64], Y@all[0:64, 0:64]);", "all_reduce(Y@all[0:64, 0:64], max);", "signal(s@0[0], 1);", "signal_all(s[0], 1);",
    "wait(s[0], 1);",
]
PRODUCT = "var acc: f32[64, 64] = 0; mma(acc, t, t); store(Y[0:64, 0:64], acc);"
PROGRAM = """kernel k(X: bf16[M, N], Y: peer bf16[M, N], s: signal[1])
{
  pipe p[2] { t: bf16[64, 64]; }
  role feeder: warps(1) { put p { load_async(t, X[0, 0]); } signal_all(s[0], 1); wait(s[0], 0); }
  ROLE { get p { CALL store(Y[0:1, 0:64], 1.0); } }
}
"""


def codes(pkc, role, call):
    text = PROGRAM.replace("ROLE", role).replace("CALL", call)
    run = subprocess.run([pkc, "-", "--json", "-o", "-"], input=text, capture_output=True, text=True)
    return sorted(json.loads(line)["code"] for line in run.stderr.splitlines() if line.startswith("{")), ".entry" in run.stdout


def main():
    bad = 0
    for role, products in ROLES.items():
        for call in CALLS + [PRODUCT]:
            want = [] if call != PRODUCT or products else ["E0443"]
            got, made = codes(sys.argv[1], role, call)
            if got != want or made != (not want):
                print(f"{role}: {call} gives {got or 'no code'}, not {want or 'PTX'}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
