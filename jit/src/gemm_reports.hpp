// SPDX-License-Identifier: MIT
// The tiles that a target has for a GEMM, with what the model of portable_gemm_choice.hpp must know of them.
#pragma once

#include <string>
#include <vector>

#include <tilewright/core/arch/gpu_facts.hpp>
#include <tilewright/kernels/gemm/choice/static_report.hpp>

namespace tilewright::jit {

struct gemm_reports {
  const arch::gpu_facts* gpu = nullptr;  // null: no GPU of the target is known
  std::vector<std::string> names;        // "128x128", "ping_pong", "deep_16x64x64_8"
  std::vector<std::string> policies;     // the template; the argument after its fifth, or ""
  std::vector<std::string> last_arguments;
  std::vector<gemm_static_report> reports;
};

/// The named policies of a target, for elements of 16 bits in whole vectors; the smaller ones for others, too. Then the
/// family of tiles, whose names begin with "deep".
const gemm_reports& gemm_reports_of(const std::string& target);

}  // namespace tilewright::jit
