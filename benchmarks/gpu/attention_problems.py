#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random problems of attention_forward over all options against float64, with guards around results; and times with block masks.

    benchmarks/gpu/attention_problems.py LIBRARY [--problems 200] [--seed S] [--masks-only] [--times] [--flex] [--json FILE --commit C]

LIBRARY is libtilewright_attention.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). Types, head dimensions, lengths (packed or not), windows, sinks,
scales of 8-bit elements, and block masks are random; the kernel is that by wgmma or the portable one. --times: masks of 128 x 128 tiles, random
with a density, or a band of tiles, in CUDA graphs; TFLOP/s of the tiles that are seen, the ratio to the rate without a mask, and with --flex to
PyTorch's flex_attention. Exits with 1 if a result is wrong.
"""
import argparse
import ctypes
import math
import random
import statistics
import sys

import torch

from attention import TYPES, Args, Strides, Tilewright
from results_file import parse_arguments, write_results
from timing import Race

GUARD = 4096


def packed_bits(seen):
    """A bool tensor (..., tiles of keys) as words of int32."""
    words = (seen.shape[-1] + 31) // 32
    bits = torch.nn.functional.pad(seen, (0, 32 * words - seen.shape[-1])).view(*seen.shape[:-1], words, 32).long()
    return ((bits << torch.arange(32, device=seen.device)).sum(-1)).to(torch.uint32).view(torch.int32).contiguous()


class Problem:
    """Random tensors (row, head, dim) of all sequences, and the arguments of the kernel."""

    def __init__(self, rng, masks_only, dims):
        pick = rng.choice
        self.dim, self.value_dim = pick(dims)
        self.dtype = pick([torch.half, torch.bfloat16, torch.float8_e4m3fn])
        self.is_small = self.dtype == torch.float8_e4m3fn
        self.portable = not self.is_small and rng.random() < 0.25
        self.kv_heads, self.batch = pick([1, 2, 3]), pick([1, 2, 3])
        self.heads, self.packed = self.kv_heads * pick([1, 2, 4]), rng.random() < 0.4
        self.queries = [rng.randint(0 if self.packed else 1, pick([5, 200, 900])) for _ in range(self.batch)]
        self.keys = [rng.randint(0, pick([5, 300, 1200, 4000])) for _ in range(self.batch)]
        self.queries[0] = max(self.queries[0], 1)
        if not self.packed:
            self.queries, self.keys = self.queries[:1] * self.batch, self.keys[:1] * self.batch
        self.window = pick([(-1, -1), (-1, -1), (-1, 0), (rng.randint(0, 300), 0), (rng.randint(0, 99), rng.randint(0, 99))])
        rows, self.scale = sum(self.queries), 1 / math.sqrt(self.dim)
        make = lambda count, heads, dim: torch.randn(max(count, 1), heads, dim, device="cuda").to(self.dtype)
        self.q, self.k = make(rows, self.heads, self.dim), make(sum(self.keys), self.kv_heads, self.dim)
        self.v = make(sum(self.keys), self.kv_heads, self.value_dim)
        self.memory = torch.full((rows * self.heads * self.value_dim + 2 * GUARD,), math.nan, device="cuda",
                                 dtype=torch.bfloat16 if self.is_small else self.dtype)
        self.o = self.memory[GUARD:-GUARD].view(rows, self.heads, self.value_dim)
        self.lse = torch.full((rows, self.heads), math.nan, device="cuda")
        self.sinks = torch.randn(self.heads, device="cuda") * 2 if rng.random() < 0.4 else None
        self.scales = None
        if self.is_small and rng.random() < 0.7:
            self.scales = [torch.rand(self.batch, heads, device="cuda") + 0.5 for heads in (self.heads, self.kv_heads, self.kv_heads)]
        self.mask = None
        if self.dim == self.value_dim and self.dim % 64 == 0 and self.dim <= 256 and (masks_only or rng.random() < 0.4):
            self.tile = pick([16, 32, 64, 128, 256]), pick([16, 32, 64, 128, 256])
            tiles = [-(-max(lengths) // tile) for lengths, tile in zip((self.queries, self.keys), self.tile)]
            self.mask = torch.rand(pick([1, self.batch]), pick([1, self.heads]), *tiles, device="cuda") < pick([0.03, 0.3, 0.9])
            self.bits = packed_bits(self.mask)

    def args(self):
        strides = lambda x, rows: Strides(0 if self.packed else rows * x.stride(0), x.stride(1), x.stride(0))
        a = Args(*(x.data_ptr() for x in (self.q, self.k, self.v, self.o, self.lse)), self.batch, self.heads, self.kv_heads, max(self.queries),
                 max(self.keys), strides(self.q, self.queries[0]), strides(self.k, self.keys[0]), strides(self.v, self.keys[0]),
                 strides(self.o, self.queries[0]), Strides(0 if self.packed else self.queries[0] * self.heads, 1, self.heads))
        a.scale, (a.left, a.right) = self.scale, self.window
        if self.packed:
            self.starts = [torch.tensor([sum(lengths[:b]) for b in range(self.batch + 1)], device="cuda", dtype=torch.int32)
                           for lengths in (self.queries, self.keys)]
            a.query_starts, a.key_starts = (x.data_ptr() for x in self.starts)
        if self.sinks is not None:
            a.sinks = self.sinks.data_ptr()
        if self.scales is not None:
            a.q_scales, a.k_scales, a.v_scales = (x.data_ptr() for x in self.scales)
        a.mask_queries = a.mask_keys = 128
        if self.mask is not None:
            set_mask(a, self.bits, *self.tile)
        return a

    def errors_of(self, b):
        """Of O (relative for 8 bits) and the log-sum-exp of a sequence."""
        first, first_key, n, keys = sum(self.queries[:b]), sum(self.keys[:b]), self.queries[b], self.keys[b]
        if n == 0:
            return 0.0, 0.0
        factors = [x[b].double() for x in self.scales] if self.scales else [torch.ones(x.shape[1], device="cuda").double() for x in (self.q, self.k, self.v)]
        q, k, v = (x[start:start + count].double() * f[None, :, None] for x, start, count, f in
                   zip((self.q, self.k, self.v), (first, first_key, first_key), (n, keys, keys), factors))
        k, v = (x.repeat_interleave(self.heads // self.kv_heads, 1) for x in (k, v))
        s = torch.einsum("qhd,khd->hqk", q, k) * self.scale
        distance = torch.arange(keys, device="cuda")[None] - (torch.arange(n, device="cuda")[:, None] + keys - n)
        hidden = torch.zeros_like(distance, dtype=torch.bool)
        for limit, beyond in zip(self.window, (lambda x: distance < -x, lambda x: distance > x)):
            if limit >= 0:
                hidden |= beyond(limit)
        hidden = hidden[None].expand_as(s)
        if self.mask is not None:
            seen = self.mask[min(b, self.mask.shape[0] - 1)]
            seen = seen.repeat_interleave(self.tile[0], 1)[:, :n].repeat_interleave(self.tile[1], 2)[:, :, :keys]
            hidden = hidden | ~seen
        s = s.masked_fill(hidden, -math.inf)
        extra = torch.full((self.heads, n, 1), -math.inf, device="cuda", dtype=torch.float64)
        if self.sinks is not None:
            extra = self.sinks.double()[:, None, None].expand_as(extra)
        lse = torch.logsumexp(torch.cat([s, extra], 2), 2)
        wanted = torch.einsum("hqk,khd->qhd", torch.exp(s - lse[..., None]).nan_to_num(0.0), v)
        error = (self.o[first:first + n].double() - wanted).nan_to_num(math.inf)
        got = self.lse[first:first + n].double()
        lse_error = float(torch.where(got == lse.T, 0.0, (got - lse.T).abs()).nan_to_num(math.inf).max())
        return float(error.norm() / max(float(wanted.norm()), 1e-9)) if self.is_small else float(error.abs().max()), lse_error

    def is_right(self):
        errors = [self.errors_of(b) for b in range(self.batch)]
        # wgmma adds up products of 8-bit elements with fewer bits than those of 16
        allowed, lse_allowed = (0.05, 1e-2) if self.is_small else (6 * 2 ** (-8 if self.dtype == torch.bfloat16 else -11), 2e-3)
        self.worst = [max(x) for x in zip(*errors)]
        guards = torch.cat([self.memory[:GUARD], self.memory[-GUARD:]])
        return self.worst[0] < allowed and self.worst[1] < lse_allowed and bool(guards.isnan().all())

    def __str__(self):
        return (f"{self.dtype} {self.dim}/{self.value_dim} portable {self.portable} packed {self.packed} heads {self.heads}/{self.kv_heads} "
                f"queries {self.queries} keys {self.keys} window {self.window} sinks {self.sinks is not None} scales {self.scales is not None} "
                f"mask {self.mask is not None and (self.tile, tuple(self.mask.shape))}")


def set_mask(args, bits, queries, keys):
    stride = lambda i: bits.stride(i) if bits.shape[i] > 1 else 0
    args.mask_queries, args.mask_keys, args.mask_bits = queries, keys, bits.data_ptr()
    args.mask_strides = Strides(stride(0), stride(1), bits.shape[3])


def is_problem_right(ours, rng, number, masks_only, dims):
    problem = Problem(rng, masks_only, dims)
    args = problem.args()
    why = ours.forward(TYPES.index(problem.dtype), problem.portable, problem.dim, problem.value_dim, ctypes.byref(args),
                       torch.cuda.current_stream().cuda_stream)
    if why:
        raise SystemExit(f"problem {number} was refused: {problem}: {why.decode()}")
    torch.cuda.synchronize()
    right = problem.is_right()
    if not right:
        print(f"problem {number} WRONG: {problem}: errors {problem.worst}", flush=True)
    return right


def times_of(ours, length, dim, kind, density, flex, rounds):
    """Rates with a mask of 128 x 128 tiles, and without one."""
    heads, tiles = 2048 // dim, length // 128
    q, k, v = (torch.randn(16384 // length, length, heads, dim, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(3))
    o = torch.empty_like(q)
    row, column = torch.arange(tiles, device="cuda")[:, None], torch.arange(tiles, device="cuda")[None]
    seen = (row - column).abs() * 2 < density * tiles if kind == "band" else torch.rand(tiles, tiles, device="cuda") < density
    bits = packed_bits(seen[None, None])
    everything = packed_bits(torch.ones_like(seen)[None, None])
    calls = {"dense": ours.prepare(q, k, v, o, False), "masked": ours.prepare(q, k, v, o, False, mask=(bits, 128, 128)),
             "all_tiles": ours.prepare(q, k, v, o, False, mask=(everything, 128, 128))}
    if flex:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        block_mask = create_block_mask(lambda b, h, i, j: seen[i // 128, j // 128], None, None, length, length, device="cuda", BLOCK_SIZE=128)
        compiled = torch.compile(flex_attention, dynamic=False)
        calls["flex"] = lambda: compiled(q, k, v, block_mask=block_mask)
        difference = float((calls["flex"]().double() - (calls["masked"](), o)[1].double()).abs().max())
        if not difference < 0.03:
            raise SystemExit(f"flex_attention differs by {difference}")
    times = Race(calls, 8e-3).times(rounds)
    seconds = {name: statistics.median(t[name] for t in times) for name in calls}
    share = float(seen.float().mean())
    flops = 4 * q.shape[0] * heads * length * length * dim
    result = {"length": length, "dim": dim, "mask": kind, "seen": share, "tflops": flops * share / seconds["masked"] / 1e12,
              "dense_tflops": flops / seconds["dense"] / 1e12, "rate_to_dense": share * seconds["dense"] / seconds["masked"],
              "all_tiles_to_dense": seconds["dense"] / seconds["all_tiles"]}
    return result | ({"ratio_to_flex": seconds["flex"] / seconds["masked"]} if flex else {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--masks-only", action="store_true")
    parser.add_argument("--wide", action="store_true", help="the library has head dimensions 384 and 512 (compiled with -DWIDE_HEADS)")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--flex", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parse_arguments(parser)
    ours, rng = Tilewright(options.library), random.Random(options.seed)
    torch.manual_seed(options.seed)
    dims = [(64, 64), (128, 128), (256, 256)] + [(96, 96), (192, 128)] * (not options.masks_only)
    dims = [(384, 384), (512, 512)] if options.wide else dims
    right = sum(is_problem_right(ours, rng, i, options.masks_only, dims) for i in range(options.problems))
    print(f"{right} of {options.problems} random problems are right", flush=True)
    rows = []
    for dim in (64, 128) if options.times else ():
        for length, kind, density in ((4096, "random", 0.25), (16384, "random", 0.1), (16384, "band", 0.1)):
            rows.append(times_of(ours, length, dim, kind, density, options.flex, options.rounds))
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    write_results(options, rows=rows)
    sys.exit(0 if right == options.problems else 1)


if __name__ == "__main__":
    main()
