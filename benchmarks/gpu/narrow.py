#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Products with narrow weights on an NVIDIA GPU: verified, and timed against a copy's rate and PyTorch.

    benchmarks/gpu/narrow.py LIBRARY [--check N] [--seed N] [--format NAME,...] [--rows M,...] [--layers NxK,...] [--seconds S] [--rounds N]
                             [--beside LIBRARY,...] [--rivals [--marlin LIBRARY]] [--experts] [--json FILE --commit C]

LIBRARY is libtilewright_narrow.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). --check N: N random shapes, formats and types against float64 of
the decoded operands. Then layers of models: weights rotate through buffers of more than three times the L2 cache, launches are in CUDA
graphs. `ratio_to_copy` is the time in which a copy moves the bytes of the weights and their scales (read and written bytes count), over
the kernel's. --beside: other builds of LIBRARY, timed in the same rounds and checked alike. --rivals: torch's bf16 product, its int4 product (_weight_int4pack_mm), kernels in Triton (int4, MXFP4) and Marlin, where
LIBRARY exports `marlin_product` (marlin_cuda of IST-DASLab/marlin with C linkage: a, b, c, scales, m, n, k, workspace, group, stream).
--experts: groups of rows with weights of their own, against torch._grouped_mm in bf16. Exits with 1 if a result is wrong.
"""
import argparse
import ctypes
import random
import statistics
import sys
from pathlib import Path

import torch

from results_file import parse_arguments, write_results
from timing import Race

E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6)
# Bits, group, dtype of scales, zero points.
FORMATS = {"int4_128": (4, 128, torch.bfloat16, False), "int4_32": (4, 32, torch.bfloat16, False),
           "int4_zero_128": (4, 128, torch.bfloat16, True), "mxfp4": (4, 32, torch.uint8, False),
           "nvfp4": (4, 16, torch.float8_e4m3fn, False), "int8": (8, 0, torch.float32, False), "e4m3": (8, 0, torch.float32, False)}
# n, k of layers of open models: 29 MB to 117 MB in 4 bits.
LAYERS = ((4096, 14336), (28672, 4096), (8192, 16384), (28672, 8192), (8192, 28672))


class Problem(ctypes.Structure):
    """narrow_problem of narrow_library.cu."""
    _fields_ = ([(name, ctypes.c_void_p) for name in ("a", "b", "b_scales", "b_zeros", "c", "workspace")] +
                [(name, ctypes.c_int) for name in ("m", "n", "k", "lda", "ldb", "ldc", "ld_b_scales", "is_half", "groups")] +
                [("ends", ctypes.c_void_p)])


def workspace():
    """hopper_gemm_workspace::bytes, whose counters are 0."""
    return torch.zeros(2 * 132 * 128 * 256 + 1024, device="cuda")


class Weights:
    """`copies` matrices of n x k in a format, with random codes; rows have 16-byte pitches."""

    def __init__(self, name, n, k, copies=1, odd=False):
        self.name, self.n, self.k = name, n, k
        self.bits, self.group, scale_type, has_zeros = FORMATS[name]
        line = 128 // self.bits
        self.ldb = -(-k // line) * line
        self.groups = 1 if self.group == 0 else -(-k // self.group)
        self.codes = torch.randint(0, 256, (copies, n, self.ldb * self.bits // 8), device="cuda", dtype=torch.uint8)
        shape = (copies, n, self.groups)
        if scale_type == torch.uint8:
            self.scales = torch.randint(120, 127, shape, device="cuda", dtype=torch.uint8)
        else:
            self.scales = (torch.rand(shape, device="cuda") * 0.05 + 0.005).to(scale_type)
        self.zeros = torch.randint(0, 17, shape, device="cuda", dtype=torch.uint8) if has_zeros else None
        if name == "e4m3":  # NaN only where `odd` asks for it
            self.codes[(self.codes & 127) == 127] = 126
        if odd:  # scales that are NaN, or infinite
            row = random.randrange(n)
            if scale_type == torch.uint8:
                self.scales[0, row, 0] = 255
            elif scale_type == torch.float8_e4m3fn:
                self.scales.view(torch.uint8)[0, row, 0] = 127
            else:
                self.scales[0, row, 0] = random.choice((float("nan"), float("inf")))
        self.bytes = self.codes[0].numel() + self.scales[0].numel() * self.scales.element_size() + (self.groups * n if has_zeros else 0)

    def numbers(self, copy=0, rounded_to=torch.float64):
        """The matrix in float64, decoded by tables. rounded_to: of a scaled element."""
        codes = self.codes[copy]
        if self.name == "e4m3":
            values = codes.view(torch.float8_e4m3fn).double()
        elif self.name == "int8":
            values = codes.view(torch.int8).double()
        else:
            nibbles = torch.stack((codes & 15, codes >> 4), -1).flatten(1).long()
            if "fp4" in self.name:
                values = torch.tensor(E2M1, device="cuda", dtype=torch.float64)[nibbles]
            else:
                zeros = 8 if self.zeros is None else self.wide(self.zeros[copy].double())
                values = nibbles.double()[:, :self.k] - zeros
        scales = self.scales[copy]
        if scales.dtype == torch.uint8:
            scales = torch.where(scales == 255, float("nan"), torch.exp2(scales.double() - 127))
        return (values[:, :self.k] * self.wide(scales.double())).to(rounded_to).double()

    def wide(self, of_groups):
        return of_groups if self.group == 0 else of_groups.repeat_interleave(self.group, 1)[:, :self.k]


class Tilewright:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.workspace = workspace()

    def prepare(self, weights, x, y, ends=None):
        """A function that queues the kernel with the next of the weights' copies on the current stream. With `ends` (one number on the GPU
        for each copy) the copies are the weights of groups of rows, which the kernel multiplies at once."""
        call = getattr(self.library, "tilewright_narrow_" + weights.name)
        call.restype, call.argtypes = ctypes.c_char_p, [ctypes.POINTER(Problem), ctypes.c_void_p]
        problems = [Problem(a=x.data_ptr(), b=weights.codes[i].data_ptr(), b_scales=weights.scales[i].data_ptr(),
                            b_zeros=0 if weights.zeros is None else weights.zeros[i].data_ptr(), c=y.data_ptr(),
                            workspace=self.workspace.data_ptr(), m=len(x), n=weights.n, k=weights.k, lda=x.stride(0), ldb=weights.ldb,
                            ldc=y.stride(0), ld_b_scales=weights.scales.shape[2], is_half=int(x.dtype == torch.float16),
                            groups=0 if ends is None else len(ends), ends=0 if ends is None else ends.data_ptr())
                    for i in range(len(weights.codes) if ends is None else 1)]
        state = [0]

        def launch():
            why = call(ctypes.byref(problems[state[0] % len(problems)]), torch.cuda.current_stream().cuda_stream)
            state[0] += 1
            if why:
                raise SystemExit(f"narrow.py: {weights.name}: {why.decode()}")
        return launch


def check(ours, names, count, seed):
    """Random products against float64; the number that are wrong, and the largest error over its bound."""
    rng, wrong, worst = random.Random(seed), 0, 0.0
    for number in range(count):
        name = rng.choice(names)
        m, n, k = rng.randint(1, 16), 4 * rng.randint(1, 700), rng.randint(16, 6000)
        dtype = rng.choice((torch.bfloat16, torch.float16))
        if number % 3 == 0:
            m, n, dtype = rng.randint(17, 600), 8 * rng.randint(1, 350), torch.bfloat16
        weights = Weights(name, n, k, odd=number % 6 == 0)
        x = torch.randn(m, -(-k // 8) * 8, device="cuda").to(dtype)
        y = torch.full((m + 1, n), 77.0, device="cuda", dtype=dtype)
        ours.prepare(weights, x, y[:m])()
        # Above 16 rows elements of groups are multiplied with their scales, so rounded; below, accumulators are.
        numbers, rows = weights.numbers(rounded_to=dtype if m > 16 and weights.group else torch.float64), x[:, :k].double()
        wanted, size = rows @ numbers.t(), rows.abs() @ numbers.abs().t()
        finite = torch.isfinite(wanted) & (wanted.abs() < torch.finfo(dtype).max / 2)
        error = ((y[:m].double() - wanted).abs() / size.clamp_min(1e-30))[finite].max().item() if finite.any() else 0.0
        bound = 2.0**-8 if dtype == torch.bfloat16 else 2.0**-10
        spoilt = bool((torch.isfinite(y[:m]) & ~torch.isfinite(wanted)).any()) or not bool((y[m] == 77).all())
        worst = max(worst, error / bound)
        if not error <= bound or spoilt:
            wrong += 1
            print(f"WRONG {name} {dtype} {m} x {n} x {k}: error {error:.3g}, bound {bound:.3g}, not finite where it should be: {spoilt}")
    print(f"{count - wrong} of {count} right, at most {worst:.3f} of the tolerance", flush=True)
    return wrong, worst


def experts(ours, names, options):
    """Products of groups of rows: relative errors, and times against torch._grouped_mm in bf16."""
    results = []
    for groups, m, n, k in ((8, 256, 4096, 4096), (8, 16384, 4096, 4096), (32, 512, 5760, 2880), (32, 4096, 5760, 2880), (128, 512, 1536, 4096),
                            (128, 8192, 1536, 4096)):
        cuts = sorted(random.randint(0, m) for _ in range(groups - 1)) + [m]
        ends = torch.tensor(cuts, device="cuda", dtype=torch.int32)
        x, y = torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.zeros(m, n, device="cuda", dtype=torch.bfloat16)
        wide = torch.randn(groups, n, k, device="cuda", dtype=torch.bfloat16)
        rival = those_that_run({"torch_grouped_mm": lambda: lambda: torch._grouped_mm(x, wide.transpose(1, 2), offs=ends)})
        for name in names:
            weights = Weights(name, n, k, groups)
            call = ours.prepare(weights, x, y, ends)
            call()
            worst = 0.0
            for group in random.sample(range(groups), 4):
                rows = slice(cuts[group - 1] if group else 0, cuts[group])
                wanted, size = x[rows].double() @ weights.numbers(group).t(), x[rows].abs().double() @ weights.numbers(group).abs().t()
                if len(wanted):
                    worst = max(worst, ((y[rows].double() - wanted).abs() / size.clamp_min(1e-30)).max().item())
            times = Race({"ours": call} | rival, options.seconds).times(options.rounds)
            us = {c: statistics.median(t[c] for t in times) * 1e6 for c in times[0]}
            row = {"format": name, "groups": groups, "m": m, "n": n, "k": k, "error": worst, "right": worst <= 2.0**-8, "us": us["ours"]}
            if rival:
                row |= {"us_torch_grouped_mm": us["torch_grouped_mm"], "ratio_to_rival": us["torch_grouped_mm"] / us["ours"]}
            results.append(row)
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()), flush=True)
            del weights
    return results


def copy_rate():
    """Bytes per second that the faster of two large copies reads and writes: the driver's, and a kernel's."""
    a, b = torch.ones(1 << 27, device="cuda"), torch.empty(1 << 27, device="cuda")
    times = Race({"driver": lambda: b.copy_(a), "kernel": lambda: torch.neg(a, out=b)}, 0.02).times(5)
    return 8 * a.numel() / min(statistics.median(t[name] for t in times) for name in times[0])


def rotating(calls):
    state = [0]

    def launch():
        state[0] += 1
        return calls[state[0] % len(calls)]()
    return launch


def marlin(library, x, n, k, copies):
    """Marlin's int4 product in f16, with groups of 128."""
    call = ctypes.CDLL(library).marlin_product
    call.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int] * 3 + [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    codes = [torch.randint(-2**31, 2**31, (k * n // 8,), device="cuda", dtype=torch.int32) for _ in range(copies)]
    scales, locks = torch.rand(k // 128, n, device="cuda").half(), torch.zeros(n // 128 * 16, device="cuda", dtype=torch.int32)
    rows, y = x.half(), torch.empty(len(x), n, device="cuda", dtype=torch.float16)

    def launch(w):
        if call(rows.data_ptr(), w.data_ptr(), y.data_ptr(), scales.data_ptr(), len(x), n, k, locks.data_ptr(), 128,
                torch.cuda.current_stream().cuda_stream):
            raise RuntimeError("Marlin refuses the shape")
    return rotating([lambda w=w: launch(w) for w in codes])


def int4_rivals(x, n, k, copies, marlin_library):
    """Contenders of the same product by name: torch in bf16, int4 products with groups of 128 of torch, Triton and Marlin."""
    import narrow_triton
    wide = [torch.randn(n, k, device="cuda", dtype=torch.bfloat16) for _ in range(max(1, -(-copies // 4)) + 1)]
    packed = [torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8) for _ in range(copies)]
    scales = torch.rand(k // 128, n, 2, device="cuda").to(torch.bfloat16)
    own_scales = scales[:, :, 0].t().contiguous()

    def torch_int4():
        theirs = [torch.ops.aten._convert_weight_to_int4pack(w, 8) for w in packed]
        return rotating([lambda w=w: torch.ops.aten._weight_int4pack_mm(x, w, 128, scales) for w in theirs])
    made = {"torch_bf16": lambda: rotating([lambda w=w: torch.nn.functional.linear(x, w) for w in wide]),
            "torch_int4": torch_int4}
    if len(x) <= 16:
        made["triton_int4"] = lambda: rotating([narrow_triton.product(x, w, own_scales) for w in packed])
    if marlin_library:
        made["marlin"] = lambda: marlin(marlin_library, x, n, k, copies)
    return those_that_run(made)


def mxfp4_rivals(x, weights):
    """Triton's product with MXFP4 weights."""
    import narrow_triton
    return those_that_run({"triton_mxfp4": lambda: rotating([narrow_triton.mxfp4_product(x, w, s) for w, s in
                                                             zip(weights.codes, weights.scales)])})


def those_that_run(made):
    """The contenders that functions make; what cannot run on this machine is named and left out."""
    contenders = {}
    for name, make in made.items():
        try:
            call = make()
            call()
            torch.cuda.synchronize()
            contenders[name] = call
        except Exception as error:  # of any rival: their errors share no type
            print(f"{name} does not run: {str(error).strip().splitlines()[:1]}", flush=True)
    return contenders


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--check", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", default=",".join(FORMATS))
    parser.add_argument("--rows", default="1,2,4,8,16")
    parser.add_argument("--layers", default=",".join(f"{n}x{k}" for n, k in LAYERS), help="n x k")
    parser.add_argument("--seconds", type=float, default=0.005, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", default="", help="other builds of the library")
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--marlin", help="a library with marlin_product")
    parser.add_argument("--experts", action="store_true")
    options = parse_arguments(parser)
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    ours = Tilewright(options.library)
    beside = {Path(path).stem: Tilewright(path) for path in options.beside.split(",") if path}
    wrong, worst = check(ours, options.format.split(","), options.check, options.seed) if options.check else (0, None)
    for other in beside.values() if options.check else ():
        wrong += check(other, options.format.split(","), options.check, options.seed)[0]
    rate, results = copy_rate(), []
    print(f"a copy moves {rate / 1e9:.0f} GB/s")
    for n, k in [map(int, layer.split("x")) for layer in options.layers.split(",")]:
        for name in options.format.split(","):
            size = n * k * FORMATS[name][0] // 8
            copies = 3 + 150 * 2**20 // size
            weights = Weights(name, n, k, copies)
            for m in map(int, options.rows.split(",")):
                x, y = torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
                contenders = {"ours": ours.prepare(weights, x, y)} | {name: other.prepare(weights, x, y) for name, other in beside.items()}
                if options.rivals and name == "int4_128":
                    contenders |= int4_rivals(x, n, k, copies, options.marlin)
                if options.rivals and name == "mxfp4":
                    contenders |= mxfp4_rivals(x, weights)
                times = Race(contenders, options.seconds).times(options.rounds)
                us = {c: statistics.median(t[c] for t in times) * 1e6 for c in contenders}
                row = {"format": name, "m": m, "n": n, "k": k, "MB": weights.bytes / 1e6, "us": us.pop("ours")}
                row["GB/s"] = weights.bytes / row["us"] / 1e3
                row["ratio_to_copy"] = weights.bytes / rate / row["us"] * 1e6
                row |= {f"us_{c}": t for c, t in us.items()}
                rivals = [t for c, t in us.items() if c not in beside]
                if rivals:
                    row["ratio_to_rival"] = min(rivals) / row["us"]
                results.append(row)
                print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()), flush=True)
            del weights
    of_groups = experts(ours, options.format.split(","), options) if options.experts else []
    wrong += sum(not r["right"] for r in of_groups)
    for name in options.format.split(","):
        of = [r["ratio_to_copy"] for r in results if r["format"] == name and r["m"] <= 16 and r["n"] * r["k"] >= 1 << 27]
        if of:
            print(f"{name}: 64 MiB in 4 bits and more: ratio to a copy {statistics.geometric_mean(of):.3f}, lowest {min(of):.3f}")
    write_results(options, copy_gb_per_s=rate / 1e9, checked=options.check, wrong=wrong, worst_of_tolerance=worst, cases=results, experts=of_groups)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
