#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile times: user seconds (median) and peak memory, the compilations taking turns so that they share the machine's moods.

    benchmarks/compile_time/measure.py [--repeat N]

Compares one GEMM kernel for gfx942, and fifty in one program, with a file that holds nothing but HIP's runtime header, where that header is installed.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def compile_once(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{errors}")
    return usage.ru_utime, usage.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    clang = next((c for c in ("clang++-22", "clang++-21", "clang++-20", "clang++-19") if shutil.which(c)), None)
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    kernel, include = ROOT / "benchmarks/compile_time/gemm_f16.hip", f"-I{ROOT / 'include'}"
    with tempfile.TemporaryDirectory() as folder:
        header, core, out = (pathlib.Path(folder) / name for name in ("header.hip", "core.cpp", "out.o"))
        header.write_text("#include <hip/hip_runtime.h>\n")
        core.write_text("#include <tilewright/core.hpp>\n")
        device = ["-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-std=c++20", "-O3", "--offload-device-only", "-c", "-o", out]
        commands = {}
        if clang:
            commands["GEMM kernel, gfx942"] = [clang, *device, "-nogpuinc", include, kernel]
            commands["50 GEMM kernels, gfx942"] = [clang, *device, "-nogpuinc", include, kernel.with_name("gemm_50.hip")]
            if pathlib.Path("/usr/include/hip/hip_runtime.h").exists():
                commands["hip_runtime.h alone, gfx942"] = [clang, *device, "-D__AMDGCN_WAVEFRONT_SIZE=64", header]
            commands["core.hpp, syntax only"] = [clang, "-std=c++20", "-fsyntax-only", include, core]
        if nvcc:
            commands["GEMM kernel, sm_90a"] = [nvcc, "-std=c++20", "-O3", "-x", "cu", "-gencode=arch=compute_90a,code=sm_90a", "-cubin",
                                               include, kernel, "-o", out]
        results = {name: [] for name in commands}
        for turn in range(repeat):
            for name, command in commands.items():
                if name.startswith("50") and turn > 0:
                    continue  # once is enough for something that takes so long
                results[name].append(compile_once(command))
    print(f"{'':30} {'user s':>7} {'min':>6} {'max':>6} {'MB':>5}")
    median = {}
    for name, runs in results.items():
        seconds = [r[0] for r in runs]
        median[name] = statistics.median(seconds)
        print(f"{name:30} {median[name]:7.2f} {min(seconds):6.2f} {max(seconds):6.2f} {max(r[1] for r in runs):5d}")
    if "hip_runtime.h alone, gfx942" in median:
        print(f"the kernel takes {median['GEMM kernel, gfx942'] / median['hip_runtime.h alone, gfx942']:.2f} times as long as the header")


if __name__ == "__main__":
    main()
