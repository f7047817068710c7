#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one operator or constant of a header at a time, and shows whether a test notices.

usage: mutate.py [--every N] [--first I] [--table FILE] HEADER...   headers, or folders of them, below include/tilewright
       mutate.py --list HEADER...                                   the mutants, without trying them
       mutate.py --self-test

A mutant is killed when a test no longer compiles (static_asserts and other compile-time checks), fails, takes too long, or when what
must be refused (tests/compile_fail) no longer is. The test of the header's own name is tried first, then others of its floor, then
the property tests. What no test notices has survived: the line is printed, and gets a test or an explanation in docs/testing.md.
Compile-fail tests are read by g++ alone.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = ["g++", "-std=c++20", "-O0", "-w"]
LIBRARIES = ["-lgtest", "-lgtest_main", "-lboost_context", "-lpthread"]
TIME_LIMIT_S = 60

# What is tried after the header's own test, instead of all tests of its floor; a list of sources is one program.
PROPERTIES = [f"tests/property/{name}.cpp" for name in ("layouts.test", "descriptors.test", "random_layout", "check_property")]
AFTER_ITS_OWN = {
    "util": ["tests/transform/merge.test.cpp"],
    "transform": [
        "tests/transform/transform.test.cpp", "tests/descriptor/tensor_coordinate.test.cpp",
        "tests/descriptor/tensor_graph.test.cpp", "tests/descriptor/transform_descriptor.test.cpp",
        "tests/descriptor/properties.test.cpp", PROPERTIES
    ],
    "distribution": [
        "tests/distribution/tile_distribution.test.cpp", "tests/distribution/load_store_traits.test.cpp", "tests/distribution/access_plan.test.cpp",
        [f"tests/property/{name}.cpp" for name in ("encoding_operations.test", "distributions.test", "curves.test", "check_property")]
    ],
    "descriptor": sorted(f"tests/descriptor/{path.name}" for path in (ROOT / "tests/descriptor").glob("*.test.cpp")) + [PROPERTIES],
}

OPERATORS = {
    " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ",
    " == ": " != ", " != ": " == ", " && ": " || ", " || ": " && ", " ^ ": " | ", " & ": " | ", " | ": " & ", " << ": " >> ",
    " >> ": " << ", " += ": " -= ", " -= ": " += ", " *= ": " += ", " /= ": " *= ", " ^= ": " |= ", " |= ": " &= ",
}
SITE = re.compile("|".join(sorted(map(re.escape, OPERATORS), key=len, reverse=True)) + r"|(?<![\w.\"])\d+(?![\w.\"])|\btrue\b|\bfalse\b")


def code_of(line):
    """The line with strings and comments blanked, so that places stay where they are."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + "." * (len(m.group()) - 2) + '"', line)
    return re.sub(r"//.*", lambda m: " " * len(m.group()), line)


def mutants_of(text):
    """(line number, column, old, new) of every mutant."""
    for number, line in enumerate(text.splitlines()):
        code = code_of(line)
        if code.lstrip().startswith("#") or code.lstrip().startswith("template <"):
            continue
        for match in SITE.finditer(code):
            old = match.group()
            new = OPERATORS.get(old) or {"true": "false", "false": "true"}.get(old) or str(int(old) + 1)
            yield number, match.start(), old, new


def mutated(text, mutant):
    number, column, old, new = mutant
    lines = text.splitlines()
    lines[number] = lines[number][:column] + new + lines[number][column + len(old):]
    return "\n".join(lines) + "\n"


class Workshop:
    """A copy of the headers to break, and a place to build tests in."""

    def __init__(self, folder, root=ROOT):
        self.folder, self.root = Path(folder), root
        self.include = self.folder / "include"
        shutil.copytree(root / "include", self.include)
        common = self.folder / "common.hpp"
        common.write_text("#include <gtest/gtest.h>\n#include <algorithm>\n#include <functional>\n#include <map>\n#include <numeric>\n"
                          "#include <random>\n#include <set>\n#include <string>\n#include <vector>\n")
        has_rapidcheck = Path("/usr/include/rapidcheck.h").exists()
        self.flags = [f"-DTILEWRIGHT_HAS_RAPIDCHECK={int(has_rapidcheck)}", f"-I{self.include}"]
        self.libraries = LIBRARIES + (["-lrapidcheck"] if has_rapidcheck else [])
        subprocess.run([*COMPILER, *self.flags, "-x", "c++-header", common, "-o", f"{common}.gch"], check=True)
        self.flags += ["-include", common]

    def run(self, command):
        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=TIME_LIMIT_S,
                                  env=os.environ | {"LC_ALL": "C", "TILEWRIGHT_PROPERTY_CASES": "500"})
        except subprocess.TimeoutExpired:
            return None

    def is_refused(self, source, words):
        result = self.run([*COMPILER, f"-I{self.include}", "-fsyntax-only", "-fmessage-length=0", source])
        return result is not None and result.returncode != 0 and all(word in result.stdout for word in words)

    def try_test(self, sources):
        """None when the test passes, otherwise how it noticed: 'compiler', 'test' or 'time'."""
        objects = []
        for source in sources:
            objects.append(self.folder / (Path(source).name + ".o"))
            built = self.run([*COMPILER, *self.flags, "-c", self.root / source, "-o", objects[-1]])
            if built is None or built.returncode != 0:
                return "time" if built is None else "compiler"
        program = self.folder / "test"
        linked = self.run(["g++", *objects, *self.libraries, "-o", program])
        if linked is None or linked.returncode != 0:
            raise SystemExit(f"mutate: {sources} cannot be linked\n{linked.stdout if linked else ''}")
        result = self.run([program, "--gtest_brief=1"])
        return "time" if result is None else None if result.returncode == 0 else "test"


def compile_fail_tests(floor, root=ROOT):
    """Sources that must be refused, with the words that g++ must find; those that include the floor or one that is likely to use it."""
    users = {"util": "transform", "transform": "transform|descriptor", "descriptor": "descriptor"}.get(floor, floor)
    for source in sorted((root / "tests/compile_fail").glob("*.cpp")):
        text = source.read_text(encoding="utf-8")
        if re.search(rf"#include <tilewright/({users})/", text):
            yield source, re.findall(r"^// EXPECT(?:\(gcc\))?: (.+)$", text, re.MULTILINE)


def tests_of(header, root=ROOT):
    """Lists of sources, each one program: the header's own test first."""
    floor, name = header.split("/")[-2:]
    own = f"tests/{floor}/{Path(name).stem}.test.cpp"
    others = AFTER_ITS_OWN.get(floor) or sorted(f"tests/{floor}/{path.name}" for path in (root / "tests" / floor).glob("*.test.cpp"))
    tests = [own] * (root / own).is_file() + [test for test in others if test != own]
    return [[test] if isinstance(test, str) else test for test in tests]


def try_mutant(workshop, header, text, mutant, tests):
    path = workshop.include / "tilewright" / header
    path.write_text(mutated(text, mutant))
    try:
        # What killed the last mutant of this header will probably kill the next.
        for i, test in enumerate(tests):
            how = workshop.try_test(test)
            if how:
                tests.insert(0, tests.pop(i))
                return how
        for source, words in compile_fail_tests(header.split("/")[0], workshop.root):
            if not workshop.is_refused(source, words):
                return "refusal"
        return "survived"
    finally:
        path.write_text(text)


def headers_of(names, root=ROOT):
    base = root / "include/tilewright"
    for name in names:
        path = base / name
        if path.is_dir():
            yield from (header.relative_to(base).as_posix() for header in sorted(path.rglob("*.hpp")))
        elif path.is_file():
            yield name
        else:
            raise SystemExit(f"mutate: there is no include/tilewright/{name}")


def report(header, counts):
    by_compiler, by_test = counts["compiler"] + counts["refusal"], counts["test"] + counts["time"]
    return f"| `{header}` | {sum(counts.values())} | {by_compiler} | {by_test} | {counts['survived']} |"


def self_test():
    """The unchanged header passes; a broken one is noticed; one that is broken where no test looks survives."""
    header = "transform/offset.hpp"
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(folder)
        text = (workshop.include / "tilewright" / header).read_text()
        own_test = tests_of(header)[:1]
        if workshop.try_test(own_test[0]) is not None:
            failed.append("the test of the unchanged header fails")
        addition = next(m for m in mutants_of(text) if m[2] == " + ")
        if try_mutant(workshop, header, text, addition, list(own_test)) != "test":
            failed.append("a minus in place of a plus is not noticed")
        unused = text.replace("}  // namespace tilewright", "inline int nobody_calls_this() { return 7 + 8; }\n}  // namespace tilewright")
        sum_of_unused = next(m for m in mutants_of(unused) if "nobody" in unused.splitlines()[m[0]] and m[2] == " + ")
        if try_mutant(workshop, header, unused, sum_of_unused, list(own_test)) != "survived":
            failed.append("a mutant that nothing calls did not survive")
    if list(mutants_of('  f("1 + 1");  // 2 + 2\n#if 1\n')):
        failed.append("strings, comments or directives are mutated")
    print("\n".join(failed) or "mutate, self-test: passed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every N-th mutant of a header")
    parser.add_argument("--first", type=int, default=0, help="begin with mutant I of each header")
    parser.add_argument("--table", help="append the result, as a Markdown table's rows, to this file")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.headers:
        parser.error("no headers are given")
    total, survivors = Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = None if options.list else Workshop(folder)
        for header in headers_of(options.headers):
            text = (ROOT / "include/tilewright" / header).read_text()
            mutants = list(mutants_of(text))[options.first::options.every]
            tests, counts = tests_of(header), Counter()
            for mutant in mutants:
                where = f"{header}:{mutant[0] + 1}:{mutant[1] + 1}: '{mutant[2].strip()}' -> '{mutant[3].strip()}'"
                if options.list:
                    print(where)
                    continue
                how = try_mutant(workshop, header, text, mutant, tests)
                counts[how] += 1
                if how == "survived":
                    print(f"survived {where}   {text.splitlines()[mutant[0]].strip()}", flush=True)
            total += counts
            if not options.list:
                print(report(header, counts), flush=True)
                if options.table:
                    with open(options.table, "a", encoding="utf-8") as table:
                        table.write(report(header, counts) + "\n")
    if not options.list:
        print(report("all", total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
