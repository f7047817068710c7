#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares docs/benchmarks/amd_predictions.json with what the program computes, and both with what the page claims.

usage: check_ledger.py [--write] LEDGER.json PROGRAM | check_ledger.py --self-test LEDGER.json
"""

import copy
import json
import pathlib
import subprocess
import sys


def differences(one, other, where=""):
    """Numbers may differ by rounding: 0.002, of shares and ratios that have three decimals."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (x, y) in enumerate(zip(one, other)):
            yield from differences(x, y, f"{where}[{i}]")
    elif isinstance(one, float) and isinstance(other, (int, float)):
        if abs(one - other) > 0.002:
            yield f"{where}: the file has {one}, the program computes {other}"
    elif one != other:
        yield f"{where}: the file has {one}, the program computes {other}"


def broken_claims(ledger):
    """What docs/amd_predictions.md says of the rows that were not fitted."""
    if ledger["all"]["median_error"] > 0.20:
        yield "the median error is above 20 %"
    for gpu in ledger["gpus"]:
        if gpu["us"] == "above 60" and gpu["errors"]["median_error"] > 0.15:
            yield f"{gpu['gpu']}: the median error above 60 us is above 15 %"
    if ledger["ordered_right"] < 0.85 * ledger["ordered_pairs"]:
        yield "the order of two kernels is wrong in more than 15 %"
    if ledger["bound_above_measured"] > 0.01 * ledger["bound_rows"]:
        yield "the bound is above the measured time in more than 1 %"
    for own in ledger["own_predicted_over_measured"] + ledger["own_of_all_shapes"]:
        if own["geometric_mean"] > 1.05 or own["above_1.3"]:
            yield f"{own['type']}: a shape is above 1.3, or the mean is above 1.05"


def self_test(ledger):
    """Plants errors in the ledger; each must be found, and the ledger itself must pass."""
    def planted(change):
        damaged = copy.deepcopy(ledger)
        change(damaged)
        return list(differences(damaged, ledger)) + list(broken_claims(damaged))
    cases = [
        (lambda l: l["all"].update(median_error=l["all"]["median_error"] + 0.01), "median_error: the file"),
        (lambda l: l["groups"].pop(), ".groups: the file"),
        (lambda l: l.update(rows=1), ".rows: the file"),
        (lambda l: l["all"].update(median_error=0.21), "above 20 %"),
        (lambda l: l["gpus"][0].update(us="above 60", errors={"median_error": 0.16}), "above 15 %"),
        (lambda l: l.update(ordered_right=0), "wrong in more than 15 %"),
        (lambda l: l.update(bound_above_measured=l["bound_rows"]), "more than 1 %"),
        (lambda l: l["own_predicted_over_measured"][0].update({"above_1.3": 1}), "a shape is above 1.3"),
        (lambda l: l["own_of_all_shapes"][1].update(geometric_mean=1.06), "mean is above 1.05"),
    ]
    missed = [wanted for change, wanted in cases if not any(wanted in found for found in planted(change))]
    if missed or planted(lambda l: None):
        print(f"not found: {missed}; found in the ledger itself: {planted(lambda l: None)}")
    return 1 if missed or planted(lambda l: None) else 0


def main(arguments):
    write = "--write" in arguments
    arguments = [a for a in arguments if a != "--write"]
    if arguments[0] == "--self-test":
        return self_test(json.loads(pathlib.Path(arguments[1]).read_text(encoding="utf-8")))
    text = subprocess.run([arguments[1], "--json"], check=True, capture_output=True, text=True).stdout
    if write:
        pathlib.Path(arguments[0]).write_text(text, encoding="utf-8")
    ledger = json.loads(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    problems = [*differences(ledger, json.loads(text)), *broken_claims(ledger)]
    print("\n".join(problems) if problems else f"{ledger['rows']} rows: as the program computes them")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
