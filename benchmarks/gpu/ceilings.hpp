// SPDX-License-Identifier: MIT
// The rates that mma.sync reaches in loops of nothing but instructions: what portable kernels are measured against.
#pragma once

#include <string>
#include <vector>

#include "problem.hpp"

namespace gpu_benchmark {

/// How operands come to LDS beside the matrix instructions: not at all, 16 bytes for each lane (cp.async), or boxes
/// that one thread asks for (TMA).
enum class lds_copies : signed char { none, lanes, boxes };

/// What a loop consists of beside mma.sync.
struct ceiling_loop {
  const char* name;
  bool gaussian;   // operands; else few of their bits are set
  bool reads_lds;  // by ldmatrix, for each instruction of a new step along k; else operands stay in registers
  lds_copies copies;
};

/// One block of eight waves on each SM; a wave has 64 x 64 sums, and what belongs to a tile of 128 x 256 x
/// 64 happens as often as in a kernel with such tiles. No barrier, and nothing waits for data.
inline constexpr ceiling_loop ceiling_loops[] = {
    {"mma.sync on registers, few bits set", false, false, lds_copies::none},
    {"mma.sync on registers", true, false, lds_copies::none},
    {"and ldmatrix", true, true, lds_copies::none},
    {"mma.sync and cp.async from L2", true, false, lds_copies::lanes},
    {"mma.sync and bulk copies from L2", true, false, lds_copies::boxes},
    {"mma.sync, ldmatrix, cp.async", true, true, lds_copies::lanes},
    {"mma.sync, ldmatrix, bulk copies", true, true, lds_copies::boxes},
};
/// The one that a kernel's rate is given as a part of.
inline constexpr int reference_loop = 1;

/// What a loop reached, by launch.
struct ceiling {
  element type;
  const ceiling_loop* loop;
  std::vector<double> tflops;
  std::vector<double> clocks;  // of a tensor core from one m16n8k16 to the next
  std::vector<double> megahertz;
};

/// Runs loops in turn, `rounds` launches of about `seconds` each. Throws if a loop computes something else than what
/// its matrix instructions say, so that none of them can have been left out by a compiler. f16 or bf16.
std::vector<ceiling> measure_ceilings(element type, const std::vector<const ceiling_loop*>& loops, int rounds,
                                      double seconds);

}  // namespace gpu_benchmark
