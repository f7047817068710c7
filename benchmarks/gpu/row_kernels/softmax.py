# SPDX-License-Identifier: MIT
"""Softmax and log-softmax."""
import torch

from . import BF16, F32, add, empty, gaussian


def make(dtype):
    return lambda rows, cols: ([gaussian(rows, cols, dtype=dtype)], [empty(rows, cols, dtype=dtype)])


softmax = lambda x: torch.softmax(x, -1)
add("softmax_f32", make(F32), softmax, tolerance=(1e-5,), element_bytes=4)
add("softmax_bf16", make(BF16), softmax, tolerance=(5e-3,))
add("log_softmax_f32", make(F32), lambda x: torch.log_softmax(x, -1), tolerance=(1e-5,), element_bytes=4)
