#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a file of kernels with random expressions of register values, for values.py.

usage: random_kernels.py SEED COUNT

Values are i32, so that every operation is exact: sums, products, comparisons, selects, reductions along rows and columns, transposes,
slices, indices, in roles of several widths, with and without a matrix product among the operands, some of them carried through a loop.
The expressions are evaluated beside, by the same tree. The seed stands in the file, so that a failure repeats.
"""
import random
import sys


class Maker:
    def __init__(self, rng, rows, cols, product):
        self.rng, self.rows, self.cols, self.product = rng, rows, cols, product
        self.tables, self.lines = [], []

    def name(self, text, python, rows, cols):
        """A variable of the kernel and a table of the reference, of one shape."""
        n = len(self.tables)
        self.tables.append(f"//= let T{n}[i, j]: i32({python})")
        self.lines.append(f"let v{n} = {text};")
        return (f"v{n}", n, rows, cols)

    def at(self, v, i="i", j="j"):
        _, n, rows, cols = v
        return f"T{n}[{i if rows > 1 else 0}, {j if cols > 1 else 0}]"

    def leaf(self):
        R, C = self.rows, self.cols
        kinds = ["x", "x", "row", "col", "iota", "iotaT", "number"] + (["p", "p"] if self.product else [])
        kind = self.rng.choice(kinds)
        if kind == "x":
            return self.name(f"load(X[0:{R}, 0:{C}])", "X[i, j]", R, C)
        if kind == "row":
            return self.name(f"load(X[0:{R}, 1:1])", "X[i, 1]", R, 1)
        if kind == "col":
            return self.name(f"load(X[1:1, 0:{C}])", "X[1, j]", 1, C)
        if kind == "iota":
            return self.name(f"iota({C}) * 3", "j * 3", 1, C)
        if kind == "iotaT":
            return self.name(f"iota({R}).T - 5", "i - 5", R, 1)
        if kind == "p":
            return self.name("p", f"sum(A[i, k] * B[j, k] for k in range(32))", R, C)
        n = self.rng.randint(-9, 9)
        return self.name(f"iota(1) + ({n})", str(n), 1, 1)

    def tree(self, depth):
        if depth == 0:
            return self.leaf()
        kind = self.rng.choice(["bin", "bin", "bin", "un", "select", "red", "red", "turn", "slice", "loop"])
        a = self.tree(depth - 1)
        text, _, rows, cols = a
        if kind == "un":
            return self.name(f"abs({text}) - 1", f"abs({self.at(a)}) - 1", rows, cols)
        if kind == "red":
            return self.reduction(a)
        if kind == "turn":
            return self.turned(a)
        if kind == "slice":
            return self.sliced(a)
        b = self.tree(depth - 1)
        if not self.fits(a, b):
            b = self.shrunk(b)
        R, C = max(rows, b[2]), max(cols, b[3])
        if kind == "select":
            return self.name(f"select({text} < {b[0]}, {b[0]}, {text} + 1)",
                             f"({self.at(b)} if {self.at(a)} < {self.at(b)} else {self.at(a)} + 1)", R, C)
        if kind == "loop":
            return self.loop(a, b, R, C)
        op = self.rng.choice(["+", "-", "*", "min", "max"])
        if op in ("min", "max"):
            return self.name(f"{op}({text}, {b[0]})", f"{op}({self.at(a)}, {self.at(b)})", R, C)
        return self.name(f"{text} {op} {b[0]}", f"{self.at(a)} {op} {self.at(b)}", R, C)

    def fits(self, a, b):
        return all(x == y or 1 in (x, y) for x, y in zip(a[2:], b[2:]))

    def shrunk(self, v):
        """Its first element, which goes with every shape."""
        text, _, rows, cols = v
        row = self.name(f"colmax({text})", f"max({self.at(v, 'r')} for r in range({rows}))", 1, cols)
        return self.name(f"rowmin({row[0]})", f"min({self.at(row, 'i', 'c')} for c in range({cols}))", 1, 1)

    def reduction(self, v):
        text, _, rows, cols = v
        op = self.rng.choice(["sum", "max", "min"])
        if self.rng.random() < 0.5:
            return self.name(f"row{op}({text})", f"{op}({self.at(v, 'i', 'c')} for c in range({cols}))", rows, 1)
        return self.name(f"col{op}({text})", f"{op}({self.at(v, 'r')} for r in range({rows}))", 1, cols)

    def turned(self, v):
        """A row or a column becomes the other where both axes are alike; twice where they are not."""
        text, _, rows, cols = v
        if self.rows == self.cols:
            return self.name(f"({text}).T", self.at(v, "j", "i"), cols, rows)
        return self.name(f"(({text}).T + 1).T", self.at(v) + " + 1", rows, cols)

    def sliced(self, v):
        text, _, rows, cols = v
        if cols == 1:
            return v
        size = self.rng.choice([1, 8]) if cols > 8 else 1
        at = self.rng.randrange(cols // size)
        part = self.name(f"({text})[:, {at}:{size}]", f"T{v[1]}[{'i' if rows > 1 else 0}, {at * size} + j]", rows, size)
        return self.name(f"rowsum({part[0]})", f"sum({self.at(part, 'i', 'c')} for c in range({size}))", rows, 1)

    def loop(self, a, b, rows, cols):
        n, m = len(self.tables), self.rng.randint(0, 3)
        self.tables.append(f"//= let T{n}[i, j]: i32({self.at(a)} + {m} * {self.at(b)})")
        self.lines.append(f"var v{n}: i32[{rows}, {cols}] = {a[0]}; for q in 0 .. {m} {{ v{n} += {b[0]}; }}")
        return (f"v{n}", n, rows, cols)


def kernel(rng, number):
    product = rng.random() < 0.5
    groups = rng.choice([1, 2])
    rows = 64 * groups if product else rng.choice([1, 5, 16, 33])
    cols = rng.choice([8, 24, 64]) if product else rng.choice([1, 7, 16, 33, 64])
    role = f"consumer({groups})" if product else f"communicator({rng.choice([1, 3, 4])})"
    maker = Maker(rng, rows, cols, product)
    value = maker.tree(rng.randint(2, 3))
    if not product:
        maker.product = False
    text, n, R, C = value
    out = ["", f"//= run N={cols}", "//= in X[i, j]: (i * 37 + j * 11) % 101 - 50", *maker.tables, f"//= Y[i, j]: {maker.at(value)}"]
    a = f"A: i8[{rows}, 32], B: i8[{cols}, 32], " if product else ""
    out.append(f"kernel random_{number}({a}X: i32[{rows + 1}, N], Y: i32[{R}, {C}])")
    out.append(f"{{\n  {role} {{")
    if product:
        out.append(f"    shared a: i8[{rows}, 32];\n    shared b: i8[{cols}, 32];")
        out.append(f"    store(a, load(A[0:{rows}, 0:32]));\n    store(b, load(B[0:{cols}, 0:32]));")
        out.append(f"    var p: i32[{rows}, {cols}] = 0;\n    mma(p, a, b.T);")
    out += ["    " + line for line in maker.lines]
    out.append(f"    store(Y[0:{R}, 0:{C}], {text});\n  }}\n}}")
    return "\n".join(out)


def main(seed, count):
    rng = random.Random(int(seed))
    print(f"// Made by random_kernels.py {seed} {count}")
    for number in range(int(count)):
        print(kernel(rng, number))


if __name__ == "__main__":
    main(*sys.argv[1:])
