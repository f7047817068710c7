#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants the faults of tests/planted/kernel_faults.txt one at a time, and shows how the CPU emulator reports each.

usage: plant_faults.py [--jobs N] [WORDS...]    those whose name, class or file has one of the words; all
       plant_faults.py --check                                 only whether each edit still fits its file

Each fault is compiled into a copy of the headers and run by its tests, with the emulator's defaults; before it, the tests must pass
without it. A fault is `found` if the output has an error message that matches `expect`, or `expect` is `numbers` and only results differ;
`elsewhere` if another message ends the tests, `numbers` if only results differ, `silent` if the tests pass, and `harmless` if they do and
`expect` begins with `no fault`. Exit code 1: a fault is neither `found` nor `harmless`.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Lock

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutate import COMPILER, ROOT, Workshop  # noqa: E402

LIMIT_S = 900  # of a compilation or a run
FAULTS = ROOT / "tests/planted/kernel_faults.txt"
UNCHANGED = ("machine/emulator/allocations", "core/arch/arch", "launch/launch", "tile/copy/load_store", "tile/copy/shuffle_tile", "tile/registers/elementwise")
MESSAGE = re.compile(r"^.*\bthread \d+ of block .*$", re.MULTILINE)


class Fault:
    """An entry of the list: its name, its fields, and the edits of its file."""

    def __init__(self, text):
        head, *edits = text.split("<<<<\n")
        self.name, *fields = head.strip().splitlines()
        fields = dict(line.split(": ", 1) for line in fields)
        self.kind, self.file, self.expect = fields["class"], fields["file"], fields["expect"]
        self.source, self.filter = fields["test"].split(" ", 1)
        self.edits = [tuple(part.removesuffix("\n") for part in edit.split(">>>>")[0].split("====\n")) for edit in edits]

    def edited(self, root=ROOT):
        text = (root / self.file).read_text(encoding="utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise SystemExit(f"plant_faults: '{self.name}': {self.file} has {text.count(old)} times\n{old}")
            text = text.replace(old, new)
        return text


def read_faults(text):
    faults = [Fault(entry) for entry in text.split("\n== ")[1:]]
    names = Counter(fault.name for fault in faults)
    if max(names.values()) > 1:
        raise SystemExit(f"plant_faults: two faults are named '{names.most_common(1)[0][0]}'")
    return faults


class Bench(Workshop):
    """A place in which one fault at a time is compiled and run."""

    passed = set()  # tests that have been run without a fault

    def __init__(self, folder):
        super().__init__(folder)
        common = self.folder / "common.hpp"  # what no fault changes is compiled once
        common.write_text(common.read_text() + "".join(f"#include <tilewright/{name}.hpp>\n" for name in UNCHANGED))
        subprocess.run([*COMPILER, *self.flags[:-2], "-fpch-instantiate-templates", "-x", "c++-header", common, "-o", f"{common}.gch"], check=True)

    def run(self, command):
        """With the emulator's defaults, and as many addresses as its fibers take."""
        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None

    def output_of(self, source, tests):
        """What the tests print, and how they end; `source`: an absolute path."""
        program = self.folder / "program"
        built = self.run([*COMPILER, *self.flags, source, *self.libraries, "-o", program])
        if built is None or built.returncode != 0:
            raise SystemExit(f"plant_faults: {source} does not compile\n{built.stdout if built else ''}")
        result = self.run([program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}"])
        return ("the tests do not end", 1) if result is None else (result.stdout, result.returncode)

    def require_pass(self, fault):
        key = (fault.source, fault.filter)
        if key in Bench.passed:
            return
        Bench.passed.add(key)
        output, code = self.output_of(self.root / fault.source, fault.filter)
        if code != 0 or " 0 tests" in output:
            raise SystemExit(f"plant_faults: {fault.source} {fault.filter} fails or has no test without a fault\n{output}")

    def plant(self, fault):
        """(found, harmless, elsewhere, numbers or silent; the message)."""
        text = fault.edited()
        if fault.file == fault.source:
            source = self.folder / Path(fault.source).name
            source.write_text(text, encoding="utf-8")
            output, code = self.output_of(source, fault.filter)
        else:
            path = self.include / Path(fault.file).relative_to("include")
            sound = path.read_text(encoding="utf-8")
            path.write_text(text, encoding="utf-8")
            try:
                output, code = self.output_of(self.root / fault.source, fault.filter)
            finally:
                path.write_text(sound, encoding="utf-8")
        messages = MESSAGE.findall(output)
        if code == 0:
            return "harmless" if fault.expect.startswith("no fault") else "silent", fault.expect
        if not messages:
            return "found" if fault.expect == "numbers" else "numbers", next((line for line in output.splitlines() if "Failure" in line or "which" in line), output[-200:])
        fitting = [m for m in messages if re.search(fault.expect, m)]
        return ("found", fitting[0]) if fitting else ("elsewhere", messages[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--trust", action="store_true", help="the tests are known to pass without a fault")
    options = parser.parse_args()
    faults = read_faults(FAULTS.read_text(encoding="utf-8"))
    for fault in faults:
        fault.edited()
    if options.check:
        return 0
    wanted = [f for f in faults if not options.words or any(w in f"{f.name} {f.kind} {f.file}" for w in options.words)]
    counts, lock = Counter(), Lock()
    with tempfile.TemporaryDirectory() as folder:
        benches = Queue()
        for i in range(options.jobs):
            (Path(folder) / str(i)).mkdir()
            benches.put(Bench(Path(folder) / str(i)))

        def try_one(fault):
            bench = benches.get()
            try:
                if not options.trust:
                    bench.require_pass(fault)
                how, message = bench.plant(fault)
            finally:
                benches.put(bench)
            with lock:
                counts[how] += 1
                print(f"{how:9} {fault.kind}: {fault.name}\n          {message.strip()}", flush=True)

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(try_one, sorted(wanted, key=lambda f: f.source)))
    print(", ".join(f"{counts[how]} {how}" for how in ("found", "harmless", "elsewhere", "numbers", "silent")), f"of {len(wanted)}")
    return 0 if counts["found"] + counts["harmless"] == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
