#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention on an NVIDIA GPU: this library against PyTorch's cuDNN and flash back ends, verified and timed in one process.

    benchmarks/gpu/attention.py LIBRARY [--dtype bf16,f16] [--dims 64,128,256] [--seconds S] [--json FILE --commit C] [--portable] [--check-only]

LIBRARY is libtilewright_attention.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). All contenders get the same Gaussian data, 16,384 tokens in
all and 2,048 / dim heads, and are timed in interleaved CUDA graphs. Prints medians in TFLOP/s and the ratio to cuDNN, and errors
against float64. Exits with 1 if an error is larger than 1.2 times that of cuDNN. With --dtype e4m3 the data are rounded to e4m3 with a scale
for each head; cuDNN, and this library's bf16 kernel, get the rounded data as bf16; and errors are compared with those of PyTorch operations
in float with probabilities rounded to e4m3.
"""
import argparse
import ctypes
import math
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from results_file import parse_arguments, write_results
from timing import Race

TOKENS, WIDTH = 16384, 2048
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)


class Strides(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_longlong), ("head", ctypes.c_longlong), ("row", ctypes.c_int)]


class Args(ctypes.Structure):
    """tilewright::attention_args."""
    _fields_ = ([(name, ctypes.c_void_p) for name in ("q", "k", "v", "o", "lse")] +
                [(name, ctypes.c_int) for name in ("batch", "heads", "kv_heads", "queries", "keys")] +
                [(name, Strides) for name in ("q_strides", "k_strides", "v_strides", "o_strides", "lse_strides")] +
                [("query_starts", ctypes.c_void_p), ("key_starts", ctypes.c_void_p), ("sinks", ctypes.c_void_p), ("scale", ctypes.c_float), ("left", ctypes.c_int),
                 ("right", ctypes.c_int)] + [(name, ctypes.c_void_p) for name in ("q_scales", "k_scales", "v_scales")] +
                [("mask_queries", ctypes.c_int), ("mask_keys", ctypes.c_int), ("mask_bits", ctypes.c_void_p), ("mask_strides", Strides)])


def strides_of(tensor):
    return Strides(tensor.stride(0), tensor.stride(1), tensor.stride(2))


TYPES = (torch.half, torch.bfloat16, torch.float8_e4m3fn)  # `element` of attention_library.cu


class Tilewright:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.forward = self.library.tilewright_attention_forward
        self.forward.restype = ctypes.c_char_p
        self.forward.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Args), ctypes.c_void_p]
        if self.library.tilewright_attention_args_bytes() != ctypes.sizeof(Args):
            raise SystemExit("attention.py: the library's attention_args have another size than this script's")

    def prepare(self, q, k, v, o, causal, lse=None, portable=False, scales=(None, None, None), mask=None, left=-1):
        """A function that queues the kernel on the current stream."""
        args = Args(q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), lse.data_ptr() if lse is not None else None, q.shape[0], q.shape[1],
                    k.shape[1], q.shape[2], k.shape[2], strides_of(q), strides_of(k), strides_of(v), strides_of(o),
                    strides_of(lse.unsqueeze(-1)) if lse is not None else Strides(), None, None, None, 1 / math.sqrt(q.shape[3]), left,
                    0 if causal else -1, *(x.data_ptr() if x is not None else None for x in scales))
        if mask is not None:  # words (batch or 1, heads or 1, tiles of queries, words), queries and keys of a tile
            bits, args.mask_queries, args.mask_keys = mask
            args.mask_bits = bits.data_ptr()
            args.mask_strides = Strides(*(bits.stride(i) if bits.shape[i] > 1 else 0 for i in (0, 1)), bits.shape[3])

        def call(_alive=(scales, mask)):
            why = self.forward(TYPES.index(q.dtype), portable, q.shape[3], v.shape[3], ctypes.byref(args), torch.cuda.current_stream().cuda_stream)
            if why:
                raise SystemExit(f"attention.py: {why.decode()}")
        return call


def torch_call(backend, q, k, v, causal):
    def call():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return call


def reference(q, k, v, causal):
    """Float64, one head of one sequence."""
    s = (q.double() @ k.double().T) / math.sqrt(q.shape[-1])
    if causal:
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(k.shape[0] - q.shape[0] + 1), -math.inf)
    return torch.softmax(s, -1) @ v.double()


def rounded_to_e4m3(x):
    """Elements, scales of each head, and the product of both in bf16."""
    scales = x.float().abs().amax((2, 3), keepdim=True) / 448
    small = (x / scales).to(torch.float8_e4m3fn)
    return small, scales.flatten().contiguous(), (small.float() * scales).to(torch.bfloat16)


def simulated_e4m3(q, k, v, causal):
    """One head: float, with probabilities, the largest of which is 256, rounded to e4m3."""
    s = (q.float() @ k.float().T) / math.sqrt(q.shape[-1])
    if causal:
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    p = torch.exp(s - s.amax(-1, keepdim=True)) * 256
    return (p.to(torch.float8_e4m3fn).float() @ v.float()) / p.sum(-1, keepdim=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--dtype", default="bf16,f16")
    parser.add_argument("--dims", default="64,128,256")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--portable", action="store_true", help="the kernel by mma.sync, too")
    parser.add_argument("--check-only", action="store_true")
    options = parse_arguments(parser)
    ours = Tilewright(options.library)
    torch.manual_seed(1)
    rows, failures = [], 0
    for dtype in options.dtype.split(","):
        for dim in map(int, options.dims.split(",")):
            for causal in (False, True):
                for length in map(int, options.lengths.split(",")):
                    batch, heads = TOKENS // length, WIDTH // dim
                    q, k, v = (torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.half if dtype == "f16" else torch.bfloat16)
                               .transpose(1, 2) for _ in range(3))
                    o = torch.full_like(q, math.nan)
                    contenders, small = {}, None
                    if dtype == "e4m3":
                        small, scales, (q, k, v) = zip(*(rounded_to_e4m3(x) for x in (q, k, v)))
                        contenders["tilewright"] = ours.prepare(*small, o, causal, scales=scales)
                        contenders["bf16"] = ours.prepare(q, k, v, torch.empty_like(o), causal)
                    else:
                        contenders["tilewright"] = ours.prepare(q, k, v, o, causal)
                    contenders |= {"cudnn": torch_call(SDPBackend.CUDNN_ATTENTION, q, k, v, causal),
                                   "flash": torch_call(SDPBackend.FLASH_ATTENTION, q, k, v, causal)}
                    if options.portable and dtype != "e4m3":
                        contenders["portable"] = ours.prepare(q, k, v, torch.empty_like(q), causal, portable=True)
                    contenders["tilewright"]()
                    theirs = contenders["cudnn"]()
                    torch.cuda.synchronize()
                    b, h = batch - 1, heads - 1
                    if small is None:
                        exact, allowed = [x[b, h] for x in (q, k, v)], 0.02
                        compared = theirs[b, h]
                    else:
                        exact, allowed = [x[b, h].double() * f[b * heads + h].double() for x, f in zip(small, scales)], 0.06
                        compared = simulated_e4m3(*exact, causal)
                    wanted = reference(*exact, causal)
                    error, their_error = (float((x.double() - wanted).norm() / wanted.norm()) for x in (o[b, h], compared))
                    difference = float((o.double() - theirs.double()).norm() / theirs.double().norm())
                    wrong = not error <= 1.2 * their_error or not difference < allowed
                    failures += wrong
                    row = {"dtype": dtype, "dim": dim, "causal": causal, "length": length, "error": error,
                           "cudnn_error" if small is None else "simulated_error": their_error, "difference": difference}
                    if not options.check_only:
                        flops = 4 * batch * heads * length * length * dim * (0.5 if causal else 1)
                        race = Race(contenders, options.seconds)
                        times = race.times(options.rounds)
                        for name in contenders:
                            row[name] = flops / statistics.median(t[name] for t in times) / 1e12
                        row["ratio_to_cudnn"] = statistics.median(t["cudnn"] / t["tilewright"] for t in times)
                        row |= {f"host_us_{name}": us for name, us in race.host_us().items()}
                    rows.append(row)
                    print(" ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
                          "WRONG" if wrong else "", flush=True)
    if not options.check_only:
        mean = math.exp(statistics.fmean(math.log(row["ratio_to_cudnn"]) for row in rows))
        print(f"ratio to cuDNN: geometric mean {mean:.3f}, lowest {min(row['ratio_to_cudnn'] for row in rows):.3f}")
    write_results(options, rows=rows)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
