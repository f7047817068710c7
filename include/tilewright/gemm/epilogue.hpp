// SPDX-License-Identifier: MIT
// Epilogues: functions of the sums in registers, which compose. The last one before C is rounded and written.
#pragma once

#include <tilewright/gemm/activation.hpp>
#include <tilewright/gemm/tile_place.hpp>
#include <tilewright/tile/elementwise.hpp>
#include <tilewright/tile/reduced_registers.hpp>

namespace tilewright {

/// What a kernel promises of memory that its epilogue reads, for the epilogue's `check`.
struct epilogue_promise {
  index_t vector;        // elements that are read at once
  index_t result_bytes;  // of an element of C
  bool checks_pointers;  // whether pointers must be aligned to a vector

  /// Whether a vector, or a matrix with these strides, of elements of so many bytes keeps it.
  constexpr bool is_kept_by(const void* data, index_t bytes, index_t ld = 0, long_index_t batch_stride = 0) const {
    return ld % vector == 0 && batch_stride % vector == 0 && (!checks_pointers || is_aligned(data, vector * bytes));
  }
  static bool is_aligned(const void* data, index_t bytes) {
    return reinterpret_cast<unsigned long long>(data) % static_cast<unsigned long long>(bytes) == 0;
  }
};

/// Each is a class without state. operator()(sums, at, args) changes a tile of sums in registers: `at` is a tile_place,
/// `args` the kernel's arguments. check(args, promise), if there is one, says what the arguments lack.
namespace epilogue {

namespace detail {
using namespace tilewright::detail;

/// f(sum, element of its row or column) for each element, where `vector` was read along dimension D.
TILEWRIGHT_CALLS_ANYTHING
template <index_t D, class F, class Sums, class Vector>
TILEWRIGHT_HD void combine_along(F f, Sums& sums, const Vector& vector) {
  using distribution = typename Sums::distribution_type;
  using reduced = typename Vector::distribution_type;
  unroll<distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    f(sums.thread_buffer[d],
      float(vector.thread_buffer[constant(reduced_registers<distribution, reduced, 1 - D>[d.value])]));
  });
}

template <class Sums>
TILEWRIGHT_HD constexpr void require_floats() {
  constexpr bool are_floats = __is_same(typename Sums::element_type, float);
  static_assert(are_floats, "gemm: sums that stay integers can only be scaled by alpha and beta");
}

/// A function that reads what a pointer of the arguments points to.
template <auto Pointer>
struct reads {
  TILEWRIGHT_HD static constexpr bool is_given(const gemm_args& args) { return args.*Pointer != nullptr; }
};

template <class F, class Args>
constexpr const char* check(const Args& args, const epilogue_promise& promise) {
  if constexpr (requires { F::check(args, promise); }) {
    return F::check(args, promise);
  } else {
    return nullptr;
  }
}

/// F with all tiles if it takes so many, else with the first, which holds the result.
TILEWRIGHT_CALLS_ANYTHING
template <class F, class At, class Args, class First, class... Others>
TILEWRIGHT_HD void call(const At& at, const Args& args, First& first, Others&... others) {
#if defined(__CUDACC__) && !defined(__clang__) && !defined(__CUDACC_RELAXED_CONSTEXPR__)
  static_assert(__is_aggregate(F),
                "epilogue: nvcc compiles this lambda for the host alone; write a struct whose operator() is "
                "TILEWRIGHT_HD, or give nvcc --expt-relaxed-constexpr");
#endif
  if constexpr (requires { F{}(first, others..., at, args); }) {
    F{}(first, others..., at, args);
  } else {
    F{}(first, at, args);
  }
}

}  // namespace detail

/// x = args.alpha x. Sums that stay integers are multiplied as such.
struct alpha {
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At&, const Args& args) const {
    if constexpr (__is_same(typename Sums::element_type, int)) {
      tile_elementwise_inout([&](int& x) { x = int(unsigned(int(args.alpha)) * unsigned(x)); }, sums);
    } else {
      tile_elementwise_inout([&](float& x) { x *= args.alpha; }, sums);
    }
  }
};

/// x += args.beta C. C is not read where beta is 0, so it may hold anything then.
struct beta {
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    if (args.beta == 0) return;
    auto old = at.c();
    if constexpr (__is_same(typename Sums::element_type, int)) {
      tile_elementwise_inout([&](int& x, int y) { x = int(unsigned(x) + unsigned(int(args.beta)) * unsigned(y)); },
                             sums, old);
    } else {
      tile_elementwise_inout([&](float& x, auto y) { x += args.beta * type_convert<float>(y); }, sums, old);
    }
  }
};

/// x *= *args.scale, one float in memory.
struct scale : detail::reads<&gemm_args::scale> {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise&) {
    return args.scale ? nullptr : "epilogue::scale needs args.scale, which is null";
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At&, const Args& args) const {
    detail::require_floats<Sums>();
    const float factor = *args.scale;
    tile_elementwise_inout([&](float& x) { x *= factor; }, sums);
  }
};

/// x(m, n) *= args.row_scale[m].
struct row_scale : detail::reads<&gemm_args::row_scale> {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise&) {
    return args.row_scale ? nullptr : "epilogue::row_scale needs args.row_scale, which is null";
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    detail::require_floats<Sums>();
    detail::combine_along<0>([](float& x, float s) { x *= s; }, sums, at.along_m(args.row_scale));
  }
};

/// x(m, n) *= args.column_scale[n].
struct column_scale : detail::reads<&gemm_args::column_scale> {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    if (!args.column_scale) return "epilogue::column_scale needs args.column_scale, which is null";
    return promise.is_kept_by(args.column_scale, 4) ? nullptr
                                                    : "epilogue::column_scale: args.column_scale must be aligned to "
                                                      "the kernel's vector; use the kernel with vector 1";
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    detail::require_floats<Sums>();
    detail::combine_along<1>([](float& x, float s) { x *= s; }, sums, at.along_n(args.column_scale));
  }
};

/// x(m, n) += args.bias[n], n elements of C's type.
struct bias : detail::reads<&gemm_args::bias> {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    if (!args.bias) return "epilogue::bias needs args.bias, which is null";
    return promise.is_kept_by(args.bias, promise.result_bytes)
               ? nullptr
               : "epilogue::bias: args.bias must be aligned to the kernel's vector; use the kernel with vector 1";
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    detail::require_floats<Sums>();
    detail::combine_along<1>([](float& x, float b) { x += b; }, sums, at.along_n(args.bias));
  }
};

/// x = the activation's value at x.
template <tilewright::activation Kind>
struct activation {
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At&, const Args&) const {
    detail::require_floats<Sums>();
    tile_elementwise_inout([](float& x) { x = activate<Kind>(x); }, sums);
  }
};

/// The same for the activation that args.activation names.
struct activation_from_args {
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At&, const Args& args) const {
    detail::require_floats<Sums>();
    activate(args.activation, sums.thread_buffer);
  }
};

/// x(m, n) += args.residual(m, n), a row-major matrix of C's type for each problem of the batch.
struct residual : detail::reads<&gemm_args::residual> {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    if (!args.residual) return "epilogue::residual needs args.residual, which is null";
    if (args.ld_residual < args.n) return "ld_residual is smaller than a row of the residual";
    return promise.is_kept_by(args.residual, promise.result_bytes, args.ld_residual, args.batch_stride_residual)
               ? nullptr
               : "epilogue::residual: args.residual, ld_residual and batch_stride_residual must be multiples of the "
                 "kernel's vector; use the kernel with vector 1";
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    detail::require_floats<Sums>();
    const auto more = at.matrix(args.residual, args.ld_residual, args.batch_stride_residual);
    tile_elementwise_inout([](float& x, auto y) { x += type_convert<float>(y); }, sums, more);
  }
};

/// F where the arguments hold the pointer that it reads.
template <class F>
struct if_given {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    return F::is_given(args) ? detail::check<F>(args, promise) : nullptr;
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    if (F::is_given(args)) F{}(sums, at, args);
  }
};

/// One function after the other. Of several products, a function that takes one tile gets the first.
template <class... Fs>
struct chain {
  template <class Args>
  static constexpr const char* check(const Args& args, const epilogue_promise& promise) {
    const char* why = nullptr;
    (void)((why = detail::check<Fs>(args, promise)) || ...);
    return why;
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& sums, const At& at, const Args& args) const {
    (detail::call<Fs>(at, args, sums), ...);
  }
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& first, Sums& second, const At& at, const Args& args) const {
    (detail::call<Fs>(at, args, first, second), ...);
  }
};

/// C = sum.
using none = chain<>;

/// C = alpha sum + beta C: the default.
using alpha_beta = chain<alpha, beta>;

/// The arguments decide at run time: every function above whose pointer they hold, and the activation that they name.
using from_args = chain<alpha, if_given<scale>, if_given<row_scale>, if_given<column_scale>, if_given<bias>,
                        activation_from_args, if_given<residual>, beta>;

/// x = silu(x) y, for policies of two products.
struct swiglu {
  template <class Sums, class At, class Args>
  TILEWRIGHT_HD void operator()(Sums& gate, Sums& up, const At&, const Args&) const {
    detail::require_floats<Sums>();
    tile_elementwise_inout([](float& x, float y) { x = activate<tilewright::activation::silu>(x) * y; }, gate, up);
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
template <class Policy>
concept NamesEpilogue = requires { typename Policy::epilogue; };
}  // namespace detail

/// A policy's epilogue: `using epilogue = ...`, or `static constexpr auto epilogue = [](...) {...}`.
template <class Policy>
using epilogue_of = typename detail::conditional_t<detail::NamesEpilogue<Policy>, detail::epilogue_of_type<Policy>,
                                                   detail::epilogue_of_value<Policy>>::type;

}  // namespace tilewright
