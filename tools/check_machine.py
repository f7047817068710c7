#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every machine of include/tilewright/machine/exec defines the functions that docs/machine.md, their contract, lists in its tables.

usage: check_machine.py [ROOT] | check_machine.py --self-test
"""

import re
import sys
from pathlib import Path

# A machine's functions are defined in its folder or in headers of exec/ itself.
MACHINES = ("amdgcn", "nvptx", "host", "stub")
OF_SECTION = {"Hopper": ("nvptx", "host")}  # sections of the page whose functions some machines have
NAME = r"[a-z_][a-z0-9_]*"


def names_of(calls):
    """The functions and types in "mma_issues<op>, mma_issue<op, i>(c, a, b)"."""
    while re.search(r"[(<{][^(<{)>}]*[)>}]", calls):
        calls = re.sub(r"[(<{][^(<{)>}]*[)>}]", "", calls)
    return {name for name in re.split(r"[,;\s]+", calls) if re.fullmatch(NAME, name)}


def contract_of(page):
    """Section of the page -> names in the first column of its table."""
    contract = {}
    for section in page.split("\n## ")[1:]:
        rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        names = {name for row in rows for calls in re.findall(r"`([^`]*)`", row) for name in names_of(calls)}
        contract[section.split("\n")[0]] = names
    return contract


def defines(text, name):
    return re.search(rf"\b{name}(\(|<.*> = | = | {{$|;)", text, re.MULTILINE) is not None


def problems_in(contract, machines):
    """machines: folder -> its text."""
    return [f"exec/{machine} does not define {name}" for section, names in contract.items() for machine in OF_SECTION.get(section, MACHINES)
            for name in sorted(names) if not defines(machines[machine], name)]


def problems_of(root):
    folder = root / "include/tilewright/machine/exec"
    code = re.compile(r"^\s*//.*\n", re.MULTILINE)
    text_of = lambda files: "".join(code.sub("", file.read_text(encoding="utf-8")) for file in sorted(files))
    shared = {"amdgcn": text_of(folder / f for f in ("exec.hpp", "math.hpp", "global_buffer.hpp", "hopper.hpp"))}
    for machine in MACHINES[1:]:
        shared[machine] = shared["amdgcn"] + text_of([folder / "no_schedule.hpp"])
    machines = {machine: shared[machine] + text_of((folder / machine).glob("*.hpp")) for machine in MACHINES}
    return problems_in(contract_of((root / "docs/machine.md").read_text(encoding="utf-8")), machines)


def self_test():
    contract = contract_of("# P\n## A\n| `one(a, b)`, `two<n>()`; `three` | text `five()` |\n## Hopper\n| `four()` | |\ntext `six`")
    assert contract == {"A": {"one", "two", "three"}, "Hopper": {"four"}}, contract
    whole = "void one(int);\nvoid two() {}\nstruct three {\n  void four();"
    machines = dict.fromkeys(MACHINES, whole)
    assert not problems_in(contract, machines)
    machines["stub"] = whole.replace("two", "too").replace("four", "for")
    assert problems_in(contract, machines) == ["exec/stub does not define two"]
    machines["host"] = whole.replace("four", "for")
    assert problems_in(contract, machines) == ["exec/stub does not define two", "exec/host does not define four"]
    return []


def main(arguments):
    root = Path(arguments[0]) if arguments[:1] not in ([], ["--self-test"]) else Path(__file__).resolve().parents[1]
    problems = self_test() if arguments == ["--self-test"] else problems_of(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
