#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails unless a kernel's file has the same code with the single header as with the separate ones.

usage: same_code.py COMPILER ARCH SINGLE_HEADER SOURCE [DEFINITION...]

The source stays as it is: a folder holds a header of each name that includes the single one. No standard header is to be found there.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "isa"))
from same_instructions import require_same  # noqa: E402

INCLUDE = Path(__file__).resolve().parents[2] / "include"


def assembly(compiler, arch, options, source, output):
    if arch.startswith("sm_"):
        command = [compiler, "-x", "cu", "-std=c++20", f"-arch={arch}", "-ptx"]
    else:
        command = [compiler, "-x", "hip", "-std=c++20", "-O3", "-nogpulib", "-nogpuinc", f"--offload-arch={arch}", "--offload-device-only", "-S"]
    subprocess.run([*command, *options, source, "-o", output], check=True)
    lines = Path(output).read_text(encoding="utf-8").splitlines()
    # Objects of one file have a number of that file in their names.
    lines = [re.sub(r"\d+_INTERNAL_\w+?(?=10tilewright)", "", line) for line in lines]
    return [line for line in lines if not re.search(r"^\s*(\.file|\.ident|;|//)|__hip_cuid", line)]


def main():
    compiler, arch, single, source, *definitions = sys.argv[1:]
    options = [f"-D{definition}" for definition in definitions]
    with tempfile.TemporaryDirectory() as folder:
        for header in INCLUDE.rglob("*.hpp"):
            forward = Path(folder) / header.relative_to(INCLUDE)
            forward.parent.mkdir(parents=True, exist_ok=True)
            forward.write_text(f'#include "{Path(single).resolve()}"\n', encoding="utf-8")
        no_headers = [] if arch.startswith("sm_") else ["-nostdinc", "-nostdinc++", "-Wall", "-Wextra", "-Werror"]
        separate = assembly(compiler, arch, [f"-I{INCLUDE}", *options], source, f"{folder}/separate")
        joined = assembly(compiler, arch, [f"-I{folder}", *no_headers, *options], source, f"{folder}/joined")
    require_same(separate, joined, "line")


if __name__ == "__main__":
    main()
