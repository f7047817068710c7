// SPDX-License-Identifier: MIT
// The command line of the attention program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/kernels/attention/attention_args.hpp>

#include "backend.hpp"

namespace attention_program {

namespace tw = tilewright;
using gemm_program::element, gemm_program::refusal;

/// Portable: for every target; hopper: for sm_90a.
enum class kernel_kind { automatic, portable, hopper };

/// What the command line said; what it left open is empty.
struct options {
  std::optional<std::int64_t> batch, heads, kv_heads, queries, keys, dim, value_dim;
  std::optional<element> type;
  std::optional<float> scale;
  tw::attention_window window;
  std::optional<std::string> q_file, k_file, v_file, out_file, lse_file;
  bool backward = false;
  std::optional<std::string> d_o_file, d_q_file, d_k_file, d_v_file;
  kernel_kind kernel = kernel_kind::automatic;
  std::optional<bool> on_gpu;
  std::string target = "gfx942";
  std::uint64_t seed = 1;
  bool verify = true, json = false;
  int repeat = 1;
  std::string help;  // not empty: this text was asked for, and nothing else
};

/// `targets` are those that the CPU can emulate. Throws refusal with one sentence for what makes no sense.
options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets);

}  // namespace attention_program
