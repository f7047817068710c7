#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python package on a GPU with PyTorch: checks and times of every operator.

    TILEWRIGHT_LIBRARY=.../libtilewright.so PYTHONPATH=python benchmarks/gpu/python_package.py [--only PATTERN,...] [--steps N] [--seconds S]
        [--operator-seconds S] [--compile-training] [--json FILE --commit C]

Sections: operators (against float64, with gradients), opcheck (torch.library.opcheck), compile (torch.compile without graph breaks), graphs (CUDA
graphs), host (microseconds of the host for a call), rates (GEMM against cuBLAS and against kernels that are named by hand), layer (a transformer
layer, likewise), training (a transformer trained with this library's operators and with PyTorch's). An operation that libtilewright does not have is reported as missing. Exits with 1 if
something is wrong.
"""
import argparse
import collections
import fnmatch
import random
import statistics
import sys
import time
import traceback

import torch

import tilewright
from package_model import Model, PytorchOps, TilewrightOps
from results_file import parse_arguments, write_results
from tilewright import torch as tw
from tilewright._library import library
from timing import Race, host_seconds_of

functional = torch.nn.functional


class Wrong(Exception):
    """A result is not what it must be."""


# Operators: name, ours, PyTorch's, inputs. Both functions take the same inputs and return a tensor or several.

def tensors(*shapes, dtype=torch.bfloat16, scale=1.0, grad=True):
    return [(torch.randn(s, device="cuda") * scale).to(dtype).requires_grad_(grad) for s in shapes]


def causal_attention(q, k, v, causal=True, window=-1):
    """PyTorch's, of tensors (batch, rows, heads, d)."""
    rows, keys = q.shape[1], k.shape[1]
    mask = torch.ones(rows, keys, dtype=torch.bool, device=q.device)
    if causal:
        mask = mask.tril(keys - rows)
    if window >= 0:
        mask = mask.triu(keys - rows - window)
    heads = q.shape[2] // k.shape[2]
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(heads, 1) for x in (k, v))
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)


def rotate(x, cos, sin, interleaved=False):
    pairs = cos.shape[-1]
    cos, sin = (t[:x.shape[-3], None, :].to(x.dtype if x.dtype == torch.float64 else torch.float32) for t in (cos, sin))
    a, b = (x[..., 0:2 * pairs:2], x[..., 1:2 * pairs:2]) if interleaved else (x[..., :pairs], x[..., pairs:2 * pairs])
    first, second = a * cos - b * sin, b * cos + a * sin
    rotated = torch.stack((first, second), -1).flatten(-2) if interleaved else torch.cat((first, second), -1)
    return torch.cat((rotated.to(x.dtype), x[..., 2 * pairs:]), -1)


def rotary_tables(rows, pairs):
    angle = torch.arange(rows, device="cuda")[:, None] / 10000 ** (torch.arange(pairs, device="cuda") / pairs)
    return angle.cos().float(), angle.sin().float()


def rms(x, weight, residual=None):
    total = x if residual is None else x + residual
    y = functional.rms_norm(total, weight.shape, weight, 1e-5)
    return y if residual is None else (y, total)


def grouped(x, w, ends):
    first, pieces = 0, []
    for g, last in enumerate(ends.tolist()):
        pieces.append(x[first:last] @ w[g])
        first = last
    return torch.cat([*pieces, x.new_zeros(x.shape[0] - first, w.shape[2])])


def random_ends(groups, rows):
    return torch.sort(torch.randint(0, rows + 1, (groups,), device="cuda")).values.int()


def operator_cases():
    """(name, ours, PyTorch's, inputs), with odd and usual shapes."""
    F = functional
    for dtype in (torch.bfloat16, torch.float16):  # no NVIDIA GPU multiplies float32
        for m, n, k in ((1, 1, 1), (129, 77, 65), (3, 4096, 4096), (640, 384, 256)):
            yield f"matmul {m}x{n}x{k} {dtype}", tw.matmul, torch.matmul, tensors((m, k), (k, n), dtype=dtype, scale=0.5)
        yield f"batched matmul {dtype}", tw.matmul, torch.matmul, tensors((5, 33, 40), (5, 40, 17), dtype=dtype, scale=0.5)
    yield "matmul, shared operand", tw.matmul, torch.matmul, tensors((5, 33, 40), (40, 17), scale=0.5)
    yield "matmul, transposed operands", lambda a, b: tw.matmul(a.mT, b.mT), lambda a, b: a.mT @ b.mT, tensors((65, 100), (72, 65), scale=0.5)
    yield "matmul, neither dimension contiguous", lambda a, b: tw.matmul(a[:, ::2], b), lambda a, b: a[:, ::2] @ b, tensors((40, 64), (32, 24), scale=0.5)
    for activation, own in (("none", lambda x: x), ("relu", F.relu), ("gelu", lambda x: F.gelu(x, approximate="tanh")), ("silu", F.silu)):
        for m, n, k in ((77, 130, 96), (512, 1024, 512)):
            yield (f"linear {activation} {m}x{n}x{k}", lambda x, w, b, r, activation=activation: tw.linear(x, w, b, activation, r),
                   lambda x, w, b, r, own=own: own(F.linear(x, w, b)) + r, tensors((3, m, k), (n, k), (n,), (3, m, n), scale=0.3))
    yield "matmul, expanded gradient", lambda a, b: tw.matmul(a, b).sum(0), lambda a, b: (a @ b).sum(0), tensors((40, 64), (64, 24), scale=0.5)
    yield ("attention, views that are not aligned", lambda x: tw.attention(*x[..., 1:193].split(64, -1)).sum(1),
           lambda x: causal_attention(*x[..., 1:193].split(64, -1), causal=False).sum(1), tensors((2, 70, 3, 195)))
    yield "norm of columns", lambda x, w: tw.rms_norm(x.transpose(0, 1), w), lambda x, w: rms(x.transpose(0, 1), w), tensors((65, 40), (65,))
    yield "swiglu", tw.swiglu, lambda x, w: F.silu(x @ w[0].t()) * (x @ w[1].t()), tensors((77, 96), (2, 200, 96), scale=0.3)
    yield "swiglu, inference", tw.swiglu, lambda x, w: F.silu(x @ w[0].t()) * (x @ w[1].t()), tensors((77, 96), (2, 200, 96), scale=0.3, grad=False)
    ends = random_ends(7, 300)
    yield "grouped_linear", lambda x, w: tw.grouped_linear(x, w, ends), lambda x, w: grouped(x, w, ends), tensors((300, 96), (7, 96, 64), scale=0.3)
    for dtype in (torch.bfloat16, torch.float16):
        for batch, rows, keys, heads, kv, d in ((1, 1, 3, 1, 1, 64), (2, 333, 333, 6, 2, 128), (1, 65, 200, 4, 4, 64), (2, 512, 512, 8, 8, 128)):
            for causal, window in ((False, -1), (True, -1), (True, 40)):
                if rows == 1 and window > 0:
                    continue
                yield (f"attention {batch}x{rows}x{keys} heads {heads}/{kv} d {d} causal {causal} window {window} {dtype}",
                       lambda q, k, v, c=causal, w=window: tw.attention(q, k, v, causal=c, window=(w, 0 if c else -1)),
                       lambda q, k, v, c=causal, w=window: causal_attention(q, k, v, c, w),
                       tensors((batch, rows, heads, d), (batch, keys, kv, d), (batch, keys, kv, d), dtype=dtype))
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        for shape in ((3, 5), (257, 1000), (2, 64, 4096), (9, 12289)):
            cols = shape[-1:]
            yield f"rms_norm {shape} {dtype}", tw.rms_norm, rms, tensors(shape, cols, dtype=dtype)
            yield (f"rms_norm with residual {shape} {dtype}", lambda x, w, r: tw.rms_norm(x, w, residual=r), rms, tensors(shape, cols, shape, dtype=dtype))
            yield (f"layer_norm {shape} {dtype}", tw.layer_norm, lambda x, w, b: F.layer_norm(x, w.shape, w, b), tensors(shape, cols, cols, dtype=dtype))
            yield f"softmax {shape} {dtype}", tw.softmax, lambda x: torch.softmax(x, -1), tensors(shape, dtype=dtype)
        target = torch.randint(0, 5003, (130,), device="cuda")
        target[3] = -100
        for chosen in (target, target.int()):
            yield (f"cross_entropy {dtype} {chosen.dtype}", lambda x, t=chosen: tw.cross_entropy(x, t),
                   lambda x, t=target: F.cross_entropy(x if x.dtype == torch.float64 else x.float(), t), tensors((130, 5003), dtype=dtype, scale=3))
        for interleaved in (False, True):
            cos, sin = rotary_tables(77, 32)
            yield (f"rotary interleaved {interleaved} {dtype}", lambda x, c=cos, s=sin, i=interleaved: tw.rotary(x, c, s, interleaved=i),
                   lambda x, c=cos, s=sin, i=interleaved: rotate(x, c, s, i), tensors((2, 77, 5, 64), dtype=dtype))


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def results_of(function, inputs, grads):
    """Outputs, then gradients of the inputs; `grads` of the outputs are made where they are None."""
    inputs = [x.detach().requires_grad_(x.requires_grad) for x in inputs]
    outputs = as_tuple(function(*inputs))
    if grads is None:
        grads = [torch.randn_like(o) for o in outputs]
    wanted = [x for x in inputs if x.requires_grad]
    gradients = torch.autograd.grad(outputs, wanted, [g.to(o.dtype) for g, o in zip(grads, outputs)]) if wanted else ()
    return [*outputs, *gradients], grads


def relative(found, exact):
    exact = exact.double()
    return float((found.double() - exact).norm() / exact.norm().clamp_min(1e-30))


def check_operator(ours, own, inputs):
    """The largest error against float64, which must not be above twice that of PyTorch in the same type, or the type's rounding."""
    found, grads = results_of(ours, inputs, None)
    exact, _ = results_of(own, [x.double() if x.is_floating_point() else x for x in inputs], grads)
    other, _ = results_of(own, inputs, grads)
    rounding = {torch.bfloat16: 8e-3, torch.float16: 2e-3}.get(inputs[0].dtype, 2e-3)  # float32: TF32's products are not used, but those of 3 x bf16 may
    worst = 0.0
    for i, (f, o, e) in enumerate(zip(found, other, exact, strict=True)):
        if f.shape != e.shape or f.dtype != o.dtype:
            raise Wrong(f"result {i} is {f.dtype} {tuple(f.shape)}, not {o.dtype} {tuple(e.shape)}")
        error, allowed = relative(f, e), max(2 * relative(o, e), rounding)
        worst = max(worst, error)
        if not error <= allowed:
            raise Wrong(f"result {i} of {len(found)} has a relative error of {error:.2e}; {allowed:.2e} is allowed")
    return worst


def check_compiled(ours, inputs):
    """torch.compile without graph breaks gives what the operator gives alone."""
    torch._dynamo.reset()
    found, grads = results_of(torch.compile(ours, fullgraph=True), inputs, None)
    direct, _ = results_of(ours, inputs, grads)
    for i, (f, d) in enumerate(zip(found, direct, strict=True)):
        if not relative(f, d) <= 1e-2 or f.shape != d.shape or f.dtype != d.dtype:
            raise Wrong(f"result {i} differs by {relative(f, d):.2e} from that without torch.compile")


def check_graph(ours, inputs):
    """A CUDA graph, captured on a stream on which nothing ran before, computes for new numbers."""
    inputs = [x.detach().clone() for x in inputs]
    ours(*inputs)  # kernels are compiled
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
        outputs = as_tuple(ours(*inputs))
    for _ in range(2):
        for x in inputs:
            if x.is_floating_point():
                x.copy_(torch.randn_like(x) * 0.5)
        graph.replay()
        torch.cuda.synchronize()
        replayed = [o.clone() for o in outputs]
        for f, d in zip(replayed, as_tuple(ours(*inputs)), strict=True):
            if not relative(f, d) <= 1e-2:
                raise Wrong(f"the graph's result differs by {relative(f, d):.2e}")


SOME = ("matmul 129x77x65 torch.bfloat16", "batched matmul torch.bfloat16", "linear silu 77x130x96", "swiglu", "swiglu, inference", "grouped_linear",
        "attention 2x333x333 heads 6/2 d 128 causal True window -1 torch.bfloat16", "rms_norm (257, 1000) torch.bfloat16",
        "rms_norm with residual (257, 1000) torch.bfloat16", "layer_norm (257, 1000) torch.bfloat16", "softmax (257, 1000) torch.bfloat16",
        "cross_entropy torch.bfloat16 torch.int64", "rotary interleaved False torch.bfloat16")


def check_registrations(report, options):
    """torch.library.opcheck: schemas, fake implementations with symbolic lengths, autograd."""
    x, w, target = tensors((33, 64), (64,), grad=True)[0], tensors((64,))[0], torch.randint(0, 64, (33,), device="cuda", dtype=torch.int32)
    qkv = tensors((2, 33, 4, 64), (2, 33, 2, 64), (2, 33, 2, 64))
    cases = {
        "gemm": (x, tensors((40, 64))[0].t(), tensors((40,))[0], "silu", None, 1.0, None),
        "rms_norm": (x, None, w, 1e-5),
        "layer_norm": (x, tensors((33, 64))[0], w, w, 1e-5),
        "attention": (*qkv, 0.125, True, -1, -1),
        "rotary": (qkv[0], *rotary_tables(33, 32), None, False, False),
        "cross_entropy": (x, target),
        "softmax": (x,),
    }
    if "grouped_gemm" in library().calls:
        cases["grouped_gemm"] = (x, tensors((3, 64, 40))[0], random_ends(3, 33))
    for name, inputs in cases.items():
        operator = getattr(torch.ops.tilewright, name).default
        report.run("opcheck", name, lambda: sorted(set(torch.library.opcheck(operator, inputs).values())))


class Report:
    def __init__(self, patterns):
        self.patterns, self.rows, self.missing, self.failed = patterns, [], {}, 0

    def run(self, section, name, check):
        """Runs a check, whose figures it prints."""
        if not any(fnmatch.fnmatchcase(f"{section} {name}", p) for p in self.patterns):
            return
        try:
            figures = check()
            self.rows.append({"section": section, "name": name, "figures": figures})
            if figures is not None and section not in ("operators",):
                print(f"{section}: {name}: {figures}", flush=True)
        except tilewright.Error as e:
            if e.kind == "no_kernel" and "has no function" in str(e):
                self.missing.setdefault(str(e).partition(":")[0], []).append(f"{section} {name}")
                return
            self.fail(section, name, e)
        except Exception as e:  # noqa: BLE001: whatever goes wrong is a line of the report
            self.fail(section, name, e)

    def fail(self, section, name, e):
        self.failed += 1
        self.rows.append({"section": section, "name": name, "failed": str(e)})
        print(f"{section}: {name}: FAILED: {type(e).__name__}: {str(e)[:600]}", flush=True)
        if not isinstance(e, (Wrong, tilewright.Error)):
            print("".join(traceback.format_tb(e.__traceback__)[-3:]), flush=True)


def operators(report, options):
    count, before = 0, time.time()
    cases = list(operator_cases())
    random.Random(0).shuffle(cases)  # of each operator some, where the time is short
    cases.sort(key=lambda case: case[0] not in SOME)
    for name, ours, own, inputs in cases:
        if time.time() - before > options.operator_seconds:
            print(f"operators: no time for {len(cases) - count} cases", flush=True)
            break
        report.run("operators", name, lambda: check_operator(ours, own, inputs))
        count += 1
        if name in SOME:
            report.run("compile", name, lambda: check_compiled(ours, inputs))
            report.run("graphs", name, lambda: check_graph(ours, inputs))
    errors = [r["figures"] for r in report.rows if r["section"] == "operators" and r.get("figures") is not None]
    print(f"operators: {len(errors)} of {count} cases right, the largest relative error {max(errors, default=0):.2e}; {time.time() - before:.0f} s", flush=True)


def host(report, options):
    """Microseconds for a call: of a small problem, so that the GPU is not waited for."""
    a, b = tensors((128, 128), (128, 128), grad=False)
    c, weight, x = torch.empty_like(a), tensors((128,), grad=False)[0], a
    q = tensors((1, 128, 4, 64), grad=False)[0]
    out = torch.empty_like(q)
    calls = {
        "tilewright.gemm with out": lambda: tilewright.gemm(a, b, c),
        "tilewright.gemm": lambda: tilewright.gemm(a, b),
        "tilewright.gemm, 3 options": lambda: tilewright.gemm(a, b, c, bias=weight, activate="silu", residual=c),
        "tilewright.rms_norm with out": lambda: tilewright.rms_norm(x, weight, c),
        "tilewright.attention with out": lambda: tilewright.attention(q, q, q, out, causal=True),
        "tilewright.torch.matmul": lambda: tw.matmul(a, b),
        "torch.mm with out": lambda: torch.mm(a, b, out=c),
        "torch.mm": lambda: torch.mm(a, b),
        "torch rms_norm": lambda: functional.rms_norm(x, weight.shape, weight),
    }
    for name, call in calls.items():
        report.run("host", name, lambda: (call(), f"{host_seconds_of(call, 64) * 1e6:.2f} us")[1])


CHOICES = ("128x256_b2", "128x256", "128x192_b2", "128x176_b2_pp", "128x224_b2", "192x128_a2_pp", "128x128_a2", "128x160_a2_swap_pp", "64x64", "128x64_swap")


def rates(report, options):
    """GEMM in CUDA graphs: the library's choice against kernels that are named, and against cuBLAS."""
    losses, to_cublas = [], []

    def race(m, n, k):
        a, w = tensors((m, k), (n, k), grad=False, scale=0.5)
        c = torch.empty(m, n, device="cuda", dtype=a.dtype)
        calls = {"chosen": lambda: tilewright.gemm(a, w.t(), c), "cublas": lambda: torch.mm(a, w.t(), out=c)}
        for choice in CHOICES:
            try:
                tilewright.gemm(a, w.t(), c, choice=choice)
                calls[choice] = lambda choice=choice: tilewright.gemm(a, w.t(), c, choice=choice)
            except tilewright.Error:
                continue
        times = Race(calls, options.seconds).times(5)
        median = {name: statistics.median(t[name] for t in times) for name in calls}
        by_hand = min(((t, name) for name, t in median.items() if name not in ("chosen", "cublas")), default=None)
        if by_hand is None:
            raise Wrong("no kernel that is named by hand runs")
        losses.append(median["chosen"] / by_hand[0])
        to_cublas.append(median["cublas"] / median["chosen"])
        flops = 2 * m * n * k
        return (f"{flops / median['chosen'] / 1e12:.0f} TFLOP/s, cuBLAS {flops / median['cublas'] / 1e12:.0f}, best by hand "
                f"{flops / by_hand[0] / 1e12:.0f} ({by_hand[1]})")

    for m, n, k in ((4096, 4096, 4096), (8192, 6144, 2048), (2048, 4096, 14336), (1000, 5120, 5120), (300, 4096, 11008), (64, 8192, 8192)):
        report.run("rates", f"gemm {m}x{n}x{k} bf16", lambda: race(m, n, k))
    if losses:
        print(f"rates: time over the best by hand {statistics.geometric_mean(losses):.3f}, rate over cuBLAS {statistics.geometric_mean(to_cublas):.3f}")


def layer(report, options):
    """A transformer layer in CUDA graphs: the library's choices against the fastest kernels that are named, each timed alone."""
    tokens, width, heads, kv_heads, d, hidden = options.layer_tokens, 4096, 32, 8, 128, 14336
    x, ones = tensors((tokens, width), grad=False)[0], torch.ones(width, device="cuda", dtype=torch.bfloat16)
    qkv, out, down = tensors(((heads + 2 * kv_heads) * d, width), (width, width), (width, hidden), grad=False, scale=width ** -0.5)
    both = tensors((2, hidden, width), grad=False, scale=width ** -0.5)[0]
    angle = torch.arange(tokens, device="cuda")[:, None] / 10000 ** (torch.arange(d // 2, device="cuda") / (d // 2))
    cos, sin = angle.cos(), angle.sin()
    h, mixed, y = (torch.empty_like(x) for _ in range(3))
    fused, wide = x.new_empty(tokens, qkv.shape[0]), x.new_empty(tokens, hidden)
    q, k, v = (t[None] for t in fused.view(tokens, -1, d).split((heads, kv_heads, kv_heads), 1))
    gemms = {
        "qkv": lambda **choice: tilewright.gemm(h, qkv.t(), fused, **choice),
        "out": lambda **choice: tilewright.gemm(mixed, out.t(), y, residual=x, **choice),
        "swiglu": lambda **choice: tilewright.gemm(h, both[1].t(), wide, gate=both[0].t(), **choice),
        "down": lambda **choice: tilewright.gemm(wide, down.t(), mixed, residual=y, **choice),
    }

    def run(choices):
        tilewright.rms_norm(x, ones, h)
        gemms["qkv"](**choices.get("qkv", {}))
        for part in (q, k):
            tilewright.rotary(part[0], cos, sin, part[0])
        tilewright.attention(q, k, v, mixed.view(1, tokens, heads, d), causal=True)
        gemms["out"](**choices.get("out", {}))
        tilewright.rms_norm(y, ones, h)
        gemms["swiglu"](**choices.get("swiglu", {}))
        gemms["down"](**choices.get("down", {}))

    def fastest(call):
        calls = {}
        for choice in CHOICES:
            try:
                call(choice=choice)
                calls[choice] = lambda choice=choice: call(choice=choice)
            except tilewright.Error:
                continue
        times = Race(calls, options.seconds).times(5)
        return {"choice": min(calls, key=lambda name: statistics.median(t[name] for t in times))}

    def compare():
        by_hand = {name: fastest(call) for name, call in gemms.items()}
        times = Race({"chosen": lambda: run({}), "by hand": lambda: run(by_hand)}, options.seconds).times(9)
        us = {name: statistics.median(t[name] for t in times) * 1e6 for name in ("chosen", "by hand")}
        return f"{us['chosen']:.1f} us, with {[c['choice'] for c in by_hand.values()]} {us['by hand']:.1f}, {us['chosen'] / us['by hand']:.3f}"

    report.run("layer", f"{tokens} tokens bf16", compare)


def training(report, options):
    """The same transformer with the operators of both, from the same weights on the same data."""
    curves = {}

    def train(name, ops, compiled):
        torch.manual_seed(1)
        model = Model(ops).cuda()
        step = torch.compile(model.step) if compiled else model.step
        losses, seconds = [], []
        optimizer = model.optimizer()
        for batch in model.batches(options.steps):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            loss = step(batch)
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
            seconds.append(time.perf_counter() - begin)
            losses.append(float(loss))
        curves[name] = losses
        tail = losses[-options.steps // 4:]
        return {"first": round(losses[0], 3), "last_quarter": round(statistics.mean(tail), 4), "ms_per_step": round(1e3 * statistics.median(seconds[10:]), 2),
                "operators": ops.names()}

    runs = [("pytorch", PytorchOps(), False), ("tilewright", TilewrightOps(), False)]
    if options.compile_training:
        runs += [("pytorch, compiled", PytorchOps(), True), ("tilewright, compiled", TilewrightOps(), True)]
    for name, ops, compiled in runs:
        report.run("training", name, lambda: train(name, ops, compiled))
    base, other = curves.get("pytorch"), curves.get("pytorch, compiled")
    for name, losses in curves.items():
        if base is not None and name.startswith("tilewright"):
            report.run("training", f"{name} against pytorch", lambda: compare_curves(base, other, losses))
    return curves


def distance(a, b):
    return statistics.mean(abs(x - y) for x, y in zip(a, b))


def compare_curves(base, other, losses):
    """The noise: how far PyTorch's loss is from its own mean of 20 steps, or from that with other rounding."""
    smooth = [statistics.mean(base[max(0, i - 10):i + 10]) for i in range(len(base))]
    noise = max(distance(base, smooth), distance(base, other) if other else 0)
    found = distance(base, losses)
    if not found <= 2 * noise:
        raise Wrong(f"the losses differ by {found:.4f} in the mean, with a noise of {noise:.4f}")
    return f"losses differ by {found:.4f} in the mean, noise {noise:.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="patterns of 'section name', separated by commas, such as 'operators attention*,training*'")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.02, help="of a block in a race")
    parser.add_argument("--layer-tokens", type=int, default=2047)
    parser.add_argument("--operator-seconds", type=float, default=1e9, help="cases that are left after this time are left out")
    parser.add_argument("--compile-training", action="store_true", help="train with torch.compile, too")
    options = parse_arguments(parser)
    report = Report(options.only.split(","))
    torch.manual_seed(0)
    print(f"tilewright {tilewright.version()}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    curves = None
    for section in (host, check_registrations, operators, rates, layer, training):
        before = time.time()
        curves = section(report, options) or curves
        print(f"-- {section.__name__}: {time.time() - before:.0f} s", flush=True)
    for operation, cases in report.missing.items():
        print(f"missing: libtilewright has no {operation}: {len(cases)} cases left out")
    counts = collections.Counter(r["section"] for r in report.rows if "failed" not in r)
    print(f"right: {', '.join(f'{n} {section}' for section, n in counts.items())}; {report.failed} failed")
    write_results(options, rows=report.rows, missing=report.missing, losses=curves)
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
