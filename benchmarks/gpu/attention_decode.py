#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention with one query and a long cache on an NVIDIA GPU: this library against PyTorch's cuDNN and flash back ends.

    benchmarks/gpu/attention_decode.py LIBRARY [--shapes 1x8192,16x8192] [--splits N] [--json FILE --commit C] [--check-only]

LIBRARY is libtilewright_attention_decode.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). 32 query heads, 8 key heads, head dimension 128, bf16.
The same Gaussian data for all, verified against float64 and timed in turns in one process, in back-to-back launches. Prints GB/s of the cache
and the rate of a device copy of as many bytes (read and written bytes counted). Exits with 1 if an error is larger than 1.2 times cuDNN's.
"""
import argparse
import ctypes
import math
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention import Args, Strides, strides_of
from results_file import parse_arguments, write_results
from timing import Race

HEADS, KV_HEADS, DIM = 32, 8, 128


class DecodeArgs(ctypes.Structure):
    """tilewright::attention_decode_args."""
    _fields_ = Args._fields_ + [("key_counts", ctypes.c_void_p), ("block_table", ctypes.c_void_p), ("table_stride", ctypes.c_int),
                                ("rows_per_page", ctypes.c_int), ("k_scale_strides", Strides), ("v_scale_strides", Strides),
                                ("k_rope", ctypes.c_void_p), ("k_rope_strides", Strides),
                                ("splits", ctypes.c_int), ("workspace", ctypes.c_void_p), ("shares", ctypes.c_int)]


class Decode:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.run = self.library.tilewright_attention_decode
        self.run.restype = ctypes.c_char_p
        self.run.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(DecodeArgs), ctypes.c_void_p]
        self.library.tilewright_decode_workspace_bytes.restype = ctypes.c_longlong
        if self.library.tilewright_attention_decode_args_bytes() != ctypes.sizeof(DecodeArgs):
            raise SystemExit("attention_decode.py: the library's attention_decode_args have another size than this script's")

    def prepare(self, q, k, v, o, splits=0, table=None, counts=None, scales=None, sinks=None, window=(-1, -1), starts=None, queries=0, lse=None,
                shares=0):
        """A function that queues the kernels. With a table k and v are pages, (page, head, row, dim). Scales of 8-bit k and v are of the
        same shape but for dim, or of length 1. With starts q and o are (1, head, row, dim), and queries is the most of a sequence."""
        args = DecodeArgs()
        caches = {torch.float8_e4m3fn: 1, torch.int8: 2}
        args.q, args.k, args.v, args.o = (x.data_ptr() for x in (q, k, v, o))
        args.batch, args.heads, args.kv_heads, args.queries = q.shape[0], q.shape[1], k.shape[1], q.shape[2]
        args.keys = k.shape[2] * (table.shape[1] if table is not None else 1)
        args.q_strides, args.k_strides, args.v_strides, args.o_strides = (strides_of(x) for x in (q, k, v, o))
        args.lse_strides = Strides()
        args.scale, (args.left, args.right) = 1 / math.sqrt(q.shape[3]), window
        if starts is not None:
            args.query_starts, args.queries, args.batch = starts.data_ptr(), queries, len(starts) - 1
        if scales is not None:
            args.k_scales, args.v_scales = (x.data_ptr() for x in scales)
            args.k_scale_strides, args.v_scale_strides = (
                Strides(*(stride if length > 1 else 0 for stride, length in zip(x.stride(), x.shape))) for x in scales)
        if sinks is not None:
            args.sinks = sinks.data_ptr()
        if lse is not None:  # as o without dim
            args.lse, args.lse_strides = lse.data_ptr(), strides_of(lse)
        if table is not None:
            args.block_table, args.table_stride, args.rows_per_page = table.data_ptr(), table.shape[1], k.shape[2]
        if counts is not None:
            args.key_counts = counts.data_ptr()
        count = torch.cuda.get_device_properties(0).multi_processor_count
        args.shares = shares or (0 if splits else self.library.tilewright_choose_shares(ctypes.byref(args), count))
        args.splits = splits or (1 if args.shares else self.library.tilewright_choose_splits(ctypes.byref(args), count))
        workspace = torch.empty(max(1, self.library.tilewright_decode_workspace_bytes(ctypes.byref(args), v.shape[3]) // 4), device="cuda")
        args.workspace = workspace.data_ptr()

        def call(_alive=(workspace, q, k, v, o, scales, sinks, starts, counts, table, lse)):
            why = self.run(q.dtype == torch.bfloat16, caches.get(k.dtype, 0), q.shape[3], ctypes.byref(args), torch.cuda.current_stream().cuda_stream)
            if why:
                raise SystemExit(f"attention_decode.py: {why.decode()}")
        call.splits, call.shares = args.splits, args.shares
        return call


def pages_of(x, rows, order):
    """(batch, head, row, dim) as pages in the given order: (page, head, row, dim)."""
    batch, heads, keys, dim = x.shape
    pages = x.reshape(batch, heads, keys // rows, rows, dim).permute(0, 2, 3, 1, 4).reshape(-1, rows, heads, dim)
    result = torch.empty_like(pages)
    result[order] = pages
    return result.transpose(1, 2)


def reference(q, k, v):
    """Float64, the first sequence."""
    group = q.shape[1] // k.shape[1]
    k, v = (x[0].double().repeat_interleave(group, 0) for x in (k, v))
    return torch.softmax(q[0].double() @ k.transpose(1, 2) / math.sqrt(q.shape[3]), -1) @ v


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--shapes", default="1x8192,1x32768,16x8192,64x4096,64x1024")
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--check-only", action="store_true")
    options = parse_arguments(parser)
    ours = Decode(options.library)
    torch.manual_seed(1)
    rows, failures = [], 0
    for batch, keys in (tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")):
        q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
        k, v = (torch.randn(batch, keys, KV_HEADS, DIM, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(2))
        o, paged = torch.full_like(q, math.nan), torch.full_like(q, math.nan)
        page = 64
        order = torch.randperm(batch * keys // page, device="cuda")
        table = order.to(torch.int32).reshape(batch, keys // page)
        k_pages, v_pages = pages_of(k, page, order), pages_of(v, page, order)

        def backend(which):
            def call():
                with sdpa_kernel(which):
                    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            return call
        copied = torch.empty_like(k)
        calls = {"tilewright": ours.prepare(q, k, v, o, options.splits),
                 "paged": ours.prepare(q, k_pages, v_pages, paged, options.splits, table),
                 "cudnn": backend(SDPBackend.CUDNN_ATTENTION), "flash": backend(SDPBackend.FLASH_ATTENTION),
                 "copy": lambda: copied.copy_(k)}
        calls["tilewright"]()
        calls["paged"]()
        theirs = calls["cudnn"]()
        torch.cuda.synchronize()
        wanted = reference(q, k, v)
        error, paged_error, their_error = (float((x[0].double() - wanted).norm() / wanted.norm()) for x in (o, paged, theirs))
        difference = float((o.double() - theirs.double()).norm() / theirs.double().norm())
        wrong = not (max(error, paged_error) <= 1.2 * their_error and difference < 0.02 and torch.equal(o, paged))
        failures += wrong
        row = {"batch": batch, "keys": keys, "splits": calls["tilewright"].splits, "error": error, "cudnn_error": their_error}
        if not options.check_only:
            size = 2 * k.numel() * 2
            race = Race(calls, 2e-2)
            times = race.times(options.rounds)
            for name in calls:
                row[name] = size / statistics.median(t[name] for t in times) / 1e9  # the copy reads k and writes as much
            row |= {f"host_us_{name}": us for name, us in race.host_us().items()}
            row["ratio_to_cudnn"] = row["tilewright"] / row["cudnn"]
            row["ratio_to_copy"] = row["tilewright"] / row["copy"]
        rows.append(row)
        print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
              "WRONG" if wrong else "", flush=True)
    write_results(options, unit="GB/s", rows=rows)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
