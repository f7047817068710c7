#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile times: user seconds (median, least, most) and peak memory. Compilations take turns, so that load on the machine meets all of them.

    benchmarks/compile_time/measure.py [--repeat N]

Files of one group are compiled with the same flags:
  as users have it   hipcc's default flags; the file includes <hip/hip_runtime.h>. The cost of a kernel is its file's time less that
                     of a file with the header alone, and is reported as a ratio to the latter: the machine's yardstick.
  alone              the kernel's file without any runtime header, with -nogpuinc.
hipcc is clang with these flags; -nogpulib stands for the device libraries, which are not needed. Both groups compile for gfx942 only
(--offload-device-only), but for the rows "host and device": what `hipcc -c` does.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "benchmarks/compile_time"
INCLUDE = f"-I{ROOT / 'include'}"
HIP = ["-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-std=c++20", "-O3", "-c"]
# What hipcc adds to clang's own defaults. The macro is for headers older than clang 22, which no longer defines it.
HIPCC = [*HIP, "-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false", "-D__AMDGCN_WAVEFRONT_SIZE=64"]
RUNTIME = "#include <hip/hip_runtime.h>\n"
HEADER, WITH_KERNEL = "hip_runtime.h alone", "with the GEMM kernel"


def compile_once(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{errors}")
    return usage.ru_utime, usage.ru_maxrss // 1024


def with_single_header(clang, device, folder):
    """The GEMM kernel with the single header: all of it, what the kernel names, and precompiled."""
    single, kernel, bare, precompiled = (folder / n for n in ("single.hpp", "single.hip", "bare.hip", "single.pch"))
    subprocess.run([ROOT / "tools/make_single_header.py", "--maker", "amd", "-o", single], check=True)
    text = (KERNELS / "gemm_f16.hip").read_text()
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#include"))
    bare.write_text(body)
    kernel.write_text(f'#include "single.hpp"\n{body}')
    alone = [clang, *HIP, "--no-gpu-bundle-output", "-nogpuinc"]
    subprocess.run([*alone, "--offload-device-only", "-S", "-Xclang", "-emit-pch", single, "-o", precompiled], check=True)
    only = ["-DTILEWRIGHT_ONLY", "-DTILEWRIGHT_USES_KERNELS_GEMM_GEMM_KERNEL"]
    return {
        "GEMM alone, single header": [*alone, *device, kernel],
        "GEMM alone, what it names of it": [*alone, *device, *only, kernel],
        "GEMM alone, single header precompiled": [*alone, *device, "-Xclang", "-include-pch", "-Xclang", precompiled, bare],
    }


def compilations(folder):
    """{name: command}; files that are not in the tree are written to the folder."""
    header, with_kernel, core, out = (pathlib.Path(folder) / n for n in ("header.hip", "with_kernel.hip", "core.cpp", "out.o"))
    header.write_text(RUNTIME)
    with_kernel.write_text(f'{RUNTIME}#include "{KERNELS / "gemm_f16.hip"}"\n')
    core.write_text("#include <tilewright/core.hpp>\n")
    clang = next((c for c in ("clang++-22", "clang++-21", "clang++-20", "clang++-19") if shutil.which(c)), None)
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    commands = {}
    if clang:
        device = ["--offload-device-only", "-o", out]
        if pathlib.Path("/usr/include/hip/hip_runtime.h").exists():
            commands[HEADER] = [clang, *HIPCC, *device, header]
            commands[WITH_KERNEL] = [clang, *HIPCC, *device, INCLUDE, with_kernel]
            # The bundle of host and device is not linked: the host's object is enough.
            commands[f"{HEADER}, host and device"] = [clang, *HIPCC, "-o", out, header]
            commands[f"{WITH_KERNEL}, host and device"] = [clang, *HIPCC, "-o", out, INCLUDE, with_kernel]
        alone = [clang, *HIP, *device, "-nogpuinc", INCLUDE]
        commands["GEMM kernel alone"] = [*alone, KERNELS / "gemm_f16.hip"]
        commands["50 GEMM kernels alone"] = [*alone, KERNELS / "gemm_50.hip"]
        for dim in (64, 128):
            attention = [f"-DISA_HEAD_DIM={dim}", "-DISA_ELEMENT=half_t", "-DISA_FORM=together", "-DISA_BLOCK_SIZE=256"]
            commands[f"attention alone, head dimension {dim}"] = [*alone, *attention, ROOT / "tests/isa/attention.hip"]
        commands["attention's gradients alone, 64"] = [*alone, "-DISA_HEAD_DIM=64", ROOT / "tests/isa/attention_backward.hip"]
        commands |= with_single_header(clang, device, pathlib.Path(folder))
        commands["core.hpp, syntax only"] = [clang, "-std=c++20", "-fsyntax-only", INCLUDE, core]
    if nvcc:
        for name in ("gemm_hopper", "attention_hopper"):
            commands[f"{name}, nvcc"] = [nvcc, "-std=c++20", "-arch=sm_90a", "-cubin", INCLUDE, KERNELS / f"{name}.cu", "-o", out]
        commands["GEMM kernel, sm_90a, nvcc"] = [nvcc, "-std=c++20", "-O3", "-x", "cu", "-gencode=arch=compute_90a,code=sm_90a", "-cubin",
                                                 INCLUDE, KERNELS / "gemm_f16.hip", "-o", out]
    return commands


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--only", default="", help="compile what has this in its name, e.g. 'alone'")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = {name: c for name, c in compilations(folder).items() if arguments.only in name}
        results = {name: [] for name in commands}
        for turn in range(arguments.repeat):
            for name, command in commands.items():
                if name.startswith("50") and turn > 0:
                    continue  # once is enough for something that takes so long
                results[name].append(compile_once(command))
    print(f"{'gfx942 unless said otherwise':40} {'user s':>7} {'min':>6} {'max':>6} {'MB':>5}")
    for name, runs in results.items():
        seconds = [r[0] for r in runs]
        print(f"{name:40} {statistics.median(seconds):7.2f} {min(seconds):6.2f} {max(seconds):6.2f} {max(r[1] for r in runs):5d}")
    for suffix in ("", ", host and device"):
        if HEADER + suffix in results and WITH_KERNEL + suffix in results:
            turns = [(k[0] - h[0]) / h[0] for h, k in zip(results[HEADER + suffix], results[WITH_KERNEL + suffix])]
            print(f"as users have it{suffix}: the kernel costs {statistics.median(turns):.2f} of the header's own time on top of it"
                  f" ({min(turns):.2f} to {max(turns):.2f} in single turns)")


if __name__ == "__main__":
    main()
