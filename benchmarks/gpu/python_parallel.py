#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package's calls for several GPUs, against float64, and their times beside those of PyTorch's collectives and matmul.

    TILEWRIGHT_LIBRARY=.../libtilewright.so PYTHONPATH=python benchmarks/gpu/python_parallel.py [--ranks N] [--json FILE --commit C]

First one process for each GPU (torch.distributed, NCCL), then one process with a thread for each. Exits with 1 if something is wrong.
"""
import argparse
import os
import random
import statistics
import sys
import threading

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import tilewright
from results_file import parse_arguments, write_results


class Threads:
    """The collectives of ranks that are threads of this process: copies between GPUs, after all have their data."""

    def __init__(self, ranks):
        self.ranks, self.barrier, self.sent = ranks, threading.Barrier(ranks), [None] * ranks

    def of(self, rank):
        group = self

        class Member:
            size = group.ranks

            def exchange(self, out, x, own_slot):
                group.sent[rank] = x
                torch.cuda.synchronize()
                group.barrier.wait()
                for r, part in enumerate(out.view(group.ranks, -1)):
                    sent = group.sent[r].view(-1)
                    part.copy_(sent.view(group.ranks, -1)[rank] if own_slot else sent)
                torch.cuda.synchronize()
                group.barrier.wait()

            def all_gather(self, out, x):
                self.exchange(out, x, False)

            def all_to_all(self, out, x):
                self.exchange(out, x, True)
        return Member()


def operands(seed, m, n, k, dtype):
    """A rank's A (m, k), a view with gaps between rows, and B (k, n), which is stored as (n, k); the same on each GPU that asks."""
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(rows, k + 8, generator=generator).to(dtype)[:, :k] for rows in (m, n))
    return a, b.contiguous().t()


def check(group, rank, ranks, seed):
    """The largest error over the largest element, of both calls, for some random sizes and types."""
    draw, worst = random.Random(seed), 0.0
    for i in range(6):
        m, n, k = draw.randint(1, 300), 8 * draw.randint(1, 60), 8 * draw.randint(1, 100)
        dtype = (torch.float16, torch.bfloat16)[i % 2]
        all_ranks = [operands(seed * 1000 + i * 10 + r, m * (ranks if i % 3 == 0 else 1), n, k, dtype) for r in range(ranks)]
        a, b = (x.cuda() for x in all_ranks[rank])
        if i % 3 == 0:
            c = tilewright.gemm_reduce_scatter(a, b, group)
            expected = sum(x.double() @ y.double() for x, y in all_ranks)[rank * m:(rank + 1) * m]
        else:
            c = tilewright.all_gather_gemm(a, b, group)
            expected = torch.cat([x.double() for x, _ in all_ranks]) @ all_ranks[rank][1].double()
        if c.shape != expected.shape:
            return float("inf")
        worst = max(worst, ((c.cpu().double() - expected).abs().max() / expected.abs().max()).item())
    return worst


def graph_of(call, calls):
    """A function that replays a CUDA graph of some calls."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay


def seconds_of(call, calls, launches):
    """Of one of `calls` calls that `call` makes: the slowest rank's, the median of some blocks of launches."""
    times = []
    for _ in range(7):
        dist.barrier()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(500000)
        begin.record()
        for _ in range(launches):
            call()
        end.record()
        torch.cuda.synchronize()
        t = torch.tensor([begin.elapsed_time(end) / 1e3 / launches / calls], device="cuda", dtype=torch.float64)
        dist.all_reduce(t, op=dist.ReduceOp.MAX)
        times.append(t.item())
    return statistics.median(times)


def race(rank, ranks, m, n, k):
    """Microseconds of both calls and of PyTorch's operators for the same, in CUDA graphs and called one by one (with the host's time, where it is
    longer): m rows in all, n and k of a rank."""
    a, b = (x.cuda() for x in operands(rank, m // ranks, n, k, torch.bfloat16))
    whole, c = torch.empty(m, k, dtype=a.dtype, device="cuda"), torch.empty(m, n, dtype=a.dtype, device="cuda")
    a = a.contiguous()

    def gather():
        dist.all_gather_into_tensor(whole, a)
        torch.mm(whole, b, out=c)
    wide, own = whole.normal_(), torch.empty(m // ranks, n, dtype=a.dtype, device="cuda")

    def scatter():
        torch.mm(wide, b, out=c)
        dist.reduce_scatter_tensor(own, c)
    calls = {"all_gather_gemm": lambda: tilewright.all_gather_gemm(a, b, out=c), "pytorch all_gather, mm": gather,
             "gemm_reduce_scatter": lambda: tilewright.gemm_reduce_scatter(wide, b, out=own), "pytorch mm, reduce_scatter": scatter}
    in_graphs = {name: round(seconds_of(graph_of(call, 8), 8, 4) * 1e6, 1) for name, call in calls.items()}
    return in_graphs, {name: round(seconds_of(call, 1, 10) * 1e6, 1) for name, call in calls.items()}


def work(rank, ranks, options):
    """One process."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    error = check(None, rank, ranks, options.seed)
    print(f"processes: rank {rank} of {ranks}, the largest relative error {error:.2e}", flush=True)
    rows = []
    for m, n, k in ((4096, 4096, 4096), (2048, 8192, 8192), (256, 7168, 4096)):
        times, called = race(rank, ranks, m, n, k)
        rows.append({"m": m, "n": n, "k": k, "microseconds": times, "called_microseconds": called})
        if rank == 0:
            print(f"{m}x{n}x{k}: in graphs {times}, called {called}", flush=True)
    if rank == 0:
        write_results(options, ranks=ranks, rows=rows, error=error)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0 if error < 1e-2 else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=29531)
    options = parse_arguments(parser)
    processes = mp.start_processes(work, args=(options.ranks, options), nprocs=options.ranks, join=False, start_method="spawn")
    while not processes.join():
        pass
    group, errors = Threads(options.ranks), [float("inf")] * options.ranks

    def run(rank):
        torch.cuda.set_device(rank)
        errors[rank] = check(group.of(rank), rank, options.ranks, options.seed + 1)
    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(options.ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(f"threads: the largest relative errors {errors}", flush=True)
    sys.exit(0 if max(errors) < 1e-2 else 1)


if __name__ == "__main__":
    main()
