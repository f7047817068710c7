#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that headers include only their own floor or lower ones, and that neither headers nor folders form a cycle.

usage: check_floors.py [INCLUDE_DIR/tilewright [DOCUMENT]] | check_floors.py --self-test; without a folder, this tree

DOCUMENT: its tables with the columns `file` and `function` are walks through calls. Each must name functions that are
in these files, must never step back to a header that includes the one before, and must have at most 8 rows.
"""

import posixpath
import re
import sys
import tempfile
from pathlib import Path

FLOORS = {
    "config": 0,
    "util": 1,
    "numeric": 1,
    "arch": 2,
    "transform": 3,
    "descriptor": 4,
    "distribution": 5,
    "lds": 6,
    "emulator": 7,
    "exec": 8,
    "tile": 9,
    "launch": 9,
    "mma": 10,
    "gemm": 11,
    "attention": 12,
    "rows": 12,
    "parallel": 12,
    "ck_tile": 12,
}
# Headers outside the floors, and the highest floor that each may include.
UMBRELLAS = {"version.hpp": -1, "core.hpp": 6, "tilewright.hpp": 11, "ck_tile.hpp": 12}

COMMENT = re.compile(r"//[^\n]*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def included_headers(root, header):
    """Paths, relative to root, of this library's headers that a header includes."""
    for quote, path in INCLUDE.findall((root / header).read_text(encoding="utf-8")):
        if path.startswith("tilewright/"):
            yield path[len("tilewright/"):]
        elif quote == '"':
            yield posixpath.normpath(posixpath.join(posixpath.dirname(header), path))


def floor_of(header):
    """The floor of a header, or None when its folder is not in the table."""
    return UMBRELLAS.get(header) if "/" not in header else FLOORS.get(header.split("/")[0])


def folder_graph(graph):
    """Which folder includes which, for folders of the same parent: lds -> exec, or emulator/lds -> emulator/threads."""
    folders = {}
    for header, its_headers in graph.items():
        for included in its_headers:
            here, there = header.split("/"), included.split("/")
            common = next((i for i, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
            if common < min(len(here), len(there)) - 1:  # both differ in a folder, not in the file
                folders.setdefault("/".join(here[:common + 1]), []).append("/".join(there[:common + 1]))
    return folders


def cycle_through(graph):
    """One cycle of includes as a list of headers or folders, or None."""
    finished, path = set(), []

    def visit(header):
        if header in path:
            return path[path.index(header):] + [header]
        if header in finished:
            return None
        path.append(header)
        for included in graph.get(header, ()):
            found = visit(included)
            if found:
                return found
        path.pop()
        finished.add(header)
        return None

    return next(filter(None, map(visit, graph)), None)


def problems_in(root):
    headers = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.hpp"))
    if not headers:
        return [f"{root}: no headers here"]
    problems = []
    graph = {}
    for header in headers:
        graph[header] = list(included_headers(root, header))
        floor = floor_of(header)
        if floor is None:
            problems.append(f"{header}: its folder is on no floor (the table is in tools/check_floors.py)")
            continue
        for included in graph[header]:
            if not (root / included).is_file():
                problems.append(f"{header}: includes {included}, which is not there")
            elif "/" in header and included in UMBRELLAS and included != "version.hpp":
                problems.append(f"{header}: includes the umbrella header {included}")
            elif floor_of(included) is not None and floor_of(included) > floor:
                problems.append(f"{header}: floor {floor} includes {included} of floor {floor_of(included)}")
    for kind, includes in (("cycle", graph), ("cycle of folders", folder_graph(graph))):
        cycle = cycle_through(includes)
        if cycle:
            problems.append(f"{kind}: " + " -> ".join(cycle))
    return problems


WALK_ROWS = 8
WALK_HEAD = re.compile(r"^\| file \| function \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE)


def problems_in_walks(text, root):
    graph = {path.relative_to(root).as_posix(): set() for path in root.rglob("*.hpp")}
    for header in graph:
        graph[header] = {included for included in included_headers(root, header) if included in graph}

    def reaches(header, other):
        seen, todo = set(), [header]
        while todo:
            here = todo.pop()
            if here == other:
                return True
            todo.extend(graph[here] - seen)
            seen |= graph[here]
        return False

    problems = [] if WALK_HEAD.search(text) else ["no table with the columns `file` and `function`"]
    for table in WALK_HEAD.findall(text):
        rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]
        if len(rows) > WALK_ROWS:
            problems.append(f"a walk from {rows[0][0]} has {len(rows)} files; at most {WALK_ROWS}")
        above = []
        for file, functions in rows:
            headers = sorted(root.glob(file.strip("`")))
            if not headers:
                problems.append(f"{file} is not there")
            code = "".join(COMMENT.sub("", header.read_text(encoding="utf-8")) for header in headers)
            for name in re.findall(r"`(?:[\w:<>]+::)?(\w+)`", functions):
                if headers and not re.search(rf"\b{name}\b", code):
                    problems.append(f"{file} has no {name}")
            for header in (path.relative_to(root).as_posix() for path in headers):
                problems += [f"{header} includes {other}, from which the walk comes" for other in above if reaches(header, other)]
                if above and not reaches(above[0], header):
                    problems.append(f"{above[0]} cannot reach {header}: it does not include it")
            above += [path.relative_to(root).as_posix() for path in headers]
    return problems


def self_test():
    """Plants violations; each must be found, and a clean tree must pass."""
    clean = {
        "version.hpp": "",
        "config/config.hpp": "#include <cstdint>",
        "util/array.hpp": "#include <tilewright/config/config.hpp>",
        "lds/proof.hpp": "#include <tilewright/util/array.hpp>",
        "exec/exec.hpp": "#include <tilewright/lds/proof.hpp>",
        "numeric/types.hpp": "#include <tilewright/util/array.hpp>",
        "core.hpp": "#include <tilewright/lds/proof.hpp>",
    }
    cases = [
        ({}, None),
        ({"util/array.hpp": "#  include <tilewright/lds/proof.hpp>"}, "floor 1 includes lds/proof.hpp of floor 6"),
        ({"util/array.hpp": '#include "../lds/proof.hpp"'}, "floor 1 includes lds/proof.hpp of floor 6"),
        ({"util/a.hpp": '#include "b.hpp"', "util/b.hpp": "#include <tilewright/util/a.hpp>"}, "cycle: util/a.hpp"),
        ({"util/a.hpp": "#include <tilewright/numeric/types.hpp>"}, "cycle of folders: "),
        (
            {"exec/a/x.hpp": '#include "../b/y.hpp"', "exec/b/y.hpp": "", "exec/b/z.hpp": '#include "../a/x.hpp"'},
            "cycle of folders: exec/a -> exec/b -> exec/a",
        ),
        ({"exec/a/x.hpp": '#include "../exec.hpp"', "exec/other.hpp": '#include "a/x.hpp"'}, None),
        ({"extra/new.hpp": ""}, "on no floor"),
        ({"new.hpp": ""}, "on no floor"),
        ({"util/array.hpp": "#include <tilewright/util/gone.hpp>"}, "not there"),
        ({"exec/exec.hpp": "#include <tilewright/core.hpp>"}, "umbrella"),
        ({"tile/tile.hpp": "", "core.hpp": "#include <tilewright/tile/tile.hpp>"}, "floor 6 includes tile/tile.hpp"),
    ]
    failed = 0
    for changes, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for header, text in {**clean, **changes}.items():
                path = Path(folder) / header
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n", encoding="utf-8")
            problems = problems_in(Path(folder))
        if (not problems) if expected is None else any(expected in problem for problem in problems):
            continue
        failed += 1
        print(f"planted {changes}: expected {expected!r}, found {problems}")
    head = "| file | function | does |\n|---|---|---|\n"
    top, middle, bottom = "| `a/top.hpp` | `load` | |\n", "| `a/mid.hpp` | `window::find` | |\n", "| `b/*.hpp` | `low` | |\n"
    walks = [
        (head + top + middle + bottom, None),
        (head + bottom + top, "includes b/low.hpp, from which the walk comes"),
        (head + middle + top, "includes a/mid.hpp, from which the walk comes"),
        (head + top + middle.replace("find", "seek"), "has no seek"),
        (head + top + "| `a/none.hpp` | | |\n", "is not there"),
        (head + top + "| `a/other.hpp` | `other` | |\n", "does not include it"),
        (head + top * 9, "at most 8"),
        ("| a | b |\n", "no table"),
    ]
    for text, expected in walks:
        with tempfile.TemporaryDirectory() as folder:
            for header, code in {
                "a/top.hpp": "#include <tilewright/a/mid.hpp>\nload();",
                "a/mid.hpp": "#include <tilewright/b/low.hpp>\nfind(); // seek",
                "a/other.hpp": "other();",
                "b/low.hpp": "low();",
            }.items():
                path = Path(folder) / header
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(code + "\n", encoding="utf-8")
            problems = problems_in_walks(text, Path(folder))
        if (not problems) if expected is None else any(expected in problem for problem in problems):
            continue
        failed += 1
        print(f"walk {text!r}: expected {expected!r}, found {problems}")
    total = len(cases) + len(walks)
    print(f"floor check, self-test: {total - failed} of {total} cases as expected")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 2 or any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tree = Path(__file__).resolve().parents[1]
    root, document = [Path(a) for a in arguments] + [tree / "include/tilewright", tree / "docs/architecture.md"][len(arguments):]
    problems = problems_in(root) + problems_in_walks(document.read_text(encoding="utf-8"), root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
