// SPDX-License-Identifier: MIT
// The kernels for Hopper GPUs as the program sees them at run time.
#pragma once

#include <tilewright/gemm/gemm_kernels.hpp>

#include <functional>
#include <string>
#include <vector>

#include "kernel_entry.hpp"

namespace gemm_program {

/// A gemm_product with its kernels, which are numbered.
struct hopper_product {
  element type{}, result{};
  tw::operand_major a_major{}, b_major{};
  bool has_epilogue = false;
  std::vector<std::string> kernels;  // names

  /// A sentence about what a choice cannot do, or nullptr; the choice that the model prefers.
  const char* (*check)(const tw::gemm_args&, const tw::gemm_choice&) = nullptr;
  tw::gemm_choice (*choose)(const tw::gemm_args&, tw::index_t multiprocessors) = nullptr;
  /// Operands are on the GPU; the result queues the product.
  std::function<void()> (*prepare)(const tw::gemm_args&, const tw::gemm_choice&) = nullptr;
};

/// Adds those with operands of some types and one layout. Compiled in hopper_kernels.hip, a translation unit for each.
template <class Elements, tw::operand_major AMajor, tw::operand_major BMajor>
void add_hopper_products(std::vector<hopper_product>& list);

/// The Hopper kernel for a problem and the reason for it; or none, and why not (empty if there are none at all).
struct hopper_choice {
  const hopper_product* product = nullptr;
  tw::gemm_choice kernel = {};
  std::string reason = {};

  /// For instance hopper_128x256_b2: blocks in pairs that share their part of B; with the operands' types and orders,
  /// and with the parts of k as a policy names them: "hopper_64x64, k in 3 parts".
  std::string name() const;
};
hopper_choice choose_hopper_kernel(const std::vector<hopper_product>& list, const kernel_problem& problem,
                                   const kernel_request& request, int multiprocessors);

}  // namespace gemm_program
