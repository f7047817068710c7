#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gemm program on a GPU, for tools/gpu/report.py: results, memory errors and races, LDS conflicts by NVIDIA's counters.

Every product runs on fresh random data, on a C full of NaN where beta is 0, and is compared with a double-precision reference.
"""
import concurrent.futures
import csv
import io
import itertools
import json
import random
import subprocess

LAYOUTS = ["".join(x) for x in itertools.product("rc", repeat=3)]
SHAPES = [(1, 1, 1), (17, 17, 17), (127, 127, 127), (128, 128, 32), (1, 4096, 64), (333, 77, 1000), (256, 384, 4096)]
LARGE = [(1000, 5000, 2000), (4096, 4096, 4096)]
PORTABLE = "gemm_128x128"


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


def products(arch):
    """Every layout on few shapes, on Hopper with the kernel that the program chooses and with a portable one; then what else there is."""
    rnd = random.Random(1)
    portable = ["--policy", PORTABLE] if arch.startswith("sm_") else []
    for shape, layout, dtype in itertools.product(SHAPES, LAYOUTS, ("f16", "bf16")):
        yield arguments_of(shape, dtype, layout, *rnd.choice(([], portable)), *rnd.choice(([], ["--alpha", "1.5", "--beta", "-0.5"])))
    for shape, layout in itertools.product(LARGE, ("rrr", "rcr", "crc", "ccc")):
        yield arguments_of(shape, rnd.choice(("f16", "bf16")), layout, *rnd.choice(([], portable)))
    for shape, more in itertools.product(((200, 328, 136), (129, 8, 1000), (8, 1000, 40)), (
            ["--batch", "5", "--beta", "1"], ["--gap", "24"], ["--split-k", "2"], ["--split-k", "2", "--bias", "--beta", "2"],
            ["--bias", "--activation", "relu"], ["--scale", "0.5", "--row-scale", "--column-scale", "--activation", "gelu"],
            ["--residual", "--activation", "silu", "--batch", "2"], ["--out-dtype", "f32", "--beta", "1"])):
        yield arguments_of(shape, rnd.choice(("f16", "bf16")), "rcr", *portable, *more)
    for dtype in ("int8", "fp8", "bf8") if not portable else ("fp8",) if arch == "sm_90a" else ():
        yield arguments_of((304, 256, 512), dtype, "rcr")
    if portable:
        for policy, order in (("gemm_128x64", "row-groups"), ("gemm_64x64", "row-groups"), (PORTABLE, "rows"), (PORTABLE, "hilbert")):
            yield arguments_of((1000, 1048, 520), "f16", "rcr", "--policy", policy, "--grid-order", order)
    if arch == "sm_90a":  # gpu_products-cuda checks the kernels; these the way to them
        for policy, more in (("128x112_a4", ["--bias", "--activation", "gelu"]), ("64x96, split_k 4", ["--beta", "2", "--residual"]),
                             ("64x128_any, split_k 1", ["--gap", "5"]), ("128x256_b2", ["--batch", "3", "--gap", "16", "--row-scale"])):
            yield arguments_of((200, 328, 2000), "f16", "rcr", "--policy", f"hopper_{policy}", *more)


def check_products(program, products, jobs):
    def check(numbered):
        seed, arguments = numbered
        command = [program, "--device", "gpu", "--verify", "--json", "--seed", str(seed + 1), *arguments]
        done = run(command, check=False, timeout=120)
        report = json.loads(done.stdout) if done.stdout.strip().startswith("{") else {}
        verification = report.get("verification") or {}
        ok = done.returncode == 0 and verification.get("correct") is True
        return {"arguments": arguments, "kernel": report.get("kernel"), "relative_error": verification.get("relative_error"), "ok": ok}

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(check, enumerate(products)))


def sanitized_products():
    """For compute-sanitizer, with the portable kernels."""
    for shape, layout, dtype in (((130, 129, 40), "rrr", "f16"), ((130, 129, 40), "crc", "bf16"), ((256, 136, 72), "rcr", "f16"),
                                 ((256, 136, 72), "crr", "bf16"), ((128, 128, 96), "ccr", "f16"), ((1, 1, 1), "rrr", "f16")):
        yield arguments_of(shape, dtype, layout, "--policy", PORTABLE)
    yield arguments_of((72, 136, 200), "f16", "rcr", "--policy", PORTABLE, "--split-k", "3", "--bias", "--beta", "1")


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
        command = ["ncu", "--csv", "--clock-control", "none", "--metrics", ",".join(METRICS), *command]
        done = run(command)
        text = "\n".join(line for line in done.stdout.splitlines() if line.startswith('"'))
        counted = dict.fromkeys(METRICS.values(), 0)
        for row in csv.DictReader(io.StringIO(text)):
            if row["Metric Name"] in METRICS:
                counted[METRICS[row["Metric Name"]]] += int(float(row["Metric Value"].replace(",", "")))
        ok = all(predicted[name] == counted[name] for name in predicted)
        rows.append({"shape": shape, "layout": layout, "dtype": dtype, "kernel": report["kernel"], "predicted": predicted,
                     "counted": counted, "ok": ok, "command": command})
    return rows
