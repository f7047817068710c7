# SPDX-License-Identifier: MIT
"""Reductions of a tensor along some of its dimensions: x; y, then the variance or the position of the largest element."""
import functools

import torch

from . import BF16, F32, add, draw_lengths, empty, gaussian


def make(dtype, second=None):
    def tensors(lengths, dims):
        row_cache = [1 if d in dims else n for d, n in enumerate(lengths)]
        x = gaussian(*lengths, dtype=dtype) + 2
        return [x], [empty(*row_cache, dtype=F32)] + ([empty(*row_cache, dtype=second)] if second else [])
    return tensors


def reduced(function, dims):
    """A function of x alone, along fixed dimensions."""
    return functools.partial(function, dims=dims)


def total(x, dims):
    return x.sum(dims, keepdim=True, dtype=x.dtype if x.dtype == torch.float64 else F32)


def mean(x, dims):
    return x.mean(dims, keepdim=True, dtype=x.dtype if x.dtype == torch.float64 else F32)


def largest(x, dims):
    return x.max(dims[0], keepdim=True)


def moments(x, dims):
    variance, mean = torch.var_mean(x, dims, keepdim=True, correction=0)
    return mean, variance


def draw(dims):
    """Tensors whose dimensions `dims` are reduced."""
    def tensors(random, elements, multiple):
        return tuple(draw_lengths(random, elements, multiple, random.randrange(max(2, max(dims) + 1), max(dims) + 3))), dims
    return tensors


# Along rows, columns, middle dimensions, two dimensions, everything.
SHAPES = (((65536, 1024), (1,)), ((8192, 8192), (1,)), ((512, 131072), (1,)), ((65536, 1000), (1,)), ((50000, 1337), (1,)), ((65536, 1024), (0,)),
          ((8192, 8192), (0,)), ((512, 131072), (0,)), ((1048576, 64), (0,)), ((1048576, 64), (1,)), ((64, 1024, 1024), (1,)),
          ((64, 64, 128, 128), (1, 3)), ((64, 64, 128, 128), (0, 2)), ((64, 64, 128, 128), (0, 2, 3)), ((67108864,), (0,)), ((8, 8388608), (1,)))
SMALL = (((64, 64), (1,)), ((512, 1024), (0,)), ((512, 1024), (1,)))
FEW = SHAPES[1:3] + SHAPES[4:5] + SHAPES[6:7] + SHAPES[11:13]


def add_reduction(name, dtype, function, tolerance, second=None, shapes=FEW, single=False):
    """One case for each choice of dimensions: PyTorch's function must know them."""
    for dims in dict.fromkeys(dims for _, dims in shapes):
        if single and len(dims) > 1:
            continue
        add(f"{name}_{''.join(map(str, dims))}", make(dtype, second), reduced(function, dims), tolerance=tolerance, kernel=name, draw=draw(dims),
            element_bytes=dtype.itemsize, shapes=tuple(shape for shape in shapes if shape[1] == dims))


add_reduction("sum_bf16", BF16, total, (1e-6,), shapes=SHAPES + SMALL)
add_reduction("sum_f32", F32, total, (1e-6,))
add_reduction("mean_bf16", BF16, mean, (1e-6,))
add_reduction("max_bf16", BF16, largest, (0, 1), second=torch.int32, single=True)
add_reduction("max_f32", F32, largest, (0, 0), second=torch.int32, single=True, shapes=SHAPES)
add_reduction("mean_variance_bf16", BF16, moments, (3e-3, 3e-3), second=F32)
add_reduction("mean_variance_f32", F32, moments, (1e-6, 1e-5), second=F32, shapes=SHAPES)
