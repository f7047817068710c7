#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""attention_decode as serving uses it, on an NVIDIA GPU: 8-bit caches, ragged batches, sinks, windows, several queries for each sequence.

    benchmarks/gpu/attention_serving.py LIBRARY [--latent LIBRARY [RIVAL ...]] [--problems 200] [--seed S] [--shapes 16x8192,...] [--json FILE --commit C]
                                       [--check-only]

LIBRARY is libtilewright_attention_decode.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). First random problems over all options, with guards around
what is written, against float64. Then times in CUDA graphs: 32 query and 8 key heads, d = 128, bf16 queries, pages of 64 rows in random order,
caches of bf16, e4m3 and int8 (a scale for each token and head); `ragged`: lengths of the same sum, each between nothing and twice the mean. GB/s
of the cache, and of a device copy of as many bytes (read and written bytes counted). With --latent, libtilewright_attention_latent.so, latent
attention (576 / 512) as well, in TFLOP/s and GB/s; rivals are the same library of other revisions, raced in the same rounds. Exits with 1 if a
result is wrong.
"""
import argparse
import math
import random
import statistics
import sys

import torch

from attention_decode import Decode
from results_file import parse_arguments, write_results
from timing import Race

HEADS, KV_HEADS, DIM = 32, 8, 128
GUARD = 4096
CACHES = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn, "int8": torch.int8}


def cache_of(shape, dtype, scale_shape):
    """K or V as (page, row, head, dim) in a type, its scales or none, and what both mean, in float64."""
    x = torch.randn(shape, device="cuda")
    if dtype in (torch.bfloat16, torch.half):
        x = x.to(dtype)
        return x, None, x.double()
    scale = (torch.rand(scale_shape, device="cuda") + 0.5) / (40 if dtype == torch.int8 else 100)
    quantised = x / scale[..., None]
    quantised = quantised.round().clamp(-127, 127).to(dtype) if dtype == torch.int8 else quantised.clamp(-448, 448).to(dtype)
    return quantised, scale, quantised.double() * scale[..., None].double()


def guarded(*shape, dtype):
    """A tensor of NaN between guards, and its memory."""
    size = math.prod(shape)
    memory = torch.full((size + 2 * GUARD,), math.nan, device="cuda", dtype=dtype)
    return memory[GUARD:GUARD + size].view(shape), memory


def reference(q, k, v, scale, window, sinks):
    """O and the log-sum-exp of one sequence; (row, head, dim)."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    s = torch.einsum("qhd,khd->hqk", q.double(), k) * scale
    distance = torch.arange(k.shape[0], device="cuda")[None] - (torch.arange(q.shape[0], device="cuda")[:, None] + k.shape[0] - q.shape[0])
    hidden = torch.zeros_like(distance, dtype=torch.bool)
    if window[0] >= 0:
        hidden |= distance < -window[0]
    if window[1] >= 0:
        hidden |= distance > window[1]
    s = s.masked_fill(hidden[None], -math.inf)
    extra = torch.full((s.shape[0], s.shape[1], 1), -math.inf, device="cuda", dtype=torch.float64)
    if sinks is not None:
        extra = extra.clone()
        extra[:] = sinks.double()[:, None, None]
    lse = torch.logsumexp(torch.cat([s, extra], 2), 2)
    p = torch.exp(s - lse[..., None]).nan_to_num(0.0)
    return torch.einsum("hqk,khd->qhd", p, v), lse.T


def check_problem(ours, rng, number, dims=(64, 128, 256)):
    """Whether one random problem is right."""
    pick = rng.choice
    q_type, cache_type = pick([torch.bfloat16, torch.half]), pick(["16", "e4m3", "int8"])
    cache_type = q_type if cache_type == "16" else CACHES[cache_type]
    dim, kv_heads = pick(dims), pick([1, 2, 5, 8])
    heads, batch, page = kv_heads * pick([1, 2, 4, 7, 16]), pick([1, 2, 3, 9, 40, 70]), pick([16, 32, 64, 128])
    longest = pick([1, 17, 300, 2000, 9000 if batch < 10 else 1000])
    keys = [rng.randint(0, longest) for _ in range(batch)]
    is_ragged, most = rng.random() < 0.6, pick([1, 1, 2, 5, 9])
    queries = [rng.randint(0, most) if is_ragged else most for _ in range(batch)]
    queries[0] = most
    window = pick([(-1, -1), (-1, 0), (rng.randint(0, 200), 0), (rng.randint(0, 200), -1)])
    pages = max(1, (max(keys) + page - 1) // page)
    scale_shape = (batch * pages if rng.random() < 0.6 else 1, page if rng.random() < 0.6 else 1, kv_heads if rng.random() < 0.6 else 1)
    (k, k_scale, k_wanted), (v, v_scale, v_wanted) = (cache_of((batch * pages, page, kv_heads, dim), cache_type, scale_shape) for _ in range(2))
    table = torch.randperm(batch * pages, device="cuda").to(torch.int32).view(batch, pages)
    starts = [sum(queries[:b]) for b in range(batch + 1)]
    q = torch.randn(starts[-1], heads, dim, device="cuda", dtype=q_type)
    o, o_memory = guarded(starts[-1], heads, dim, dtype=q_type)
    lse, lse_memory = guarded(starts[-1], heads, dtype=torch.float32)
    sinks = torch.randn(heads, device="cuda") * 3 if rng.random() < 0.4 else None
    as_args = (lambda x: x.transpose(0, 1)[None]) if is_ragged else (lambda x: x.view(batch, most, *x.shape[1:]).transpose(1, 2))
    scales = None if k_scale is None else (k_scale.transpose(1, 2), v_scale.transpose(1, 2))
    call = ours.prepare(as_args(q), k.transpose(1, 2), v.transpose(1, 2), as_args(o), rng.choice([0, 0, 1, 2, 3, 7]), table,
                        torch.tensor(keys, device="cuda", dtype=torch.int32), scales, sinks, window,
                        torch.tensor(starts, device="cuda", dtype=torch.int32) if is_ragged else None, most,
                        lse.transpose(0, 1)[None] if is_ragged else lse.view(batch, most, heads).transpose(1, 2), rng.choice([0, 0, 1, 5, 60]))
    described = (f"{q_type} {cache_type} dim {dim} heads {heads}/{kv_heads} queries {queries} keys {keys} page {page} window {window} "
                 f"scales {scale_shape} sinks {sinks is not None} splits {call.splits} shares {call.shares}")
    try:
        call()
        torch.cuda.synchronize()
    except RuntimeError as error:
        raise SystemExit(f"problem {number} FAILED: {described}: {str(error).splitlines()[0]}") from error
    tolerance = 6 * (2 ** -11 if q_type == torch.half and cache_type == q_type else 2 ** -8)
    worst, worst_lse = 0.0, 0.0
    for b in range(batch):
        if queries[b] == 0:
            continue
        rows = slice(starts[b], starts[b + 1])
        kb, vb = (x[table[b].long()].reshape(pages * page, kv_heads, dim)[:keys[b]] for x in (k_wanted, v_wanted))
        wanted, wanted_lse = reference(q[rows], kb, vb, 1 / math.sqrt(dim), window, sinks)
        worst = max(worst, float((o[rows].double() - wanted).abs().nan_to_num(math.inf).max()))
        difference = torch.where(lse[rows].double() == wanted_lse, 0.0, (lse[rows].double() - wanted_lse).abs())
        worst_lse = max(worst_lse, float(difference.nan_to_num(math.inf).max()))
    guards = torch.cat([m[i] for m in (o_memory.float(), lse_memory) for i in (slice(0, GUARD), slice(-GUARD, None))])
    right = worst < tolerance and worst_lse < 2e-3 and bool(guards.isnan().all())
    if not right:
        print(f"problem {number} WRONG: {described}: error {worst:.3g}, lse {worst_lse:.3g}", flush=True)
    return right


def check_latent(ours, rng, number):
    """Whether one random problem of latent attention is right: V is the first 512 columns of K. Pages of 1 row: a list of tokens."""
    batch, heads, is_small = rng.choice([1, 2, 5, 20]), rng.choice([1, 16, 40, 64, 128]), rng.random() < 0.5
    page = rng.choice([16, 32, 64, 128] if is_small else [1, 16, 32, 64, 128])
    keys = [rng.randint(0, rng.choice([1, 64, 700, 3000])) for _ in range(batch)]
    most, window, dtype = rng.choice([1, 1, 2, 4]), rng.choice([(-1, -1), (-1, 0), (100, 0)]), rng.choice([torch.bfloat16, torch.half])
    pages = max(1, (max(keys) + page - 1) // page)
    scale_shape = rng.choice([(batch * pages, page, 1), (batch * pages, 1, 1), (1, 1, 1)])
    k, scale, _ = cache_of((batch * pages, page, 1, 576), torch.float8_e4m3fn if is_small else dtype, scale_shape)
    table = torch.randperm(batch * pages, device="cuda").to(torch.int32).view(batch, pages)
    for b in range(batch):  # what is no key is NaN
        bits = k.view(torch.int16 if scale is None else torch.uint8).view(batch * pages, page, 576)
        rows = bits[table[b].long()].view(pages * page, 576)
        rows[keys[b]:] = 0x7fff if scale is None else 0x7f
        bits[table[b].long()] = rows.view(pages, page, 576)
    q = torch.randn(batch, most, heads, 576, device="cuda").to(dtype)
    o, memory = guarded(batch, most, heads, 512, dtype=dtype)
    lse = torch.full((batch, most, heads), math.nan, device="cuda")
    sinks = torch.randn(heads, device="cuda") if rng.random() < 0.3 else None
    call = ours.prepare(q.transpose(1, 2), k.transpose(1, 2), k[..., :512].transpose(1, 2), o.transpose(1, 2), rng.choice([0, 1, 2, 5]), table,
                        torch.tensor(keys, device="cuda", dtype=torch.int32),
                        None if scale is None else (scale.transpose(1, 2),) * 2, sinks, window, lse=lse.transpose(1, 2), shares=rng.choice([0, 0, 1, 3, 40]))
    call()
    torch.cuda.synchronize()
    worst = 0.0
    for b in range(batch):
        rows = k if scale is None else k.double() * scale[..., None].double()
        rows = rows[table[b].long()].reshape(pages * page, 1, 576)[:keys[b]].double()
        wanted, wanted_lse = reference(q[b], rows, rows[..., :512], 1 / 24, window, sinks)
        worst = max(worst, float((o[b].double() - wanted).abs().nan_to_num(math.inf).max()))
        worst = max(worst, float(torch.where(lse[b].double() == wanted_lse, 0.0, (lse[b].double() - wanted_lse).abs()).nan_to_num(math.inf).max()))
    right = worst < 6 * (2 ** -8 if dtype == torch.bfloat16 else 2 ** -11) and bool(torch.cat([memory[:GUARD], memory[-GUARD:]]).isnan().all())
    if not right:
        print(f"latent problem {number} WRONG: {dtype} heads {heads} queries {most} keys {keys} page {page} window {window} sinks {sinks is not None} "
              f"splits {call.splits}: error {worst:.3g}", flush=True)
    return right


def latent_times_of(libraries, batch, keys, rounds, page=64, small=False, heads=128):
    """Latent attention of 128 heads, pages of 64 rows; or of 1: lists of random rows of a cache. Other libraries than the first one are rivals."""
    k = torch.randn(batch * keys // page, page, 1, 576, device="cuda", dtype=torch.bfloat16)
    table = torch.randperm(batch * keys // page, device="cuda").to(torch.int32).view(batch, -1)
    scales = (torch.rand(*k.shape[:3], device="cuda").transpose(1, 2),) * 2 if small else None
    k = k.to(torch.float8_e4m3fn) if small else k
    q = torch.randn(batch, heads, 1, 576, device="cuda", dtype=torch.bfloat16)
    o = torch.empty(batch, heads, 1, 512, device="cuda", dtype=torch.bfloat16)
    copied = torch.empty_like(k)
    half = k.shape[0] // 2
    calls = {f"rival{i}" if i else "latent": ours.prepare(q, k.transpose(1, 2), k[..., :512].transpose(1, 2), o, 0, table, None, scales)
             for i, ours in enumerate(libraries)}
    calls["copy"] = lambda: copied[:half].copy_(k[:half])
    times = Race(calls, 1.5e-2).times(rounds)
    seconds = {name: statistics.median(t[name] for t in times) for name in calls}
    row = {"batch": batch, "keys": keys, "page": page, "heads": heads, "cache": "e4m3" if small else "bf16", "splits": calls["latent"].splits,
           "mib": k.numel() * k.element_size() / 2 ** 20}
    row |= {"tflops": 2 * heads * (576 + 512) * batch * keys / seconds["latent"] / 1e12, "latent": k.numel() * k.element_size() / seconds["latent"] / 1e9,
            "copy": k.numel() * k.element_size() / seconds["copy"] / 1e9}
    row |= {f"ratio_to_{name}": seconds[name] / seconds["latent"] for name in calls if name.startswith("rival")}
    return row | {"ratio_to_copy": row["latent"] / row["copy"]}


def ragged_lengths(batch, mean, page):
    """Multiples of a page between nothing and twice the mean, with the sum batch * mean."""
    rng = random.Random(batch)
    lengths = [rng.randint(1, 2 * mean // page - 1) * page for _ in range(batch)]
    while sum(lengths) != batch * mean:
        i, step = rng.randrange(batch), page if sum(lengths) < batch * mean else -page
        if 0 < lengths[i] + step <= 2 * mean:
            lengths[i] += step
    return lengths


def times_of(ours, batch, mean, name, rounds):
    """Rates of an even and a ragged batch with the same bytes, and of the even one with sinks."""
    page, dtype, row = 64, CACHES[name], {"batch": batch, "keys": mean, "cache": name}
    count = batch * mean // page
    shape = (count, page, KV_HEADS, DIM)
    k, v = ((torch.randint(-127, 128, shape, device="cuda", dtype=torch.int8) if name == "int8" else
             torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(dtype)) for _ in range(2))
    scales = None
    if name != "bf16":
        scales = tuple((torch.rand(shape[:3], device="cuda") / 60).transpose(1, 2) for _ in range(2))
    q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
    sinks = torch.randn(HEADS, device="cuda")
    calls = {}
    for kind in ("even", "ragged", "sinks"):
        lengths = ragged_lengths(batch, mean, page) if kind == "ragged" and batch > 1 else [mean] * batch
        order = torch.randperm(count, device="cuda").to(torch.int32)
        table, begin = torch.zeros(batch, max(lengths) // page, device="cuda", dtype=torch.int32), 0
        for b, length in enumerate(lengths):
            table[b, :length // page] = order[begin:begin + length // page]
            begin += length // page
        counts = torch.tensor(lengths, device="cuda", dtype=torch.int32) if kind == "ragged" else None
        calls[kind] = ours.prepare(q, k.transpose(1, 2), v.transpose(1, 2), torch.empty_like(q), 0, table, counts, scales,
                                   sinks if kind == "sinks" else None)
        row[f"splits_{kind}"], row[f"shares_{kind}"] = calls[kind].splits, calls[kind].shares
    copied = torch.empty_like(k.view(torch.int8))
    calls["copy"] = lambda: copied.copy_(k.view(torch.int8))
    size = 2 * k.numel() * k.element_size()
    race = Race(calls, 1.5e-2)
    times = race.times(rounds)
    for kind in calls:
        row[kind] = size / statistics.median(t[kind] for t in times) / 1e9
    row |= {"mib": size / 2 ** 20, "ratio_to_copy": row["even"] / row["copy"], "ratio_ragged_to_even": row["ragged"] / row["even"],
            "ratio_sinks_to_none": row["sinks"] / row["even"]}
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--latent", nargs="+", help="the library of latent attention, and others of it to race with it")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shapes", default="16x8192,64x4096,1x131072,128x4096,32x16384")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check-only", action="store_true")
    options = parse_arguments(parser)
    ours, rng = Decode(options.library), random.Random(options.seed)
    torch.manual_seed(options.seed)
    right = sum(check_problem(ours, rng, i) for i in range(options.problems))
    print(f"{right} of {options.problems} random problems are right", flush=True)
    rows = []
    for shape in () if options.check_only else filter(None, options.shapes.split(",")):
        for name in CACHES:
            rows.append(times_of(ours, *map(int, shape.split("x")), name, options.rounds))
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    latent_right, latent_rows = options.problems // 4, []
    if options.latent:
        libraries = [Decode(path) for path in options.latent]
        latent_right = sum(check_latent(libraries[0], rng, i) for i in range(options.problems // 4))
        print(f"{latent_right} of {options.problems // 4} random problems of latent attention are right", flush=True)
        shapes = ((16, 8192, 64), (64, 4096, 64), (128, 4096, 64), (1, 65536, 64), (128, 2048, 1), (128, 2048, 64))
        of_heads = [(128, 4096, 64, small, heads) for heads in (128, 64, 16) for small in (False, True)] + [(32, 16384, 64, small, 16) for small in (False, True)]
        for batch, keys, *more in () if options.check_only else (*shapes, *of_heads[1:]):
            latent_rows.append(latent_times_of(libraries, batch, keys, options.rounds, *more))
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in latent_rows[-1].items()), flush=True)
    write_results(options, unit="GB/s", problems=options.problems, right=right, rows=rows, latent_problems=options.problems // 4,
                  latent_right=latent_right, latent_rows=latent_rows)
    sys.exit(0 if right == options.problems and latent_right == options.problems // 4 else 1)


if __name__ == "__main__":
    main()
