#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that docs/machine.md and every machine have the functions that the contract in exec/ lists, and no others.

The contract is the comment at the top of exec.hpp, math.hpp and hopper.hpp: lines "//   name(arguments)  meaning".
usage: check_machine.py [ROOT] | check_machine.py --self-test
"""

import re
import sys
from pathlib import Path

# A machine's functions are defined in its folder or in headers of exec/ itself. Hopper's are for sm_90 and the CPU.
MACHINES = {"exec.hpp": ("amdgcn", "nvptx", "host", "stub"), "math.hpp": ("amdgcn", "nvptx", "host", "stub"),
            "hopper.hpp": ("nvptx", "host")}
NAME = r"[a-z_][a-z0-9_]*"


def names_of(calls):
    """The functions and types in "mma_parts<op>, mma_part<op, i>(c, a, b)"."""
    while re.search(r"[(<{][^(<{)>}]*[)>}]", calls):
        calls = re.sub(r"[(<{][^(<{)>}]*[)>}]", "", calls)
    return {name for name in re.split(r"[,;\s]+", calls) if re.fullmatch(NAME, name)}


def contract_of(text):
    names = set()
    for line in text.splitlines():
        entry = re.match(rf"//( {{3}}| {{5}})({NAME}\b.*?)(?:  |(?<=[)>]) (?=\S)|$)", line)
        if entry:
            names |= names_of(entry[2])
    return names


def page_of(text):
    names = set()
    for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        for calls in re.findall(r"`([^`]*)`", row):
            names |= names_of(calls)
    return names


def defines(text, name):
    return re.search(rf"\b{name}(\(|<.*> = | = | {{$|;)", text, re.MULTILINE) is not None


def problems_in(contracts, page, machines):
    """contracts: header -> names; page: names; machines: folder -> its text."""
    problems = [f"docs/machine.md does not list {name}" for name in sorted(set().union(*contracts.values()) - page)]
    problems += [f"docs/machine.md lists {name}, which no contract does" for name in
                 sorted(page - set().union(*contracts.values()))]
    for header, names in contracts.items():
        for machine in MACHINES[header]:
            problems += [f"exec/{machine} does not define {name} of {header}" for name in sorted(names)
                         if not defines(machines[machine], name)]
    return problems


def problems_of(root):
    folder = root / "include/tilewright/exec"
    contracts = {header: contract_of((folder / header).read_text(encoding="utf-8")) for header in MACHINES}
    code = re.compile(r"^\s*//.*\n", re.MULTILINE)
    text_of = lambda files: "".join(code.sub("", file.read_text(encoding="utf-8")) for file in sorted(files))
    shared = {"amdgcn": text_of(folder / f for f in ("exec.hpp", "math.hpp", "global_buffer.hpp", "hopper.hpp"))}
    for machine in ("nvptx", "host", "stub"):
        shared[machine] = shared["amdgcn"] + text_of([folder / "no_schedule.hpp"])
    machines = {machine: shared[machine] + text_of((folder / machine).glob("*.hpp")) for machine in shared}
    return problems_in(contracts, page_of((root / "docs/machine.md").read_text(encoding="utf-8")), machines)


def self_test():
    contract = contract_of("//   one(a, b)  it\n//   two<n>(), three  them\n//     four()  member\n//        not this\n// nor this")
    assert contract == {"one", "two", "three", "four"}, contract
    page = page_of("| `one(a, b)`, `two<n>()`; `three` | text `five()` |\n| `four()` | |\ntext `six`")
    assert page == contract, page
    whole = "void one(int);\nvoid two() {}\nstruct three {\n  void four();"
    machines = dict.fromkeys(MACHINES["exec.hpp"], whole)
    assert not problems_in({"exec.hpp": contract}, page, machines)
    assert problems_in({"exec.hpp": contract}, page - {"one"}, machines) == ["docs/machine.md does not list one"]
    assert len(problems_in({"exec.hpp": contract - {"one"}}, page, machines)) == 1
    machines["stub"] = whole.replace("two", "too")
    assert problems_in({"exec.hpp": contract}, page, machines) == ["exec/stub does not define two of exec.hpp"]
    return []


def main(arguments):
    root = Path(arguments[0]) if arguments[:1] not in ([], ["--self-test"]) else Path(__file__).resolve().parents[1]
    problems = self_test() if arguments == ["--self-test"] else problems_of(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
