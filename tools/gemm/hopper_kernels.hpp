// SPDX-License-Identifier: MIT
// The kernels for Hopper GPUs as the program sees them at run time.
#pragma once

#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>

#include <functional>
#include <string>
#include <vector>

#include "kernel_entry.hpp"

namespace gemm_program {

/// A gemm_operation with its kernels.
struct hopper_product {
  element type{}, result{};
  tw::operand_major a_major{}, b_major{};
  bool has_epilogue = false;
  std::vector<tw::gemm_choice> kernels;  // with stream-K

  /// A sentence about what a choice cannot do, or nullptr; the choice that the model prefers.
  const char* (*check)(const tw::gemm_args&, const tw::gemm_choice&) = nullptr;
  tw::gemm_choice (*choose)(const tw::gemm_args&, tw::index_t SMs) = nullptr;
  /// Operands are on the GPU; the result queues the product.
  std::function<void()> (*prepare)(const tw::gemm_args&, const tw::gemm_choice&) = nullptr;
};

/// Such as f16_ak_bn_to_f16_epilogue: A contiguous along k, B along n.
inline std::string name_of(const hopper_product& p) {
  return std::string(name_of(p.type)) + (p.a_major == tw::operand_major::k ? "_ak" : "_am") +
         (p.b_major == tw::operand_major::k ? "_bk" : "_bn") + "_to_" + name_of(p.result) +
         (p.has_epilogue ? "_epilogue" : "");
}

/// Adds one of them. Compiled in hopper_kernels.hip, a translation unit for each: what calls this must not include its
/// definition, or each unit compiles all of them.
template <class Elements, tw::operand_major AMajor, tw::operand_major BMajor, bool HasEpilogue>
void add_hopper_product(std::vector<hopper_product>& list);

/// Operands of 16 bits in every layout, those of 8 bits contiguous along k: all that wgmma reads. Epilogues only where
/// both are contiguous along k, as those of the portable kernels.
std::vector<hopper_product> all_hopper_products();

/// The Hopper kernel for a problem and the reason for it; or none, and why not (empty if there are none at all).
struct hopper_choice {
  const hopper_product* product = nullptr;
  tw::gemm_choice kernel = {};
  std::string reason = {};

  /// For instance hopper_128x256_b2: blocks in pairs that share their part of B; with the operands' types and orders,
  /// and with split_k as a policy names it: "hopper_64x64, split_k 3".
  std::string name() const;
};
hopper_choice choose_hopper_kernel(const std::vector<hopper_product>& list, const kernel_problem& problem,
                                   const kernel_request& request, int SMs);

}  // namespace gemm_program
