# SPDX-License-Identifier: MIT
"""Rotary embedding: x (tokens, heads, elements of a head), cos, sin; y."""
import torch

from . import BF16, F32, add, empty, gaussian


def make(tokens, heads, elements):
    angles = torch.rand(tokens, elements // 2, device="cuda") * 6.3
    return [gaussian(tokens, heads, elements), angles.cos(), angles.sin()], [empty(tokens, heads, elements)]


def split(x, cos, sin):
    a, b = x.chunk(2, -1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


def interleaved(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2).to(x.dtype)


def draw(random, elements, _):
    heads, of_head = random.randrange(1, 65), random.choice((64, 80, 96, 128, 192, 256))
    return elements // heads // of_head, heads, of_head


shapes = ((32768, 32, 128), (131072, 8, 128), (65536, 32, 64))
add("rotary_split_bf16", make, split, tolerance=(5e-3,), draw=draw, shapes=shapes)
add("rotary_interleaved_bf16", make, interleaved, tolerance=(5e-3,), draw=draw, shapes=shapes)
