// SPDX-License-Identifier: MIT
#include "gemm_candidates.hpp"

#include <string>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

namespace tilewright::ops {

std::vector<candidate> choose_gemm_kernels(const void* problem, const device_facts& on) {
  jit::gemm_problem p = *static_cast<const jit::gemm_problem*>(problem);
  const jit::kernel_request source = jit::gemm(p);
  try {
    return {{.kernel = source(on.target).name,
             .choice = p.policy,
             .source = source,
             .workspace_bytes = on.target == "sm_90a" ? hopper_gemm_workspace::bytes : 0,
             .counts_in_workspace = true}};
  } catch (const jit::error& e) {
    refuse("gemm", std::string(e.what()).substr(5));
  }
}

}  // namespace tilewright::ops
