#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""expert_parallel_moe on the GPUs of one host, a process for each, against moe with all experts on one GPU.

    TILEWRIGHT_LIBRARY=.../libtilewright.so PYTHONPATH=python benchmarks/gpu/expert_parallel.py [--ranks N] [--random N] [--seed S] [--prepare]

Random layers, of uneven routing, capacities and biases: the largest relative error, and whether two runs have the same bits. Then times of a model's
layer for some numbers of tokens: expert_parallel_moe of all ranks, which together have N times the tokens, and moe of a rank's tokens and all
experts. --prepare: compiles the kernels and ends. Exits with 1 if a result is wrong.
"""
import argparse
import os
import random
import statistics
import sys

import torch
import torch.distributed as distributed

import tilewright


def seconds_of(call, launches=10, blocks=5):
    found = []
    for i in range(blocks + 1):
        torch.cuda.synchronize()
        distributed.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(launches):
            call()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / launches / 1e3)
    return statistics.median(found[1:])


def make_layer(tokens, experts, d, n, seed, has_bias):
    """All ranks make the same: x, logits and weights of all."""
    torch.manual_seed(seed)
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / shape[-1] ** 0.5
    biases = {"gate_up_bias": make(experts, 2 * n), "down_bias": make(experts, d)} if has_bias else {}
    return make(tokens, d) * d ** 0.5, torch.randn(tokens, experts, device="cuda"), make(experts, 2 * n, d), make(experts, d, n), biases


def check(rank, ranks, count, seed):
    random.seed(seed)
    wrong = 0
    for i in range(count):
        experts, tokens = ranks * random.choice([1, 4, 16, 60]), random.choice([1, 7, 64, 500, 2000])
        choices, d, n = random.randint(1, min(experts, 8)), 8 * random.randint(2, 80), 8 * random.randint(2, 60)
        options = random.choice([{}, {"score": "sigmoid", "scale": 2.5}, {"capacity": 1 + tokens // 4}])
        x, logits, gate_up, down, biases = make_layer(ranks * tokens, experts, d, n, seed + i, random.random() < 0.4)
        if random.random() < 0.4:
            logits[:, random.randrange(experts)] += 9
        own = lambda t: t[rank * (t.shape[0] // ranks):(rank + 1) * (t.shape[0] // ranks)]
        wanted = own(tilewright.moe(x, logits, gate_up, down, choices, **options, **biases)).float()
        call = lambda: tilewright.expert_parallel_moe(own(x), own(logits), own(gate_up), own(down), choices, **options,
                                                      **{name: own(b) for name, b in biases.items()})
        y = call()
        same = torch.equal(y.view(torch.int16), call().view(torch.int16))
        error = ((y.float() - wanted).norm() / wanted.norm().clamp(min=1e-20)).item()
        if not error < 0.01 or not same:
            wrong += 1
            print(f"wrong: rank {rank}, problem {i}: {tokens} tokens, {experts} experts, top {choices}, d {d}, n {n}, {options}, error {error:.4f}, same bits {same}", flush=True)
    return wrong


def work(rank, ranks, options):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=ranks)
    wrong = torch.tensor(check(rank, ranks, options.random, options.seed), device="cuda")
    distributed.all_reduce(wrong)
    if rank == 0:
        print(f"{options.random} random layers on {ranks} GPUs, {wrong.item()} wrong", flush=True)
    for tokens in [] if options.prepare else (1, 64, 2048):
        x, logits, gate_up, down, _ = make_layer(tokens, 128, 4096, 1536, 5, False)
        own = lambda t: t[rank * (128 // ranks):(rank + 1) * (128 // ranks)]
        apart = seconds_of(lambda: tilewright.expert_parallel_moe(x, logits, own(gate_up), own(down), 8))
        together = seconds_of(lambda: tilewright.moe(x, logits, gate_up, down, 8))
        if rank == 0:
            print(f"Qwen3 235B, {tokens} tokens of each rank: expert_parallel_moe {apart * 1e6:.1f} us, moe with all experts {together * 1e6:.1f} us", flush=True)
    distributed.destroy_process_group()
    sys.exit(1 if wrong.item() else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=0, help="0: all GPUs")
    parser.add_argument("--random", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    ranks = options.ranks or torch.cuda.device_count()
    torch.multiprocessing.spawn(work, (ranks, options), nprocs=ranks)


if __name__ == "__main__":
    main()
