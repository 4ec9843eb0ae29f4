#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares pkc's diagnostics with what a file says it should get.

usage: expect.py PKC [pkc option ...] FILE.pk

In FILE, `//~ error E0110: text` expects that diagnostic on its own line, with `text` somewhere in its message;
`//~^ ...` expects it on the line above, `//~^^` two above. `//~ note: text`, `//~ help: text` and `//~ fix: text`
expect a note, advice or a replacement of the diagnostic that the last such comment named. `//~ pkc: error E0601: text`
expects one without a place. Every diagnostic must be expected and every expectation met.
"""
import json
import re
import subprocess
import sys

COMMENT = re.compile(r"//~(\^*)\s*(pkc: )?(error|warning|remark|note|help|fix)(?: ([A-Z]\d{4}))?: ?(.*?)\s*(?=//~|$)")


class Expectation:
    def __init__(self, line, severity, code, text):
        self.line, self.severity, self.code, self.text = line, severity, code, text
        self.parts = []  # (kind, text)

    def __str__(self):
        where = f"line {self.line}" if self.line else "no place"
        return f"{where}: {self.severity} {self.code}: {self.text}"

    def meets(self, diag):
        line = diag["span"]["line"] if diag["span"] else 0
        return (line, diag["severity"], diag["code"]) == (self.line, self.severity, self.code) and self.text in diag["message"]


def read_expectations(path):
    found = []
    with open(path, encoding="utf-8", errors="replace", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            for up, nowhere, kind, code, text in COMMENT.findall(line.rstrip("\r\n")):
                if kind in ("note", "help", "fix"):
                    found[-1].parts.append((kind, text))
                else:
                    found.append(Expectation(0 if nowhere else number - len(up), kind, code, text))
    return found


def part_texts(diag, kind):
    if kind == "note":
        return [n["message"] for n in diag["notes"]]
    if kind == "fix":
        return [f["replacement"] for f in diag["fixes"]]
    return [diag.get("help", "")]


def problems(expectations, diags):
    for e in expectations:
        match = next((d for d in diags if e.meets(d)), None)
        if match is None:
            yield f"not reported: {e}"
            continue
        diags.remove(match)
        for kind, text in e.parts:
            if not any(text in t if kind != "fix" else text == t for t in part_texts(match, kind)):
                yield f"{e}: no {kind} '{text}', but {part_texts(match, kind)}"
    for d in diags:
        where = f"line {d['span']['line']}" if d["span"] else "no place"
        yield f"not expected: {where}: {d['severity']} {d['code']}: {d['message']}"


def main():
    command, path = sys.argv[1:], sys.argv[-1]
    run = subprocess.run([command[0], "--json", "--check", *command[1:]], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        print(f"pkc ended with status {run.returncode}\n{run.stderr}")
        return 1
    diags = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
    failed = list(problems(read_expectations(path), diags))
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
