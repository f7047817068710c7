// SPDX-License-Identifier: MIT
// What an epilogue is: a function of the accumulators in registers. Chains of them, their checks, how a policy names
// one.
#pragma once

#include <tilewright/kernels/gemm/epilogue/detail/epilogue_tile.hpp>
#include <tilewright/launch/check_memory.hpp>

namespace tilewright {

/// The alignment that a kernel guarantees of memory that its epilogue reads, for the epilogue's `check`.
struct vector_alignment {
  index_t vector;        ///< elements that are read at once
  index_t result_bytes;  ///< of an element of C

  /// Whether a vector, or a matrix with these strides, of elements of `bytes` bytes keeps it.
  constexpr bool is_met_by(const void* data, index_t bytes, index_t ld = 0, long_index_t batch_stride = 0) const {
    return ld % vector == 0 && batch_stride % vector == 0 && detail::is_aligned(data, min(vector * bytes, 16));
  }
};

/// Each is a class without state. operator()(accumulators, at, args) changes a tile of accumulators in registers: `at`
/// is a epilogue_tile, `args` the kernel's arguments. check(args, guarantee), if there is one, says what the arguments
/// lack.
namespace epilogue {

namespace detail {
using namespace tilewright::detail;

template <class Accumulators>
TILEWRIGHT_HD constexpr void require_floats() {
  constexpr bool are_floats = __is_same(typename Accumulators::element_type, float);
  static_assert(are_floats, "gemm: accumulators that stay integers can only be scaled by alpha and beta");
}

/// A function that reads what a pointer of the arguments points to.
template <auto Pointer>
struct reads {
  TILEWRIGHT_HD static constexpr bool is_given(const gemm_args& args) { return args.*Pointer != nullptr; }
};

template <class F, class Args>
constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
  if constexpr (requires { F::check(args, guarantee); }) {
    return F::check(args, guarantee);
  } else {
    return nullptr;
  }
}

// A concept, not a requires-expression where it is asked: nvcc answers that one by the namespace of the caller of
// launch().
template <class F, class... Operands>
concept Takes = requires(Operands&... operands) { F{}(operands...); };

/// Calls F with all tiles if it takes them, else with the first, which holds the result.
TILEWRIGHT_CALLS_ANYTHING
template <class F, class At, class Args, class First, class... Others>
TILEWRIGHT_HD void call(const At& at, const Args& args, First& first, Others&... others) {
#if defined(__CUDACC__) && !defined(__clang__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
  static_assert(__is_aggregate(F),
                "epilogue: nvcc compiles this lambda for the host alone; write a struct whose operator() is "
                "TILEWRIGHT_HD, or give nvcc --expt-relaxed-constexpr");
#endif
  if constexpr (sizeof...(Others) > 0 && Takes<F, First, Others..., const At, const Args>) {
    TILEWRIGHT_INLINE_CALLS(F{}(first, others..., at, args));
  } else {
    static_assert(Takes<F, First, const At, const Args>,
                  "epilogue: the function does not take (accumulators, at, args); a policy names arguments of its own "
                  "as args_type");
    TILEWRIGHT_INLINE_CALLS(F{}(first, at, args));
  }
}

}  // namespace detail

/// F where the arguments hold the pointer that it reads.
template <class F>
struct if_given {
  /// The function's own check, where the arguments have what it needs.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
    return F::is_given(args) ? detail::check<F>(args, guarantee) : nullptr;
  }
  /// Applies the function, where the arguments have what it needs.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    if (F::is_given(args)) F{}(accumulators, at, args);
  }
};

/// One function after the other. If there are several products, a function that takes one tile gets the first.
template <class... Fs>
struct chain {
  /// The first error message of the functions; nullptr: there is none.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
    const char* why = nullptr;
    (void)((why = detail::check<Fs>(args, guarantee)) || ...);
    return why;
  }
  /// Applies the functions in order to the accumulators of one product.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    (detail::call<Fs>(at, args, accumulators), ...);
  }
  /// Applies them to those of two products; the first function of two combines them.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& first, Accumulators& second, const At& at, const Args& args) const {
    (detail::call<Fs>(at, args, first, second), ...);
  }
};

}  // namespace epilogue

namespace detail {
template <class Policy>
struct epilogue_of_value {
  using type = remove_const_t<decltype(Policy::epilogue)>;
};
template <class Policy>
struct epilogue_of_type {
  using type = typename Policy::epilogue;
};
// Asks for the value first: g++ finds a type that a value of this name hides.
template <class Policy>
concept HasEpilogueValue = requires { (void)Policy::epilogue; };

/// A policy's epilogue: `using epilogue = ...`, or `static constexpr auto epilogue = [](...) {...}`.
template <class Policy>
using epilogue_of = typename detail::conditional_t<detail::HasEpilogueValue<Policy>, detail::epilogue_of_value<Policy>,
                                                   detail::epilogue_of_type<Policy>>::type;

}  // namespace detail

}  // namespace tilewright
