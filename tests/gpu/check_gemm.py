#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the gemm program on an NVIDIA GPU: results, memory errors, races, and LDS conflicts by hardware counter.

    tests/gpu/check_gemm.py build/release/tools/gemm/gemm-cuda [--out FOLDER] [--jobs N] [--only PART]...

Needs compute-sanitizer and ncu (NVIDIA). Prints a table, writes results.json to the folder, and exits with 1 if anything is
wrong. Every product runs on fresh random data, on a C full of NaN where beta is 0, and is compared with a double-precision reference.
Parts: portable, hopper, memcheck, racecheck, synccheck, conflicts.
"""
import argparse
import concurrent.futures
import csv
import io
import itertools
import json
import pathlib
import random
import subprocess
import sys

LAYOUTS = ["".join(x) for x in itertools.product("rc", repeat=3)]
SHAPES = [(1, 1, 1), (17, 17, 17), (127, 127, 127), (128, 128, 32), (1, 4096, 64), (333, 77, 1000), (256, 384, 4096)]
LARGE = [(1000, 5000, 2000), (4096, 4096, 4096)]
PORTABLE = "gemm_128x128"
TILES = ("128x256_b2 128x256 128x176_b2_pp 128x192_b2 128x112_a4 256x112_a2 64x64 64x96 128x160_a2_swap_pp 128x176_b2 "
         "128x112_b2_pp 128x160_a2_b4 128x128_a2_b4 128x128_a4 128x96_a4 128x80_a4 64x96_a4 64x192_swap 64x96_b4_swap 64x128_b4_swap 128x64_swap "
         "256x32_swap").split()
HOPPER_TILES = {f"hopper_{t}": tuple(map(int, t.split("_")[0].split("x")))[::-1 if "swap" in t else 1] for t in TILES}
SANITIZERS = ("memcheck", "racecheck", "synccheck")


def run(command, check=True, timeout=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not done after {timeout} s")
    if check and done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def arguments_of(shape, dtype, layout, *more):
    m, n, k = map(str, shape)
    result = ["--out-dtype", "bf16"] if dtype == "fp8" else []
    return ["--m", m, "--n", n, "--k", k, "--dtype", dtype, "--layout", layout, *result, *more]


def portable_products():
    """Every layout on few shapes; then what else the portable kernels offer."""
    for shape, dtype in itertools.product(SHAPES + LARGE, ("f16", "bf16")):
        for layout in LAYOUTS if shape in SHAPES else ("rrr", "rcr", "crr", "ccc"):
            for alpha, beta in (("1", "0"), ("1.5", "-0.5")):
                yield arguments_of(shape, dtype, layout, "--alpha", alpha, "--beta", beta, "--policy", PORTABLE)
    for dtype in ("f16", "bf16"):
        for shape in ((200, 328, 136), (129, 8, 1000), (8, 1000, 40)):
            usual = arguments_of(shape, dtype, "rcr", "--policy", PORTABLE)
            yield from ([*usual, *more] for more in (
                ["--batch", "5", "--beta", "1"], ["--gap", "24"], ["--split-k", "2"], ["--split-k", "2", "--bias", "--beta", "2"],
                ["--bias", "--activation", "relu"], ["--scale", "0.5", "--row-scale", "--column-scale", "--activation", "gelu"],
                ["--residual", "--activation", "silu", "--batch", "2"], ["--out-dtype", "f32", "--beta", "1"]))
    for policy, order in (("gemm_128x64", "row-groups"), ("gemm_64x64", "row-groups"), (PORTABLE, "rows"), (PORTABLE, "hilbert")):
        yield arguments_of((1000, 1048, 520), "f16", "rcr", "--policy", policy, "--grid-order", order)


def near(length, step, rnd):
    """A length around a tile's, and a multiple of `step`."""
    wanted = rnd.choice([1, length // 2, length - 1, length, length + 1, 2 * length - 3, 2 * length + 9, 5 * length + 1])
    return max(step, wanted // step * step)


def hopper_products():
    """Every tile, with lengths around it, and every layout; half of the variants each, in turns."""
    rnd = random.Random(1)
    variants = [[], ["--alpha", "1.5", "--beta", "-0.5"], ["--batch", "3"], ["--gap", "16"], ["--batch", "2", "--gap", "32", "--beta", "1"],
                ["--bias", "--activation", "relu"], ["--scale", "0.5", "--row-scale", "--column-scale", "--bias", "--activation", "gelu"],
                ["--activation", "silu", "--beta", "1", "--batch", "2", "--gap", "16"], ["--bias", "--column-scale", "--alpha", "-2"],
                ["--residual", "--bias", "--activation", "relu", "--beta", "1", "--gap", "16"]]
    kinds = [*itertools.product(("f16", "bf16"), ("rcr", "rrr", "ccr", "crr")), ("fp8", "rcr")]
    for i, ((policy, (m, n)), (dtype, layout)) in enumerate(itertools.product(HOPPER_TILES.items(), kinds)):
        step = 16 if dtype == "fp8" else 8  # rows and columns begin at multiples of 16 bytes
        for more in variants[i % 2::2]:
            shape = (near(m, step if layout[0] == "c" else 1, rnd), near(n, step, rnd), near(256, step, rnd))
            yield arguments_of(shape, dtype, layout, "--policy", policy, *more)
    # The tile that the program chooses; a column-major C is the product of the transposed operands in reverse order.
    for dtype, layout in (("f16", "rcr"), ("f16", "rrr"), ("bf16", "ccr"), ("bf16", "rcc"), ("f16", "crc"), ("fp8", "rcr")):
        for shape in ((16, 64, 64), (16, 4096, 8192), (1000, 5008, 2000), (3000, 3008, 3008), (2048, 2048, 128)):
            yield arguments_of(shape, dtype, layout)
    for dtype, layout in (("f16", "rcr"), ("bf16", "crr")):
        yield arguments_of((4096, 4096, 4096), dtype, layout)
    # Rows that start anywhere: on copies of the operands, with the kernel that the program chooses and with a named one.
    for i, (shape, layout) in enumerate(itertools.product(((100, 100, 64), (64, 64, 20), (333, 77, 1000), (130, 515, 777)), ("rcr", "rrr", "ccr", "crr"))):
        yield arguments_of(shape, ("f16", "bf16")[i % 2], layout, *variants[i % len(variants)])
        yield arguments_of(shape, ("bf16", "f16")[i % 2], layout, "--policy", list(HOPPER_TILES)[i % len(HOPPER_TILES)], *variants[(i + 4) % len(variants)])
    # Without copies.
    for i, (policy, (dtype, layout)) in enumerate(itertools.product(("128x128", "64x128", "64x64"), kinds)):
        m, n = map(int, policy.split("x"))
        for more in variants[i % 2::2]:
            shape = (near(m, 1, rnd), near(n, 1, rnd), near(512, 1, rnd))
            yield arguments_of(shape, dtype, layout, "--policy", f"hopper_{policy}_any", *(x.replace("16", "5") for x in more))
    # Few rows.
    for i, (m, layout, dtype) in enumerate(itertools.product((1, 5, 8, 16), ("rcr", "rrr", "ccr", "crr"), ("f16", "bf16"))):
        n, k = near(512, 8, rnd), near(2048, 8, rnd)
        yield arguments_of((m, n, k), dtype, layout, "--policy", "hopper_few_rows", *variants[(0, 1, 5, 6, 8)[i % 5]])
        yield arguments_of((m, n + 3, k + 5), dtype, layout, "--policy", "hopper_few_rows_v1", *variants[i % len(variants)])
    yield from products_in_parts()


def products_in_parts():
    """k is split into equal parts, which another kernel adds up; or not at all."""
    for i, (policy, shape, parts) in enumerate((("64x64", (200, 136, 2000), "k in 3 parts"), ("128x128_a4", (130, 1000, 1496), "k in 5 parts"),
                                                ("128x64_swap", (333, 77, 1001), "k in 2 parts"), ("128x256_b2", (129, 264, 4096), "k whole"))):
        more = ([], ["--batch", "2", "--gap", "16", "--beta", "1"], ["--bias", "--activation", "relu"])[i % 3]
        yield arguments_of(shape, ("f16", "bf16")[i % 2], ("rcr", "crr")[i // 2], "--policy", f"hopper_{policy}, {parts}", *more)
    yield arguments_of((72, 144, 4096), "fp8", "rcr", "--policy", "hopper_64x96, k in 4 parts", "--bias", "--beta", "2")


def check_products(program, products, jobs):
    def check(numbered):
        seed, arguments = numbered
        command = [program, "--device", "gpu", "--verify", "--json", "--seed", str(seed + 1), *arguments]
        done = run(command, check=False, timeout=120)
        report = json.loads(done.stdout) if done.stdout.strip().startswith("{") else {}
        verification = report.get("verification") or {}
        ok = done.returncode == 0 and verification.get("correct") is True
        if not ok:
            print("WRONG", " ".join(command), done.stderr.strip(), flush=True)
        return {"arguments": " ".join(arguments), "dtype": report.get("dtype"), "out_dtype": report.get("out_dtype"),
                "kernel": report.get("kernel"), "relative_error": verification.get("relative_error"), "ok": ok}

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(check, enumerate(products)))


def sanitized_products():
    for shape, layout, dtype in (((130, 129, 40), "rrr", "f16"), ((130, 129, 40), "crc", "bf16"), ((256, 136, 72), "rcr", "f16"),
                                 ((256, 136, 72), "crr", "bf16"), ((128, 128, 96), "ccr", "f16"), ((1, 1, 1), "rrr", "f16")):
        yield arguments_of(shape, dtype, layout, "--policy", PORTABLE)
    yield arguments_of((72, 136, 200), "f16", "rcr", "--policy", PORTABLE, "--split-k", "3", "--bias", "--beta", "1")
    for i, (policy, (m, n)) in enumerate(HOPPER_TILES.items()):
        dtype, layout = (("f16", "rcr"), ("bf16", "crr"), ("fp8", "rcr"), ("f16", "ccr"), ("bf16", "rrr"))[i % 5]
        yield arguments_of((m + 8, n + 16, 320), dtype, layout, "--policy", policy, *(["--beta", "1", "--batch", "2"] if i % 2 else ["--bias"]))
    for dtype, layout in (("f16", "rcr"), ("bf16", "crr"), ("fp8", "rcr")):
        yield arguments_of((67, 131, 333), dtype, layout, "--policy", "hopper_64x128_any", "--beta", "1", "--batch", "2", "--gap", "5")
    yield from products_in_parts()


def check_sanitizer(program, tool, jobs):
    def check(arguments):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", program, "--device", "gpu", "--verify", *arguments]
        done = run(command, check=False, timeout=90)
        if done.returncode != 0:
            print(tool, " ".join(arguments), done.stdout[-1500:], done.stderr[-500:], flush=True)
        return {"tool": tool, "arguments": " ".join(arguments), "exit_code": done.returncode, "ok": done.returncode == 0}

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(check, sanitized_products()))


# Wavefronts, by instruction. Counters of the memory pipe itself also see what other traffic adds in a busy kernel; they are reported beside
# these. Copies without registers (cp.async) have none but those.
_SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_PIPE = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = {
    _SASS.format("ld"): "load",
    _SASS.format("ldsm"): "load",
    _SASS.format("st"): "store",
    _PIPE.format("ld"): "load, in the pipe",
    _PIPE.format("st"): "store, in the pipe",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum": "conflicts of copies, in the pipe",
}


def check_conflicts(program):
    rows = []
    for shape, layout, dtype in (((512, 512, 512), "rcr", "f16"), ((512, 512, 512), "rcr", "bf16"), ((512, 512, 512), "rrr", "f16"),
                                 ((256, 384, 200), "crr", "f16"), ((200, 100, 50), "ccc", "bf16"), ((127, 127, 127), "rrr", "f16")):
        command = [program, "--device", "gpu", "--json", *arguments_of(shape, dtype, layout, "--policy", PORTABLE)]
        report = json.loads(run(command).stdout)
        copies_directly = "_v8" in report["kernel"]
        predicted = {"load": 0, "store": 0}
        for line in report["lds"]:
            name = line["instruction"]
            if not name.startswith("st"):
                predicted["load"] += line["predicted_cycles"]
            elif not (copies_directly and name == "st.shared.v4.b32"):
                predicted["store"] += line["predicted_cycles"]
        done = run(["ncu", "--csv", "--clock-control", "none", "--metrics", ",".join(METRICS), *command])
        text = "\n".join(line for line in done.stdout.splitlines() if line.startswith('"'))
        counted = dict.fromkeys(METRICS.values(), 0)
        for row in csv.DictReader(io.StringIO(text)):
            if row["Metric Name"] in METRICS:
                counted[METRICS[row["Metric Name"]]] += int(float(row["Metric Value"].replace(",", "")))
        ok = all(predicted[name] == counted[name] for name in predicted)
        rows.append({"shape": shape, "layout": layout, "dtype": dtype, "kernel": report["kernel"], "predicted": predicted,
                     "counted": counted, "ok": ok})
        print(f"{report['kernel']:40} {'x'.join(map(str, shape)):14} wavefronts predicted {predicted} counted {counted} "
              f"{'equal' if ok else 'DIFFERENT'}", flush=True)
    return rows


def as_json(results):
    """A line for each row."""
    parts = []
    for name, value in results.items():
        lines = [json.dumps(v) for v in value] if isinstance(value, list) else None
        parts.append(f' "{name}": ' + (json.dumps(value) if lines is None else "[\n  " + ",\n  ".join(lines) + "\n ]"))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--jobs", type=int, default=8, help="products at a time")
    parser.add_argument("--only", action="append", help="run this part only")
    options = parser.parse_args()
    first = [options.program, "--device", "gpu", "--json", *arguments_of((64, 64, 64), "f16", "rrr")]
    results = {"device": json.loads(run(first).stdout)["device"]}
    print(results["device"])
    for part in ("portable", "hopper", *SANITIZERS, "conflicts"):
        if options.only and part not in options.only:
            continue
        if part == "conflicts":
            results[part] = check_conflicts(options.program)
        elif part in SANITIZERS:
            results[part] = check_sanitizer(options.program, part, options.jobs)
        else:
            results[part] = check_products(options.program, portable_products() if part == "portable" else hopper_products(), options.jobs)
            worst = {}
            for row in results[part]:
                key = f"{row['dtype']} to {row['out_dtype']}"
                worst[key] = max(worst.get(key, 0), row["relative_error"] or 0)
            print("worst relative errors: " + ", ".join(f"{name} {error:.3g}" for name, error in sorted(worst.items())))
        print(f"{part}: {sum(r['ok'] for r in results[part])} of {len(results[part])} as they should be", flush=True)
        (options.out / "results.json").write_text(as_json(results))
    rows = [r for part in results.values() if isinstance(part, list) for r in part]
    failed = sum(not r["ok"] for r in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
