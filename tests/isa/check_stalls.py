#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks with llvm-mca that the matrix instructions of a kernel's hot loop hardly wait for the LDS.

usage: check_stalls.py LLVM_MCA TARGET PERCENT KERNEL.s
       check_stalls.py --turns LLVM_MCA TARGET PERCENT KERNEL.s

llvm-mca issues the instructions of one wave in order and knows their latencies. It knows neither other waves nor bank conflicts. Exit
status: 0 when the loop takes at most PERCENT longer than without its LDS instructions and waits, 1 when it takes more, 2 for input that
makes no sense, 77 (skipped) when another compiler wrote the kernel.
With --turns, for kernels whose waves take turns between barriers: 0 when moving operands takes at most PERCENT of the time that the
matrix instructions take which the other wave of the SIMD issues meanwhile.
"""

import re
import subprocess
import sys
from pathlib import Path

import check_isa

ITERATIONS = 20


def is_matrix(line):
    return check_isa.matches("matrix instructions", line)


def cycles(llvm_mca, target, lines):
    """Cycles of one iteration of a loop that consists of these instructions."""
    command = [llvm_mca, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={target}", f"-iterations={ITERATIONS}"]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    total = re.search(r"^Total Cycles:\s+(\d+)$", run.stdout, re.MULTILINE)
    if run.returncode != 0 or not total:
        raise check_isa.Senseless(f"llvm-mca: {run.stderr.strip().splitlines()[:1]}")
    return int(total[1]) / ITERATIONS


def longer(llvm_mca, target, loop):
    """How much longer a loop takes for its LDS instructions, in percent."""
    matrix = [line for line in loop if is_matrix(line)]
    others = [line for line in loop if not re.match(r"ds_|s_wait", line)]
    with_lds, without, alone = (cycles(llvm_mca, target, lines) for lines in (loop, others, matrix))
    percent = 100 * (with_lds / without - 1)
    print(f"{target}: {with_lds:.0f} cycles, without LDS {without:.0f}: {percent:.1f} % longer; "
          f"matrix instructions alone: {alone:.0f}")
    return percent


def slowest_turn(llvm_mca, target, loop):
    """Of the longest stretch between barriers without matrix instructions, the part of the shortest with them, in percent."""
    stretches = check_isa.pieces(loop, "barriers")
    moves = [cycles(llvm_mca, target, stretch) for stretch in stretches if not any(map(is_matrix, stretch))]
    products = [cycles(llvm_mca, target, stretch) for stretch in stretches if any(map(is_matrix, stretch))]
    if not moves or len(moves) != len(products):
        raise check_isa.Senseless("the waves of this kernel do not take turns")
    print(f"{target}: moving operands takes at most {max(moves):.0f} cycles, multiplying at least {min(products):.0f}")
    return 100 * max(moves) / min(products)


def main(arguments):
    try:
        measure = longer
        if arguments[:1] == ["--turns"]:
            measure, arguments = slowest_turn, arguments[1:]
        if len(arguments) != 4:
            raise check_isa.Senseless(__doc__)
        llvm_mca, target, percent, path = arguments
        assembly = Path(path).read_text(encoding="utf-8")
        if not check_isa.COMPILER.search(assembly):
            print("skipped: the limits are for clang 22")
            return 77
        loop = [line for line in check_isa.hot_loop_lines(assembly) if not line.startswith(("s_branch", "s_cbranch"))]
        return 0 if measure(llvm_mca, target, loop) <= float(percent) else 1
    except (check_isa.Senseless, OSError, ValueError) as problem:
        print(f"check_stalls: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
