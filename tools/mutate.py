#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one operator or constant of a header at a time, and shows whether a test notices.

usage: mutate.py [--every N] [--first I] [--results] HEADER...    headers, or folders of them, below include/tilewright
       mutate.py --sample N [--seed S] [--minutes M] [--tests T] [--log] [--results] HEADER...  up to N mutants of each argument, drawn at
                                                                  random, in M minutes, each with its first T tests
       mutate.py --schedules [--only WORD]                        the broken kernels of tools/schedule_mutants.txt, in explored schedules
       mutate.py --list HEADER...                                 the mutants, without trying them
       mutate.py --self-test

A mutant is killed when a test no longer compiles (static_asserts and other compile-time checks), fails, takes too long, or when what
must be refused (tests/compile_fail) no longer is. The test of the header's own name is tried first, then others of its room, then
the property tests; only those that include the header. What no test notices has survived: it is printed, and gets a test, or an entry
in tools/equivalent_mutants.txt that says why it does the same; mutants with an entry are counted and not tried. --results writes
the counts to docs/lab/mutation_results.md. Exit code 0: none without an entry has survived; 1: one has; 2: the tool itself has failed, or
a test fails with the unchanged headers. Tests are compiled by clang++-22, else g++; compile-fail tests are read by g++ alone. Headers of
machine/exec/amdgcn are compiled for GPUs and run on tools/amdgcn-emulator, whose library a build in build/tests or build/release must have
made. What runs on NVIDIA GPUs alone is left out of samples.
"""

import argparse
import contextlib
import io
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIALECT = ["-std=c++20", "-O0"]
COMPILER = [shutil.which("clang++-22") or "g++", *DIALECT]
LIBRARIES = ["-lgtest", "-lgtest_main", "-lboost_context", "-lpthread"]
CPU_LIMIT_S = 60  # of a compilation or a run
MEMORY_LIMIT = 16 << 30  # of what may be written: stacks of fibers take more addresses
EQUIVALENTS = ROOT / "tools/equivalent_mutants.txt"
SCHEDULES = ROOT / "tools/schedule_mutants.txt"
RESULTS = ROOT / "docs/lab/mutation_results.md"


def found(*tests):
    """Paths of tests/<room>/.../<name>.test.cpp for each "room:name"; of "room:*" all tests of the room."""
    for test in tests:
        room, name = test.split(":")
        yield from sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / room).rglob(f"{name}.test.cpp"))


def properties(*names):
    return [f"tests/property/{name}.cpp" for name in (*names, "check_property")]


# What is tried after the header's own test, instead of all tests of its room; a list of sources is one program.
PROPERTIES = properties("layouts.test", "descriptors.test", "random_layout")
AFTER_ITS_OWN = {
    "core/base": [*found("core/transform:merge")],
    "core/transform": [
        *found("core/transform:transform", "core/descriptor:tensor_coordinate", "core/descriptor:tensor_graph", "core/descriptor:transform_descriptor",
               "core/descriptor:properties"), PROPERTIES
    ],
    "core/descriptor": [*found("core/descriptor:*"), PROPERTIES],
    "core/distribution": [
        *found("core/distribution:tile_distribution", "compat/ck_tile:load_store_traits", "core/distribution:access_plan"),
        properties("encoding_operations.test", "distributions.test", "curves.test")
    ],
    "machine/emulator": [
        *found("planted:mistakes", "planted:asynchronous", "machine/exec:wgmma", "machine/exec:barrier", "machine/exec:bulk_copy", "machine/emulator:*", "planted:random_pipelines", "planted:random_programs", "planted:correct",
               "machine/exec:*")
    ],
    "machine/exec": [*found("machine/exec:*", "planted:mistakes", "planted:correct", "tile:repeated_copy.wave_copy")],
    "tile": [*found("tile:*")],
    "block": [*found("block:*", "kernels/gemm:gemm_kernel.gfx942", "kernels/gemm:gemm_kernel.nvidia", "kernels/gemm:hopper_gemm_kernel")],
    "block/rows": [*found("block/rows:*", "kernels/rows:softmax", "kernels/rows:norm", "kernels/rows:cross_entropy", "kernels/rows:norm_gradient")],
    "block/operands": [*found("block/operands:*", "kernels/gemm:narrow_gemm", "kernels/gemm:gemm_kernel.gfx950_narrow", "kernels/gemm:hopper_narrow_gemm")],
    "compat/ck_tile/xor_preshuffle.hpp": [*found("compat/ck_tile:lds_with_xor")],
    "core/lds/detail/layout_search.hpp": [*found("core/lds:layout_solver", "core/lds:layout_solver_random")],
    "core/lds/bank_conflicts.hpp": [*found("core/lds:lds_access", "core/lds:layout_solver_random", "core/lds:random_access")],
}
# What all transforms share is tried with the tests of each.
AFTER_ITS_OWN |= {f"core/transform/{name}.hpp": [*found("core/transform:*"), *AFTER_ITS_OWN["core/transform"]] for name in ("transform", "apply")}
# tests/device: kernels that the emulator runs, the cheapest first.
DEVICE_TESTS = ("machine", "convert", "math", "tile_ops", "policies")
DEVICE_ARCHS = ("gfx942", "gfx950", "gfx1201")
EMULATOR = next((path for build in ("tests", "release")
                 if (path := ROOT / "build" / build / "tools/amdgcn-emulator/libamdgcn_emulator.a").exists()), None)
ON_NVIDIA_ALONE = re.compile(r"machine/exec/nvptx|launch/detail/gpu_runtime|kernels/gemm/choice/gemm_plan")

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
        if code.lstrip().startswith(("#", "template <", "TILEWRIGHT_UNROLL")):
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


def mutated_line(text, mutant):
    return mutated(text, mutant).splitlines()[mutant[0]].strip()


def read_equivalents(text):
    """(header, mutated line) -> why it does the same."""
    why, header, lines = {}, None, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("== ") and not lines:
            header = line.removeprefix("== ")
        elif line.startswith("  why: ") and lines:
            why |= {(header, code): line.removeprefix("  why: ") for code in lines}
            lines = []
        elif header and not line[0].isspace():
            lines.append(line)
        else:
            raise SystemExit(f"mutate: {EQUIVALENTS.name}, line {number}: it must be '== header', a mutated line, or '  why: ...' below such")
    return why


def old_entries(header, text, explained):
    """Mutated lines that the header no longer gives."""
    lines = {mutated_line(text, mutant) for mutant in mutants_of(text)}
    return [code for name, code in explained if name == header and code not in lines]


def files_of(path, root=ROOT, known=None):
    """The files that a source includes, with itself."""
    known = set() if known is None else known
    if path in known or not path.is_file():
        return known
    known.add(path)
    for kind, name in re.findall(r'^#include ([<"])([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE):
        files_of(root / "include" / name if kind == "<" else (path.parent / name).resolve(), root, known)
    return known


class Workshop:
    """A copy of the headers to break, and a place to build tests in."""

    def __init__(self, folder, root=ROOT, optimisation="-O0", cpu_limit_s=CPU_LIMIT_S):
        self.cpu_limit_s = cpu_limit_s
        self.folder, self.root = Path(folder), root
        self.include = self.folder / "include"
        self.sound = set()  # tests that pass with unchanged headers
        shutil.copytree(root / "include", self.include)
        common = self.folder / "common.hpp"
        common.write_text("#include <gtest/gtest.h>\n#include <algorithm>\n#include <functional>\n#include <map>\n#include <numeric>\n"
                          "#include <random>\n#include <set>\n#include <string>\n#include <vector>\n")
        has_rapidcheck = Path("/usr/include/rapidcheck.h").exists()
        self.flags = ["-w", optimisation, "-ftrivial-auto-var-init=pattern", f"-DTILEWRIGHT_HAS_RAPIDCHECK={int(has_rapidcheck)}", f"-I{self.include}", f"-I{root / 'tools/viz/include'}",
                      f'-DTILEWRIGHT_PLANTED_LIST="{root / "docs/lab/planted_mistakes.md"}"']
        self.libraries = LIBRARIES + (["-lrapidcheck"] if has_rapidcheck else [])
        subprocess.run([*COMPILER, *self.flags, "-x", "c++-header", common, "-o", f"{common}.gch"], check=True)
        self.flags += ["-include", common]

    def for_devices(self):
        """The same place, for headers that are compiled for GPUs."""
        device = DeviceWorkshop.__new__(DeviceWorkshop)
        device.__dict__ = self.__dict__
        return device

    def run(self, command, environment=None):
        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
            resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_limit_s, self.cpu_limit_s))

        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=10 * self.cpu_limit_s, preexec_fn=limit,
                                  env=os.environ | {"LC_ALL": "C", "TILEWRIGHT_PROPERTY_CASES": "300",
                                                    "RC_PARAMS": "seed=1 max_success=300 noshrink=1"} | (environment or {}))
        except subprocess.TimeoutExpired:
            return None

    def is_refused(self, source, words):
        result = self.run(["g++", *DIALECT, f"-I{self.include}", f"-I{self.root / 'tools/viz/include'}", "-fsyntax-only", "-fmessage-length=0", source])
        if result is None or result.returncode == 0:
            return False
        errors = result.stdout.split("error: ")[1:]
        return all(sum(text in error for error in errors) == sum(text in other for other in words) for text in set(words))

    def try_test(self, sources):
        """None when the test passes, otherwise how it noticed: 'compiler', 'test' or 'time'."""
        program = self.build(sources)
        if not isinstance(program, Path):
            return program
        # What generates random layouts is not mutated, and 300 of them have no rare pairs.
        result = self.run([program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=-RandomLayouts.PutEveryTransform*"])
        return "time" if result is None else None if result.returncode == 0 else "test"

    def build(self, sources):
        """The program; 'compiler' or 'time' if that fails."""
        objects = []
        for source in sources:
            objects.append(self.folder / (Path(source).name + ".o"))
            built = self.run([*COMPILER, *self.flags, "-c", self.root / source, "-o", objects[-1]])
            if built is None or built.returncode != 0:
                return "time" if built is None else "compiler"
        program = self.folder / "test"
        linked = self.run([COMPILER[0], *objects, *self.libraries, "-o", program])
        if linked is None or linked.returncode != 0:
            raise SystemExit(f"mutate: {sources} cannot be linked\n{linked.stdout if linked else ''}")
        return program

    def fails_in_schedules(self, program, tests, schedules):
        """Whether a test finds a fault in one of so many schedules; None where the time is over."""
        result = self.run([program, "--gtest_brief=1", f"--gtest_filter={tests}"], {"TILEWRIGHT_EXPLORED_SCHEDULES": str(schedules)})
        return None if result is None or result.returncode not in (0, 1) else result.returncode == 1


class DeviceWorkshop(Workshop):
    """Tests are names of DEVICE_TESTS: their kernels are compiled with the broken headers, the programs that run them with the sound ones."""

    def try_test(self, sources):
        name, = sources
        archs = DEVICE_ARCHS[:1] if name == "policies" else DEVICE_ARCHS
        objects = {arch: self.folder / f"{name}-{arch}.co" for arch in archs}
        for arch, path in objects.items():
            built = self.run([COMPILER[0], "-x", "hip", "-std=c++20", "-O3", "-nogpulib", "-nogpuinc", f"--offload-arch={arch}", "--offload-device-only",
                              "--no-gpu-bundle-output", "-w", f"-I{self.include}", self.root / f"tests/device/{name}.hip", "-o", path])
            if built is None or built.returncode != 0:
                return "time" if built is None else "compiler"
        program = self.folder / f"emulated_{name}"
        if not program.exists():
            listed = ",".join(f"{arch}={path}" for arch, path in objects.items())
            subprocess.run([*COMPILER, "-w", f"-I{self.root / 'include'}", f"-I{self.root / 'tools/amdgcn-emulator/include'}",
                            f'-DTILEWRIGHT_CODE_OBJECTS="{listed}"', self.root / f"tests/device/{name}.emu.cpp", EMULATOR, *LIBRARIES, "-ldl",
                            "-o", program], check=True)
        result = self.run([program, "--gtest_brief=1", "--gtest_fail_fast"])
        return "time" if result is None else None if result.returncode == 0 else "test"


def room_of(header):
    """The folder that has a test program of its own: core/lds, tile, kernels/gemm."""
    folders = header.split("/")[:-1]
    return "/".join(folders[:1] if folders[0] in ("tile", "block", "launch") else folders[:2])


def compile_fail_tests(header, root=ROOT):
    """Sources that must be refused, with the words that g++ must find; those that include the header, and its room or one near it."""
    room = room_of(header)
    users = {"core/base": "core/transform", "core/transform": "core/(transform|descriptor)"}.get(room, room)
    for source in sorted((root / "tests/compile_fail").glob("*.cpp")):
        text = source.read_text(encoding="utf-8")
        if re.search(r"^// COMPILERS: (gfx|sm_)", text, re.MULTILINE):
            continue  # device code
        if re.search(rf"#include <tilewright/({users})/", text) and root / "include/tilewright" / header in files_of(source, root):
            expected = re.findall(r"^// EXPECT(?:\((?:gcc)? ?(\d*)\))?: (.+)$", text, re.MULTILINE)
            yield source, [words for times, words in expected for _ in range(int(times or 1))]


def tests_of(header, root=ROOT):
    """Lists of sources, each one program: the header's own test first."""
    if header.startswith("machine/exec/amdgcn/"):
        return [[name] for name in DEVICE_TESTS]
    room, stem = room_of(header), Path(header).stem
    own = [*found(f"{room}:{stem}", f"{room}:{stem}.*")]
    others = AFTER_ITS_OWN.get(header) or AFTER_ITS_OWN.get("/".join(header.split("/")[:2])) or AFTER_ITS_OWN.get(room) or [*found(f"{room}:*")]
    tests = []
    for test in own + others:
        if test not in tests:
            tests.append(test)
    tests = [[test] if isinstance(test, str) else test for test in tests]
    return [test for test in tests if any(root / "include/tilewright" / header in files_of(root / source, root) for source in test)]


def try_mutant(workshop, header, text, mutant, tests):
    path = workshop.include / "tilewright" / header
    path.write_text(mutated(text, mutant))
    try:
        for i, test in enumerate(tests):
            how = workshop.try_test(test)
            if how:
                if tuple(test) not in workshop.sound:
                    path.write_text(text)
                    if workshop.try_test(test):
                        raise SystemExit(f"mutate: {test[0]} fails with the unchanged headers, too")
                    workshop.sound.add(tuple(test))
                # The header's own test is the cheapest; after it, what killed one mutant will probably kill the next.
                tests.insert(min(i, 1), tests.pop(i))
                return how
        for source, words in compile_fail_tests(header, workshop.root):
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


def report(header, counts, of):
    tried = f"{counts.total()}" if counts.total() == of else f"{counts.total()} of {of}"
    by_compiler, by_test = counts["compiler"] + counts["refusal"], counts["test"] + counts["time"]
    return f"| `{header}` | {tried} | {by_compiler} | {by_test} | {counts['same']} | {counts['survived']} |"


def write_results(row):
    """Puts the row of a header in its place in the results, and says after the table what does the same."""
    text = RESULTS.read_text(encoding="utf-8")
    header_of = re.compile(r"^\| `([^`]+)` \|")
    lines = text.splitlines()
    rows = {header_of.match(line).group(1): line for line in lines if header_of.match(line)}
    rows = {name: line for name, line in rows.items() if not name.endswith(".hpp") or (ROOT / "include/tilewright" / name).exists()}
    rows[header_of.match(row).group(1)] = row
    first = next(i for i, line in enumerate(lines) if line.startswith("|---")) + 1
    head = lines[:first]
    same = {}
    for (header, code), why in read_equivalents(EQUIVALENTS.read_text(encoding="utf-8")).items():
        same.setdefault((header, why), []).append(code)
    words = [f"* `{header}`: {why}\n" + "".join(f"  `{code}`\n" for code in codes) for (header, why), codes in sorted(same.items())]
    RESULTS.write_text("\n".join([*head, *(rows[name] for name in sorted(rows)), "", "## What does the same", "", *words]), encoding="utf-8")


def self_test():
    """The unchanged header passes; a broken one is noticed; one that is broken where no test looks survives."""
    header = "core/transform/offset.hpp"
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
        (workshop.folder / "broken.cpp").write_text("static_assert(false);\n")
        try:
            try_mutant(workshop, header, text, addition, [[workshop.folder / "broken.cpp"]])
            failed.append("a test that fails anyway is taken for one that notices")
        except SystemExit:
            pass
        unused = text.replace("}  // namespace tilewright", "inline int nobody_calls_this() { return 7 + 8; }\n}  // namespace tilewright")
        sum_of_unused = next(m for m in mutants_of(unused) if "nobody" in unused.splitlines()[m[0]] and m[2] == " + ")
        if try_mutant(workshop, header, unused, sum_of_unused, list(own_test)) != "survived":
            failed.append("a mutant that nothing calls did not survive")
    if not all("nothing breaks" == why for why in read_equivalents("== a.hpp\nf(1);\nf(2);\n  why: nothing breaks\n").values()):
        failed.append("entries of equivalent mutants are not read")
    if old_entries("a.hpp", "f(0);\n", {("a.hpp", "f(1);"): "", ("a.hpp", "g(1);"): "", ("b.hpp", "g(1);"): ""}) != ["g(1);"]:
        failed.append("entries of lines that are gone are not found")
    if list(mutants_of('  f("1 + 1");  // 2 + 2\n#if 1\n')):
        failed.append("strings, comments or directives are mutated")

    def end_with(text):
        raise SystemExit(text)

    with contextlib.redirect_stderr(io.StringIO()):
        codes = [exit_code(run) for run in (lambda: 0, lambda: 1, lambda: end_with("a test fails anyway"), lambda: {}["a defect"])]
    if codes != [0, 1, 2, 2]:
        failed.append(f"exit codes are {codes}")
    print("\n".join(failed) or "mutate, self-test: passed")
    return 1 if failed else 0


def read_schedule_mutants(text):
    """Dicts with header, old and new line, test (a source), filter (its GoogleTest filter), within (schedules), why; by default: optional."""
    for block in re.split(r"\n\s*\n", "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()):
        entry = {key: value.replace("\\n", "\n") for key, value in (line.split(": ", 1) for line in block.splitlines())}
        if set(entry) - {"by default"} != {"header", "old", "new", "test", "filter", "within", "why"} or entry.get("by default", "passes") != "passes":
            raise SystemExit(f"mutate: {SCHEDULES.name}: an entry has header, old, new, test, filter, within and why:\n{block}")
        yield entry


def try_schedules(options):
    """Each mutant must fail in one of the first `within` schedules, and where it says so not in the default one, as the table shows."""
    missed = 0
    print("| header | test | found within (schedules) | why |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(folder, optimisation="-O1", cpu_limit_s=20 * CPU_LIMIT_S)  # the emulator runs for longer than it compiles
        for entry in read_schedule_mutants(SCHEDULES.read_text(encoding="utf-8")):
            if options.only not in entry["header"] + entry["filter"]:
                continue
            path = workshop.include / "tilewright" / entry["header"]
            text = path.read_text(encoding="utf-8")
            if text.count(entry["old"]) != 1:
                raise SystemExit(f"mutate: {entry['header']} does not have this line once: {entry['old']}")
            path.write_text(text.replace(entry["old"], entry["new"]))
            try:
                program = workshop.build([entry["test"]])
                compiles = isinstance(program, Path)
                by_default, found = (workshop.fails_in_schedules(program, entry["filter"], n) if compiles else None for n in (1, int(entry["within"])))
            finally:
                path.write_text(text)
            is_missed = not found or (by_default is not False and "by default" in entry)
            missed += is_missed
            result = ("does not compile" if not compiles else "1, the default" if by_default else entry["within"] if found else
                      "the time is over" if found is None else f"not in {entry['within']}")
            print(f"| `{entry['header']}` | {entry['filter']} | {result} | {entry['why']} |", flush=True)
    return 1 if missed else 0


def chosen_mutants(headers, options, generator):
    """(header, its text, the mutants to try, how many it has) of each header of one argument."""
    found = [(header, text, list(mutants_of(text))) for header in headers
             for text in [(ROOT / "include/tilewright" / header).read_text(encoding="utf-8")]]
    if not options.sample:
        return [(header, text, mutants[options.first::options.every], len(mutants)) for header, text, mutants in found]
    places = [(number, i) for number, (_, _, mutants) in enumerate(found) for i in range(len(mutants))]
    # One by one, in random order, so that those which are tried before the time is over are a sample, too.
    return [(*found[number][:2], [found[number][2][i]], 0) for number, i in generator.sample(places, min(options.sample, len(places)))]


def try_header(workshop, header, text, mutants, explained, tests, is_logged):
    """What became of the mutants; without a workshop they are only listed. `tests` are put into the order in which they kill."""
    counts = Counter()
    if workshop and header.startswith("machine/exec/amdgcn/"):
        workshop = workshop.for_devices()
    for mutant in mutants:
        code = mutated_line(text, mutant)
        where = f"{header}:{mutant[0] + 1}:{mutant[1] + 1}: '{mutant[2].strip()}' -> '{mutant[3].strip()}'"
        if workshop is None:
            print(where)
            continue
        how = "same" if (header, code) in explained else try_mutant(workshop, header, text, mutant, tests)
        counts[how] += 1
        if how == "survived" or is_logged:
            print(f"{how} {where}\n  {code}", flush=True)
    return counts


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every N-th mutant of a header")
    parser.add_argument("--first", type=int, default=0, help="begin with mutant I of each header")
    parser.add_argument("--sample", type=int, default=0, help="N mutants of each argument, drawn at random; the results have one row for each")
    parser.add_argument("--seed", type=int, default=1, help="of --sample")
    parser.add_argument("--minutes", type=float, default=0, help="of --sample, for each argument; default: without a limit")
    parser.add_argument("--tests", type=int, help="of --sample: how many tests, the cheapest first, are tried; default: all")
    parser.add_argument("--log", action="store_true", help="print each mutant, not only survivors")
    parser.add_argument("--schedules", action="store_true", help=f"the mutants of {SCHEDULES.relative_to(ROOT)}")
    parser.add_argument("--only", default="", help="of --schedules: those with this word in their header or test")
    parser.add_argument("--results", action="store_true", help=f"write the counts to {RESULTS.relative_to(ROOT)}")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if not options.headers and not options.self_test and not options.schedules:
        parser.error("no headers are given")
    return options


def try_argument(workshop, argument, options, explained, generator):
    """(what became of its mutants, how many it has, whether all its explanations are of mutants that it has)."""
    headers = [header for header in headers_of([argument]) if not (options.sample and ON_NVIDIA_ALONE.match(header))]
    texts = {header: (ROOT / "include/tilewright" / header).read_text(encoding="utf-8") for header in headers}
    fine, counts, tests = True, Counter(), {header: tests_of(header)[:options.tests] for header in headers}
    for header, text in texts.items():
        for code in old_entries(header, text, explained):
            print(f"{EQUIVALENTS.name}: {header} has no such mutant any more: {code}")
            fine = False
    end = time.monotonic() + 60 * options.minutes
    for header, text, mutants, number in chosen_mutants(headers, options, generator):
        if options.minutes and time.monotonic() > end:
            break
        of_header = try_header(workshop, header, text, mutants, explained, tests[header], options.log)
        counts += of_header
        if not options.list and not options.sample:
            print(report(header, of_header, number), flush=True)
            if options.results:
                write_results(report(header, of_header, number))
    return counts, sum(len(list(mutants_of(text))) for text in texts.values()), fine


def main():
    options = read_arguments()
    if options.self_test:
        return self_test()
    if options.schedules:
        return try_schedules(options)
    explained = read_equivalents(EQUIVALENTS.read_text(encoding="utf-8"))
    total, of, all_fine = Counter(), 0, True
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        workshop = None if options.list else Workshop(folder)
        for argument in options.headers:
            counts, number, fine = try_argument(workshop, argument, options, explained, generator)
            total, of, all_fine = total + counts, of + number, all_fine and fine
            if options.sample and not options.list:
                row = report(f"{argument}, seed {options.seed}", counts, number)
                print(row, flush=True)
                if options.results:
                    write_results(row)
    if not options.list:
        print(report("all", total, of))
    return 0 if all_fine and not total["survived"] else 1


def exit_code(run):
    """What run() returns; 2 where it ends by an exception, whose text is printed."""
    try:
        return run()
    except SystemExit as end:
        if end.code in (0, 2):  # of the command line's options
            return end.code
        print(end.code, file=sys.stderr)
    except Exception:  # a defect of this tool must not look like a survivor
        traceback.print_exc()
    return 2


if __name__ == "__main__":
    sys.exit(exit_code(main))
