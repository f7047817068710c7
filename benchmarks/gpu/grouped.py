#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Grouped products on an NVIDIA GPU: this library against torch._grouped_mm, verified and timed in one process.

    benchmarks/gpu/grouped.py LIBRARY [--run KIND/TYPE/TILE+TILE...,...] [--case NAME,...] [--seed N] [--draw N] [--seconds S] [--rounds N]
                              [--json FILE --commit C] [--check-only]

LIBRARY is libtilewright_grouped.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON), or libtilewright_grouped_exact.so, whose tile is "exact". Kinds:
forward, slots, dx, dw; scaled (block-scaled e4m3, in groups) and dense (block-scaled, one product, against torch._scaled_mm with one scale,
that is cublasLt without block scales). The others are compared with torch._grouped_mm of bf16. Cases: fixed, drawn, large (4,096 rows in
each group and more), small, dense, blocks (drawn: dense, or groups of multiples of 128 rows), experts (both GEMMs of expert layers of
models). A case is groups x rows in all x n x k.
Where Python finds deep_gemm, it takes part in the block-scaled GEMMs that it can compute, and its results are compared as well.
All contenders are timed in interleaved CUDA graphs; data are Gaussian. Prints medians in TFLOP/s,
the ratio to torch, and GB/s of the bytes that the product must move. Results are compared with float64 over rows at both ends of groups,
and with torch everywhere. Exits with 1 if one is wrong.
"""
import argparse
import ctypes
import math
import random
import statistics
import sys

import torch

try:
    import deep_gemm
except ImportError:
    deep_gemm = None

from results_file import parse_arguments, write_results
from timing import Race
import torch.nn.functional as F

# Groups, rows in all, n, k; groups of equal length.
FIXED = ((8, 16384, 4096, 4096), (64, 16384, 2048, 7168), (128, 8192, 1536, 4096), (8, 1024, 14336, 4096), (4, 32768, 4096, 7168),
      (4, 32768, 7168, 2048), (8, 32768, 4096, 7168), (8, 32768, 7168, 2048), (32, 8192, 7168, 2048))
# m, n, k of dense products.
DENSE = ((4096, 7168, 16384), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 7168, 2048), (4096, 24576, 1536), (4096, 2112, 7168))
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn}


class Problem(ctypes.Structure):
    """grouped_problem of grouped_library.cu."""
    _fields_ = ([(name, ctypes.c_void_p) for name in ("a", "b", "c", "ends", "counts")] +
                [(name, ctypes.c_int) for name in ("groups", "slot_rows", "m", "n", "k", "lda", "ldb", "ldc")] +
                [("stride", ctypes.c_longlong), ("alpha", ctypes.c_float), ("beta", ctypes.c_float)] +
                [(name, ctypes.c_void_p) for name in ("a_scales", "b_scales")] +
                [(name, ctypes.c_int) for name in ("row_stride_a_scales", "k_stride_a_scales", "ld_b_scales")] +
                [("stride_b_scales", ctypes.c_longlong), ("workspace", ctypes.c_void_p)])


class Tilewright:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call = self.library.tilewright_grouped
        self.call.restype = ctypes.c_char_p
        self.call.argtypes = [ctypes.c_char_p, ctypes.POINTER(Problem), ctypes.c_void_p]
        if self.library.tilewright_grouped_problem_bytes() != ctypes.sizeof(Problem):
            raise SystemExit("grouped.py: the library's grouped_problem has another size than this script's")

    def prepare(self, name, problem):
        """A function that queues the kernel on the current stream."""

        def call():
            why = self.call(name.encode(), ctypes.byref(problem), torch.cuda.current_stream().cuda_stream)
            if why:
                raise SystemExit(f"grouped.py: {name}: {why.decode()}")
        return call


def drawn_cases(count, seed):
    """Log-uniform lengths; groups of unequal length, one in eight empty."""
    random.seed(seed)
    cases = []
    for _ in range(count):
        def length(low, high, unit):
            return max(1, round(math.exp(random.uniform(math.log(low), math.log(high))) / unit)) * unit
        groups, n, k = length(2, 256, 1), length(512, 14336, 64), length(512, 8192, 64)
        while groups * n * k > 4e9:
            groups //= 2
        rows = length(max(256, 8 * groups), 65536, 1)
        weights = [0 if random.random() < 0.125 else random.lognormvariate(0, 1) for _ in range(groups)]
        weights[0] = weights[0] or 1
        cases.append((groups, rows, n, k, weights))
    return cases


def drawn_blocks(kind, count, seed):
    """Block-scaled GEMMs of layers' lengths: rows log-uniform; of groups, multiples of 128, as DeepGEMM's contiguous layout wants them."""
    random.seed(seed)
    cases = []
    for _ in range(count):
        n, k = random.choice(((2112, 7168), (24576, 1536), (7168, 16384), (4096, 7168), (7168, 2048), (6144, 4096), (1536, 4096), (5120, 2048)))
        if kind == "dense":
            cases.append((1, int(math.exp(random.uniform(math.log(48), math.log(8192)))) // 4 * 4, n, k))
            continue
        groups = random.choice((2, 4, 8, 16, 32))
        while groups * n * k > 3e9:
            groups //= 2
        blocks = [max(0, round(random.lognormvariate(math.log(random.choice((1, 4, 16))), 0.7))) for _ in range(groups)]
        blocks[0] = blocks[0] or 1
        cases.append((groups, 128 * sum(blocks), n, k, blocks))
    return cases


def expert_cases(seed):
    """Both GEMMs of expert layers: tokens choose their experts at random, some experts more often."""
    random.seed(seed)
    cases = []
    for experts, choices, d, n in ((8, 2, 4096, 14336), (128, 8, 4096, 1536), (256, 8, 7168, 2048), (128, 4, 2880, 2880)):
        for tokens in (4096, 16384):
            weights = [random.lognormvariate(0, 0.3) for _ in range(experts)]
            chosen = random.choices(range(experts), weights, k=tokens * choices)
            counts = [0] * experts
            for e in chosen:
                counts[e] += 1
            cases += [(experts, tokens * choices, 2 * n, d, counts), (experts, tokens * choices, d, n, counts)]
    return cases


def cases_of(name, kind, options):
    if name == "experts":
        return expert_cases(options.seed)
    if name == "blocks":
        return drawn_blocks(kind, options.draw, options.seed)
    if name == "dense":
        return [(1, m, n, k) for m, n, k in DENSE]
    if name == "small":
        return [(5, 403, 136, 208, [1, 0, 129, 3, 270]), (3, 40, 520, 512, [0, 1, 0])]
    if name == "large":
        return [case for case in FIXED if case[1] // case[0] >= 4096]
    return FIXED if name == "fixed" else drawn_cases(options.draw, options.seed)


def ends_of(case):
    groups, rows = case[:2]
    weights = case[4] if len(case) > 4 else [1] * groups
    total, ends, sum_so_far = sum(weights), [], 0.0
    for w in weights:
        sum_so_far += w
        ends.append(round(rows * sum_so_far / total))
    return ends


def gaussian(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16).to(dtype)


def workspace():
    """hopper_gemm_workspace::bytes, whose counters are 0."""
    return torch.zeros(2 * 132 * 128 * 256 + 1024, device="cuda")


class Case:
    """Tensors of one product. forward: C = A W^T by rows; dx: the same with W contiguous along n; dw: C = A^T B by group."""

    def __init__(self, kind, case, dtype):
        groups, rows, n, k = case[:4]
        self.kind, self.ends, self.n, self.k, self.rows = kind, ends_of(case), n, k, rows
        self.offsets = torch.tensor(self.ends, device="cuda", dtype=torch.int32)
        self.begins = [0] + self.ends[:-1]
        counts = [e - b for b, e in zip(self.begins, self.ends)]
        self.counts = torch.tensor(counts, device="cuda", dtype=torch.int32)
        result = torch.bfloat16 if dtype == torch.float8_e4m3fn else dtype
        common = {"ends": self.offsets.data_ptr(), "groups": groups, "alpha": 1.0, "beta": 0.0, "n": n}
        if kind == "dw":  # m = k of the forward product, groups along k
            self.a, self.b = gaussian(rows, k, dtype=dtype), gaussian(rows, n, dtype=dtype)
            self.c = torch.full((groups, k, n), float("nan"), device="cuda", dtype=result)
            self.problem = Problem(a=self.a.data_ptr(), b=self.b.data_ptr(), c=self.c.data_ptr(), m=k, k=rows, lda=k, ldb=n, ldc=n,
                                   stride=k * n, **common)
            self.torch = lambda: torch._grouped_mm(self.a.t(), self.b, offs=self.offsets)
            written = groups * k * n
        else:
            slot_rows = max(counts) if kind == "slots" else 0
            if kind == "slots":  # torch gets the rows without gaps
                self.begins, self.ends = [g * slot_rows for g in range(groups)], [g * slot_rows + c for g, c in enumerate(counts)]
                rows = self.rows = groups * slot_rows
                common = {"counts": self.counts.data_ptr(), "slot_rows": slot_rows, **{key: v for key, v in common.items() if key != "ends"}}
            self.a = gaussian(rows, k, dtype=dtype)
            self.b = gaussian(groups, n, k, dtype=dtype) if kind != "dx" else gaussian(groups, k, n, dtype=dtype)
            self.c = torch.full((rows + 64, n), 77.0, device="cuda", dtype=result)  # the last rows must not change
            self.workspace = workspace()
            self.problem = Problem(a=self.a.data_ptr(), b=self.b.data_ptr(), c=self.c.data_ptr(), m=rows, k=k, lda=k,
                                   ldb=k if kind != "dx" else n, ldc=n, stride=n * k, workspace=self.workspace.data_ptr(), **common)
            theirs = torch.bfloat16
            self.index = torch.cat([torch.arange(b, e, device="cuda") for b, e in zip(self.begins, self.ends)])
            left = self.a.to(theirs)[self.index] if kind == "slots" else self.a.to(theirs)
            right = self.b.to(theirs) if kind == "dx" else self.b.to(theirs).transpose(-2, -1)
            self.torch = lambda: torch._grouped_mm(left, right, offs=self.offsets)
            written = sum(counts) * n
        busy = sum(c > 0 for c in counts)
        read = (sum(counts) * k + (self.b.numel() if kind == "dw" else busy * n * k)) * self.a.element_size()
        self.bytes = read + written * self.c.element_size()

    def error(self):
        """The error in the Frobenius norm against float64 over some rows of some groups; NaN where rows were spoilt."""
        worst = 0.0
        groups = [g for g in range(len(self.ends)) if self.ends[g] > self.begins[g]]
        for g in sorted(set(groups[:2] + groups[-2:])):
            begin, end = self.begins[g], self.ends[g]
            if self.kind == "dw":
                a, b = self.a[begin:end, :48].double().t(), self.b[begin:end].double()
                got, wanted = self.c[g, :48].double(), a @ b
            else:
                picked = sorted(set(list(range(begin, min(begin + 4, end))) + list(range(max(begin, end - 4), end))))
                b = self.b[g].double()
                wanted = self.a[picked].double() @ (b if self.kind == "dx" else b.t())
                got = self.c[picked].double()
            worst = max(worst, float((got - wanted).norm() / wanted.norm()))
            if not torch.isfinite(got).all():
                return float("nan")
        if self.kind != "dw":
            spared = torch.ones(len(self.c), dtype=torch.bool, device="cuda")
            spared[self.index] = False
            if not (self.c[spared] == 77).all():
                return float("nan")
        if self.kind == "dw":
            for g in range(len(self.ends)):
                if self.ends[g] == self.begins[g] and not (self.c[g] == 0).all():
                    return float("nan")
        return worst

    def difference(self):
        """The same against torch, everywhere."""
        theirs = self.torch()
        ours = self.c if self.kind == "dw" else self.c[self.index]
        wrong = right = 0.0
        for x, y in zip(ours.flatten().split(1 << 26), theirs.flatten().split(1 << 26)):
            wrong += float((x.float() - y.float()).square().sum(dtype=torch.float64))
            right += float(y.float().square().sum(dtype=torch.float64))
        return math.sqrt(wrong / right)


class ScaledCase:
    """Block-scaled e4m3, contiguous or dense (one group): scales of A lie along m, as other libraries want them."""

    def __init__(self, kind, case):
        self.kind, (groups, rows, n, k) = kind, case[:4]
        self.ends, self.rows, self.n, self.k = ends_of(case), rows, n, k
        self.offsets = torch.tensor(self.ends, device="cuda", dtype=torch.int32)
        self.a, self.b = gaussian(rows, k, dtype=torch.bfloat16), gaussian(groups, n, k, dtype=torch.bfloat16)
        self.a8, self.a_scales = quantise(self.a, 1)
        self.b8, self.b_scales = quantise(self.b, 128)
        self.a_scales = self.a_scales.t().contiguous()  # k / 128 x rows
        self.c = torch.full((rows + 64, n), 77.0, device="cuda", dtype=torch.bfloat16)
        self.workspace = workspace()
        self.problem = Problem(a=self.a8.data_ptr(), b=self.b8.data_ptr(), c=self.c.data_ptr(), ends=self.offsets.data_ptr(), groups=groups,
                               m=rows, n=n, k=k, lda=k, ldb=k, ldc=n, stride=n * k, alpha=1.0, beta=0.0,
                               a_scales=self.a_scales.data_ptr(), b_scales=self.b_scales.data_ptr(), row_stride_a_scales=1,
                               k_stride_a_scales=self.a_scales.stride(0), ld_b_scales=self.b_scales.stride(-2),
                               stride_b_scales=self.b_scales.stride(0), workspace=self.workspace.data_ptr())
        one = torch.ones((), device="cuda")
        if kind == "dense":
            right = self.b8[0].t()
            self.torch = lambda: torch._scaled_mm(self.a8, right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
        else:
            right = self.b.transpose(-2, -1)
            self.torch = lambda: torch._grouped_mm(self.a, right, offs=self.offsets)
        busy = sum(e > b for b, e in zip([0] + self.ends, self.ends))
        self.bytes = self.a8.numel() + busy * n * k + 2 * rows * n

    def error(self):
        """The error in the Frobenius norm against float64 with the same e4m3 numbers and scales."""
        worst = 0.0
        groups = [g for g in range(len(self.ends)) if self.ends[g] > (self.ends[g - 1] if g else 0)]
        for g in sorted(set(groups[:2] + groups[-2:])):
            begin, end = (self.ends[g - 1] if g else 0), self.ends[g]
            picked = sorted(set(list(range(begin, min(begin + 4, end))) + list(range(max(begin, end - 4), end))))
            b_scales = self.b_scales[g].double().repeat_interleave(128, 0)[:self.n].repeat_interleave(128, 1)[:, :self.k]
            a_scales = self.a_scales[:, picked].double().t().repeat_interleave(128, 1)[:, :self.k]
            wanted = (self.a8[picked].double() * a_scales) @ (self.b8[g].double() * b_scales).t()
            got = self.c[picked].double()
            worst = max(worst, float((got - wanted).norm() / wanted.norm()))
            if not torch.isfinite(got).all():
                return float("nan")
        return worst if (self.c[self.rows:] == 77).all() else float("nan")

    def difference(self):
        return 0.0

    def deep_gemm(self):
        """DeepGEMM's call for the same operands and result; None where it has none."""
        begins = [0] + self.ends[:-1]
        if not deep_gemm or any((e - b) % 128 for b, e in zip(begins, self.ends)) and self.kind != "dense" or self.rows % 4:
            return None
        left, result = (self.a8, self.a_scales.t()), self.c[:self.rows]
        if self.kind == "dense":
            right = (self.b8[0], self.b_scales[0])
            return lambda: deep_gemm.fp8_gemm_nt(left, right, result)
        of_row = torch.cat([torch.full((e - b,), g, device="cuda", dtype=torch.int32) for g, (b, e) in enumerate(zip(begins, self.ends))])
        return lambda: deep_gemm.m_grouped_fp8_gemm_nt_contiguous(left, (self.b8, self.b_scales), result, of_row)


def quantise(x, rows):
    """e4m3 numbers, and scales of blocks of `rows` x 128."""
    *batch, m, k = x.shape
    padded = F.pad(x.float(), (0, -k % 128, 0, -m % rows))
    blocks = padded.view(*batch, padded.shape[-2] // rows, rows, padded.shape[-1] // 128, 128)
    scales = blocks.abs().amax((-3, -1)).clamp_min(1e-9) / 448
    quantised = (blocks / scales[..., None, :, None]).view(*padded.shape)
    return quantised[..., :m, :k].to(torch.float8_e4m3fn).contiguous(), scales


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--run", default="forward/bf16/auto")
    parser.add_argument("--case", default="fixed,drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draw", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.01, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check-only", action="store_true")
    options = parse_arguments(parser)
    ours = Tilewright(options.library)
    torch.manual_seed(options.seed)
    results, failures = [], 0
    for run in options.run.split(","):
        kind, element, tiles = run.split("/")
        scaled = kind in ("scaled", "dense")
        prefix = {"forward": f"{element} ", "slots": f"{element} ", "scaled": "scaled ", "dense": "dense scaled "}.get(kind, f"{kind} {element} ")
        for case in [c for name in options.case.split(",") for c in cases_of(name, kind, options)]:
            data = ScaledCase(kind, case) if scaled else Case(kind, case, TYPES[element])
            names = [prefix + tile for tile in tiles.split("+")]
            row = {"kind": kind, "type": element, "groups": case[0], "rows": case[1], "n": case[2], "k": case[3], "error": 0.0}
            contenders = {}
            calls = {name.split()[-1]: ours.prepare(name, data.problem) for name in names}
            if rival := scaled and data.deep_gemm():
                calls["deep_gemm"] = rival
            for name, call in calls.items():
                data.c.fill_(float("nan") if kind == "dw" else 77.0)
                call()
                torch.cuda.synchronize()
                errors = (data.error(), data.difference())
                error = math.inf if any(map(math.isnan, errors)) else max(errors)
                if name != "deep_gemm":
                    row["error"] = max(row["error"], error)
                elif error > 6e-3:
                    print(f"deep_gemm: error {error}, left out")
                    continue
                contenders[name] = call
            wrong = not row["error"] <= (6e-3 if element == "e4m3" else 4e-3)
            failures += wrong
            if not options.check_only:
                contenders["torch"] = data.torch
                race = Race(contenders, options.seconds)
                times = race.times(options.rounds)
                work = 2.0 * case[1] * case[2] * case[3]
                medians = {name: statistics.median(t[name] for t in times) for name in contenders}
                best = min(m for name, m in medians.items() if name not in ("torch", "deep_gemm"))
                row.update({name: work / m / 1e12 for name, m in medians.items()})
                row["GB/s"] = data.bytes / best / 1e9
                row["ratio"] = medians["torch"] / best
                if "deep_gemm" in medians:
                    row["ratio_to_deep_gemm"] = medians["deep_gemm"] / best
                row.update({f"host_us_{name}": us for name, us in race.host_us().items()})
                row["not_in_graphs"] = ",".join(race.in_stream)
            results.append(row)
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
                  "WRONG" if wrong else "", flush=True)
            del data, contenders
    if not options.check_only:
        ratios = [row["ratio"] for row in results]
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, lowest {min(ratios):.3f}")
        if rivals := [row["ratio_to_deep_gemm"] for row in results if "ratio_to_deep_gemm" in row]:
            print(f"of DeepGEMM, {len(rivals)}: geometric mean {statistics.geometric_mean(rivals):.3f}, lowest {min(rivals):.3f}")
    write_results(options, cases=results)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
