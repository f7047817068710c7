// SPDX-License-Identifier: MIT
// The command line of the gemm program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend.hpp"

namespace gemm_program {

enum class device { host, gpu };

/// Element types as the command line names them; which fp8 and bf8 are meant depends on the machine.
enum class dtype { f16, bf16, f32, fp8, bf8, int8, int32 };

/// What the command line said; what it left open is empty.
struct options {
  std::optional<std::int64_t> m, n, k, batch;
  std::optional<dtype> type, result;
  std::optional<order> a_order, b_order, c_order;
  float alpha = 1, beta = 0;
  epilogue_request epilogue;
  std::optional<float> scale;  // of epilogue.scale
  kernel_request kernel;
  std::int64_t gap = 0;  // between rows (columns) in memory
  std::optional<device> where;
  bool jit = false;
  std::string target = "gfx942";
  std::optional<std::string> a_file, b_file, c_file, out_file;
  std::uint64_t seed = 1;
  std::optional<bool> verify;
  int repeat = 1;
  bool json = false;
  bool explain = false, explain_shapes = false;  // print what is known without running, and nothing else
  std::string help;  // not empty: a text was asked for (--help, --version), and nothing else
};

/// `targets` are the targets that the CPU can emulate. Throws refusal with one sentence for what makes no sense.
options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets);

}  // namespace gemm_program
