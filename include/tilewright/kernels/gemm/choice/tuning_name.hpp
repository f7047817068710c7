// SPDX-License-Identifier: MIT
// The key by which a tuning_file remembers the fastest kernel of a product.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>
#include <tilewright/launch/check_memory.hpp>
#include <tilewright/version.hpp>

#include <string>

namespace tilewright {

/// What the best choice for a product may depend on, as text.
inline std::string tuning_name(const gemm_args& g, arch::matrix_element type, arch::matrix_element result,
                               bool a_along_k, bool b_along_k) {
  std::string name = std::to_string(int(type)) + " to " + std::to_string(int(result));
  name += a_along_k ? " ak" : " am";
  name += b_along_k ? " bk" : " bn";
  for (const index_t x : {g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.batch}) name += " " + std::to_string(x);
  for (const void* const p : {g.a, g.b, static_cast<const void*>(g.c)})
    name += detail::is_aligned(p) ? " aligned" : " unaligned";
  return name + (g.beta != 0 ? " adds" : "") + (g.workspace ? "" : " no workspace");
}

/// The key under which choices for a device are kept: its name, its SMs, and this library's version.
/// Kernels that change within a version do not change it: remove the file then.
inline std::string tuning_key(const std::string& device, int SMs) {
  return device + ", " + std::to_string(SMs) + " SMs, tilewright " + std::to_string(TILEWRIGHT_VERSION);
}

}  // namespace tilewright
