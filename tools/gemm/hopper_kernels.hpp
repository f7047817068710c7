// SPDX-License-Identifier: MIT
// The Hopper kernels as the program sees them at run time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel_entry.hpp"

namespace gemm_program {

struct hopper_entry {
  element type{}, result{};
  tw::operand_major a_major{}, b_major{};
  tw::index_t tile = 0;  // number in specialized_tiles
  bool has_epilogue = false;

  const char* (*check)(const tw::gemm_args&) = nullptr;  // a sentence, or nullptr
  /// Operands are on the GPU; the result queues the product.
  std::function<void()> (*prepare)(const tw::gemm_args&) = nullptr;

  /// For instance hopper_128x256_b2: blocks in pairs that share their part of B.
  std::string policy() const;
  std::string name() const;
};

/// Adds those with operands of some types and one layout. Compiled in hopper_kernels.hip, a translation unit for each.
template <class Elements, tw::operand_major AMajor, tw::operand_major BMajor>
void add_hopper_kernels(std::vector<hopper_entry>& list);

/// The Hopper kernel for a problem and the reason for it; or none, and why not (empty if there are none at all).
struct hopper_choice {
  const hopper_entry* kernel = nullptr;
  std::string reason;
};
hopper_choice choose_hopper_kernel(const std::vector<hopper_entry>& list, const kernel_problem& problem,
                                   const kernel_request& request, int multiprocessors);

}  // namespace gemm_program
