#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each name of a list is one of the library, or is explained in a document.

usage: check_names.py LIST DOCUMENT HEADERS... | check_names.py --self-test

LIST: names apart by blanks; words that end in a colon and lines that begin with # are for readers. HEADERS: folders whose *.hpp
count, comments left out. DOCUMENT: a text that may have names only there.
"""

import re
import sys
import tempfile
from pathlib import Path

NAME = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*")


def listed(text):
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [word for line in lines for word in line.split() if not word.endswith(":")]


def missing(names, headers, document):
    known = set(NAME.findall(document))
    for header in headers:
        known.update(NAME.findall(COMMENT.sub("", header)))
    return [name for name in names if name not in known]


def check(list_file, document, *folders):
    names = listed(Path(list_file).read_text(encoding="utf-8"))
    if not names:
        return [f"{list_file} has no names"]
    headers = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(Path(folder).rglob("*.hpp"))]
    text = Path(document).read_text(encoding="utf-8")
    return [f"{name}: neither a name in {' or '.join(map(str, folders))} nor explained in {document}" for name in missing(names, headers, text)]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "h").mkdir()
        (root / "h" / "a.hpp").write_text("struct known;  // commented\n", encoding="utf-8")
        (root / "d.md").write_text("`explained` is `known`\n", encoding="utf-8")
        (root / "l.txt").write_text("# comment\ntopic: known explained\n  commented\n", encoding="utf-8")
        problems = check(root / "l.txt", root / "d.md", root / "h")
        assert len(problems) == 1 and problems[0].startswith("commented: "), problems
        (root / "empty.txt").write_text("# nothing\n", encoding="utf-8")
        assert len(check(root / "empty.txt", root / "d.md", root / "h")) == 1


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check(*arguments)
    print("\n".join(problems) if problems else "every name is known")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
