#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rooms of include/tilewright: headers include their own room or lower ones, and neither headers nor folders form a cycle.

usage: check_rooms.py [INCLUDE_DIR/tilewright [DOCUMENT]] | check_rooms.py --self-test; without a folder, this tree

A family of kernels includes no other one, except where KERNELS_USE says so. A header in a folder detail/ is included only below the
folder that detail/ is in.

DOCUMENT: its tables with the columns `file` and `function` are journeys through calls. Each must name functions that are in these files and
never step back to a header that includes the one before. A section of JOURNEYS passes through as many files as that table allows, at most.
"""

import posixpath
import re
import sys
import tempfile
from pathlib import Path

# A header's room is the longest of these folders that it is in; rooms on one line do not know each other unless folders say so.
ROOMS = (
    "core/base", "core/arch", "core/transform", "core/descriptor", "core/distribution", "core/lds",  # constexpr only
    "machine/emulator", "machine/exec",  # what a thread can do
    ("tile", "launch"),  # what a block does to memory and registers; how the host starts a kernel
    "block",  # what kernels share
    ("kernels/gemm", "kernels/attention", "kernels/rows", "kernels/tensor", "kernels/routing"), "kernels/parallel", "compat/ck_tile",
)
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in ([rooms] if isinstance(rooms, str) else rooms)}
KERNELS_USE = {("parallel", "gemm")}
# Headers outside the rooms, and the highest room that each may include.
UMBRELLAS = {"version.hpp": None, "core.hpp": "core/lds", "tilewright.hpp": "block", "ck_tile.hpp": "compat/ck_tile"}
UMBRELLAS |= {f"{room}.hpp": room for room in RANK if room.startswith("kernels/")}
# An umbrella reaches each public header of these folders, except those that need a GPU's runtime or one machine.
COMPLETE = {"tilewright.hpp": ("tile/", "block/")} | {f"{room}.hpp": (f"{room}/",) for room in RANK if room.startswith("kernels/")}
BY_THEMSELVES = re.compile(
    r"/detail/|kernels/gemm/choice/(choice_name|gemm_autotune|gemm_choice|gemm_kernels|gemm_plan|hopper_tile_family|tuning_name)\.hpp|kernels/\w+/(launch_\w+|\w+_choice)\.hpp")

COMMENT = re.compile(r"//[^\n]*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def included_headers(root, header):
    """Paths, relative to root, of this library's headers that a header includes."""
    for quote, path in INCLUDE.findall((root / header).read_text(encoding="utf-8")):
        if path.startswith("tilewright/"):
            yield path[len("tilewright/"):]
        elif quote == '"':
            yield posixpath.normpath(posixpath.join(posixpath.dirname(header), path))


def room_of(header):
    """The room of a header, or None when its folder is in none."""
    folders = header.split("/")[:-1]
    return next((room for n in (2, 1) for room in ["/".join(folders[:n])] if room in RANK), None)


def rank_of(header):
    room = UMBRELLAS[header] if header in UMBRELLAS else room_of(header)
    return -1 if header in UMBRELLAS and room is None else RANK.get(room)


def folder_graph(graph):
    """Which folder includes which, for folders of the same parent: lds -> exec, or emulator/lds -> emulator/threads."""
    folders = {}
    for header, its_headers in graph.items():
        for included in its_headers:
            here, there = header.split("/"), included.split("/")
            common = next((i for i, (a, b) in enumerate(zip(here, there)) if a != b), min(len(here), len(there)))
            if common < min(len(here), len(there)) - 1 and "detail" not in (here[common], there[common]):  # both differ in a folder
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


def problem_of(header, included, rank):
    """What is wrong with an include of a header of this rank, or None."""
    if header not in UMBRELLAS and included in UMBRELLAS and included != "version.hpp":
        return f"includes the umbrella header {included}"
    if (rank_of(included) or 0) > rank:
        return f"{room_of(header) or 'it'} is below {room_of(included)}, of which it includes {included}"
    ours, others = (path.split("/")[1].removesuffix(".hpp") if path.startswith("kernels/") else None for path in (header, included))
    if ours and others and ours != others and (ours, others) not in KERNELS_USE:
        return f"kernels of {ours} include {included} of {others}: what both need belongs to block"
    owner = included.split("/detail/")[0] if "/detail/" in included else ""
    if not header.startswith(owner):
        return f"includes {included}, which is private to {owner}"
    return None


def reached_from(header, graph):
    """The headers that one includes, and those that these include."""
    seen, todo = set(), [header]
    while todo:
        new = set(graph.get(todo.pop(), ())) - seen
        seen |= new
        todo += new
    return seen


def problems_in(root):
    headers = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.hpp"))
    if not headers:
        return [f"{root}: no headers here"]
    problems = []
    graph = {}
    for header in headers:
        graph[header] = list(included_headers(root, header))
        rank = rank_of(header)
        if rank is None:
            problems.append(f"{header}: its folder is in no room (the table is in tools/check_rooms.py)")
            continue
        for included in graph[header]:
            problem = problem_of(header, included, rank) if (root / included).is_file() else f"includes {included}, which is not there"
            if problem:
                problems.append(f"{header}: {problem}")
    for umbrella in COMPLETE.keys() & graph.keys():
        public = {header for header in graph if header.startswith(COMPLETE[umbrella]) and not BY_THEMSELVES.search(header)}
        problems += [f"{umbrella} does not include {header}" for header in sorted(public - reached_from(umbrella, graph))]
    for kind, includes in (("cycle", graph), ("cycle of folders", folder_graph(graph))):
        cycle = cycle_through(includes)
        if cycle:
            problems.append(f"{kind}: " + " -> ".join(cycle))
    return problems


# How many files the tables of a section of the document may name: what a reader has to open.
JOURNEYS = {"From load_tile to the address": 12, "How addresses are derived": 5, "From the k loop to C, on Hopper": 12, "From Q to O, on Hopper": 9}
WALK_HEAD = re.compile(r"^\| file \| function \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE)


def problems_in_journeys(text, limits):
    """Journeys that are missing, or pass through more files than they may."""
    sections = {section.split("\n")[0].strip(): section for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
    for name, most in limits.items():
        tables = WALK_HEAD.findall(sections.get(name, ""))
        files = {line.split("|")[1].strip() for table in tables for line in table.splitlines()}
        if not files:
            yield f"no section '{name}' with a table of files and functions"
        elif len(files) > most:
            yield f"'{name}' passes through {len(files)} files; at most {most}"
    for name, section in sections.items():
        if name not in limits and WALK_HEAD.search(section):
            yield f"'{name}' has a table of files and functions, but no limit in tools/check_rooms.py"


def problems_in_walks(text, root):
    graph = {path.relative_to(root).as_posix(): set() for path in root.rglob("*.hpp")}
    for header in graph:
        graph[header] = {included for included in included_headers(root, header) if included in graph}

    def reaches(header, other):
        return other in {header} | reached_from(header, graph)

    problems = [] if WALK_HEAD.search(text) else ["no table with the columns `file` and `function`"]
    for table in WALK_HEAD.findall(text):
        rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]
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
        "core/base/config.hpp": "#include <cstdint>",
        "core/base/array.hpp": "#include <tilewright/core/base/config.hpp>",
        "core/lds/proof.hpp": "#include <tilewright/core/base/array.hpp>",
        "machine/exec/exec.hpp": "#include <tilewright/core/lds/proof.hpp>",
        "kernels/gemm/hopper/plan.hpp": "#include <tilewright/kernels/gemm/detail/check.hpp>",
        "kernels/gemm/detail/check.hpp": "#include <tilewright/machine/exec/exec.hpp>",
        "core.hpp": "#include <tilewright/core/lds/proof.hpp>",
    }
    up = "core/base is below core/lds, of which it includes core/lds/proof.hpp"
    cases = [
        ({}, None),
        ({"core/base/array.hpp": "#  include <tilewright/core/lds/proof.hpp>"}, up),
        ({"core/base/array.hpp": '#include "../lds/proof.hpp"'}, up),
        ({"core/base/a.hpp": '#include "b.hpp"', "core/base/b.hpp": "#include <tilewright/core/base/a.hpp>"}, "cycle: core/base/a.hpp"),
        ({"core/lds/proof.hpp": "#include <tilewright/machine/exec/exec.hpp>"}, "core/lds is below machine/exec"),
        ({"tile/a.hpp": "#include <tilewright/launch/b.hpp>", "launch/b.hpp": "", "launch/a.hpp": "#include <tilewright/tile/a.hpp>"}, "cycle of folders: "),
        (
            {"machine/exec/a/x.hpp": '#include "../b/y.hpp"', "machine/exec/b/y.hpp": "", "machine/exec/b/z.hpp": '#include "../a/x.hpp"'},
            "cycle of folders: machine/exec/a -> machine/exec/b -> machine/exec/a",
        ),
        ({"machine/exec/a/x.hpp": '#include "../exec.hpp"', "machine/exec/other.hpp": '#include "a/x.hpp"'}, None),
        ({"kernels/rows/a.hpp": "#include <tilewright/kernels/gemm/hopper/plan.hpp>"}, "kernels of rows include"),
        ({"kernels/parallel/a.hpp": "#include <tilewright/kernels/gemm/hopper/plan.hpp>"}, None),
        ({"kernels/parallel/a.hpp": "#include <tilewright/kernels/gemm/detail/check.hpp>"}, "private to kernels/gemm"),
        ({"extra/new.hpp": ""}, "in no room"),
        ({"new.hpp": ""}, "in no room"),
        ({"core/base/array.hpp": "#include <tilewright/core/base/gone.hpp>"}, "not there"),
        ({"machine/exec/exec.hpp": "#include <tilewright/core.hpp>"}, "umbrella"),
        ({"tile/tile.hpp": "", "core.hpp": "#include <tilewright/tile/tile.hpp>"}, "it is below tile, of which it includes tile/tile.hpp"),
        ({"kernels/gemm.hpp": "#include <tilewright/kernels/gemm/hopper/plan.hpp>"}, None),
        ({"kernels/gemm.hpp": ""}, "kernels/gemm.hpp does not include kernels/gemm/hopper/plan.hpp"),
        ({"kernels/rows.hpp": "#include <tilewright/kernels/gemm/hopper/plan.hpp>"}, "kernels of rows include"),
        ({"kernels/gemm.hpp": "", "kernels/gemm/hopper/plan.hpp": "#include <tilewright/kernels/gemm.hpp>"}, "includes the umbrella header"),
        ({"kernels/new.hpp": ""}, "in no room"),
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
    section = "## Way\n" + head + top + middle + "\n" + head + top + bottom
    journeys = [(section, 3, None), (section, 2, "passes through 3 files; at most 2"), ("## Way\ntext\n", 3, "no section 'Way'"),
                (section + "## Other\n" + head + top, 3, "'Other' has a table"), ("# Way\n" + head + top, 3, "no section 'Way'")]
    for text, most, expected in journeys:
        problems = list(problems_in_journeys(text, {"Way": most}))
        if (not problems) if expected is None else any(expected in problem for problem in problems):
            continue
        failed += 1
        print(f"journey {text!r}: expected {expected!r}, found {problems}")
    total = len(cases) + len(walks) + len(journeys)
    print(f"room check, self-test: {total - failed} of {total} cases as expected")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 2 or any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tree = Path(__file__).resolve().parents[1]
    root, document = [Path(a) for a in arguments] + [tree / "include/tilewright", tree / "docs/architecture.md"][len(arguments):]
    text = document.read_text(encoding="utf-8")
    problems = [*problems_in(root), *problems_in_walks(text, root), *problems_in_journeys(text, JOURNEYS)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
