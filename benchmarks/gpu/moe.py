#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""moe on a GPU with PyTorch: results against float64, and times in CUDA graphs against PyTorch and a Triton kernel.

    TILEWRIGHT_LIBRARY=.../libtilewright.so PYTHONPATH=python benchmarks/gpu/moe.py [--models PATTERN,...] [--tokens N,...] [--random N] [--gradients N]
        [--seconds S] [--rounds N] [--rivals torch,triton] [--fp8] [--kernels] [--prepare] [--json FILE --commit C]

Contenders: torch (routing, torch._grouped_mm, torch.compile for the rest) and triton (the structure of vLLM's fused_moe: rows gathered by both
GEMMs, blocks of one expert; the fastest of some tiles). triton has this library's routing before its GEMMs (choose_experts, order_by_expert), and no
alignment of blocks; triton_gemms is the same without routing. Also `alone`: this
library's two grouped GEMMs on rows that are already ordered, and `copy`: a copy that reads and writes as many bytes as the hit experts' weights
have. --random: problems with uneven routing, ties, NaN. --kernels: times of the kernels of one call. --prepare: compiles all kernels and ends.
Exits with 1 if a result is wrong.
"""
import argparse
import fnmatch
import math
import random
import statistics
import sys

import torch

import tilewright
from results_file import parse_arguments, write_results
from timing import Race

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

MODELS = {  # experts, choices, d, n, options
    "mixtral_8x7b": (8, 2, 4096, 14336, {}),
    "deepseek_v2_lite": (64, 6, 2048, 1408, {}),
    "qwen3_235b": (128, 8, 4096, 1536, {}),
    "deepseek_v3": (256, 8, 7168, 2048, {"score": "sigmoid", "groups": 8, "kept_groups": 4, "scale": 2.5}),
    "gpt_oss_120b": (128, 4, 2880, 2880, {"is_interleaved": 1, "swiglu_alpha": 1.702, "swiglu_limit": 7.0, "swiglu_shift": 1.0}),
}


def swiglu(gate, up, options):
    limit = options.get("swiglu_limit", 0.0)
    if limit:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return gate * torch.sigmoid(options.get("swiglu_alpha", 1.0) * gate) * (up + options.get("swiglu_shift", 0.0))


def halves(h, options):
    return (h[..., ::2], h[..., 1::2]) if options.get("is_interleaved") else h.chunk(2, -1)


def route(logits, choices, options, bias=None):
    """Experts and weights, as the layers of the models compute them."""
    score = logits.sigmoid() if options.get("score") == "sigmoid" else logits.softmax(-1)
    compared = score if bias is None else score + bias
    groups = options.get("groups", 1)
    if groups > 1:
        best = compared.unflatten(-1, (groups, -1)).topk(2, -1).values.sum(-1)
        keep = torch.zeros_like(best).scatter_(-1, best.topk(options["kept_groups"], -1).indices, 1.0)
        compared = compared.masked_fill(keep.repeat_interleave(compared.shape[-1] // groups, -1) == 0, -math.inf)
    expert = compared.topk(choices, -1).indices
    weight = score.gather(-1, expert)
    return expert, weight / weight.sum(-1, keepdim=True) * options.get("scale", 1.0)


class Layer:
    def __init__(self, model, tokens, weights):
        self.experts, self.choices, self.d, self.n, self.options = MODELS[model] if isinstance(model, str) else model
        self.tokens, self.weights = tokens, weights
        self.x = torch.randn(tokens, self.d, device="cuda", dtype=torch.bfloat16)
        self.logits = torch.randn(tokens, self.experts, device="cuda") * 1.5
        self.y = torch.empty_like(self.x)
        self.expert = torch.empty(tokens, self.choices, device="cuda", dtype=torch.int32)
        self.weight = torch.empty(tokens, self.choices, device="cuda")
        self.decoded = {}  # what weights of 8 and 4 bits stand for

    @staticmethod
    def make_weights(model):
        experts, _, d, n, options = MODELS[model] if isinstance(model, str) else model
        make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16) / shape[-1] ** 0.5
        weights = {"gate_up": make(experts, 2 * n, d), "down": make(experts, d, n)}
        if options.get("is_interleaved"):
            weights |= {"gate_up_bias": make(experts, 2 * n), "down_bias": make(experts, d)}
        if options.get("score") == "sigmoid":
            weights["score_bias"] = torch.randn(experts, device="cuda") * 0.1
        return weights

    def ours(self, **more):
        w = dict(self.weights)
        return tilewright.moe(self.x, self.logits, w.pop("gate_up"), w.pop("down"), self.choices, self.y, **w, **self.options, **more)

    def quantised(self):
        """The same call with weights of fp8 that have a scale for each row, and y in a tensor of its own."""
        if not hasattr(self, "fp8"):
            self.y8, self.fp8 = torch.empty_like(self.y), {k: v for k, v in self.weights.items() if v.dim() < 3}
            for name in ("gate_up", "down"):
                w = self.weights[name]
                scale = torch.stack([e.abs().amax(-1) for e in w]).float().clamp(min=1e-12) / 448
                self.fp8[name + "_scale"] = scale
                self.fp8[name] = torch.stack([(e / s[:, None]).to(torch.float8_e4m3fn) for e, s in zip(w, scale)])
        w = dict(self.fp8)
        return tilewright.moe(self.x, self.logits, w.pop("gate_up"), w.pop("down"), self.choices, self.y8, **w, **self.options)

    def torch_function(self):
        options, choices, experts = self.options, self.choices, self.experts

        def layer(x, logits, gate_up, down, gate_up_bias=None, down_bias=None, score_bias=None):
            expert, weight = route(logits, choices, options, score_bias)
            order = expert.flatten().argsort(stable=True)
            sorted_experts = expert.flatten()[order]
            ends = torch.searchsorted(sorted_experts, torch.arange(experts, device=x.device), right=True).to(torch.int32)
            h = torch._grouped_mm(x[order // choices], gate_up.transpose(1, 2), offs=ends)
            if gate_up_bias is not None:
                h = h + gate_up_bias[sorted_experts]
            h = swiglu(*halves(h, options), options).contiguous()
            z = torch._grouped_mm(h, down.transpose(1, 2), offs=ends)
            if down_bias is not None:
                z = z + down_bias[sorted_experts]
            back = torch.empty_like(order).scatter_(0, order, torch.arange(order.numel(), device=x.device))
            return (z[back].unflatten(0, (-1, choices)) * weight[..., None]).sum(1).to(x.dtype)
        return layer

    def reference(self, rows):
        """The rows of y in float64, from the experts that ours chose; also a bound on magnitudes."""
        w = {k: v.double() if v.dim() < 3 else v for k, v in (self.weights | self.decoded).items()}
        result, bound = [], []
        for t in rows:
            total, size, x = 0, 0, self.x[t].double()
            for c in range(self.choices):
                e = int(self.expert[t, c])
                if e < 0:
                    continue
                h = w["gate_up"][e].double() @ x + (w["gate_up_bias"][e] if "gate_up_bias" in w else 0)
                h = swiglu(*halves(h, self.options), self.options)
                z = w["down"][e].double() @ h + (w["down_bias"][e] if "down_bias" in w else 0)
                total = total + self.weight[t, c].double() * z
                size = size + self.weight[t, c].double() * (w["down"][e].double().abs() @ h.abs())
            result.append(total if torch.is_tensor(total) else torch.zeros_like(x))
            bound.append(size if torch.is_tensor(size) else torch.zeros_like(x))
        return torch.stack(result), torch.stack(bound)

    def errors(self, rows):
        """Wrong routing, and the largest error in units of the bound that bf16 sets."""
        self.ours(expert=self.expert, weight=self.weight)
        expert, weight = route(self.logits.double(), self.choices, self.options,
                               self.weights["score_bias"].double() if "score_bias" in self.weights else None)
        # Equal scores may be chosen in another order: the weights decide.
        routing = (self.weight.double().sort(-1).values - weight.sort(-1).values).abs().max().item()
        wanted, bound = self.reference(rows)
        got = self.y[rows].double()
        error = ((got - wanted).abs() / (2 ** -7 * (bound + wanted.abs()) + 1e-9))
        return routing, error.nan_to_num(1e9).max().item()


FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def packed_nibbles(codes):
    return (codes[..., ::2] | codes[..., 1::2] << 4).to(torch.uint8).view(torch.int8)


def nearest_fp4(w):
    """Codes of e2m1, and what they stand for."""
    table = torch.tensor(FP4, device=w.device)
    index = (w.abs()[..., None] - table).abs().argmin(-1)
    return index | (w < 0).int() << 3, table[index] * torch.where(w < 0, -1.0, 1.0)


def encode(w, name):
    """Weights (experts, rows, k) in a format: codes, the tensors that say how they are stored, and what they stand for."""
    w = w.float()
    experts, rows, k = w.shape
    if name == "fp8_rows":
        scale = w.abs().amax(-1).clamp(min=1e-12) / 448
        codes = (w / scale[..., None]).to(torch.float8_e4m3fn)
        return codes, {"scale": scale}, codes.double() * scale[..., None]
    if name == "fp8_blocks":
        padded = torch.nn.functional.pad(w, (0, -k % 128, 0, -rows % 128))
        scale = padded.unflatten(1, (-1, 128)).unflatten(3, (-1, 128)).abs().amax((2, 4)).clamp(min=1e-12) / 448
        of_element = scale.repeat_interleave(128, 1).repeat_interleave(128, 2)[:, :rows, :k]
        codes = (w / of_element).to(torch.float8_e4m3fn)
        return codes, {"scale": scale}, codes.double() * of_element
    group = {"mxfp8": 32, "mxfp4": 32, "int4": 64, "nvfp4": 16}[name]
    groups = w.unflatten(-1, (-1, group))
    largest = groups.abs().amax(-1).clamp(min=1e-9)
    if name == "int4":
        scale = largest / 7
        codes = (groups / scale[..., None]).round().clamp(-8, 7)
        return packed_nibbles((codes + 8).int().flatten(-2)), {"scale": scale}, (codes * scale[..., None]).flatten(-2).double()
    if name == "nvfp4":
        factor = torch.linspace(0.5, 2.0, experts, device=w.device)
        scale = (largest / 6 / factor[:, None, None]).to(torch.float8_e4m3fn)
        step = scale.float() * factor[:, None, None]
        codes, values = nearest_fp4(groups / step.clamp(min=1e-12)[..., None])
        return packed_nibbles(codes.flatten(-2)), {"scale": scale, "factor": factor}, (values * step[..., None]).flatten(-2).double()
    exponent = largest.log2().floor() - (8 if name == "mxfp8" else 2)
    stored = {"scale": (exponent + 127).to(torch.uint8).view(torch.int8)}
    scaled = groups / exponent.exp2()[..., None]
    if name == "mxfp8":
        codes = scaled.clamp(-448, 448).to(torch.float8_e4m3fn)
        return codes.flatten(-2), stored, (codes.float() * exponent.exp2()[..., None]).flatten(-2).double()
    codes, values = nearest_fp4(scaled)
    return packed_nibbles(codes.flatten(-2)), stored, (values * exponent.exp2()[..., None]).flatten(-2).double()


def use_format(layer, name):
    """Weights of a layer in another format."""
    weights = {k: v for k, v in layer.weights.items() if v.dim() < 3}
    for matrix in ("gate_up", "down"):
        weights[matrix], stored, layer.decoded[matrix] = encode(layer.weights[matrix], name)
        weights |= {f"{matrix}_{k}": v.contiguous() for k, v in stored.items()}
    layer.weights = weights


if triton is not None:
    @triton.jit
    def expert_rows(a, b, c, sorted_ids, block_expert, weights, n, k, entries, choices, stride_a, stride_e, stride_n, stride_c,
                    MUL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
        pid, blocks_m, blocks_n = tl.program_id(0), tl.num_programs(0) // tl.cdiv(n, BN), tl.cdiv(n, BN)
        group = pid // (GROUP * blocks_n)
        size = min(blocks_m - group * GROUP, GROUP)
        pm, pn = group * GROUP + (pid % (GROUP * blocks_n)) % size, (pid % (GROUP * blocks_n)) // size
        expert = tl.load(block_expert + pm)
        if expert < 0:
            return
        ids = tl.load(sorted_ids + pm * BM + tl.arange(0, BM))
        mask = ids < entries
        cols, ks = pn * BN + tl.arange(0, BN), tl.arange(0, BK)
        pa = a + (ids // choices).to(tl.int64)[:, None] * stride_a + ks[None, :]
        pb = b + expert.to(tl.int64) * stride_e + (cols % n).to(tl.int64)[None, :] * stride_n + ks[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(0, tl.cdiv(k, BK)):
            left = ks < k - i * BK
            acc = tl.dot(tl.load(pa, mask=mask[:, None] & left[None, :], other=0.0), tl.load(pb, mask=left[:, None], other=0.0), acc)
            pa += BK
            pb += BK
        if MUL:
            acc *= tl.load(weights + ids, mask=mask, other=0.0)[:, None]
        tl.store(c + ids.to(tl.int64)[:, None] * stride_c + cols[None, :], acc.to(tl.bfloat16), mask=mask[:, None] & (cols < n)[None, :])

    @triton.jit
    def silu_mul(h, out, n, B: tl.constexpr):
        row, cols = tl.program_id(0).to(tl.int64), tl.program_id(1) * B + tl.arange(0, B)
        g = tl.load(h + row * 2 * n + cols, mask=cols < n).to(tl.float32)
        u = tl.load(h + row * 2 * n + n + cols, mask=cols < n).to(tl.float32)
        tl.store(out + row * n + cols, (g * tl.sigmoid(g) * u).to(tl.bfloat16), mask=cols < n)

    @triton.jit
    def sum_choices(z, y, d, CHOICES: tl.constexpr, B: tl.constexpr):
        row, cols = tl.program_id(0).to(tl.int64), tl.program_id(1) * B + tl.arange(0, B)
        total = tl.zeros((B,), tl.float32)
        for c in tl.static_range(CHOICES):
            total += tl.load(z + (row * CHOICES + c) * d + cols, mask=cols < d).to(tl.float32)
        tl.store(y + row * d + cols, total.to(tl.bfloat16), mask=cols < d)


class TritonLayer:
    """Two GEMMs, activation, sum. Biases and clamping are left out: they cost this contender nothing."""
    LARGE = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4)]
    SMALL = [(16, 128, 128, 4, 4), (16, 64, 256, 4, 3), (64, 128, 64, 4, 4)]

    def __init__(self, layer, config):
        self.l, self.config = layer, config
        bm = config[0]
        flat = layer.expert.flatten().long()
        order = flat.argsort(stable=True)
        ids, experts, begin = [], [], 0
        counts = torch.bincount(flat, minlength=layer.experts).tolist()
        for e, count in enumerate(counts):
            blocks = -(-count // bm)
            padded = torch.full((blocks * bm,), flat.numel(), device="cuda", dtype=torch.int32)
            padded[:count] = order[begin:begin + count].to(torch.int32)
            ids.append(padded)
            experts += [e] * blocks
            begin += count
        self.ids, self.block_expert = torch.cat(ids), torch.tensor(experts, device="cuda", dtype=torch.int32)
        entries = flat.numel()
        self.h = torch.empty(entries, 2 * layer.n, device="cuda", dtype=torch.bfloat16)
        self.a = torch.empty(entries, layer.n, device="cuda", dtype=torch.bfloat16)
        self.z = torch.empty(entries, layer.d, device="cuda", dtype=torch.bfloat16)
        self.y = torch.empty_like(layer.x)

    def gemm(self, a, b, c, mul, choices):
        bm, bn, bk, warps, stages = self.config
        n, k = b.shape[1:]
        expert_rows[(self.block_expert.numel() * triton.cdiv(n, bn),)](
            a, b, c, self.ids, self.block_expert, self.l.weight, n, k, self.h.shape[0], choices, a.stride(0), b.stride(0), b.stride(1),
            c.stride(0), MUL=mul, BM=bm, BN=bn, BK=bk, GROUP=16 if bm > 16 else 1, num_warps=warps, num_stages=stages)

    def routed(self):
        """With the routing of this library, which starts from logits as the other contenders do."""
        l = self.l
        if not hasattr(self, "lists"):
            expert, weight = torch.empty_like(l.expert), torch.empty_like(l.weight)
            self.routing = {k: l.options[k] for k in ("score", "groups", "kept_groups", "scale") if k in l.options}
            if "score_bias" in l.weights:
                self.routing["score_bias"] = l.weights["score_bias"]
            self.lists = (expert, weight), (torch.empty(l.experts, device="cuda", dtype=torch.int32), torch.empty_like(expert), torch.empty_like(expert))
        tilewright.choose_experts(l.logits, l.choices, self.lists[0], **self.routing)
        tilewright.order_by_expert(self.lists[0][0], l.experts, self.lists[1])
        self()

    def __call__(self):
        l = self.l
        self.gemm(l.x, l.weights["gate_up"], self.h, False, l.choices)
        silu_mul[(self.h.shape[0], triton.cdiv(l.n, 1024))](self.h, self.a, l.n, B=1024)
        self.gemm(self.a, l.weights["down"], self.z, True, 1)
        sum_choices[(l.tokens, triton.cdiv(l.d, 1024))](self.z, self.y, l.d, CHOICES=l.choices, B=1024)


def alone(layer):
    """Our grouped GEMMs on rows that are ordered, of as many columns."""
    ends, _, _ = tilewright.order_by_expert(layer.expert, layer.experts)
    entries = layer.expert.numel()
    rows = torch.randn(entries, layer.d, device="cuda", dtype=torch.bfloat16)
    h, c = rows.new_empty(entries, 2 * layer.n), rows.new_empty(entries, layer.d)
    hidden = torch.randn(entries, layer.n, device="cuda", dtype=torch.bfloat16)

    def call():
        tilewright.grouped_gemm(rows, layer.weights["gate_up"].transpose(1, 2), ends, h)
        tilewright.grouped_gemm(hidden, layer.weights["down"].transpose(1, 2), ends, c)
    return call


def kernels_of(layer):
    """Microseconds of each kernel of a call, by name."""
    layer.ours()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(5):
            layer.ours()
        torch.cuda.synchronize()
    return {e.key[:60]: round(e.device_time, 1) for e in profile.key_averages() if e.device_time > 0}


def fastest(calls, seconds):
    """The name and the seconds of the fastest of some calls."""
    row = Race(calls, seconds / 2, 16).times(1)[0]
    name = min(row, key=row.get)
    return name, row[name]


MOST_COPIED = 2e9


def copy_of(bytes_moved):
    """A copy that reads half of the bytes and writes as many; of no more than MOST_COPIED, whose time is scaled."""
    half = torch.empty(int(min(bytes_moved, MOST_COPIED)) // 2, device="cuda", dtype=torch.int8)
    to = torch.empty_like(half)
    return lambda: to.copy_(half)


def race(model, tokens, weights, compiled, options):
    layer = Layer(model, tokens, weights)
    layer.logits[:, : max(1, layer.experts // 8)] += 0.7  # experts are not chosen equally often
    rows = list(range(min(tokens, 3))) + ([tokens - 1] if tokens > 3 else [])
    routing, error = layer.errors(rows)
    hit = layer.expert.unique().numel()
    weight_bytes = hit * 6.0 * layer.d * layer.n
    calls = {"ours": layer.ours, "alone": alone(layer), "copy": copy_of(weight_bytes)}
    fp8_error = None
    if options.fp8:
        layer.quantised()
        wanted = layer.y.float()
        fp8_error = round(((layer.y8.float() - wanted).norm() / wanted.norm()).item(), 4)
        calls["fp8"] = layer.quantised
    wanted = options.rivals.split(",")
    try:
        inputs = (layer.x, layer.logits, weights["gate_up"], weights["down"], *(weights.get(k) for k in ("gate_up_bias", "down_bias", "score_bias")))
        if "torch" in wanted:
            compiled(*inputs)
            calls["torch"] = lambda: compiled(*inputs)
    except Exception as e:  # a contender that does not run is left out, and said to be
        print(f"  torch: {type(e).__name__}: {str(e)[:200]}", flush=True)
    if triton is not None and "triton" in wanted:
        found = {}
        for config in TritonLayer.LARGE if tokens > 256 else TritonLayer.SMALL:
            try:
                call = TritonLayer(layer, config)
                call.routed()
                torch.cuda.synchronize()
                found[config] = call
            except Exception as e:
                print(f"  triton {config}: {type(e).__name__}: {str(e)[:200]}", flush=True)
        if found and not options.prepare:
            config, _ = fastest(found, options.seconds)
            name = "triton_" + "x".join(map(str, config[:3]))
            calls[name], calls[name + "_gemms"] = found[config].routed, found[config]
    if options.prepare:
        return {"error": 0, "routing_error": 0}
    runs = Race(calls, options.seconds, 16).times(options.rounds)
    us = {name: statistics.median(r[name] for r in runs) * 1e6 for name in calls}
    us["copy"] *= max(1, weight_bytes / MOST_COPIED)
    rivals = {name: t for name, t in us.items() if name not in ("ours", "alone", "copy", "fp8") and not name.endswith("_gemms")}
    best = min(rivals, key=rivals.get) if rivals else None
    flops = 6.0 * layer.expert.numel() * layer.d * layer.n
    case = {"model": model, "tokens": tokens, "experts": layer.experts, "choices": layer.choices, "d": layer.d, "n": layer.n,
            "error": round(error, 3), "routing_error": routing, "fp8_error": fp8_error, "us": {k: round(v, 1) for k, v in us.items()}, "rival": best,
            "ratio_to_rival": round(rivals[best] / us["ours"], 3) if best else None,
            "ratio_to_triton_gemms": next((round(t / us["ours"], 3) for name, t in us.items() if name.endswith("_gemms")), None), "ratio_to_products_alone": round(us["alone"] / us["ours"], 3),
            "tflops": round(flops / us["ours"] / 1e6, 1), "ratio_to_copy": round(us["copy"] / us["ours"], 3),
            "weight_gbps": round(weight_bytes / us["ours"] / 1e3, 1)}
    print(f"{model:14} {tokens:6} ours {us['ours']:9.1f} us, alone {us['alone']:9.1f}, copy {us['copy']:.1f}, " +
          (f"fp8 {us['fp8']:.1f} (error {fp8_error}), " if options.fp8 else "") + ", ".join(f"{k} {v:.1f}" for k, v in us.items() if k.startswith("t")) +
          f"; ratio {case['ratio_to_rival']}, {case['tflops']} TFLOP/s, weights {case['weight_gbps']} GB/s, error {error:.3f}, routing {routing:.1e}", flush=True)
    if options.kernels:
        case["kernels"] = kernels_of(layer)
        print("   ", case["kernels"], flush=True)
    return case


def random_problems(count, seed, verbose, prepare):
    """Returns how many are wrong."""
    random.seed(seed)
    torch.manual_seed(seed)
    wrong = 0
    for i in range(count):
        experts = random.choice([2, 5, 8, 24, 64, 128])
        choices = random.randint(1, min(experts, 8))
        d, n = 8 * random.randint(1, 80), 8 * random.randint(1, 60)
        name = random.choice(["bf16"] * 6 + ["fp8_rows", "fp8_blocks", "mxfp8", "mxfp4", "int4", "nvfp4"])
        if name != "bf16":
            d, n = 64 * random.randint(1, 10), 64 * random.randint(1, 7)
        options = {}
        if random.random() < 0.3:
            options = {"is_interleaved": 1, "swiglu_alpha": 1.7, "swiglu_limit": 2.0, "swiglu_shift": 1.0}
        if random.random() < 0.3:
            options |= {"score": "sigmoid"}
        model = (experts, choices, d, n, options)
        tokens = random.choice([1, 1, 2, 3, 4, 7, 33, 64, 200, 700, 3000])
        kind = random.randrange(4)
        if verbose:
            print(f"problem {i}: {name}, {model}, {tokens} tokens, kind {kind}", flush=True)
        layer = Layer(model, tokens, Layer.make_weights(model))
        if name != "bf16":
            use_format(layer, name)
        if kind == 1:  # nearly all to one expert
            layer.logits[:, random.randrange(experts)] += 12
        elif kind == 2:  # ties
            layer.logits.round_()
        if kind == 3:
            layer.x[random.randrange(tokens)] = math.nan
        rows = random.sample(range(tokens), min(tokens, 6))
        if prepare:
            tilewright.explain(layer.ours)
            continue
        nan = layer.x.isnan().any(1)
        routing, _ = layer.errors(rows)
        wanted, bound = layer.reference(rows)
        got = layer.y[rows].double()
        # Rows of x and of what SwiGLU makes are rounded to e4m3 where weights are: three bits after the leading one.
        allowed = 2 ** -7 * (bound + wanted.abs()) + 1e-6 if name[:3] != "fp8" else torch.full_like(bound, 0.3) * wanted.nan_to_num().norm(dim=-1, keepdim=True)
        ok = torch.where(wanted.isnan(), got.isnan(), (got - wanted).abs() <= allowed)
        if name[:3] == "fp8" and not wanted.isnan().any():
            ok &= (got - wanted).norm() <= 0.1 * wanted.norm() + 1e-6
        first = layer.y.clone()
        layer.ours()
        same = bool((first.view(torch.int16) == layer.y.view(torch.int16)).all())
        leaks = bool(layer.y[~nan].isnan().any())
        if not ok.all() or routing > 1e-4 or not same or leaks:
            wrong += 1
            print(f"wrong: problem {i}, {name}, {model}, {tokens} tokens, kind {kind}: {int((~ok).sum())} elements, routing {routing:.1e}, same bits {same}, "
                  f"NaN in other tokens {leaks}", flush=True)
    print(f"{count} random problems, {wrong} wrong", flush=True)
    return wrong


def plain_layer(x, logits, gate_up, down, choices, options, gate_up_bias, down_bias):
    """The layer in PyTorch, differentiable, expert by expert."""
    expert, _ = route(logits.detach(), choices, options)
    score = logits.sigmoid() if options.get("score") == "sigmoid" else logits.softmax(-1)
    weight = score.gather(-1, expert)
    weight = weight / weight.sum(-1, keepdim=True) * options.get("scale", 1.0)
    y = torch.zeros_like(x)
    for e in range(gate_up.shape[0]):
        tokens, which = (expert == e).nonzero(as_tuple=True)
        h = swiglu(*halves(x[tokens] @ gate_up[e].T + gate_up_bias[e], options), options)
        y = y.index_add(0, tokens, weight[tokens, which, None] * (h @ down[e].T + down_bias[e]))
    return y


def gradients(count, seed, prepare):
    """Gradients of random layers, of autograd's operator and in float64; prints the largest relative error of each. Returns how many are wrong."""
    from tilewright import torch as tw
    random.seed(seed)
    torch.manual_seed(seed)
    wrong = 0
    for i in range(count):
        experts, tokens = random.choice([2, 8, 40]), random.choice([1, 33, 500, 3000])
        choices, d, n = random.randint(1, min(experts, 6)), 8 * random.randint(2, 70), 8 * random.randint(2, 60)
        options = random.choice([{}, {"score": "sigmoid", "scale": 2.5}, {"is_interleaved": True, "swiglu_alpha": 1.7, "swiglu_limit": 2.0, "swiglu_shift": 1.0}])
        inputs = [t.requires_grad_() for t in (torch.randn(tokens, d, device="cuda", dtype=torch.bfloat16), torch.randn(tokens, experts, device="cuda"),
                                               *(Layer.make_weights((experts, choices, d, n, {"is_interleaved": 1})).values()))]
        dy = torch.randn(tokens, d, device="cuda", dtype=torch.bfloat16)
        exact = [t.detach().double().requires_grad_() for t in inputs]
        if prepare:
            x, logits, gate_up, down, *biases = (t.detach() for t in inputs)
            given = {k: int(v) if v is True else v for k, v in options.items()} | {"gate_up_bias": biases[0], "down_bias": biases[1]}
            tilewright.explain(lambda: tilewright.moe(x, logits, gate_up, down, choices, **given))
            tilewright.explain(lambda: tilewright.moe_gradient(dy, x, logits, gate_up, down, choices, d_gate_up_bias=torch.empty_like(biases[0]),
                                                               d_down_bias=torch.empty_like(biases[1]), **given))
            continue
        found = torch.autograd.grad(tw.moe(*inputs[:4], choices, gate_up_bias=inputs[4], down_bias=inputs[5], **options), inputs, dy)
        wanted = torch.autograd.grad(plain_layer(*exact[:4], choices, options, *exact[4:]), exact, dy.double())
        # With one choice that is normalised the gradient of the logits is zero; what rounding leaves is measured by dy.
        errors = [((f.double() - w).norm() / max(w.norm(), 1e-4 * dy.double().norm())).item() for f, w in zip(found, wanted)]
        # Near a limit bf16 decides for about one activation in a thousand on which side it is, so whether its gradient is zero.
        wrong += not all(e < (0.06 if "swiglu_limit" in options else 0.02) for e in errors)
        print(f"gradients {i}: {tokens} tokens, {experts} experts, top {choices}, d {d}, n {n}, {options}: " + ", ".join(f"{e:.4f}" for e in errors), flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="*", help="patterns, separated by commas")
    parser.add_argument("--tokens", default="1,8,64,4096,16384")
    parser.add_argument("--random", type=int, default=0, help="random problems against float64")
    parser.add_argument("--gradients", type=int, default=0, help="random layers' gradients against float64")
    parser.add_argument("--verbose", action="store_true", help="print each random problem before it runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.03, help="of a block of each contender")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rivals", default="torch,triton", help="which of torch and triton take part")
    parser.add_argument("--fp8", action="store_true", help="time weights of fp8 as well")
    parser.add_argument("--compiler", default="nvrtc", help="of kernels, as tilewright.configure() takes it")
    parser.add_argument("--kernels", action="store_true", help="times of the kernels of one call")
    parser.add_argument("--prepare", action="store_true", help="compile the kernels of these cases and time nothing")
    options = parse_arguments(parser)
    tilewright.configure(compiler=options.compiler)
    wrong = random_problems(options.random, options.seed, options.verbose, options.prepare) if options.random else 0
    wrong += gradients(options.gradients, options.seed, options.prepare)
    cases = []
    for model in MODELS:
        if not any(fnmatch.fnmatch(model, p) for p in options.models.split(",")):
            continue
        torch.manual_seed(2)
        weights = Layer.make_weights(model)
        compiled = torch.compile(Layer(model, 1, weights).torch_function(), dynamic=True)
        for tokens in map(int, options.tokens.split(",")):
            case = race(model, tokens, weights, compiled, options)
            wrong += case["error"] > 1 or case["routing_error"] > 1e-4
            cases.append(case)
            write_results(options, benchmark="moe", random_problems=options.random, cases=cases)  # so far
            torch.cuda.empty_cache()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
