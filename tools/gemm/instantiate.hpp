// SPDX-License-Identifier: MIT
// Makes the kernels of kernel_table.hpp, each with what the program must know about it.
#pragma once

#include "kernel_entry.hpp"
#include "kernel_table.hpp"

namespace gemm_program {

template <class Choice, class Arch>
const char* name_of_policy() {
  using T = typename Choice::element_type;
  constexpr tw::index_t asked = Choice::variant.named;
  constexpr tw::index_t number = asked >= 0 ? asked : number_of_default_policy<Arch, T>();
  if constexpr (number < 0) {
    return "gemm_default";
  } else {
    return detail::base_policy<vector_choice<T>, Arch, number>::type::name;
  }
}

// Constants: as functions they would be many lines of code for each kernel.
template <class Policy>
inline constexpr tw::gemm_lds_prediction lds_prediction_of = tw::predict_lds<Policy>();
template <class Policy>
inline constexpr tw::gemm_static_report static_report_of = tw::static_report<Policy>();

template <class Machine, class Choice, class Arch>
kernel_entry make_entry() {
  using own = policy<Choice, Arch>;
  using kernel = tw::gemm_kernel<own>;
  using known = typename analysed<Choice, Arch>::type;
  static_assert(tw::require_conflict_free_gemm<known>());
  constexpr kernel_variant v = Choice::variant;
  kernel_entry e;
  e.target = &Arch::value;
  e.type = element_of<typename Choice::element_type>();
  e.result = element_of<typename Choice::result_type>();
  e.a_major = Choice::a_major;
  e.b_major = Choice::b_major;
  e.vector = Choice::vector;
  e.policy = name_of_policy<Choice, Arch>();
  e.is_default = v.named < 0;
  e.has_epilogue = v.has_epilogue;
  e.splits_k = v.splits_k;
  e.curve = v.curve;
  e.check = kernel::check;
  e.product = {.grid = kernel::grid, .block_size = kernel::block_size, .lds_bytes = kernel::lds_bytes};
  e.prediction = &lds_prediction_of<known>;
  e.rounds = tw::num_lds_rounds<own>;
  if constexpr (v.is_plain() && __is_same(typename Choice::element_type, tw::half_t) && Choice::vector == 8 &&
                Choice::a_major == tw::operand_major::k && Choice::b_major == tw::operand_major::k)
    e.report = &static_report_of<own>;
#if TILEWRIGHT_CPU_PASS
  e.product.body = [](const tw::gemm_args& args) { kernel{}(args); };
#else
  e.product.entry = reinterpret_cast<const void*>(&gemm<Choice>);
#endif
  if constexpr (v.splits_k) {
    using reduction = tw::split_k_reduction<own>;
    e.reduction = {.grid = reduction::grid, .block_size = reduction::block_size};
#if TILEWRIGHT_CPU_PASS
    e.reduction.body = [](const tw::gemm_args& args) { reduction{}(args); };
#else
    e.reduction.entry = reinterpret_cast<const void*>(&gemm_reduction<Choice>);
#endif
  }
  return e;
}

template <class Machine, class Arch, class Elements>
void add_kernels(kernel_list& list) {
  tw::apply(
      [&]<class... Ts>(Ts...) {
        const auto add = [&]<class Choice>(Choice) {
          if constexpr (Elements::has(Choice::variant)) {
            if constexpr (is_available<Choice, Arch>) list.push_back(make_entry<Machine, Choice, Arch>());
          }
        };
        (for_each_kernel<Ts, Arch>(add), ...);
      },
      typename Elements::types{});
}

#if TILEWRIGHT_DEVICE_PASS
/// The kernels of this pass's target, and nothing of what the host needs.
template <class Elements>
void emit_kernels() {
  tw::apply(
      []<class... Ts>(Ts...) {
        const auto emit = []<class Choice>(Choice) {
          if constexpr (Elements::has(Choice::variant)) {
            (void)&gemm<Choice>;
            if constexpr (Choice::variant.splits_k) (void)&gemm_reduction<Choice>;
          }
        };
        (for_each_kernel<Ts, tw::arch::current>(emit), ...);
      },
      typename Elements::types{});
}
#endif

}  // namespace gemm_program
