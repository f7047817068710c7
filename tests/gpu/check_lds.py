#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares predicted costs of LDS accesses with the counters of an NVIDIA GPU.

    tests/gpu/check_lds.py build/release/tests/gpu/lds_accesses [--out FILE]

Random instructions of random layouts and distributions, one launch each, and kernels whose addresses the device computes itself.
Needs ncu (NVIDIA). Prints a table, writes every access to the file (JSON), and exits with 1 if a prediction is wrong.
"""
import argparse
import collections
import csv
import io
import json
import pathlib
import subprocess
import sys

LOADS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def counted_wavefronts(program):
    """For each launch, in order: wavefronts of loads and of stores."""
    output = run(["ncu", "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", f"{LOADS},{STORES}", program, "run"])
    table = "\n".join(line for line in output.splitlines() if line.startswith('"'))
    launches = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(table)):
        if row["Metric Name"] in (LOADS, STORES):
            launches[int(row["ID"])][row["Metric Name"]] = int(float(row["Metric Value"].replace(",", "")))
    return [launches[i] for i in sorted(launches)]


def compare(accesses, launches):
    """Compares the counts with the predictions."""
    expected = accesses[-1]["launch"] + 1
    if len(launches) != expected:
        raise SystemExit(f"the profiler saw {len(launches)} launches instead of {expected}")
    for access in accesses:
        access["counted"] = launches[access["launch"]][STORES if access["instruction"].startswith("st") else LOADS]
        access["ok"] = access["counted"] == access["predicted"]


def summarise(accesses):
    groups = collections.defaultdict(list)
    for access in accesses:
        lanes = access["lanes"] if access["kind"] == "instruction" else "addresses by the device"
        groups[access["instruction"], lanes].append(access)
    rows = []
    for (instruction, lanes), members in groups.items():
        extra = [a["counted"] - a["phases"] for a in members]
        rows.append({"instruction": instruction, "lanes": lanes, "accesses": len(members), "equal": sum(a["ok"] for a in members),
                     "with_conflicts": sum(a["predicted"] > a["phases"] for a in members), "most_extra_wavefronts": max(extra)})
    return rows


def as_json(results):
    """A line for each access."""
    parts = []
    for name, value in results.items():
        lines = [json.dumps(v) for v in value] if isinstance(value, list) else None
        parts.append(f' "{name}": ' + (json.dumps(value) if lines is None else "[\n  " + ",\n  ".join(lines) + "\n ]"))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    device = run([options.program, "run"]).strip()  # checks the data without the profiler, too
    accesses = [json.loads(line) for line in run([options.program, "list"]).splitlines()]
    compare(accesses, counted_wavefronts(options.program))
    summary = summarise(accesses)
    print(f"{'instruction':18} {'lanes':24} {'accesses':>8} {'equal':>6} {'with conflicts':>15} {'most extra':>11}")
    for r in summary:
        print(f"{r['instruction']:18} {r['lanes']:24} {r['accesses']:8} {r['equal']:6} {r['with_conflicts']:15} {r['most_extra_wavefronts']:11}")
    wrong = [a for a in accesses if not a["ok"]]
    for access in wrong:
        print("DIFFERENT", access)
    print(f"{device}: {len(accesses) - len(wrong)} of {len(accesses)} predictions equal the counter")
    if options.out:
        options.out.write_text(as_json({"device": device, "summary": summary, "accesses": accesses}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
