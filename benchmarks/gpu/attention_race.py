#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention forward on random shapes: this library against cuDNN through its C++ frontend, verified and timed in one process.

    benchmarks/gpu/attention_race.py LIBRARY CUDNN [--dtype 16|e4m3] [--cases 60] [--seed S] [--rounds 3] [--json FILE --commit C]

LIBRARY is libtilewright_attention.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON), CUDNN libattention_cudnn.so (attention_cudnn_library.cpp). Head
dimensions of 64 to 256, shared key heads, lengths from 512 to 16,384 (half of them not multiples of a tile), full, causal or windowed. Both get
the same data in interleaved CUDA graphs; errors are against float64 on one head. e4m3: one scale for each tensor, O in bf16; cuDNN stores P as
e4m3 times a factor, here 256, and `error_cudnn_s1` is its error with the factor 1. Exits with 1 if an error of this library is larger than 1.3
times cuDNN's.
"""
import argparse
import ctypes
import math
import random
import statistics
import sys
import time

import torch

from attention import Tilewright
from results_file import parse_arguments, write_results
from timing import Race


class Problem(ctypes.Structure):
    """`problem` of attention_cudnn_library.cpp."""
    _fields_ = ([(n, ctypes.c_int) for n in ("is_8bit", "is_bf16", "o_is_8bit", "batch", "heads", "kv_heads", "queries", "keys", "head_dim", "value_dim")] +
                [("strides", ctypes.c_longlong * 3 * 4), ("left", ctypes.c_int), ("right", ctypes.c_int), ("scale", ctypes.c_float)])


class Cudnn:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.attention_cudnn_plan.restype = ctypes.c_void_p
        self.library.attention_cudnn_message.restype = ctypes.c_char_p
        if self.library.attention_cudnn_problem_bytes() != ctypes.sizeof(Problem):
            raise SystemExit("attention_race.py: the library's `problem` has another size than this script's")

    def prepare(self, q, k, v, o, window, scales=None, s_factor=256.0, o_factor=1.0):
        """A function that queues the kernel; None with a reason in self.why where cuDNN has none. O in 8 bits is multiplied by o_factor."""
        small = q.element_size() == 1
        p = Problem(small, q.dtype == torch.bfloat16, o.element_size() == 1, q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3],
                    v.shape[3])
        for i, x in enumerate((q, k, v, o)):
            p.strides[i][0], p.strides[i][1], p.strides[i][2] = x.stride()[:3]
        p.left, p.right, p.scale = *window, 1 / math.sqrt(q.shape[3])
        size = ctypes.c_longlong()
        plan = self.library.attention_cudnn_plan(ctypes.byref(p), ctypes.byref(size))
        if not plan:
            self.why = self.library.attention_cudnn_message().decode()
            return None
        workspace = torch.empty(max(size.value, 1), device="cuda", dtype=torch.uint8)
        six = torch.tensor([*(scales or (1, 1, 1)), 1 / s_factor, s_factor, o_factor], device="cuda", dtype=torch.float32)
        amax = torch.zeros(2, device="cuda")

        def call(_alive=(q, k, v, o)):
            if self.library.attention_cudnn_run(ctypes.c_void_p(plan), *(ctypes.c_void_p(x.data_ptr()) for x in (q, k, v, o, six, amax, workspace)),
                                                ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)):
                raise RuntimeError(self.library.attention_cudnn_message().decode())
        return call


def random_case(rng, small):
    dim, value_dim = rng.choice([(64, 64), (128, 128), (128, 128), (192, 192), (256, 256)] + [(96, 96), (192, 128)] * (not small))
    length = int(2 ** rng.uniform(9, 14))
    length = length if rng.random() < 0.5 else max(512, length // 128 * 128)
    keys = length if small or rng.random() < 0.8 else length + rng.choice([128, 1000, 4096])
    batch = max(1, min(16, round(16384 / length * rng.choice([0.5, 1, 2]))))
    kv_heads = rng.choice([1, 2, 4, 8])
    heads = kv_heads * rng.choice([1, 2, 4, 8])
    while heads * dim < 1024:
        heads, kv_heads = heads * 2, kv_heads * 2
    window = rng.choice([(-1, -1), (-1, -1), (-1, 0), (-1, 0)] + [(rng.choice([127, 1000, 4095]), 0)] * (not small))
    return dim, value_dim, length, keys, batch, min(heads, 64), min(kv_heads, 64), window


def pairs_seen(length, keys, window):
    """Pairs of a query and a key that it sees, of one head."""
    rows = torch.arange(length, dtype=torch.float64) + keys - length
    last = torch.full_like(rows, keys - 1) if window[1] < 0 else (rows + window[1]).clamp(max=keys - 1)
    first = torch.zeros_like(rows) if window[0] < 0 else (rows - window[0]).clamp(min=0)
    return float((last - first + 1).clamp(min=0).sum())


def reference(q, k, v, window):
    """Float64, some rows of one head: (rows, O)."""
    rows = torch.arange(0, q.shape[0], max(1, q.shape[0] // 512), device="cuda")
    s = (q[rows].double() @ k.double().T) / math.sqrt(q.shape[1])
    distance = torch.arange(k.shape[0], device="cuda")[None] - (rows[:, None] + k.shape[0] - q.shape[0])
    if window[0] >= 0:
        s.masked_fill_(distance < -window[0], -math.inf)
    if window[1] >= 0:
        s.masked_fill_(distance > window[1], -math.inf)
    return rows, torch.softmax(s, -1) @ v.double()


def run_case(ours, theirs, rng, small, rounds, seconds):
    dim, value_dim, length, keys, batch, heads, kv_heads, window = random_case(rng, small)
    dtype = torch.float8_e4m3fn if small else rng.choice([torch.half, torch.bfloat16])
    make = lambda n, h, d: torch.randn(batch, n, h, d, device="cuda", dtype=torch.bfloat16 if small else dtype).transpose(1, 2)
    q, k, v = make(length, heads, dim), make(keys, kv_heads, dim), make(keys, kv_heads, value_dim)
    scales, of_heads = None, (None, None, None)
    if small:
        scales = [float(x.float().abs().max()) / 448 for x in (q, k, v)]
        q, k, v = ((x.float() / s).to(dtype) for x, s in zip((q, k, v), scales))
        of_heads = [torch.full((batch * h,), s, device="cuda") for h, s in zip((heads, kv_heads, kv_heads), scales)]
    # In 8 bits cuDNN has no 16-bit O on Hopper. Its O is compared with ours after the same rounding.
    types, o_factor = (torch.bfloat16 if small else dtype, dtype), 1.0
    outputs = [torch.empty(batch, length, heads, value_dim, device="cuda", dtype=t).transpose(1, 2) for t in types]
    row = {"dtype": str(dtype)[6:], "dim": dim, "value_dim": value_dim, "queries": length, "keys": keys, "batch": batch, "heads": heads, "kv_heads": kv_heads,
           "left": window[0], "right": window[1]}
    calls = {"tilewright": ours.prepare(q, k, v, outputs[0], window[1] == 0, scales=of_heads, left=window[0])}
    if small:
        calls["tilewright"]()
        o_factor = 224 / float(outputs[0].float().abs().max())
    calls["cudnn"] = theirs.prepare(q, k, v, outputs[1], window, scales, o_factor=o_factor)
    if calls["cudnn"] is None:
        return row | {"refused": theirs.why}
    b, h = batch - 1, heads - 1
    exact = [x[b, i].double() * s for x, i, s in zip((q, k, v), (h, h * kv_heads // heads, h * kv_heads // heads), scales or (1, 1, 1))]
    rows, wanted = reference(*exact, window)
    for (name, call), o in zip(calls.items(), outputs):
        call()
        torch.cuda.synchronize()
        computed = o[b, h][rows].double()
        if small:  # the same rounding for both
            computed = (computed * (o_factor if name == "tilewright" else 1)).to(torch.float8_e4m3fn).double() / o_factor
        row[f"error_{name}"] = float((computed - wanted).norm() / wanted.norm())
    if small:
        theirs.prepare(q, k, v, outputs[1], window, scales, s_factor=1.0, o_factor=o_factor)()
        row["error_cudnn_s1"] = float((outputs[1][b, h][rows].double() / o_factor - wanted).norm() / wanted.norm())
    times = Race(calls, seconds).times(rounds)
    flops = 2 * (dim + value_dim) * batch * heads * pairs_seen(length, keys, window)
    row |= {name: flops / statistics.median(t[name] for t in times) / 1e12 for name in calls}
    return row | {"ratio_to_cudnn": statistics.median(t["cudnn"] / t["tilewright"] for t in times)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("cudnn")
    parser.add_argument("--dtype", default="16", choices=["16", "e4m3"])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.004, help="length of a block of launches")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case begins")
    options = parse_arguments(parser)
    ours, theirs, rng = Tilewright(options.library), Cudnn(options.cudnn), random.Random(options.seed)
    torch.manual_seed(options.seed)
    rows, wrong = [], 0
    begin = time.monotonic()
    while len(rows) < options.cases and time.monotonic() - begin < options.budget:
        row = run_case(ours, theirs, rng, options.dtype == "e4m3", options.rounds, options.seconds)
        bad = "refused" not in row and not row["error_tilewright"] <= 1.3 * row["error_cudnn"] + 1e-4
        wrong += bad
        rows.append(row)
        print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()), "WRONG" if bad else "", flush=True)
    ratios = sorted(row["ratio_to_cudnn"] for row in rows if "ratio_to_cudnn" in row)
    if ratios:
        print(f"{len(ratios)} of {len(rows)} cases: ratio to cuDNN {math.exp(statistics.fmean(map(math.log, ratios))):.3f}, lowest "
              f"{', '.join(f'{r:.3f}' for r in ratios[:5])}", flush=True)
    write_results(options, seed=options.seed, rows=rows)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
