# SPDX-License-Identifier: MIT
"""Copies, casts, permutations, element-wise functions: x, x2; y."""
import itertools

import torch
import torch.nn.functional as F

from . import BF16, E4M3, F16, F32, INT8, add, draw_lengths, empty, gaussian


def make(dtype, result, inputs=1):
    return lambda rows, cols: ([gaussian(rows, cols, dtype=dtype) for _ in range(inputs)], [empty(rows, cols, dtype=result)])


identity = lambda x: x
add("copy_bf16", make(BF16, BF16), lambda x: x.clone(), identity)
add("cast_f32_bf16", make(F32, BF16), lambda x: x.to(BF16), identity, (4e-3,), element_bytes=4)
add("cast_bf16_f32", make(BF16, F32), lambda x: x.to(F32), identity)
add("cast_f16_bf16", make(F16, BF16), lambda x: x.to(BF16), identity, (4e-3,))
add("cast_bf16_e4m3", make(BF16, E4M3), lambda x: x.to(E4M3), identity, (4e-2,))
add("cast_e4m3_bf16", make(E4M3, BF16), lambda x: x.to(BF16), identity, element_bytes=1)
add("cast_f32_int8", make(F32, INT8), lambda x: x.round().to(INT8), torch.round, (1e-3,), element_bytes=4)
add("gelu_bf16", make(BF16, BF16), lambda x: F.gelu(x, approximate="tanh"), tolerance=(5e-3,))
add("swiglu_bf16", make(BF16, BF16, 2), lambda x, z: F.silu(x) * z, tolerance=(5e-3,))
SMALL = ((1, 64), (64, 64), (512, 1024))  # bound by the launch
add("gelu_bf16_small", make(BF16, BF16), lambda x: F.gelu(x, approximate="tanh"), tolerance=(5e-3,), kernel="gelu_bf16", shapes=SMALL,
    draw=lambda random, *_: (round(2 ** random.uniform(0, 9)), round(2 ** random.uniform(4, 10))))


def make_strided(rows, cols, stride, first):
    """A part of the columns, into a part of the columns."""
    return [gaussian(rows, stride)[:, first:first + cols]], [empty(rows, stride)[:, first:first + cols]]


def draw_strided(random, elements, multiple):
    cols, first, rest = (random.randrange(32, 4096) // multiple * multiple for _ in range(3))
    return elements // cols, cols, first + cols + rest, first


add("copy_bf16_strided", make_strided, lambda x: x.clone(), identity, kernel="copy_bf16", draw=draw_strided,
    shapes=((65536, 1024, 2048, 0), (65536, 1000, 1008, 8), (65536, 1000, 1001, 0), (65536, 1001, 1024, 0), (1048576, 64, 128, 64), (8388608, 7, 8, 1)))


def make_permuted(dtype):
    """x with its dimensions in another order, as a view."""
    def tensors(lengths, order):
        x = gaussian(*lengths, dtype=dtype).permute(order)
        return [x], [empty(*x.shape, dtype=dtype)]
    return tensors


def swaps(*lengths):
    """All exchanges of two dimensions."""
    n = len(lengths)
    for a, b in itertools.combinations(range(n), 2):
        order = list(range(n))
        order[a], order[b] = b, a
        yield lengths, tuple(order)


def draw_permuted(random, elements, multiple):
    """Tensors of two to five dimensions, of which two change places."""
    lengths = draw_lengths(random, elements, multiple, random.randrange(2, 6))
    order = list(range(len(lengths)))
    a, b = random.sample(order, 2)
    order[a], order[b] = b, a
    return tuple(lengths), tuple(order)


contiguous = lambda x: x.contiguous()
MATRICES = tuple(((rows, cols), (1, 0)) for rows, cols in ((131072, 1024), (16384, 8192), (1024, 131072), (8193, 8191), (60000, 1000), (22369621, 3), (3, 22369621)))
add("permute_bf16", make_permuted(BF16), contiguous, identity, draw=draw_permuted, kernel="permute_16",
    shapes=MATRICES + tuple(itertools.chain(swaps(256, 512, 512), swaps(48, 1000, 1400), swaps(32, 128, 64, 256), swaps(16, 32, 64, 32, 64),
                                            swaps(20, 36, 28, 56, 60), swaps(7, 129, 33, 45, 50))))
add("permute_f32", make_permuted(F32), contiguous, identity, draw=draw_permuted, element_bytes=4, kernel="permute_32",
    shapes=MATRICES[:4] + tuple(itertools.chain(swaps(128, 512, 512), swaps(16, 16, 64, 32, 64))))
add("permute_e4m3", make_permuted(E4M3), contiguous, identity, draw=draw_permuted, element_bytes=1, kernel="permute_8", shapes=MATRICES[:4] + tuple(swaps(32, 128, 128, 256)))
add("permute_64", make_permuted(torch.float64), contiguous, identity, draw=draw_permuted, element_bytes=8, kernel="permute_64", shapes=MATRICES[:4] + tuple(swaps(16, 64, 64, 256)))


def make_concatenated(first, second, dim):
    lengths = [a + b if d == dim else a for d, (a, b) in enumerate(zip(first, second))]
    return [gaussian(*first), gaussian(*second)], [empty(*lengths)]


def draw_concatenated(dim):
    def draw(random, elements, multiple):
        second = draw_lengths(random, elements // 2, multiple, random.randrange(2, 5))
        first = list(second)
        first[dim] = max(multiple, int(first[dim] * random.uniform(0.3, 1.7)) // multiple * multiple)
        return tuple(first), tuple(second), dim
    return draw


for dim in (0, 1):
    add(f"concatenate_{dim}_bf16", make_concatenated, lambda a, b, dim=dim: torch.cat((a, b), dim), kernel="concatenate_16", numbers=(dim,), draw=draw_concatenated(dim),
        shapes=(((8192, 4096), (8192, 4096), dim),) + ((((16384, 1000), (16384, 3096), dim),) if dim else ()))
