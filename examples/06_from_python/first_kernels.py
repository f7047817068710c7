#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels of one's own from Python: PyTorch's tensors and stream on a GPU, plain memory on the CPU emulator.

    first_kernels.py LIBRARY [cpu]

LIBRARY is library.hip as a shared library, compiled for the GPU (see docs/model_kernels.md), or, with `cpu`, as C++. Prints what was checked; exits
with 1 if a result is wrong.
"""
import ctypes
import math
import random
import sys


class Matrices(ctypes.Structure):
    """first_kernels::matrices of kernels.hpp."""
    _fields_ = [("x", ctypes.c_void_p), ("y", ctypes.c_void_p), ("rows", ctypes.c_int), ("cols", ctypes.c_int),
                ("x_stride", ctypes.c_longlong), ("y_stride", ctypes.c_longlong)]


class Kernels:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        self.functions = {name: getattr(library, name) for name in ("softmax", "transpose")}
        for function in self.functions.values():
            function.restype = ctypes.c_char_p
            function.argtypes = [ctypes.POINTER(Matrices), ctypes.c_void_p]

    def call(self, name, x, y, rows, cols, x_stride, y_stride, stream=None):
        """x and y are addresses, strides are in elements. Raises ValueError with the kernel's sentence if it refuses."""
        why = self.functions[name](Matrices(x, y, rows, cols, x_stride, y_stride), stream)
        if why:
            raise ValueError(why.decode())

    def of_tensors(self, name, x):
        """A PyTorch tensor on the GPU: no copy, whatever its row stride, in order with what its stream does."""
        import torch
        if x.dtype != torch.float32 or x.dim() != 2 or x.stride(1) != 1:
            raise ValueError("a matrix of float32 with contiguous rows is needed")
        rows, cols = x.shape
        y = torch.empty((cols, rows) if name == "transpose" else (rows, cols), dtype=x.dtype, device=x.device)
        self.call(name, x.data_ptr(), y.data_ptr(), rows, cols, x.stride(0), y.stride(0), torch.cuda.current_stream().cuda_stream)
        return y


def check_on_gpu(kernels):
    import torch
    torch.manual_seed(random.randrange(2**31))
    with torch.cuda.stream(torch.cuda.Stream()):
        for rows, cols in ((1, 1), (77, 1000), (4096, 8192), (1023, 5001)):
            x = torch.randn(rows, cols + 3, device="cuda")[:, :cols]  # rows are cols + 3 apart
            error = float((kernels.of_tensors("softmax", x).double() - torch.softmax(x.double(), -1)).abs().max())
            if not error < 1e-6 or not torch.equal(kernels.of_tensors("transpose", x), x.t()):
                return False
    return True


def check_on_cpu(kernels):
    for rows, cols in ((1, 1), (7, 1000), (130, 70)):
        stride = cols + 3
        x = (ctypes.c_float * (rows * stride))(*(random.gauss(0, 2) for _ in range(rows * stride)))
        y = (ctypes.c_float * (rows * cols))()
        kernels.call("softmax", ctypes.addressof(x), ctypes.addressof(y), rows, cols, stride, cols)
        for r in range(rows):
            powers = [math.exp(e) for e in x[r * stride:r * stride + cols]]
            if max(abs(found - p / sum(powers)) for found, p in zip(y[r * cols:(r + 1) * cols], powers)) > 1e-6:
                return False
        kernels.call("transpose", ctypes.addressof(x), ctypes.addressof(y), rows, cols, stride, rows)
        if any(y[c * rows + r] != x[r * stride + c] for r in range(rows) for c in range(cols)):
            return False
    return True


def is_refused(kernels):
    """Whether a row that is too long is refused before anything runs."""
    memory = (ctypes.c_float * 1)()
    try:
        kernels.call("softmax", ctypes.addressof(memory), ctypes.addressof(memory), 1, 9000, 9000, 9000)
    except ValueError as sentence:
        return "8192" in str(sentence)
    return False


def main():
    kernels, on_cpu = Kernels(sys.argv[1]), sys.argv[2:] == ["cpu"]
    right = is_refused(kernels) and (check_on_cpu if on_cpu else check_on_gpu)(kernels)
    print(f"softmax and transpose are {'right' if right else 'wrong'} on the {'CPU emulator' if on_cpu else 'GPU'}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
