#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails unless two assembly files of one kernel each have the same instructions.

usage: same_instructions.py A.s B.s
"""
import re
import sys


def instructions(path):
    """The file's instructions without comments, directives and names of symbols."""
    result = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split(";")[0].strip()
            if re.match(r"[a-z]", line) and not line.endswith(":"):
                result.append(re.sub(r"\.?[.\w$]*(_Z|BB)[\w$.]*", "label", line))
    return result


def require_same(first, second, what):
    """Ends the program with the first difference of two lists, or if they are too short for a kernel."""
    if len(first) < 100:
        sys.exit(f"only {len(first)} {what}s")
    for number, (a, b) in enumerate(zip(first, second)):
        if a != b:
            sys.exit(f"{what} {number} differs: '{a}' and '{b}'")
    if len(first) != len(second):
        sys.exit(f"{len(first)} and {len(second)} {what}s")
    print(f"{len(first)} {what}s, the same in both")


if __name__ == "__main__":
    require_same(*(instructions(path) for path in sys.argv[1:3]), "instruction")
