#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header has a test of its name, or stands in docs/contributing/testing.md under "Headers that other tests cover"; and
that kernels for Hopper run in explored schedules.

usage: check_tests.py [ROOT] | check_tests.py --self-test

tests/<folder>/<header>.test.cpp is the test of include/tilewright/<folder>/<header>.hpp, detail/ left out. The page names others by
`header`, `header.hpp`, `folder/header` or `folder`; entries that cover no header without a test are reported, too.
A header of kernels/ with mbarriers, TMA, wgmma or clusters must be included by a source with a test whose name ends in InExploredSchedules.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutate import files_of  # noqa: E402

SECTION = "## Headers that other tests cover"
HOPPER = re.compile(r"TILEWRIGHT_HOPPER_PASS|\bmbarrier|\btma_(load|store)|\bcluster_sync|\bstart_cluster")
EXPLORED = re.compile(r"^TEST(_F)?\(\w+, \w*InExploredSchedules\)", re.MULTILINE)


def named_on(page):
    """What the first column of the section's table names."""
    section = page.split(SECTION, 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return {name.strip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}


def untested_headers(root):
    """Paths below include/tilewright, without suffix."""
    base, tests = root / "include/tilewright", {
        (path.parent.relative_to(root / "tests").as_posix(), path.name.split(".")[0]) for path in (root / "tests").rglob("*.test.cpp")}
    for header in sorted(base.rglob("*.hpp")):
        path = header.relative_to(base).with_suffix("").as_posix()
        if (path.rpartition("/")[0].removesuffix("/detail"), header.stem) not in tests:
            yield path


def names_of(path):
    """Everything that covers the header: its name, with its folders, and the folders."""
    parts = path.split("/")
    return {parts[-1], f"{parts[-1]}.hpp"} | {"/".join(parts[i:]) for i in range(len(parts))} | {"/".join(parts[:i]) for i in range(1, len(parts))}


def unexplored_headers(root):
    """Paths of headers with waits between waves of Hopper that no test of explored schedules includes."""
    explored = set()
    for test in (root / "tests").rglob("*.test.cpp"):
        if EXPLORED.search(test.read_text(encoding="utf-8")):
            files_of(test, root, explored)
    for header in sorted((root / "include/tilewright/kernels").rglob("*.hpp")):
        if HOPPER.search(header.read_text(encoding="utf-8")) and header not in explored:
            yield header.relative_to(root).as_posix()


def check(root):
    named, used, wrong = named_on((root / "docs/contributing/testing.md").read_text(encoding="utf-8")), set(), []
    for path in untested_headers(root):
        found = names_of(path) & named
        used |= found
        if not found:
            wrong.append(f"include/tilewright/{path}.hpp has no test of its name, and docs/contributing/testing.md does not say what covers it")
    wrong += [f"docs/contributing/testing.md: `{name}` names no header without a test" for name in sorted(named - used)]
    return wrong + [f"{path}: no test named ...InExploredSchedules includes it" for path in unexplored_headers(root)]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for path in ("include/tilewright/a/one.hpp", "include/tilewright/a/two.hpp", "include/tilewright/b/c/three.hpp", "include/tilewright/a/detail/five.hpp", "tests/a/one.x.test.cpp",
                     "tests/a/five.test.cpp", "tests/b/three.test.cpp"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("")
        (root / "docs/contributing").mkdir(parents=True)
        page = root / "docs/contributing/testing.md"
        wrong = []
        for table, expected in (("| `b/c` | x |\n", 1), ("| `two`, `b` | x |\n", 0), ("| `a/two`, `three`, `four` | x |\n", 1), ("| x | `two` |\n", 2)):
            page.write_text(f"# Page\n\n{SECTION}\n\n| headers | by |\n|---|---|\n{table}\n## Next\n\n| `two` | x |\n")
            if len(check(root)) != expected:
                wrong.append(f"{table!r}: {check(root)}")
        page.write_text(f"# Page\n\n{SECTION}\n\n| `b/c`, `two`, `four` | x |\n")
        kernel, test = root / "include/tilewright/kernels/four.hpp", root / "tests/b/three.test.cpp"
        kernel.parent.mkdir(), kernel.write_text("exec::mbarrier full{0};\n")
        for text, expected in (("", 1), ("#include <tilewright/kernels/four.hpp>\n", 1),
                               ("#include <tilewright/kernels/four.hpp>\nTEST(Four, PassesInExploredSchedules) {}\n", 0)):
            test.write_text(text)
            if len(check(root)) != expected:
                wrong.append(f"{text!r}: {check(root)}")
    print("\n".join(wrong) or "check_tests, self-test: passed")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print("\n".join(wrong) or "every header has a test")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
