# SPDX-License-Identifier: MIT
"""The cases of rows.py: each module of this folder adds its own to CASES."""
import dataclasses
import math
import typing

import torch

BF16, F16, F32, E4M3, INT8 = torch.bfloat16, torch.float16, torch.float32, torch.float8_e4m3fn, torch.int8


@dataclasses.dataclass
class Case:
    """A kernel with one kind of input, against PyTorch."""
    name: str
    # make(*shape): lists of the kernel's inputs and outputs, in the order in which its .cu file reads them; None is an absent tensor.
    make: typing.Callable
    # function(*inputs), without the absent ones: what PyTorch and torch.compile run; one tensor or several.
    function: typing.Callable
    # exact(*inputs in float64): all present outputs, in order. Without it: function.
    exact: typing.Callable = None
    # Of each output: the largest error in the Frobenius norm, relative to that of the exact one.
    tolerance: tuple = (0,)
    kernel: str = None  # its name in the library, if it is not `name`
    shapes: tuple = None  # without it: (rows, cols) for each --cols, with --mib MiB
    element_bytes: int = 2  # of x, for (rows, cols)
    numbers: tuple = ()  # passed to the kernel
    # draw(random, elements, multiple): a random shape with about so many elements of x; lengths are multiples, as far as they matter.
    draw: typing.Callable = None
    # outputs(*outputs): what to compare, where the kernel's outputs are not comparable themselves.
    outputs: typing.Callable = None


CASES = {}


def draw_lengths(random, elements, multiple, dims):
    """Random lengths of a tensor of about `elements` elements; their logarithms are uniform."""
    shares = [random.uniform(0.4, 1.6) for _ in range(dims)]
    lengths = [max(16, round(elements ** (share / sum(shares)))) // multiple * multiple for share in shares]
    last = random.randrange(dims)
    lengths[last] = max(1 if multiple == 1 else 8, elements * lengths[last] // math.prod(lengths) // multiple * multiple)
    return lengths


def draw_matrix(random, elements, multiple):
    """Rows of 1,024 to 131,072 elements."""
    cols = round(2 ** random.uniform(10, 17)) // multiple * multiple
    return max(1, elements // cols), cols


def add(*args, **words):
    case = Case(*args, **words)
    case.kernel = case.kernel or case.name
    case.exact = case.exact or case.function
    case.draw = case.draw or draw_matrix
    CASES[case.name] = case


def gaussian(*lengths, dtype=BF16):
    return torch.randn(*lengths, device="cuda").to(dtype)


def empty(*lengths, dtype=BF16):
    return torch.empty(*lengths, device="cuda", dtype=dtype)
