#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels on rows on an NVIDIA GPU: this library against a device copy, PyTorch and torch.compile, verified and timed in one process.

    benchmarks/gpu/rows.py LIBRARY [--only NAME,...] [--cols N,...] [--mib N] [--seconds S] [--json FILE] [--check-only] [--no-compile]

LIBRARY is libtilewright_rows.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). Tensors of x have --mib MiB. All contenders are timed in turns, in
back-to-back launches. Prints medians in GB/s of the bytes that the operation must move; ratio_to_copy is the rate over that of a device
copy which reads and writes as many bytes in all; ratio_to_torch is the rate over the better of PyTorch and torch.compile. Results are
compared with float64. Exits with 1 if one is wrong.
"""
import argparse
import ctypes
import json
import statistics
import sys

import torch

from timing import seconds_of
import torch.nn.functional as F

COLS = (1000, 1024, 4096, 8192, 16384, 32768, 131072)
POINTERS = ("x", "x2", "weight", "bias", "y", "sum", "scale")


class Args(ctypes.Structure):
    """rows_args of rows_library.cu."""
    _fields_ = ([(name, ctypes.c_void_p) for name in POINTERS] + [(name, ctypes.c_int) for name in ("rows", "cols", "batch")] +
                [("x_stride", ctypes.c_longlong), ("y_stride", ctypes.c_longlong)])


class Tilewright:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call = self.library.tilewright_rows
        self.call.restype = ctypes.c_char_p
        self.call.argtypes = [ctypes.c_char_p, ctypes.POINTER(Args), ctypes.c_void_p]
        if self.library.tilewright_rows_args_bytes() != ctypes.sizeof(Args):
            raise SystemExit("rows.py: the library's rows_args have another size than this script's")

    def prepare(self, name, tensors):
        """A function that queues the kernel on the current stream."""
        args = Args(*(tensors[p].data_ptr() if p in tensors else None for p in POINTERS), tensors["x"].shape[-2], tensors["x"].shape[-1], 1,
                    tensors["x"].stride(-2), tensors["y"].stride(-2))
        stream = torch.cuda.current_stream().cuda_stream

        def call():
            why = self.call(name.encode(), ctypes.byref(args), stream)
            if why:
                raise SystemExit(f"rows.py: {name}: {why.decode()}")
        return call


def rms_norm(x, weight, eps=1e-5):
    s = x.float()
    return (s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps) * weight.float()).to(x.dtype)


def add_rms_norm(x, residual, weight):
    s = x + residual
    return s, rms_norm(s, weight)


def quantised_rms_norm(x, weight):
    s = x.float()
    y = s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + 1e-5) * weight.float()
    scale = y.abs().amax(-1, keepdim=True) / 448
    return (y / scale).to(torch.float8_e4m3fn), scale.squeeze(-1)


def double_rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


BF16, F32, E4M3 = torch.bfloat16, torch.float32, torch.float8_e4m3fn
# Name: kernel, type of x, type of y, other inputs, PyTorch's function, the same in float64, tolerance.
CASES = {
    "transpose_16": ("transpose_16", BF16, BF16, (), lambda x: x.t().contiguous(), lambda x: x.t(), 0),
    "transpose_32": ("transpose_32", F32, F32, (), lambda x: x.t().contiguous(), lambda x: x.t(), 0),
    "softmax_f32": ("softmax_f32", F32, F32, (), lambda x: torch.softmax(x, -1), lambda x: torch.softmax(x, -1), 1e-5),
    "softmax_bf16": ("softmax_bf16", BF16, BF16, (), lambda x: torch.softmax(x, -1), lambda x: torch.softmax(x, -1), 5e-3),
    "log_softmax_f32": ("log_softmax_f32", F32, F32, (), lambda x: torch.log_softmax(x, -1), lambda x: torch.log_softmax(x, -1), 1e-5),
    "rms_norm_bf16": ("rms_norm_bf16", BF16, BF16, ("weight",), rms_norm, double_rms_norm, 5e-3),
    "add_rms_norm_bf16": ("rms_norm_bf16", BF16, BF16, ("x2", "weight"), add_rms_norm, None, 1e-2),
    "layer_norm_bf16": ("layer_norm_bf16", BF16, BF16, ("weight", "bias"), lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
                        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), 5e-3),
    "rms_norm_bf16_e4m3": ("rms_norm_bf16_e4m3", BF16, E4M3, ("weight",), quantised_rms_norm, double_rms_norm, 4e-2),
    "copy_bf16": ("copy_bf16", BF16, BF16, (), lambda x: x.clone(), lambda x: x, 0),
    "cast_f32_bf16": ("cast_f32_bf16", F32, BF16, (), lambda x: x.to(BF16), lambda x: x, 4e-3),
    "cast_bf16_e4m3": ("cast_bf16_e4m3", BF16, E4M3, (), lambda x: x.to(E4M3), lambda x: x, 4e-2),
    "gelu_bf16": ("gelu_bf16", BF16, BF16, (), lambda x: F.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh"), 5e-3),
    "swiglu_bf16": ("swiglu_bf16", BF16, BF16, ("x2",), lambda x, z: F.silu(x) * z, lambda x, z: F.silu(x) * z, 5e-3),
}


def make_tensors(case, rows, cols):
    kernel, x_type, y_type, others, *_ = case
    tensors = {"x": torch.randn(rows, cols, device="cuda").to(x_type)}
    if kernel.startswith("transpose"):
        tensors["y"] = torch.empty(cols, rows, device="cuda", dtype=y_type)
    else:
        tensors["y"] = torch.empty(rows, cols, device="cuda", dtype=y_type)
    for name in others:
        tensors[name] = torch.randn(*((rows, cols) if name == "x2" else (cols,)), device="cuda").to(x_type)
    if "x2" in others and "norm" in kernel:
        tensors["sum"] = torch.empty_like(tensors["x"])
    if y_type == E4M3 and "norm" in kernel:
        tensors["scale"] = torch.empty(rows, device="cuda")
    return tensors


def error_of(case, tensors):
    """The error in the Frobenius norm against float64, over rows at the start and the end."""
    kernel, _, _, others, _, exact, _ = case
    worst = 0.0
    for part in (slice(0, 64), slice(-64, None)):
        y = tensors["y"][:, part].double() if kernel.startswith("transpose") else tensors["y"][part].double()
        inputs = [tensors["x"][part].double()]
        if "sum" in tensors:
            wanted_sum = inputs[0] + tensors["x2"][part].double()
            worst = max(worst, float((tensors["sum"][part].double() - wanted_sum).norm() / wanted_sum.norm()))
            wanted = double_rms_norm(tensors["sum"][part].double(), tensors["weight"].double())
        else:
            inputs += [(tensors[o][part] if o == "x2" else tensors[o]).double() for o in others]
            wanted = exact(*inputs)
        if "scale" in tensors:
            y = y * tensors["scale"][part].double().unsqueeze(-1)
        worst = max(worst, float((y - wanted).norm() / wanted.norm()))
        if not torch.isfinite(y).all():
            return float("nan")
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--cols", default=",".join(map(str, COLS)))
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=0.01, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    ours = Tilewright(options.library)
    torch.manual_seed(1)
    results, failures = [], 0
    for name in options.only.split(","):
        case = CASES[name]
        kernel, _, _, others, function, _, tolerance = case
        # Rows of any length are one graph each: lengths are constants, as in a model.
        compiled = None if options.no_compile or options.check_only else torch.compile(function, dynamic=False)
        for cols in map(int, options.cols.split(",")):
            rows = max(1, options.mib * 2**20 // (cols * case[1].itemsize))
            tensors = make_tensors(case, rows, cols)
            tensors["y"].view(torch.uint8).fill_(0x7f)
            call = ours.prepare(kernel, tensors)
            call()
            torch.cuda.synchronize()
            error = error_of(case, tensors)
            wrong = not error <= tolerance
            failures += wrong
            row = {"case": name, "rows": rows, "cols": cols, "error": error}
            if not options.check_only:
                inputs = [tensors["x"]] + [tensors[o] for o in others]
                moved = sum(t.numel() * t.element_size() for t in tensors.values())
                source = torch.empty(moved // 2, device="cuda", dtype=torch.uint8)
                target = torch.empty_like(source)
                contenders = {"tilewright": call, "copy": lambda s=source, t=target: t.copy_(s), "torch": lambda: function(*inputs)}
                if compiled:
                    torch._dynamo.reset()
                    contenders["compiled"] = lambda: compiled(*inputs)
                for contender in contenders.values():
                    contender()
                repeat = max(1, int(options.seconds / max(seconds_of([contenders["copy"]], 3)[0], 1e-6)))
                times = [seconds_of(contenders.values(), repeat) for _ in range(options.rounds)]
                for i, contender in enumerate(contenders):
                    row[contender] = moved / statistics.median(t[i] for t in times) / 1e9
                row["ratio_to_copy"] = statistics.median(t[1] / t[0] for t in times)
                row["ratio_to_torch"] = statistics.median(min(t[2:]) / t[0] for t in times)
                del inputs, source, target, contenders
            results.append(row)
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
                  "WRONG" if wrong else "", flush=True)
            del tensors, call
    if not options.check_only:
        for ratio in ("ratio_to_copy", "ratio_to_torch"):
            print(f"lowest {ratio}: {min(row[ratio] for row in results):.3f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": results}, file, indent=1)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
