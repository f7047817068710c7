// SPDX-License-Identifier: MIT
// A kernel as the program sees it at run time: what it computes, and how it is launched.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tilewright/kernels/gemm/choice/static_report.hpp>

#include "backend.hpp"

namespace gemm_program {

struct kernel_entry {
  const tw::arch::target* target = nullptr;
  element type{}, result{};
  tw::operand_major a_major{}, b_major{};
  tw::index_t vector = 1;
  std::string policy;
  tw::index_t policy_number = -1;  // in named_policies
  bool is_default = false;         // its policy is the target's default
  bool has_epilogue = false;
  tw::split_k_kind split_k = tw::split_k_kind::none;
  tw::grid_curve curve = tw::grid_curve::row_groups;

  const char* (*check)(const tw::gemm_args&) = nullptr;  // a sentence, or nullptr
  /// One of them: runs the kernel on the CPU emulator and adds the conflicts that it counts; queues it on the GPU.
  void (*run_on_cpu)(const tw::gemm_args&, std::vector<lds_conflicts>&,
                     const std::function<void(double)>& progress) = nullptr;
  void (*launch)(const tw::gemm_args&) = nullptr;
  const tw::gemm_lds_prediction* prediction = nullptr;
  tw::gemm_lds_phases (*rounds)(const tw::gemm_args&) = nullptr;
  const tw::gemm_static_report* report = nullptr;  // where there are several policies to choose from

  bool splits_k() const { return split_k != tw::split_k_kind::none; }
  /// For instance gemm_128x128_f16_ak_bn_v8_to_f16: A contiguous along k, B along n, vectors of 8 elements.
  std::string name() const;
};

using kernel_list = std::vector<kernel_entry>;

struct f16_elements;
struct f16_variants;
struct bf16_elements;
struct other_elements;

/// Adds a group of the kernels of kernel_table.hpp for a target. Compiled in kernels.hip.
template <class Arch, class Elements>
void add_kernels(kernel_list& list);

template <class Arch>
kernel_list kernels_for() {
  kernel_list list;
  add_kernels<Arch, f16_elements>(list);
  add_kernels<Arch, f16_variants>(list);
  add_kernels<Arch, bf16_elements>(list);
  add_kernels<Arch, other_elements>(list);
  return list;
}

/// All kernels of a target that the CPU emulates. Throws refusal if they are not built.
kernel_list emulated_kernels(const std::string& target);

/// A problem as the kernels see it. They write row-major matrices; a column-major C is the row-major product of the
/// transposed operands in reverse order. Throws refusal if there is no such problem.
struct kernel_problem {
  tw::gemm_args args;
  element type, result;
  tw::operand_major a_major, b_major;
  bool wants_epilogue;
};
kernel_problem kernel_problem_of(const problem& p, const operands& data);
/// The same before there is memory: every pointer that is needed points somewhere.
kernel_problem kernel_problem_of(const problem& p);

/// A kernel, and why it is this one.
struct chosen_kernel {
  const kernel_entry* kernel;
  std::string reason;
};

/// The kernel for a problem: the one requested, or of those that can solve it, with vectors if memory allows, the
/// one that the model of portable_gemm_choice.hpp prefers. Sets args.split_k. Throws refusal if there is none.
chosen_kernel choose_kernel(const kernel_list& list, kernel_problem& problem, const kernel_request& request);

/// One line for each kind of LDS instruction, from the analysis at compile time;
/// what a machine counts is still to be filled in.
std::vector<lds_conflicts> predicted_lds(const kernel_entry& kernel, const tw::gemm_args& args);

}  // namespace gemm_program
