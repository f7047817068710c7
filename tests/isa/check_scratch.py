#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the attention kernels for each AMD target and head dimension, and checks that none uses scratch memory.

usage: check_scratch.py CLANG [TARGET]...

Exit status: 0 when no kernel has more bytes of scratch than ALLOWED says, 1 when one has, 2 when one does not compile.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
DIMS = ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256), (32, 32), (160, 160), (192, 192), (224, 224), (32, 256), (256, 96))
WIDE_DIMS = ((384, 384), (512, 512))  # not of gradients
ALLOWED = {("gfx90a", "gradients", (224, 224)): 20, ("gfx1100", "decode", (224, 224)): 28, ("gfx1100", "decode", (32, 256)): 48,
           ("gfx1100", "decode", (256, 256)): 72,
           ("gfx1100", "forward", (160, 160)): 20, ("gfx1100", "forward", (224, 224)): 36}


def scratch_of(clang, target, kernel, dims):
    command = [clang, "-x", "hip", "-std=c++20", "-O3", "-nogpulib", "-nogpuinc", f"--offload-arch={target}", "--offload-device-only", "-S",
               f"-I{HERE.parents[1] / 'include'}", f"-DKERNEL={kernel}", f"-DDIM={dims[0]}", f"-DVALUE_DIM={dims[1]}",
               str(HERE / "attention_scratch.hip"), "-o", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\.private_segment_fixed_size: (\d+)", run.stdout)
    if run.returncode != 0 or not found:
        print(run.stderr, file=sys.stderr)
        sys.exit(2)
    return int(found[1])


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    failures = 0
    for target in arguments[1:] or TARGETS:
        for kernel, all_dims in (("forward", DIMS + WIDE_DIMS), ("gradients", DIMS), ("decode", DIMS + WIDE_DIMS),
                                 ("decode_8bit", ((64, 64), (128, 128)))):
            for dims in all_dims:
                found, allowed = scratch_of(arguments[0], target, kernel, dims), ALLOWED.get((target, kernel, dims), 0)
                print(f"{target} {kernel} {dims[0]}/{dims[1]}: {found} bytes of scratch", "" if found <= allowed else f"(at most {allowed})", flush=True)
                failures += found > allowed
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
