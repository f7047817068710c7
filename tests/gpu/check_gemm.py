#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the gemm program on a GPU: results, memory errors, races, and LDS conflicts by hardware counter.

    tests/gpu/check_gemm.py build/release/examples/05_gemm/gemm-cuda [--out FOLDER]

Needs compute-sanitizer and ncu (NVIDIA). Prints a table, writes results.json to the folder, and exits with 1 if anything is
wrong. Every shape, type and layout runs on fresh random data and is compared with a double-precision reference.
"""
import argparse
import csv
import io
import itertools
import json
import pathlib
import subprocess
import sys

LAYOUTS = ["".join(x) for x in itertools.product("rc", repeat=3)]
SHAPES = [(1, 1, 1), (17, 17, 17), (127, 127, 127), (128, 128, 32), (1, 4096, 64), (333, 77, 1000), (256, 384, 4096)]
LARGE = [(1000, 5000, 2000), (4096, 4096, 4096)]
TOLERANCE = {"f16": 2e-3, "bf16": 1e-2}


def run(command, check=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def gemm(program, shape, dtype, layout, *more):
    m, n, k = map(str, shape)
    return [program, "--device", "gpu", "--m", m, "--n", n, "--k", k, "--dtype", dtype, "--layout", layout, "--verify", "--json", *more]


def check_results(program):
    rows = []
    seed = 0
    for shape in SHAPES + LARGE:
        for dtype in ("f16", "bf16"):
            for layout in LAYOUTS if shape in SHAPES else ("rrr", "rcr", "crr", "ccc"):
                for alpha, beta in ((1, 0), (1.5, -0.5)):
                    seed += 1
                    done = run(gemm(program, shape, dtype, layout, "--alpha", str(alpha), "--beta", str(beta), "--seed", str(seed)), check=False)
                    report = json.loads(done.stdout) if done.stdout.strip().startswith("{") else {}
                    error = report.get("verification", {}).get("relative_error")
                    ok = done.returncode == 0 and error is not None and error <= TOLERANCE[dtype]
                    rows.append({"shape": shape, "dtype": dtype, "layout": layout, "alpha": alpha, "beta": beta,
                                 "relative_error": error, "kernel": report.get("kernel"), "ok": ok, "stderr": done.stderr.strip()})
                    if not ok:
                        print("WRONG", rows[-1])
    return rows


def check_sanitizer(program, tool):
    rows = []
    for shape, layout, dtype in (((130, 129, 40), "rrr", "f16"), ((130, 129, 40), "crc", "bf16"), ((256, 136, 72), "rcr", "f16"),
                                 ((256, 136, 72), "crr", "bf16"), ((128, 128, 96), "ccr", "f16"), ((1, 1, 1), "rrr", "f16")):
        done = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *gemm(program, shape, dtype, layout)], check=False)
        ok = done.returncode == 0
        rows.append({"tool": tool, "shape": shape, "layout": layout, "dtype": dtype, "ok": ok})
        if not ok:
            print(done.stdout[-2000:], done.stderr[-2000:])
    return rows


# Wavefronts, by instruction. The counters of the memory pipe itself also see what other traffic adds to stores in a busy kernel;
# they are reported beside these.
_SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_PIPE = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = {
    _SASS.format("ld"): "load",
    _SASS.format("ldsm"): "load",
    _SASS.format("st"): "store",
    _PIPE.format("ld"): "load, in the pipe",
    _PIPE.format("st"): "store, in the pipe",
}


def check_conflicts(program):
    rows = []
    for shape, layout, dtype in (((512, 512, 512), "rcr", "f16"), ((512, 512, 512), "rcr", "bf16"), ((512, 512, 512), "rrr", "f16"),
                                 ((256, 384, 200), "crr", "f16"), ((200, 100, 50), "ccc", "bf16"), ((127, 127, 127), "rrr", "f16")):
        command = gemm(program, shape, dtype, layout)
        report = json.loads(run(command).stdout)
        predicted = {"load": 0, "store": 0}
        for line in report["lds"]:
            predicted["store" if line["instruction"].startswith("st") else "load"] += line["predicted_cycles"]
        done = run(["ncu", "--csv", "--clock-control", "none", "--metrics", ",".join(METRICS), *command])
        text = "\n".join(line for line in done.stdout.splitlines() if line.startswith('"'))
        counted = dict.fromkeys(METRICS.values(), 0)
        for row in csv.DictReader(io.StringIO(text)):
            if row["Metric Name"] in METRICS:
                counted[METRICS[row["Metric Name"]]] += int(row["Metric Value"].replace(",", ""))
        ok = all(predicted[name] == counted[name] for name in predicted)
        rows.append({"shape": shape, "layout": layout, "dtype": dtype, "kernel": report["kernel"], "predicted": predicted,
                     "counted": counted, "ok": ok})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    device = json.loads(run(gemm(options.program, (64, 64, 64), "f16", "rrr")).stdout)["device"]
    results = {"device": device, "results": check_results(options.program)}
    worst = {d: max(r["relative_error"] or 0 for r in results["results"] if r["dtype"] == d) for d in TOLERANCE}
    print(f"{device}: {sum(r['ok'] for r in results['results'])} of {len(results['results'])} products right; "
          + ", ".join(f"{d}: worst relative error {e:.3g}" for d, e in worst.items()))
    for tool in ("memcheck", "racecheck", "synccheck"):
        results[tool] = check_sanitizer(options.program, tool)
        print(f"compute-sanitizer {tool}: {sum(r['ok'] for r in results[tool])} of {len(results[tool])} clean")
    results["conflicts"] = check_conflicts(options.program)
    for r in results["conflicts"]:
        print(f"{r['kernel']:20} {'x'.join(map(str, r['shape'])):14} wavefronts predicted {r['predicted']} counted {r['counted']} {'equal' if r['ok'] else 'DIFFERENT'}")
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    parts = [results["results"], results["memcheck"], results["racecheck"], results["synccheck"], results["conflicts"]]
    failed = sum(not r["ok"] for part in parts for r in part)
    print(f"{sum(map(len, parts)) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
