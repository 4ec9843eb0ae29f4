#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of cover.pk on the simulator, each over many cases, and checks that every task order covers its box.

usage: cover.py PKC PKRUN ORDER.pk COVER.pk [SEED]

Counts are edge cases and random ones; the seed is printed with a failure. A function of ORDER.pk that no kernel calls is a failure, so
that a new order cannot come without its test.
"""
import array
import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile

SEED = 20240
EDGES = (0, 1, 2, 3, 7)


def write_npy(path, dims, numbers):
    header = str({"descr": "<i4", "fortran_order": False, "shape": tuple(dims)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        out.write(array.array("i", numbers).tobytes())


def read_npy(path):
    with open(path, "rb") as stream:
        data = stream.read()
    return array.array("i", data[10 + int.from_bytes(data[8:10], "little") :])


class Machine:
    """How a kernel is run: ranks, their devices, the SMs of each, the seed of the schedule."""

    def __init__(self, ranks, devices, sms, seed):
        self.ranks = ranks
        self.environment = {"PKSIM_DEVICES": str(devices), "PKSIM_SMS": str(sms), "PKSIM_SEED": str(seed)}

    def __str__(self):
        return " ".join(f"{k}={v}" for k, v in self.environment.items()) + f" --ranks {self.ranks}"


class Tool:
    def __init__(self, pkrun, ptx, folder):
        self.pkrun, self.ptx, self.folder = pkrun, ptx, folder

    def run(self, machine, kernel, cases, outputs, **values):
        """Runs the kernel over the cases; outputs: name -> what fills it before. What each rank holds then, by name."""
        file = os.path.join(self.folder, "Cases.npy")
        write_npy(file, (len(cases), len(cases[0])), itertools.chain(*cases))
        command = [self.pkrun, self.ptx, kernel, "--backend", "sim", "--ranks", str(machine.ranks), "--in", f"Cases={file}"]
        command += [f"{k}={v}" for k, v in values.items()]
        for name, fill in outputs.items():
            command += ["--fill", f"{name}=const:{fill}", "--out", f"{name}={self.folder}/{name}.{{rank}}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **machine.environment})
        if done.returncode:
            raise Wrong(f"{machine} {' '.join(command)}\n{done.stderr.strip() or done.stdout.strip()}")
        return [{n: read_npy(f"{self.folder}/{n}.{r}.npy") for n in outputs} for r in range(machine.ranks)]


class Wrong(Exception):
    pass


def flat(index, dims):
    at = 0
    for i, n in zip(index, dims):
        at = at * n + i
    return at


def tasks(table, room, box):
    """tile -> its task, from a table of task numbers plus one. Everything in the box is filled, and nothing beyond it."""
    found = {tile: table[flat(tile, room)] - 1 for tile in itertools.product(*map(range, box))}
    left_out = [tile for tile, task in found.items() if task < 0]
    if left_out:
        raise Wrong(f"{len(left_out)} of {len(found)} tiles are never visited, the first is {left_out[0]}")
    beyond = sum(1 for x in table if x) - len(found)
    if beyond:
        raise Wrong(f"{beyond} visits lie outside the box")
    return found


def column(table, cases, c):
    return sum(table[c::cases])


def room_of(boxes):
    """Dimensions that hold every box, with a margin, so that a visit just outside is seen."""
    return [max(sizes) + 2 for sizes in zip(*boxes)]


def check_case(kernel, case, box, table, room, visits):
    count = math.prod(box)
    try:
        found = tasks(table, room, box)
        if visits != count:
            raise Wrong(f"{visits} visits of {count} tiles")
        why = PROMISES.get(kernel, lambda *_: None)(found, case)
        if why:
            raise Wrong(why)
    except Wrong as wrong:
        raise Wrong(f"{kernel} of {case}: {wrong}") from None


# ---- what the comments promise beyond covering ---------------------------------------------------------------


def grouped_order(found, case):
    """Every high * cols tasks in a row stay in one group of `high` rows, column after column; the first group begins at row `first`."""
    rows, cols, high, first = case
    for (i, j), t in found.items():
        group, within = divmod(t, high * cols)
        height = min(high, rows - group * high)
        at = (i - first - group * high) % rows
        if at >= height or j != within // height:
            return f"task {t} is row {i}, column {j}"
    return None


def shards_order(found, case):
    """One's own shard first; then each row block's tiles of all the others, before the next row block, evenly mixed."""
    rows, cols, self, of = case
    others = rows * cols
    for (shard, i, _), t in found.items():
        if (shard == self) != (t < others):
            return f"task {t} is of shard {shard}"
        if shard != self and (t - others) // ((of - 1) * cols) != i:
            return f"task {t} is of row block {i}"
    return None


def row_major(found, case):
    return None if [t for _, t in sorted(found.items())] == list(range(len(found))) else "not in row-major order"


PROMISES = {"grouped": grouped_order, "shards": shards_order, "unflatten3": row_major, "unflatten4": row_major}


# ---- cases -----------------------------------------------------------------------------------------------


def grouped_cases(rng):
    for rows, cols in itertools.product(EDGES, EDGES):
        yield rows, cols, rng.choice((1, 2, 12, 1000)), rng.randrange(max(rows, 1))
    for _ in range(30):
        rows = rng.randint(1, 40)
        yield rows, rng.randint(1, 12), rng.randint(1, 14), rng.randrange(rows)


def unflatten3_cases(rng):
    yield from itertools.product(EDGES[:4], repeat=3)
    for _ in range(20):
        yield tuple(rng.randint(1, 9) for _ in range(3))


def unflatten4_cases(rng):
    yield from itertools.product((0, 1, 2), repeat=4)
    for _ in range(20):
        yield tuple(rng.randint(1, 5) for _ in range(4))


def shards_cases(rng):
    for rows, cols, of in itertools.product((0, 1, 2, 13), (0, 1, 3), (1, 2, 3)):
        yield rows, cols, rng.randrange(of), of
    for _ in range(20):
        of = rng.randint(1, 8)
        yield rng.randint(1, 26), rng.randint(1, 5), rng.randrange(of), of


BOXES = {
    "grouped": lambda case: case[:2],
    "unflatten3": lambda case: case,
    "unflatten4": lambda case: case,
    "shards": lambda case: (case[3], case[0], case[1]),
}
CASES = {"grouped": grouped_cases, "unflatten3": unflatten3_cases, "unflatten4": unflatten4_cases, "shards": shards_cases}


def check_order(tool, rng, kernel):
    cases = list(CASES[kernel](rng))
    boxes = [BOXES[kernel](case) for case in cases]
    room = room_of(boxes)
    size = math.prod(room)
    machine = Machine(1, 1, 1, rng.randrange(1, 1000))
    for used in (1, 2, rng.randint(3, 12)):
        sizes = dict(zip("XYZU", room), C=len(cases), W=used, used=used)
        (out,) = tool.run(machine, kernel, cases, {"Tiles": 0, "Visits": 0}, **sizes)
        for c, (case, box) in enumerate(zip(cases, boxes)):
            table = out["Tiles"][c * size : (c + 1) * size]
            check_case(kernel, case, box, table, room, column(out["Visits"], len(cases), c))


# ---- tasks dealt over ranks, workers and communication SMs -------------------------------------------------


def merge(tables):
    """One table of all ranks' tables, whose tiles must differ."""
    out = array.array("i", tables[0])
    for table in tables[1:]:
        for i, x in enumerate(table):
            out[i] = out[i] or x
    return out


def check_dealt_on(tool, rng, machine):
    cases = [(rows, cols) for rows in (0, 1, 13) for cols in (0, 1, 3)]
    cases += [(rng.randint(1, 30), rng.randint(1, 6)) for _ in range(4)]
    room = room_of(cases)
    width, workers = 256, rng.choice((1, 2, rng.randint(3, 9)))
    outputs = {"Tiles": 0, "Visits": 0, "Own": 0, "Sends": 0}
    ranks, n, size = machine.ranks, len(cases), math.prod(room)
    out = tool.run(machine, "dealt", cases, outputs, C=n, X=room[0], Y=room[1], W=width, comm_sms=workers)
    own = merge([o["Own"] for o in out])
    for c, (rows, cols) in enumerate(cases):
        for r, o in enumerate(out):
            table = o["Tiles"][c * ranks * size : (c + 1) * ranks * size]
            case = (rows, cols, r, ranks)
            check_case("shards", case, (ranks, rows, cols), table, (ranks, *room), column(o["Visits"], n, c))
        sends = sum(column(o["Sends"], n, c) for o in out)
        check_case("grouped", (rows, cols, 12, 0), (rows, cols), own[c * size : (c + 1) * size], room, sends)


def check_dealt(tool, rng):
    for ranks, devices, sms in ((1, 1, 1), (2, 2, 1), (3, 1, 2), (5, 2, 2), (8, 8, 1)):
        machine = Machine(ranks, devices, sms, rng.randrange(1, 1000))
        try:
            check_dealt_on(tool, rng, machine)
        except Wrong as wrong:
            raise Wrong(f"{machine}: dealt over workers: {wrong}") from None


# ---- key tiles ---------------------------------------------------------------------------------------------


def sees(at, end, key_rank, key, n, causal):
    """Whether a query of rank `at` whose row is below `end` sees the key in row `key` of rank `key_rank`, of n rows each."""
    return not causal or key_rank * n + key <= at * n + min(end, n) - 1


def check_visible(tool, rng):
    cases = []
    for _ in range(200):
        n, size = rng.randint(1, 40), rng.choice((1, 3, 8, 64))
        end = rng.randint(1, n + 8)  # the last block hangs over
        cases.append((rng.randrange(3), rng.randrange(3), end, n, size, rng.randrange(2)))
    (out,) = tool.run(Machine(1, 1, 1, 1), "visible", cases, {"Seen": -1}, C=len(cases))
    for (key_rank, at, end, n, size, causal), got in zip(cases, out["Seen"]):
        want = len({key // size for key in range(n) if sees(at, end, key_rank, key, n, causal)})
        if got != want:
            raise Wrong(f"visible({key_rank}, {at}, {end}, {n}, {size}, {bool(causal)}) is {got}, not {want}")


# ---- all of it -----------------------------------------------------------------------------------------------


def untested(order, cover):
    functions = re.findall(r"^fn (\w+)\(", open(order, encoding="utf-8").read(), re.M)
    if not functions:
        raise Wrong(f"{order} has no functions")
    text = open(cover, encoding="utf-8").read()
    missing = [f for f in functions if f"order.{f}(" not in text]
    if missing:
        raise Wrong(f"no kernel of {cover} calls {', '.join(missing)}")


def main(pkc, pkrun, order, cover, seed=SEED):
    rng = random.Random(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "cover.ptx")
        subprocess.run([pkc, "-I", os.path.dirname(order), cover, "-o", ptx], check=True)
        tool = Tool(pkrun, ptx, folder)
        try:
            untested(order, cover)
            for kernel in CASES:
                check_order(tool, rng, kernel)
            check_dealt(tool, rng)
            check_visible(tool, rng)
        except Wrong as wrong:
            print(f"seed {seed}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
