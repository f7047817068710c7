# SPDX-License-Identifier: MIT
"""Copies, casts, transposes, element-wise functions: x, x2; y."""
import torch
import torch.nn.functional as F

from . import BF16, E4M3, F32, add, empty, gaussian


def make(dtype, result, inputs=1):
    return lambda rows, cols: ([gaussian(rows, cols, dtype=dtype) for _ in range(inputs)], [empty(rows, cols, dtype=result)])


def make_transposed(dtype):
    return lambda rows, cols: ([gaussian(rows, cols, dtype=dtype)], [empty(cols, rows, dtype=dtype)])


for name, dtype in (("transpose_16", BF16), ("transpose_32", F32)):
    add(name, make_transposed(dtype), lambda x: x.t().contiguous(), element_bytes=dtype.itemsize)
identity = lambda x: x
add("copy_bf16", make(BF16, BF16), lambda x: x.clone(), identity)
add("cast_f32_bf16", make(F32, BF16), lambda x: x.to(BF16), identity, (4e-3,), element_bytes=4)
add("cast_bf16_e4m3", make(BF16, E4M3), lambda x: x.to(E4M3), identity, (4e-2,))
add("gelu_bf16", make(BF16, BF16), lambda x: F.gelu(x, approximate="tanh"), tolerance=(5e-3,))
add("swiglu_bf16", make(BF16, BF16, 2), lambda x, z: F.silu(x) * z, tolerance=(5e-3,))
