// SPDX-License-Identifier: MIT
// The kernels, for every machine: a choice of types, layouts and variant, and the entries that fill it for a target.
#pragma once

#include <tilewright/kernels/gemm.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>
#include <tilewright/launch/launch.hpp>

#include <type_traits>
#include <utility>

namespace gemm_program {

namespace tw = tilewright;

/// How a kernel differs from the plain one.
struct kernel_variant {
  tw::index_t named = -1;     // number in named_policies; -1: the default policy
  bool has_epilogue = false;  // which gemm_args choose
  tw::split_k_kind split_k = tw::split_k_kind::none;
  tw::grid_curve curve = tw::grid_curve::row_groups;

  constexpr bool is_plain() const {
    return !has_epilogue && split_k == tw::split_k_kind::none && curve == tw::grid_curve::row_groups;
  }
  friend constexpr bool operator==(const kernel_variant&, const kernel_variant&) = default;
};

/// Everything that makes a kernel but the target: each device pass fills the same choice for its own.
template <class T, tw::operand_major AMajor, tw::operand_major BMajor, tw::index_t Vector,
          kernel_variant Variant = kernel_variant{}, class R = tw::default_result_t<T>>
struct kernel_choice {
  using element_type = T;
  using result_type = R;
  static constexpr tw::operand_major a_major = AMajor;
  static constexpr tw::operand_major b_major = BMajor;
  static constexpr tw::index_t vector = Vector;
  static constexpr kernel_variant variant = Variant;
};

namespace detail {

template <class Choice, class Arch>
constexpr auto named_policies_of() {
  return tw::named_policies<Arch, typename Choice::element_type, Choice::a_major, Choice::b_major, Choice::vector>();
}

template <class Choice, class Arch, tw::index_t Named = Choice::variant.named>
struct base_policy {
  using type = std::remove_cvref_t<decltype(named_policies_of<Choice, Arch>().template get<Named>())>;
};
template <class Choice, class Arch>
struct base_policy<Choice, Arch, -1> {
  using type = tw::gemm_policy<Arch, typename Choice::element_type, Choice::a_major, Choice::b_major, Choice::vector>;
};

}  // namespace detail

/// The policy of a choice on a target.
template <class Choice, class Arch>
struct policy : detail::base_policy<Choice, Arch>::type {
  using result_type = typename Choice::result_type;
  using epilogue = std::conditional_t<Choice::variant.has_epilogue, tw::epilogue::from_args, tw::epilogue::alpha_beta>;
  static constexpr tw::split_k_kind split_k = Choice::variant.split_k;
  static constexpr tw::grid_order order{.curve = Choice::variant.curve,
                                        .group_rows = detail::base_policy<Choice, Arch>::type::order.group_rows,
                                        .dies = Arch::value.num_dies};
};

/// Whether a target has matrix instructions for elements of T.
template <class T, class Arch>
inline constexpr bool multiplies =
    Arch::value.supports(tw::default_block_tile<Arch, T>().op, tw::arch::matrix_element_v<T>);

namespace detail {

template <class Choice, class Arch>
constexpr bool is_available() {
  if constexpr (!multiplies<typename Choice::element_type, Arch>) {
    return false;
  } else if constexpr (Choice::variant.split_k == tw::split_k_kind::fix_up) {
    return tw::split_k_kind_for(Arch::value, 1) == tw::split_k_kind::fix_up;
  } else if constexpr (Choice::variant.named >= 0) {
    return Choice::variant.named < decltype(detail::named_policies_of<Choice, Arch>())::size();
  } else {
    return true;
  }
}

}  // namespace detail

/// Whether a target has the kernel of a choice.
template <class Choice, class Arch>
inline constexpr bool is_available = detail::is_available<Choice, Arch>();

/// The default choice that moves vectors of 16 bytes, with which all named policies are there.
template <class T>
using vector_choice = kernel_choice<T, tw::operand_major::k, tw::operand_major::k, 16 / tw::index_t(sizeof(T))>;

/// The number of the default policy among those with names, of a vector_choice; -1 if it has none.
template <class Arch, class T>
constexpr tw::index_t number_of_default_policy() {
  using choice = vector_choice<T>;
  using fallback = typename detail::base_policy<choice, Arch>::type;
  return tw::apply(
      []<class... Named>(Named...) {
        tw::index_t i = 0, found = -1;
        ((found = Named::tile == fallback::tile && std::is_same_v<typename Named::pipeline, typename fallback::pipeline>
                      ? i
                      : found,
          ++i),
         ...);
        return found;
      },
      detail::named_policies_of<choice, Arch>());
}

/// Calls f(number) for the number of each policy with a name but the default one.
template <class Arch, class T, class F>
void for_each_other_policy(F f) {
  constexpr tw::index_t count = decltype(detail::named_policies_of<vector_choice<T>, Arch>())::size();
  [&]<tw::index_t... Is>(std::integer_sequence<tw::index_t, Is...>) {
    const auto visit = [&]<tw::index_t I>(tw::number<I> i) {
      if constexpr (I != number_of_default_policy<Arch, T>()) f(i);
    };
    (visit(tw::number<Is>{}), ...);
  }(std::make_integer_sequence<tw::index_t, count>{});
}

namespace detail {

/// Kernels with the same LDS accesses share one analysis, to save compile time: this is the kernel analysed.
template <class Choice, class Arch>
constexpr auto analysed_choice() {
  using T = typename Choice::element_type;
  using R = typename Choice::result_type;
  constexpr kernel_variant v = Choice::variant;
  constexpr bool is_usual = sizeof(T) == 2 && sizeof(R) == 2 && v.split_k == tw::split_k_kind::none &&
                            (tw::arch::is_amd(Arch::value) || Choice::vector == 8);
  if constexpr (is_usual) {
    return kernel_choice<tw::half_t, Choice::a_major, Choice::b_major, 8, kernel_variant{.named = v.named}>{};
  } else {
    return Choice{};
  }
}

}  // namespace detail

/// The policy whose accesses to LDS stand for those of a choice's policy.
template <class Choice, class Arch>
struct analysed {
  using own = policy<Choice, Arch>;
  using type = policy<decltype(detail::analysed_choice<Choice, Arch>()), Arch>;
  static_assert(own::a_copy == type::a_copy && own::b_copy == type::b_copy && own::tile == type::tile &&
                own::k_pack == type::k_pack && std::is_same_v<typename own::pipeline, typename type::pipeline>);
};

namespace detail {

/// Stands in for a kernel that a target lacks, in the passes of other targets.
struct no_kernel {
  using args_type = tw::gemm_args;
  static constexpr tw::index_t block_size = 1, lds_bytes = 0;
  static constexpr const char* check(const tw::gemm_args&) { return "this target has no such kernel"; }
  static constexpr tw::grid_size grid(const tw::gemm_args&) { return {1, 1, 1}; }
  TILEWRIGHT_HD void operator()(const tw::gemm_args&) const {}
};

template <class Choice, class Arch>
struct conflict_free_kernel : tw::gemm_kernel<policy<Choice, Arch>> {
  static_assert(tw::require_conflict_free_gemm<typename analysed<Choice, Arch>::type>());
};

}  // namespace detail

/// The kernel of a choice, as a template over the target.
template <class Choice>
struct kernel_of {
  template <class Arch>
  struct type
      : std::conditional_t<is_available<Choice, Arch>, detail::conflict_free_kernel<Choice, Arch>, detail::no_kernel> {
  };
};

/// Launches the kernels of some choices. Instantiate it, and a device pass compiles them.
template <class... Choices>
void launch_kernels(const tw::gemm_args& args) {
  (tw::launch<kernel_of<Choices>::template type>(args), ...);
}

}  // namespace gemm_program
