#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A transformer layer: RMSNorm, queries, keys and values, rotary embedding, attention with shared key heads, SwiGLU; for tensors of any library."""
import tilewright as tw


def layer(x, w, cos, sin, heads, kv_heads):
    """x (tokens, width); weights are (in, out), gate and up one tensor (2, in, hidden); cos and sin (tokens, d / 2) of float32."""
    tokens, width = x.shape
    d = width // heads
    h = tw.rms_norm(x, w["norm1"])
    q = tw.rotary(tw.gemm(h, w["q"]).view(tokens, heads, d), cos, sin)
    k = tw.rotary(tw.gemm(h, w["k"]).view(tokens, kv_heads, d), cos, sin)
    v = tw.gemm(h, w["v"]).view(tokens, kv_heads, d)
    o = tw.attention(q, k, v, causal=True).view(tokens, width)
    x = tw.gemm(o, w["o"], residual=x)
    h = tw.rms_norm(x, w["norm2"])
    return tw.gemm(tw.gemm(h, w["up"], gate=w["gate"]), w["down"], residual=x)


def main():
    import torch
    tokens, width, heads, kv_heads, hidden = 777, 2048, 16, 4, 5632

    def random(*shape):
        return (torch.randn(shape, device="cuda") * shape[0] ** -0.5).bfloat16()

    gate, up = random(2, width, hidden)
    kv = kv_heads * width // heads
    w = {"norm1": random(width), "q": random(width, width), "k": random(width, kv), "v": random(width, kv), "o": random(width, width),
         "norm2": random(width), "gate": gate, "up": up, "down": random(hidden, width)}
    pairs = width // heads // 2
    angle = torch.arange(tokens, device="cuda")[:, None] / 10000 ** (torch.arange(pairs, device="cuda") / pairs)
    y = layer(random(tokens, width), w, angle.cos(), angle.sin(), heads, kv_heads)
    print(tuple(y.shape), tw.explain(lambda: layer(y, w, angle.cos(), angle.sin(), heads, kv_heads)), sep="\n")


if __name__ == "__main__":
    main()
