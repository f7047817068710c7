#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gradients of attention on an NVIDIA GPU: this library against PyTorch's cuDNN and flash back ends, verified and timed in one process.

    benchmarks/gpu/attention_backward.py LIBRARY [--dtype bf16,f16] [--dims 64,128] [--contenders hopper,portable]
                                         [--json FILE --commit C] [--check-only]
    benchmarks/gpu/attention_backward.py LIBRARY --dims 192,256 --contenders wide,portable

LIBRARY is libtilewright_attention_backward.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). All contenders get the same Gaussian data, 16,384
tokens in all and 2,048 / dim heads, and are timed in interleaved CUDA graphs. Prints medians in TFLOP/s, counting five products, and
errors against float64. Exits with 1 if an error is larger than 1.2 times cuDNN's, or if two runs of a kernel that always adds in the same
order (--contenders deterministic, deterministic_late, portable) differ in a bit.
"""
import argparse
import ctypes
import math
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention import TOKENS, WIDTH, Args, Strides, strides_of
from results_file import parse_arguments, write_results
from timing import Race, capture_stream


class BackwardArgs(ctypes.Structure):
    """tilewright::attention_backward_args."""
    _fields_ = (Args._fields_ + [field for name in ("d_o", "d_q", "d_k", "d_v")
                                 for field in ((name, ctypes.c_void_p), (name + "_strides", Strides))] +
                [("d_sinks", ctypes.c_void_p), ("workspace", ctypes.c_void_p)])


KINDS = ("hopper", "portable", "deterministic", "wide", "wide_64_keys", "deterministic_late")  # kernel_kind of attention_backward_library.cu


class Backward:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.run = self.library.tilewright_attention_backward
        self.run.restype = ctypes.c_char_p
        self.run.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(BackwardArgs), ctypes.c_void_p]
        self.workspace_bytes = self.library.tilewright_attention_backward_workspace_bytes
        self.workspace_bytes.restype = ctypes.c_longlong
        if self.library.tilewright_attention_backward_args_bytes() != ctypes.sizeof(BackwardArgs):
            raise SystemExit("attention_backward.py: the library's attention_backward_args have another size than this script's")

    def prepare(self, q, k, v, o, lse, d_o, causal, kind="hopper"):
        """Tensors for the gradients, and a function that queues the kernels."""
        gradients = [torch.full_like(x, math.nan) for x in (q, k, v)]
        args = BackwardArgs()
        args.q, args.k, args.v, args.o, args.lse, args.d_o = (x.data_ptr() for x in (q, k, v, o, lse, d_o))
        args.d_q, args.d_k, args.d_v = (x.data_ptr() for x in gradients)
        args.batch, args.heads, args.kv_heads, args.queries, args.keys = q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2]
        args.q_strides, args.k_strides, args.v_strides, args.o_strides = (strides_of(x) for x in (q, k, v, o))
        args.d_q_strides, args.d_k_strides, args.d_v_strides = (strides_of(x) for x in gradients)
        args.d_o_strides, args.lse_strides = strides_of(d_o), strides_of(lse.unsqueeze(-1))
        args.scale, args.left, args.right = 1 / math.sqrt(q.shape[3]), -1, 0 if causal else -1
        workspace = torch.empty(self.workspace_bytes(ctypes.byref(args), q.shape[3]), device="cuda", dtype=torch.uint8)
        args.workspace = workspace.data_ptr()

        def call(_alive=(workspace, o, lse, d_o)):
            why = self.run(q.dtype == torch.bfloat16, KINDS.index(kind), q.shape[3], ctypes.byref(args), torch.cuda.current_stream().cuda_stream)
            if why:
                raise SystemExit(f"attention_backward.py: {why.decode()}")
        return gradients, call


def torch_call(backend, q, k, v, d_o, causal):
    """The back end's gradients and a function that queues their kernels."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    torch.cuda.synchronize()
    with sdpa_kernel(backend), torch.cuda.stream(capture_stream()):
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
    torch.cuda.synchronize()

    def call():
        return torch.autograd.grad(out, leaves, d_o, retain_graph=True)
    return call


def reference(q, k, v, d_o, causal):
    """One head in float64: O, the log-sum-exp and the gradients."""
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    s = (leaves[0] @ leaves[1].T) / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    out = torch.softmax(s, -1) @ leaves[2]
    return torch.autograd.grad(out, leaves, d_o.double())


def log_sum_exp(q, k, causal):
    """Float32, head by head."""
    result = torch.empty(q.shape[:3], device="cuda")
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            s = (q[b, h].float() @ k[b, h].float().T) / math.sqrt(q.shape[-1])
            if causal:
                s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
            result[b, h] = torch.logsumexp(s, -1)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--contenders", default="hopper,deterministic", help="kernels of this library: hopper, deterministic, deterministic_late, portable; for heads of 192 and 256 wide, for 256 wide_64_keys")
    parser.add_argument("--dtype", default="bf16,f16")
    parser.add_argument("--dims", default="64,128")
    parser.add_argument("--lengths", default="1024,4096,16384")
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check-only", action="store_true")
    options = parse_arguments(parser)
    torch.backends.cuda.matmul.allow_tf32 = False
    ours = Backward(options.library)
    torch.manual_seed(1)
    rows, failures = [], 0
    for dtype in options.dtype.split(","):
        for dim in map(int, options.dims.split(",")):
            for causal in (False, True):
                for length in map(int, options.lengths.split(",")):
                    batch, heads = TOKENS // length, WIDTH // dim
                    q, k, v, d_o = (torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.bfloat16 if dtype == "bf16" else torch.half)
                                    .transpose(1, 2) for _ in range(4))
                    with torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
                    lse = log_sum_exp(q, k, causal)
                    mine = {kind: ours.prepare(q, k, v, o, lse, d_o, causal, kind) for kind in options.contenders.split(",")}
                    calls = {kind: call for kind, (_, call) in mine.items()}
                    calls |= {"cudnn": torch_call(SDPBackend.CUDNN_ATTENTION, q, k, v, d_o, causal),
                              "flash": torch_call(SDPBackend.FLASH_ATTENTION, q, k, v, d_o, causal)}
                    theirs = calls["cudnn"]()
                    b, h = batch - 1, heads - 1
                    wanted = reference(q[b, h], k[b, h], v[b, h], d_o[b, h], causal)
                    row = {"dtype": dtype, "dim": dim, "causal": causal, "length": length, "error_to_cudnn": 0.0}
                    wrong = False
                    for kind, (gradients, call) in mine.items():
                        call()
                        first = [x.clone() for x in gradients]
                        call()
                        torch.cuda.synchronize()
                        if kind not in ("hopper", "wide", "wide_64_keys") and not all(torch.equal(x, y) for x, y in zip(first, gradients)):
                            wrong = True
                            print(f"two runs of {kind} differ")
                        for result, other, right in zip(gradients, theirs, wanted):
                            error, their_error = (float((x[b, h].double() - right).norm() / right.norm()) for x in (result, other))
                            difference = float((result.float() - other.float()).norm() / other.float().norm())
                            row["error_to_cudnn"] = max(error / their_error, row["error_to_cudnn"])  # NaN stays
                            wrong = wrong or not error <= 1.2 * their_error or not difference < 0.03
                    failures += wrong
                    if not options.check_only:
                        flops = 10 * batch * heads * length * length * dim * (0.5 if causal else 1)
                        race = Race(calls, options.seconds)
                        times = race.times(options.rounds)
                        for name in calls:
                            row[name] = flops / statistics.median(t[name] for t in times) / 1e12
                            if name in mine:
                                row[f"{name}_to_cudnn"] = statistics.median(t["cudnn"] / t[name] for t in times)
                        row |= {f"host_us_{name}": us for name, us in race.host_us().items()}
                        row["not_in_graphs"] = ",".join(race.in_stream)
                    rows.append(row)
                    print(" ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
                          "WRONG" if wrong else "", flush=True)
    write_results(options, unit="TFLOP/s", rows=rows)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
