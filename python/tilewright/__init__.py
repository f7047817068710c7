# SPDX-License-Identifier: MIT
"""Tilewright: one call for each operation of a model, on NVIDIA and AMD GPUs.

    y = tilewright.gemm(x, weight.t(), bias=bias, activate="silu")

Functions take PyTorch's tensors, and those of libraries with DLPack or __cuda_array_interface__. Options are those of the C call
(`tilewright.options("gemm")`). tilewright.torch has the same as differentiable operators. docs/python.md says more.
"""
from ._error import Error
from .control import *
from .operations import *
