# SPDX-License-Identifier: MIT
"""Contenders in Triton, written as its matmul tutorial is: x (m, k) times weights (n, k) of int4 with a scale for each group of 128, or of
MXFP4."""
import torch
import triton
import triton.language as tl


def configurations():
    return [triton.Config({"BLOCK_N": n, "BLOCK_K": k, "SPLIT_K": split}, num_warps=warps, num_stages=stages)
            for n, k, split, warps, stages in ((64, 128, 1, 4, 4), (64, 128, 4, 4, 4), (32, 256, 4, 4, 3), (128, 128, 4, 8, 4),
                                               (64, 256, 8, 8, 3), (32, 128, 8, 2, 5))]


@triton.autotune(configurations(), key=["m", "n", "k"], reset_to_zero=["y"])
@triton.jit
def kernel(x, w, scales, y, m, n, k, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    rows, columns = tl.arange(0, 16), tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.cdiv(k // BLOCK_K, SPLIT_K)
    first = tl.program_id(1) * steps
    total = tl.zeros((BLOCK_N, 16), tl.float32)
    for step in range(first, min(first + steps, k // BLOCK_K)):
        ks = step * BLOCK_K + tl.arange(0, BLOCK_K)
        pairs = tl.load(w + columns[:, None] * (k // 2) + (step * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2))[None, :],
                        mask=columns[:, None] < n)
        codes = tl.interleave(pairs & 15, pairs >> 4).to(tl.int8) - 8
        groups: tl.constexpr = BLOCK_K // 128
        s = tl.load(scales + columns[:, None] * (k // 128) + (step * groups + tl.arange(0, groups))[None, :], mask=columns[:, None] < n)
        weights = (codes.to(tl.bfloat16).reshape(BLOCK_N, groups, 128) * s[:, :, None]).reshape(BLOCK_N, BLOCK_K)
        xs = tl.load(x + rows[None, :] * k + ks[:, None], mask=rows[None, :] < m, other=0.0)
        total = tl.dot(weights, xs, total)
    to = y + rows[None, :] * n + columns[:, None]
    mask = (rows[None, :] < m) & (columns[:, None] < n)
    if SPLIT_K == 1:
        tl.store(to, total, mask=mask)
    else:
        tl.atomic_add(to, total, mask=mask)


def product(x, w, scales):
    """A function that queues the kernel. The sums are float; clearing them for SPLIT_K is not counted."""
    m, k = x.shape
    n = len(w)
    y = torch.zeros(m, n, device="cuda")
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_N"]), meta["SPLIT_K"])
    return lambda: kernel[grid](x, w, scales, y, m, n, k)


def mxfp4_configurations():
    return [triton.Config({"BLOCK_N": n, "BLOCK_K": k, "SPLIT_K": split}, num_warps=warps, num_stages=stages)
            for n, k, split, warps, stages in ((64, 128, 1, 4, 4), (64, 128, 4, 4, 4), (128, 128, 4, 4, 4), (128, 256, 4, 8, 3),
                                               (128, 128, 1, 8, 3))]


@triton.autotune(mxfp4_configurations(), key=["m", "n", "k"], reset_to_zero=["y"])
@triton.jit
def mxfp4_kernel(x, w, scales, y, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    rows, columns = tl.program_id(2) * BLOCK_M + tl.arange(0, BLOCK_M), tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    steps = tl.cdiv(k // BLOCK_K, SPLIT_K)
    first = tl.program_id(1) * steps
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(first, min(first + steps, k // BLOCK_K)):
        ks = step * BLOCK_K + tl.arange(0, BLOCK_K)
        xs = tl.load(x + rows[:, None] * k + ks[None, :], mask=rows[:, None] < m, other=0.0)
        codes = tl.load(w + columns[None, :] * (k // 2) + (step * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2))[:, None],
                        mask=columns[None, :] < n, other=0)
        s = tl.load(scales + columns[:, None] * (k // 32) + (step * (BLOCK_K // 32) + tl.arange(0, BLOCK_K // 32))[None, :],
                    mask=columns[:, None] < n, other=127)
        total = tl.dot_scaled(xs, None, "bf16", codes, s, "e2m1", total)
    to = y + rows[:, None] * n + columns[None, :]
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    if SPLIT_K == 1:
        tl.store(to, total, mask=mask)
    else:
        tl.atomic_add(to, total, mask=mask)


def mxfp4_product(x, w, scales):
    """A function that queues the kernel, with w (n, k / 2) and scales (n, k / 32) as bytes."""
    m, k = x.shape
    n = len(w)
    y = torch.zeros(m, n, device="cuda")
    block_m = min(128, max(16, triton.next_power_of_2(m)))
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_N"]), meta["SPLIT_K"], triton.cdiv(m, block_m))
    return lambda: mxfp4_kernel[grid](x, w, scales, y, m, n, k, BLOCK_M=block_m)
