# SPDX-License-Identifier: Apache-2.0
"""usage: deep.py PKC: feeds nestings that are too deep, and some that are just shallow enough."""
import subprocess
import sys


def kernel(body):
    return "kernel a(X: bf16[M])\n{\n" + body + "\n}\n"


def diagnose(text):
    run = subprocess.run([sys.argv[1], "-", "--emit=ast"], input=text, capture_output=True, text=True, timeout=60)
    assert run.returncode in (0, 1), (run.returncode, run.stderr[-300:])
    return run.returncode, run.stderr


deep = {
    "parentheses": lambda n: kernel("let x = " + "(" * n + "1" + ")" * n + ";"),
    "open parentheses": lambda n: kernel("let x = " + "(" * n),
    "indices": lambda n: kernel("x" + "[a" * n + "]" * n + ";"),
    "calls": lambda n: kernel("f(" * n + "1" + ")" * n + ";"),
    "minus": lambda n: kernel("let x = " + "- " * n + "1;"),
    "not": lambda n: kernel("let x = " + "!" * n + "a;"),
    "sum": lambda n: kernel("let x = 1" + " + 1" * n + ";"),
    "members": lambda n: kernel("let x = a" + ".b" * n + ";"),
    "places": lambda n: kernel("let x = a" + "@(a" * n + ")" * n + ";"),
    "loops": lambda n: kernel("for i in 0 .. 1 {" * n + "}" * n),
    "braces": lambda n: kernel("if a {" * n),
    "else if": lambda n: kernel("if a { }" + " else if a { }" * n),
    "tuple types": lambda n: "fn f(a: " + "(" * n + "i32" + ")" * n + ") { }\n",
    "closing": lambda n: kernel("}" * n),
}
for name, make in deep.items():
    for n in (1000, 100000):
        status, text = diagnose(make(n))
        assert status == 1, name
        assert name == "closing" or "E0113" in text, (name, n, text[:300])
        assert text.count("error E") <= 3, (name, n, text[:600])
    if name not in ("open parentheses", "braces", "closing"):
        status, text = diagnose(make(150))
        assert status == 0, (name, text[:300])
