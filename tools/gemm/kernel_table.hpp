// SPDX-License-Identifier: MIT
// Which kernels the program has.
#pragma once

#include "kernel.hpp"

namespace gemm_program {

/// Calls add(kernel_choice) for each kernel with operands of T. A row: the contiguous dimensions of A and B, elements
/// that are moved at once, what is special, the type of C. What a target does not have is left out by whoever adds.
template <class T, class Arch, class Add>
void for_each_kernel(Add add) {
  using enum tw::operand_major;
  constexpr tw::index_t wide = 16 / tw::index_t(sizeof(T));  // elements of 16 bytes
  constexpr kernel_variant epilogue{.has_epilogue = true},
      split{.has_epilogue = true, .split_k = tw::split_k_kind::workspace},
      fix_up{.has_epilogue = true, .split_k = tw::split_k_kind::fix_up};
  constexpr kernel_variant by_rows{.curve = tw::grid_curve::rows}, hilbert{.curve = tw::grid_curve::hilbert};

  add(kernel_choice<T, k, k, wide>{});
  add(kernel_choice<T, k, k, 1>{});
  if constexpr (sizeof(T) == 2) {
    add(kernel_choice<T, k, mn, wide>{});
    add(kernel_choice<T, k, mn, 1>{});
    add(kernel_choice<T, mn, k, wide>{});
    add(kernel_choice<T, mn, k, 1>{});
    add(kernel_choice<T, mn, mn, wide>{});
    add(kernel_choice<T, mn, mn, 1>{});
    add(kernel_choice<T, k, k, wide, epilogue>{});
    add(kernel_choice<T, k, k, wide, split>{});
    add(kernel_choice<T, k, k, wide, fix_up>{});
  }
  if constexpr (__is_same(T, tw::half_t)) {
    add(kernel_choice<T, k, k, wide, by_rows>{});
    add(kernel_choice<T, k, k, wide, hilbert>{});
    for_each_other_policy<Arch, T>([&](auto i) { add(kernel_choice<T, k, k, wide, kernel_variant{.named = i}>{}); });
  }
  if constexpr (sizeof(T) == 2) {
    add(kernel_choice<T, k, k, wide, kernel_variant{}, float>{});
  } else if constexpr (__is_same(T, tw::int8_t)) {
    add(kernel_choice<T, k, k, wide, epilogue, tw::half_t>{});
  } else if constexpr (sizeof(T) == 1) {
    add(kernel_choice<T, k, k, wide, epilogue, tw::bfloat16_t>{});
  }
}

/// Groups of kernels that are compiled together: element types of the operands, and which of their kernels.
struct f16_elements {
  using types = tw::tuple<tw::half_t>;
  template <class Choice>
  static constexpr bool has = Choice::variant == kernel_variant{};
};
struct f16_variants {
  using types = tw::tuple<tw::half_t>;
  template <class Choice>
  static constexpr bool has = Choice::variant != kernel_variant{};
};
struct bf16_elements {
  using types = tw::tuple<tw::bfloat16_t>;
  template <class Choice>
  static constexpr bool has = true;
};
struct other_elements {
  using types = tw::tuple<float, tw::fp8_fnuz_t, tw::bf8_fnuz_t, tw::fp8_ocp_t, tw::bf8_ocp_t, tw::int8_t>;
  template <class Choice>
  static constexpr bool has = true;
};
/// What the program needs without options: f16, all matrices row-major.
struct first_elements {
  using types = tw::tuple<tw::half_t>;
  template <class Choice>
  static constexpr bool has =
      Choice::variant == kernel_variant{} && __is_same(typename Choice::result_type, tw::half_t) &&
      Choice::a_major == tw::operand_major::k && Choice::b_major == tw::operand_major::mn;
};

}  // namespace gemm_program
