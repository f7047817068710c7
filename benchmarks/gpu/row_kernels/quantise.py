# SPDX-License-Identifier: MIT
"""Quantisation to e4m3 with a scale for each row or each 128 elements: x, x2; y, scale."""
import torch
import torch.nn.functional as F

from . import BF16, E4M3, F32, add, draw_matrix, empty, gaussian


def make(group, two=False):
    def tensors(rows, cols):
        scale = empty(rows, dtype=F32) if group is None else empty(rows, -(-cols // group), dtype=F32)
        return [gaussian(rows, cols), gaussian(rows, cols) if two else None], [empty(rows, cols, dtype=E4M3), scale]
    return tensors


def quantise(x, group):
    partials = x.float().unflatten(-1, (-1, group or x.shape[-1]))
    scale = (partials.abs().amax(-1, keepdim=True) / 448).clamp(min=1e-30)
    return (partials / scale).flatten(-2).to(E4M3), scale.squeeze(-1)


def dequantise(group):
    def result(y, scale):
        scales = scale.double().view(y.shape[0], -1)
        return y.double() * scales.repeat_interleave(group or y.shape[1], 1)[:, :y.shape[1]]
    return result


def draw_whole(random, elements, _):
    """Rows of a multiple of 128 elements, as the other contenders want them."""
    return draw_matrix(random, elements, 128)


identity = lambda x: x
swiglu = lambda x, z: F.silu(x) * z
whole = ((131072, 1024), (16384, 8192), (8192, 16384))
add("quantise_rows_e4m3", make(None), lambda x: quantise(x, None), identity, (4e-2,), outputs=dequantise(None))
add("quantise_128_e4m3", make(128), lambda x: quantise(x, 128), identity, (4e-2,), outputs=dequantise(128), draw=draw_whole, shapes=whole)
add("swiglu_128_e4m3", make(128, True), lambda x, z: quantise(F.silu(x.float()) * z.float(), 128), swiglu, (4e-2,), outputs=dequantise(128),
    draw=draw_whole, shapes=whole)
