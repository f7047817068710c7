#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Products of several GPUs of one host: this library against NCCL and cuBLAS one after the other, and against PyTorch's symmetric memory.

    benchmarks/gpu/parallel.py LIBRARY [--ranks N] [--seconds S] [--drawn N] [--more] [--repeat N] [--json FILE --commit C] [--check-only]

LIBRARY is libtilewright_parallel.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). One process for each GPU; all contenders run in one process
group, in turns, in back-to-back launches with Gaussian data. The time of a contender is the median over rounds of the slowest rank's.
`overlap` is the longer of product and transfer alone over the time; `ratio_to_best` is the time of the better of the two other contenders
over ours. Checks results, bit-identical repetition, --repeat calls with delays, and the error where a rank is missing. Exits with 1 if
anything is wrong.
"""
import argparse
import ctypes
import math
import os
import random
import statistics
import sys
import time
import warnings

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from results_file import parse_arguments, write_results

# m, n and k of the whole product: n is divided among the ranks by an all-gather, k by a reduce-scatter.
GATHERS = ((8192, 28672, 8192), (4096, 14336, 4096), (8192, 8192, 8192), (2048, 8192, 8192), (16384, 8192, 8192))
SCATTERS = ((8192, 8192, 28672), (4096, 4096, 14336), (8192, 8192, 8192), (2048, 8192, 8192), (16384, 8192, 8192))
TYPES = {"f16": (torch.float16, torch.float16), "bf16": (torch.bfloat16, torch.bfloat16), "e4m3": (torch.float8_e4m3fn, torch.bfloat16)}
TRANSPORTS = ("fused", "collective")
TILES = (0, 1, 2, 3)  # parallel_tiles of parallel_choice.hpp


class Request(ctypes.Structure):
    """parallel_request of parallel_library.hpp."""
    _fields_ = [("kind", ctypes.c_char_p), ("type", ctypes.c_char_p), ("transport", ctypes.c_int), ("tile", ctypes.c_int)] + [
        (name, ctypes.c_void_p) for name in ("a", "b", "bias", "scale", "c", "workspace")] + [
        (name, ctypes.c_int) for name in ("m", "n", "k", "lda", "ldb", "ldc")]


class Tilewright:
    def __init__(self, path, rank, ranks, timeout_ms=10000):
        """With ranks = 1: products of this process alone."""
        self.lib = ctypes.CDLL(path)
        for name in ("join", "allocate", "pointer", "make"):
            getattr(self.lib, "tilewright_parallel_" + name).restype = ctypes.c_void_p
        self.lib.tilewright_parallel_error.restype = ctypes.c_char_p
        unique = ctypes.create_string_buffer(128)
        if rank == 0:
            self.lib.tilewright_parallel_id(unique)
        box = [unique.raw]
        if ranks > 1:
            dist.broadcast_object_list(box, src=0)
        self.ranks = ctypes.c_void_p(self.require(self.lib.tilewright_parallel_join(box[0], rank, ranks, timeout_ms)))
        self.workspace = torch.zeros(36 << 20, dtype=torch.uint8, device="cuda")

    def require(self, result):
        if not result:
            raise RuntimeError(self.lib.tilewright_parallel_error().decode())
        return result

    def make(self, kind, type_name, a, b, c, m, n, k, choice=(-1, 0), bias=None, scale=None, memory=None, split=True):
        """A function that queues the product on the current stream, with .free() for its buffers and its .choice of (transport, tile)."""
        ptr = lambda t: None if t is None else t.data_ptr()
        request = Request(kind.encode(), type_name.encode(), *choice, ptr(a), ptr(b), ptr(bias), ptr(scale), ptr(c),
                          ptr(self.workspace) if split else None, m, n, k, a.stride(0), b.stride(0), n)
        call = ctypes.c_void_p(self.require(self.lib.tilewright_parallel_make(self.ranks, ctypes.byref(request), memory)))

        def run():
            self.require(self.lib.tilewright_parallel_call(call, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))
        chosen = (ctypes.c_int * 2)()
        self.lib.tilewright_parallel_choice(call, chosen)
        run.choice = f"{TRANSPORTS[chosen[0]]}_t{chosen[1]}"
        run.free = lambda: self.lib.tilewright_parallel_free(call)
        run.keep = (a, b, c, bias, scale)
        return run

    def finish(self):
        self.require(self.lib.tilewright_parallel_finish(self.ranks, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def allocate(self, shape, dtype):
        """Memory for the C of an all-reduce, and a tensor of it."""
        elements = math.prod(shape)
        memory = ctypes.c_void_p(self.require(self.lib.tilewright_parallel_allocate(
            self.ranks, ctypes.c_longlong(elements * torch.empty(0, dtype=dtype).element_size()))))
        address = self.lib.tilewright_parallel_pointer(memory)
        holder = type("holder", (), {"__cuda_array_interface__": {"shape": (elements * 2,), "typestr": "|u1", "data": (address, False),
                                                                  "version": 3}})()
        return memory, torch.as_tensor(holder, device="cuda").view(dtype).view(shape)


def operand(rows, cols, dtype, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(rows, cols, device="cuda", generator=generator).to(dtype)


class Case:
    """Operands of a rank: A, and B as n x k."""
    def __init__(self, kind, m, n, k, type_name, rank, ranks, seed=1):
        self.kind, self.type_name, self.rank, self.ranks = kind, type_name, rank, ranks
        dtype, self.result = TYPES[type_name]
        self.m = m
        if kind == "all_gather":
            self.n, self.k = n // ranks, k
            self.a = operand(m // ranks, k, dtype, seed * 100 + rank)
            self.c = torch.empty(m, self.n, dtype=self.result, device="cuda")
        else:
            self.n, self.k = n, k // ranks
            self.a = operand(m, self.k, dtype, seed * 100 + rank)
            self.c = torch.empty(m if kind == "all_reduce" else m // ranks, n, dtype=self.result, device="cuda")
        self.b = operand(self.n, self.k, dtype, seed * 100 + 50 + rank)

    def reference(self, bias=None, scale=None):
        """In float32, of inputs that are exact."""
        torch.backends.cuda.matmul.allow_tf32 = False
        s = 1 if scale is None else scale
        if self.kind == "all_gather":
            raw = self.a.view(torch.uint8)
            whole = torch.empty(self.m, raw.shape[1], dtype=torch.uint8, device="cuda")
            dist.all_gather_into_tensor(whole, raw)
            c = whole.view(self.a.dtype).float() @ self.b.float().t() * s
            return c if bias is None else c + bias.float()
        sums = self.a.float() @ self.b.float().t()
        if self.kind == "all_reduce":
            dist.all_reduce(sums)
            c = sums * s
        else:
            c = torch.empty(self.m // self.ranks, self.n, device="cuda")
            dist.reduce_scatter_tensor(c, sums)
            c = c * s
        return c if bias is None else c + bias.float()

    def error(self, c, reference):
        """Largest error over the largest element."""
        return ((c.float() - reference).abs().max() / reference.abs().max()).item()

    def nccl_cublas(self):
        a, bt, one = self.a, self.b.t(), torch.ones((), device="cuda")
        mm = lambda x, out: torch.mm(x, bt, out=out)
        if self.type_name == "e4m3":
            mm = lambda x, out: torch._scaled_mm(x, bt, one, one, out_dtype=self.result, out=out)
        if self.kind == "all_gather":
            whole = torch.empty(self.m, self.k, dtype=a.dtype, device="cuda")
            transfer = lambda: dist.all_gather_into_tensor(whole.view(torch.uint8), a.view(torch.uint8))

            def run():
                transfer()
                mm(whole, self.c)
            alone = lambda: mm(whole, self.c)
        else:
            sums = torch.empty(self.m, self.n, dtype=self.result, device="cuda")
            own = torch.empty(self.m // self.ranks, self.n, dtype=self.result, device="cuda")
            transfer = (lambda: dist.all_reduce(sums)) if self.kind == "all_reduce" else (lambda: dist.reduce_scatter_tensor(own, sums))

            def run():
                mm(a, sums)
                transfer()
            alone = lambda: mm(a, sums)
        return run, alone, transfer

    def symmetric(self, group):
        bt = self.b.t()
        if self.type_name == "e4m3":
            return None
        if self.kind == "all_gather":
            return lambda: torch.ops.symm_mem.fused_all_gather_matmul(self.a, [bt], 0, group)
        if self.kind == "reduce_scatter":
            return lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(self.a, bt, "sum", 0, group)
        return None


def slowest(seconds):
    t = torch.tensor([seconds], device="cuda", dtype=torch.float64)
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t.item()


def measure(run, launches):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    dist.barrier()
    torch.cuda._sleep(200000)  # the host queues several launches before the first one starts
    begin.record()
    for _ in range(launches):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3 / launches


def race(contenders, seconds):
    """Microseconds of each by name: medians over rounds in turns."""
    launches, times = {}, {name: [] for name in contenders}
    for name, run in contenders.items():
        for _ in range(2):
            measure(run, 2)
        launches[name] = int(min(50, max(3, seconds / slowest(measure(run, 3)))))
    names = list(contenders)
    for _ in range(5):
        for name in names:
            times[name].append(slowest(measure(contenders[name], launches[name])))
        names = names[1:] + names[:1]
    return {name: statistics.median(t) * 1e6 for name, t in times.items()}


def check(tw, rank, ranks, say):
    """All kinds, types and epilogues on drawn sizes; bit-identical repetition."""
    ok = True
    draw = random.Random(int(os.environ.get("SEED", "7")))
    for kind in ("all_gather", "reduce_scatter", "all_reduce"):
        for type_name in TYPES:
            for number in range(3):
                m, n, k = ranks * draw.randint(1, 700), ranks * 16 * draw.randint(1, 60), ranks * 16 * draw.randint(2, 100)
                choice = (draw.choice((0, 0, 1)), draw.choice(TILES))
                case = Case(kind, m, n, k, type_name, rank, ranks, seed=number + 2)
                bias = operand(1, case.n, case.result, 5)[0] if number != 1 else None
                scale = torch.tensor([0.25], device="cuda") if number != 0 else None
                memory = None
                if kind == "all_reduce":
                    memory, case.c = tw.allocate((m, case.n), case.result)
                run = tw.make(kind, type_name, case.a, case.b, case.c, m, case.n, case.k, choice, bias, scale, memory, number != 2)
                reference, first = case.reference(bias, scale), None
                for _ in range(5):
                    case.c.fill_(float("nan"))
                    dist.barrier()
                    run()
                    tw.finish()
                    error = case.error(case.c, reference)
                    first = case.c.clone() if first is None else first
                    same = torch.equal(first, case.c)
                    good = error < 1e-2 and same
                    bad = torch.tensor([0 if good else 1], device="cuda")
                    dist.all_reduce(bad)
                    if bad.item():
                        ok = False
                        print(f"rank {rank}: WRONG {kind} {type_name} {m}x{case.n}x{case.k} {run.choice}: error {error}, "
                              f"bit-identical {same}", flush=True)
                        break
                dist.barrier()
                run.free()
    say(f"checked all kinds and types: {'good' if ok else 'WRONG'}")
    return ok


def repeat(tw, rank, ranks, calls, say):
    """Calls with random delays of ranks, alternating operands; every element of every result is compared on the GPU."""
    ok = True
    for kind, (m, n, k) in (("all_gather", (512 * ranks, 512 * ranks, 512)), ("reduce_scatter", (256 * ranks, 512, 512 * ranks)),
                            ("all_reduce", (256 * ranks, 512, 512 * ranks))):
        draw = random.Random(rank)
        cases = [Case(kind, m, n, k, "bf16", rank, ranks, seed=s) for s in (11, 12, 13)]
        case, memory = cases[0], None
        if kind == "all_reduce":
            memory, case.c = tw.allocate((m, case.n), case.result)
        operands = [c.a.clone() for c in cases]
        run = tw.make(kind, "bf16", case.a, case.b, case.c, m, case.n, case.k, (0, 1), memory=memory)
        results = []
        for a in operands:
            case.a.copy_(a)
            run()
            tw.finish()
            results.append(case.c.clone())
            if case.error(case.c, case.reference()) > 1e-2:
                ok = False
        wrong = torch.zeros((), dtype=torch.int64, device="cuda")
        begin = time.time()
        for i in range(calls):
            case.a.copy_(operands[i % 3])
            if draw.random() < 0.1:
                torch.cuda._sleep(draw.randint(1000, 100000))
            run()
            wrong += (case.c != results[i % 3]).sum()
            if i % 500 == 499:
                tw.finish()
        tw.finish()
        dist.all_reduce(wrong)
        ok = ok and wrong.item() == 0
        say(f"{calls} calls of {kind} with delays: {wrong.item()} wrong elements, {time.time() - begin:.1f} s")
        dist.barrier()
        run.free()
    return ok


def missing_rank(path, rank, ranks, say):
    """Rank 0 calls alone."""
    results = []
    for kind in ("reduce_scatter", "all_gather", "all_reduce"):
        tw = Tilewright(path, rank, ranks, timeout_ms=500)
        case = Case(kind, 512 * ranks, 512 * ranks, 512 * ranks, "bf16", rank, ranks)
        memory = None
        if kind == "all_reduce":
            memory, case.c = tw.allocate((case.m, case.n), case.result)
        run = tw.make(kind, "bf16", case.a, case.b, case.c, case.m, case.n, case.k, (0, 1), memory=memory)
        run()
        tw.finish()
        dist.barrier()
        if rank == 0:
            begin = time.time()
            try:
                run()
                tw.finish()
                results.append(False)
            except RuntimeError as e:
                results.append(time.time() - begin < 5)
                print(f"{kind} with a missing rank: after {time.time() - begin:.2f} s: {e}", flush=True)
        dist.barrier()
    return all(results)


def product_alone(solo, case):
    """Our kernel on operands that are all there, or that nobody waits for."""
    m = case.m
    a = operand(m, case.k, case.a.dtype, 3)
    c = torch.empty(m, case.n, dtype=case.result, device="cuda")
    return {tile: solo.make("all_gather", case.type_name, a, case.b, c, m, case.n, case.k, (0, tile)) for tile in TILES}


def bench(tw, solo, rank, ranks, options, say):
    group = dist.group.WORLD.group_name
    has_symmetric = True
    try:
        import torch.distributed._symmetric_memory as symmetric_memory
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symmetric_memory.enable_symm_mem_for_group(group)
    except Exception as e:
        has_symmetric = False
        say(f"PyTorch's symmetric memory is missing: {e}")
    rows = []
    cases = [("all_gather", c) for c in GATHERS] + [("reduce_scatter", c) for c in SCATTERS]
    draw = random.Random(options.seed)
    for i in range(options.drawn):
        # Every third one has few rows.
        m = 1024 * draw.randint(1, 16) if i % 3 else ranks * 16 * draw.randint(1, 64)
        cases.append((draw.choice(("all_gather", "reduce_scatter")), (m, 1024 * draw.randint(1, 16), 1024 * draw.randint(1, 16))))
    cases = [(kind, "bf16", sizes) for kind, sizes in cases]
    if options.more:
        cases += [("all_reduce", "bf16", c) for c in SCATTERS[:3]]
        cases += [(kind, t, (8192, 8192, 8192)) for kind in ("all_gather", "reduce_scatter") for t in ("f16", "e4m3")]
    for kind, type_name, (m, n, k) in cases:
        case = Case(kind, m, n, k, type_name, rank, ranks)
        run, alone, transfer = case.nccl_cublas()
        contenders = {"nccl_cublas": run, "product": alone, "transfer": transfer}
        fused = case.symmetric(group) if has_symmetric else None
        if fused:
            try:
                fused()
                torch.cuda.synchronize()
                contenders["symm_mem"] = fused
            except Exception as e:
                say(f"symm_mem: {type(e).__name__} {str(e)[:200]}")
                has_symmetric = False
        memory = None
        if kind == "all_reduce":
            memory, case.c = tw.allocate((m, case.n), case.result)
        for tile, run_alone in product_alone(solo, case).items():
            contenders[f"alone_t{tile}"] = run_alone
        variants = [(0, t) for t in TILES] + [(1, t) for t in TILES if t != 2]
        make = lambda choice: tw.make(kind, type_name, case.a, case.b, case.c, m, case.n, case.k, choice, memory=memory)
        ours = {"auto": make((-1, 0)), **{f"{TRANSPORTS[v[0]][0]}{v[1]}": make(v) for v in variants}}
        reference = case.reference()
        for name, call in ours.items():
            case.c.fill_(float("nan"))
            dist.barrier()
            call()
            tw.finish()
            if case.error(case.c, reference) > 1e-2:
                print(f"rank {rank}: WRONG {kind} {m}x{n}x{k} {name}: {case.error(case.c, reference)}", flush=True)
        del reference
        times = race({**contenders, **ours}, options.seconds)
        dist.barrier()
        for call in (*ours.values(), *(contenders[f"alone_t{t}"] for t in TILES)):
            call.free()
        ours_time, fastest = times["auto"], min(ours, key=lambda name: times[name])
        best = min(times["nccl_cublas"], times.get("symm_mem", math.inf))
        product = min(times["product"], *(times[f"alone_t{t}"] for t in TILES))
        row = {"kind": kind, "type": type_name, "m": m, "n": n, "k": k, "ranks": ranks, **{name: round(times[name], 1) for name in contenders},
               "tilewright": round(ours_time, 1), "choice": ours["auto"].choice,
               "overlap": round(max(product, times["transfer"]) / ours_time, 3),
               "ratio_to_best": round(best / ours_time, 3), "variants": {name: round(times[name], 1) for name in ours}}
        rows.append(row)
        if rank == 0:
            write_results(options, ranks=ranks, rows=rows)
        alone = " ".join(f"{times['alone_t%d' % t]:.0f}" for t in TILES)
        say(f"{kind[:10]:10} {type_name} {m}x{n}x{k} product {row['product']:7} {alone} transfer {row['transfer']:7} nccl {row['nccl_cublas']:7} "
            f"symm {row.get('symm_mem', 0):7} ours {row['tilewright']:7} {row['choice']} (best {fastest}) overlap {row['overlap']:.3f} ratio {row['ratio_to_best']:.3f} | "
            + " ".join(f"{name}={times[name]:.0f}" for name in ours))
        del case, ours, contenders, run, alone, transfer, fused
        torch.cuda.empty_cache()
    if rows:
        say(f"geometric mean of ratio_to_best {math.exp(statistics.mean(math.log(r['ratio_to_best']) for r in rows)):.3f}, "
            f"smallest {min(r['ratio_to_best'] for r in rows):.3f}")
    return rows


def work(rank, ranks, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    begin = time.time()

    def say(text):
        if rank == 0:
            print(f"[{time.time() - begin:5.1f}] {text}", flush=True)
    tw = Tilewright(options.library, rank, ranks)
    say(f"{ranks} x {torch.cuda.get_device_name()}, peers: {tw.lib.tilewright_parallel_has_peers(tw.ranks)}, torch {torch.__version__}, "
        f"NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}")
    ok = check(tw, rank, ranks, say)
    ok = repeat(tw, rank, ranks, options.repeat, say) and ok
    if not options.check_only:
        bench(tw, Tilewright(options.library, 0, 1), rank, ranks, options, say)
    ok = missing_rank(options.library, rank, ranks, say) and ok
    say("all checks passed" if ok else "CHECKS FAILED")
    sys.stdout.flush()
    os._exit(0 if ok else 1)  # a communicator that lost a rank cannot be destroyed in order


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--seconds", type=float, default=0.01, help="of one measurement")
    parser.add_argument("--drawn", type=int, default=0, help="cases drawn at random, besides the fixed ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=10000)
    parser.add_argument("--more", action="store_true", help="all-reduces, f16 and e4m3, too")
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--port", type=int, default=29511)
    options = parse_arguments(parser)
    processes = mp.start_processes(work, args=(options.ranks, options), nprocs=options.ranks, join=False, start_method="spawn")
    while not processes.join():
        pass


if __name__ == "__main__":
    main()
