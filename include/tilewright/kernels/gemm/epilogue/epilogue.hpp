// SPDX-License-Identifier: MIT
// The library's epilogues: alpha, beta, scales, bias, activations, residual, SwiGLU. They compose by epilogue::chain.
#pragma once

#include <tilewright/kernels/gemm/epilogue/activation.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue_chain.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright::epilogue {

/// x = args.alpha x. Accumulators that stay integers are multiplied as such.
struct alpha {
  /// Multiplies this thread's accumulators.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At&, const Args& args) const {
    if constexpr (__is_same(typename Accumulators::element_type, int)) {
      tile_elementwise_inout([&](int& x) { x = int(unsigned(int(args.alpha)) * unsigned(x)); }, accumulators);
    } else {
      tile_elementwise_inout([&](float& x) { x *= args.alpha; }, accumulators);
    }
  }
};

/// x += args.beta C. C is not read where beta is 0, so it may hold anything then.
struct beta {
  /// Adds beta C to this thread's accumulators; at: an epilogue_tile, which reads C.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    if constexpr (__is_same(typename Accumulators::element_type, int)) {
      decltype(at.c()) old{};  // a branch around the additions, too, would take more registers
      if (args.beta != 0) at.read_c(old);
      tile_elementwise_inout([&](int& x, int y) { x = int(unsigned(x) + unsigned(int(args.beta)) * unsigned(y)); },
                             accumulators, old);
    } else if (args.beta != 0) {
      decltype(at.c()) old;
      at.read_c(old);
      tile_elementwise_inout([&](float& x, auto y) { x += args.beta * type_convert<float>(y); }, accumulators, old);
    }
  }
};

/// x *= *args.scale, one float in memory.
struct scale : detail::reads<&gemm_args::scale> {
  /// An error message if there is no scale.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment&) {
    return args.scale ? nullptr : "epilogue::scale needs args.scale, which is null";
  }
  /// Multiplies this thread's accumulators.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At&, const Args& args) const {
    detail::require_floats<Accumulators>();
    const float factor = *args.scale;
    tile_elementwise_inout([&](float& x) { x *= factor; }, accumulators);
  }
};

/// x(m, n) *= args.row_scale[m].
struct row_scale : detail::reads<&gemm_args::row_scale> {
  /// An error message if there are no scales.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment&) {
    return args.row_scale ? nullptr : "epilogue::row_scale needs args.row_scale, which is null";
  }
  /// Multiplies this thread's accumulators; at: an epilogue_tile, which knows their rows.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    detail::require_floats<Accumulators>();
    tile_elementwise_inout([](float& x, float s) { x *= s; }, accumulators, along<0>(at.along_m(args.row_scale)));
  }
};

/// x(m, n) *= args.column_scale[n].
struct column_scale : detail::reads<&gemm_args::column_scale> {
  /// An error message if there are no scales or they are not as aligned as columns of C.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
    if (!args.column_scale) return "epilogue::column_scale needs args.column_scale, which is null";
    return guarantee.is_met_by(args.column_scale, 4) ? nullptr
                                                     : "epilogue::column_scale: args.column_scale must be aligned to "
                                                       "the kernel's vector; use the kernel with vector 1";
  }
  /// Multiplies this thread's accumulators; at: an epilogue_tile, which knows their columns.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    detail::require_floats<Accumulators>();
    tile_elementwise_inout([](float& x, float s) { x *= s; }, accumulators, along<1>(at.along_n(args.column_scale)));
  }
};

/// x(m, n) += args.bias[n], n elements of C's type.
struct bias : detail::reads<&gemm_args::bias> {
  /// An error message if there is no bias or it is not as aligned as columns of C.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
    if (!args.bias) return "epilogue::bias needs args.bias, which is null";
    return guarantee.is_met_by(args.bias, guarantee.result_bytes)
               ? nullptr
               : "epilogue::bias: args.bias must be aligned to the kernel's vector; use the kernel with vector 1";
  }
  /// Adds to this thread's accumulators; at: an epilogue_tile, which knows their columns.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    detail::require_floats<Accumulators>();
    tile_elementwise_inout([](float& x, float b) { x += b; }, accumulators, along<1>(at.along_n(args.bias)));
  }
};

/// x = the activation's value at x.
template <tilewright::activation Kind>
struct activation {
  /// Applies the function to this thread's accumulators.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At&, const Args&) const {
    detail::require_floats<Accumulators>();
    tile_elementwise_inout([](float& x) { x = activate<Kind>(x); }, accumulators);
  }
};

/// The same for the activation that args.activation names.
struct activation_from_args {
  /// Applies the function to this thread's accumulators.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At&, const Args& args) const {
    detail::require_floats<Accumulators>();
    activate(args.activation, accumulators.thread_buffer);
  }
};

/// x(m, n) += args.residual(m, n), a row-major matrix of C's type for each problem of the batch.
struct residual : detail::reads<&gemm_args::residual> {
  /// An error message if there is no residual, or its rows are not as aligned as C's.
  template <class Args>
  static constexpr const char* check(const Args& args, const vector_alignment& guarantee) {
    if (!args.residual) return "epilogue::residual needs args.residual, which is null";
    if (args.ld_residual < args.n)
      return "epilogue::residual: ld_residual is smaller than n; give the elements from row to row";
    return guarantee.is_met_by(args.residual, guarantee.result_bytes, args.ld_residual, args.batch_stride_residual)
               ? nullptr
               : "epilogue::residual: args.residual, ld_residual and batch_stride_residual must be multiples of the "
                 "kernel's vector; use the kernel with vector 1";
  }
  /// Adds to this thread's accumulators; at: an epilogue_tile, which reads the residual as it reads C.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& accumulators, const At& at, const Args& args) const {
    detail::require_floats<Accumulators>();
    const auto more = at.matrix(args.residual, args.ld_residual, args.batch_stride_residual);
    tile_elementwise_inout([](float& x, auto y) { x += type_convert<float>(y); }, accumulators, more);
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
  /// Combines this thread's accumulators of two products; the result is in `gate`.
  template <class Accumulators, class At, class Args>
  TILEWRIGHT_HD void operator()(Accumulators& gate, Accumulators& up, const At&, const Args&) const {
    detail::require_floats<Accumulators>();
    tile_elementwise_inout([](float& x, float y) { x = activate<tilewright::activation::silu>(x) * y; }, gate, up);
  }
};

}  // namespace tilewright::epilogue
