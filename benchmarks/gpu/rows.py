#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels on rows on an NVIDIA GPU: this library against a device copy, PyTorch and torch.compile, verified and timed in one process.

    benchmarks/gpu/rows.py LIBRARY [--only PATTERN,...] [--cols N,...] [--draws N --seed N] [--mib N] [--json FILE --commit C] [--check-only] [--compile N]

LIBRARY is libtilewright_rows.so (CMake: TILEWRIGHT_BUILD_BENCHMARKS=ON). Tensors of x have --mib MiB; with --draws, shapes are random. All
contenders are timed in interleaved CUDA graphs. Prints medians in GB/s of the bytes that the operation must move; ratio_to_copy is
the rate over that of a device copy which reads and writes as many bytes in all; ratio_to_torch and ratio_to_torch_compile are the rates
over those of PyTorch and of torch.compile with constant lengths; host_us is what the host needs for a call. Results are compared with float64. Exits with 1 if one is wrong.

To add a kernel: row_kernels/NAME.cu registers functions that read tensors by position and start the kernel (CMake compiles every .cu file
there), row_kernels/NAME.py calls add(), whose parameters row_kernels/__init__.py explains. No other file changes.
"""
import argparse
import ctypes
import fnmatch
import importlib
import pathlib
import random
import statistics
import sys

import torch

from row_kernels import CASES
from results_file import parse_arguments, write_results
from timing import Race

COLS = (1000, 1024, 4096, 8192, 16384, 32768, 131072)


class Tensor(ctypes.Structure):
    """row_kernels::tensor of row_kernels/library.hpp."""
    _fields_ = [("data", ctypes.c_void_p), ("lengths", ctypes.c_longlong * 6), ("strides", ctypes.c_longlong * 6), ("dims", ctypes.c_int),
                ("element_bytes", ctypes.c_int)]

    @classmethod
    def of(cls, t):
        if t is None:
            return cls()
        six = ctypes.c_longlong * 6
        return cls(t.data_ptr(), six(*t.shape), six(*t.stride()), t.dim(), t.element_size())


class Refused(Exception):
    """The library has no such kernel, or it refuses the tensors."""


class Tilewright:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.find = self.library.tilewright_rows_find
        self.find.restype, self.find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        self.call = self.library.tilewright_rows
        self.call.restype, self.call.argtypes = ctypes.c_char_p, [ctypes.c_void_p] * 4
        if self.library.tilewright_rows_tensor_bytes() != ctypes.sizeof(Tensor):
            raise SystemExit("rows.py: the library's tensors have another size than this script's")

    def prepare(self, case, tensors):
        """A function that queues the kernel on the current stream."""
        kernel = self.find(case.kernel.encode())
        if not kernel:
            raise Refused("the library has no such kernel")
        array = (Tensor * len(tensors))(*map(Tensor.of, tensors))
        numbers = (ctypes.c_double * (len(case.numbers) + 1))(*case.numbers)
        stream, device = torch._C._cuda_getCurrentRawStream, torch.cuda.current_device()

        def call():
            why = self.call(kernel, array, numbers, stream(device))
            if why:
                raise Refused(why.decode())
        return call


def as_tuple(result):
    return result if isinstance(result, (tuple, list)) else (result,)


def errors_of(case, inputs, outputs):
    """Of each output: the error in the Frobenius norm against float64, relative to the exact result."""
    exact = as_tuple(case.exact(*(t.double() if t.is_floating_point() else t for t in inputs)))
    found = as_tuple(case.outputs(*outputs)) if case.outputs else outputs
    result = []
    for y, wanted in zip(found, exact, strict=True):
        wanted = wanted.double()
        norm = float(wanted.norm())
        result.append(float((y.double() - wanted).norm()) / (norm if norm > 0 else 1.0))
    return result


def bytes_of(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def measure(case, call, inputs, outputs, options, compiles):
    """Rates in GB/s and their ratios."""
    moved = bytes_of(inputs) + bytes_of(outputs)
    source = torch.empty(max(moved // 2, 1), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    contenders = {"tilewright": call, "copy": lambda: target.copy_(source), "torch": lambda: case.function(*inputs)}
    if compiles:
        compiled = compile_case(case)
        contenders["torch_compile"] = lambda: compiled(*inputs)
    race = Race(contenders, options.seconds)
    times = race.times(options.rounds)
    row = {name: moved / statistics.median(t[name] for t in times) / 1e9 for name in contenders}
    row |= {f"ratio_to_{name}": statistics.median(t[name] / t["tilewright"] for t in times) for name in contenders if name != "tilewright"}
    row |= {f"host_us_{name}": us for name, us in race.host_us().items()}
    if race.in_stream:
        row["not_in_graphs"] = ",".join(race.in_stream)
    return row


def compile_case(case):
    torch._dynamo.reset()
    return torch.compile(case.function, dynamic=False)  # lengths are constants, as in a model


def shapes_of(case, options):
    elements = options.mib * 2**20 // case.element_bytes
    if options.draws:
        chosen = random.Random(f"{options.seed} {case.name}")
        return [case.draw(chosen, elements, 16 if i % 4 < 3 else 1) for i in range(options.draws)]
    if case.shapes:
        return case.shapes
    return [(max(1, elements // cols), cols) for cols in map(int, options.cols.split(","))]


def warm(cases, part):
    """Compiles each N-th case for torch.compile, whose cache on disk later runs find; part: "I/N"."""
    first, step = map(int, part.split("/"))
    for case, shape in cases[first::step]:
        compile_case(case)(*(t for t in case.make(*shape)[0] if t is not None))


def run(ours, case, shape, options, compiles, row):
    """Checks and measures a case. True: a result is wrong."""
    inputs, outputs = case.make(*shape)
    tensors = inputs + outputs
    inputs, outputs = ([t for t in some if t is not None] for some in (inputs, outputs))
    for t in outputs:
        t.untyped_storage().fill_(0x7f)
    call = ours.prepare(case, tensors)
    call()
    torch.cuda.synchronize()
    errors = errors_of(case, inputs, outputs)
    row["error"] = max(errors)
    if not options.check_only:
        row |= measure(case, call, inputs, outputs, options, compiles)
    return not all(e <= t for e, t in zip(errors, case.tolerance, strict=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--only", default="*", help="names of cases, or patterns such as '*_bf16'")
    parser.add_argument("--cols", default=",".join(map(str, COLS)))
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=0.01, help="length of a block of launches")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check-only", action="store_true")
    parser.add_argument("--compile", type=int, default=1000, help="measure torch.compile with so many shapes of each case")
    parser.add_argument("--draws", type=int, default=0, help="measure so many random shapes of each case; every fourth has odd lengths")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm", help="I/N: only compile each N-th shape from number I on with torch.compile, which keeps it on disk")
    options = parse_arguments(parser)
    for module in sorted((pathlib.Path(__file__).parent / "row_kernels").glob("[a-z]*.py")):
        importlib.import_module(f"row_kernels.{module.stem}")
    cases = [(case, shape, i) for case in CASES.values() if any(fnmatch.fnmatch(case.name, p) for p in options.only.split(","))
             for i, shape in enumerate(shapes_of(case, options))]
    if options.warm:
        return warm([(case, shape) for case, shape, i in cases if i < options.compile], options.warm)
    ours = Tilewright(options.library)
    torch.manual_seed(options.seed)
    results, failures = [], 0
    for case, shape, number in cases:
        row = {"case": case.name, "shape": list(shape)}
        try:
            wrong = run(ours, case, shape, options, number < options.compile, row)
        except Refused as why:
            row["refused"], wrong = str(why), True
        failures += wrong
        results.append(row)
        print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
              "WRONG" if wrong else "", flush=True)
    if not options.check_only:
        for ratio in ("ratio_to_copy", "ratio_to_torch", "ratio_to_torch_compile"):
            print(f"lowest {ratio}: {min((row[ratio] for row in results if ratio in row), default=0):.3f}")
    write_results(options, row_kernels=results)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
