// SPDX-License-Identifier: MIT
// What an epilogue does to a tile of sums in registers, but for scale, alpha and beta.
#pragma once

#include <tilewright/distribution/reduce_encoding.hpp>
#include <tilewright/gemm/activation.hpp>
#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/reduced_registers.hpp>

namespace tilewright {

/// Scales of rows and columns, bias, activation and residual, as Options ask for, for sums of C whose first element is
/// at `origin`. R is the type of bias and residual. Columns are read in vectors: n, ld_residual and the residual's
/// batch stride are multiples of Vector, and what is read is aligned to so many elements.
template <epilogue_options Options, class R, index_t Vector, class Distribution>
TILEWRIGHT_HD void finish_sums(static_distributed_tensor<float, Distribution>& sums, const gemm_args& args,
                               const multi_index<2>& origin, [[maybe_unused]] long_index_t batch,
                               const multi_index<Distribution::ndim_p>& partition) {
  static_assert(Options.is_sound(), "gemm: epilogue_options with from_args have no other option");
  constexpr bool any = Options.from_args;  // what has a pointer is done
  using rows = tile_distribution<number<reduce(Distribution::encoding, array<index_t, 1>{{1}})>::value>;
  using columns = tile_distribution<number<reduce(Distribution::encoding, array<index_t, 1>{{0}})>::value>;
  const auto values_of_rows = [&](const auto* data) TILEWRIGHT_INLINE_LAMBDA {
    const auto view = make_naive_tensor_view_packed<address_space_enum::global>(data, make_tuple(args.m));
    return load_tile(
        make_tile_window(view, make_tuple(number<Distribution::x_lengths[0]>{}), {origin[0]}, rows{}, partition));
  };
  const auto values_of_columns = [&](const auto* data) TILEWRIGHT_INLINE_LAMBDA {
    const auto view =
        make_naive_tensor_view_packed<address_space_enum::global>(data, make_tuple(args.n), number<Vector>{});
    return load_tile(
        make_tile_window(view, make_tuple(number<Distribution::x_lengths[1]>{}), {origin[1]}, columns{}, partition));
  };
  // Bias and residual are on their way while the scales do their work; for all at once there are too few registers.
  static_distributed_tensor<float, rows> row_scale;
  static_distributed_tensor<R, columns> bias;
  static_distributed_tensor<R, Distribution> residual;
  if constexpr (Options.row_scale || any) {
    if (!any || args.row_scale) row_scale = values_of_rows(args.row_scale);
  }
  if constexpr (Options.bias || any) {
    if (!any || args.bias) bias = values_of_columns(static_cast<const R*>(args.bias));
  }
  if constexpr (Options.residual || any) {
    if (!any || args.residual) {
      const R* const begin = static_cast<const R*>(args.residual) + batch * args.batch_stride_residual;
      const auto view = make_naive_tensor_view<address_space_enum::global>(
          begin, make_tuple(args.m, args.n), make_tuple(args.ld_residual, number<1>{}), number<Vector>{});
      constexpr auto lengths = make_tuple(number<Distribution::x_lengths[0]>{}, number<Distribution::x_lengths[1]>{});
      residual = load_tile(make_tile_window(view, lengths, origin, Distribution{}, partition));
    }
  }

  auto& x = sums.thread_buffer;
  constexpr index_t n = Distribution::num_elements;
  if constexpr (Options.row_scale || any) {
    if (!any || args.row_scale) {
      unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
        x[d] *= row_scale.thread_buffer[constant(detail::reduced_registers<Distribution, rows, 1>[d.value])];
      });
    }
  }
  if constexpr (Options.column_scale || any) {
    if (!any || args.column_scale) {
      const auto column_scale = values_of_columns(args.column_scale);
      unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
        x[d] *= column_scale.thread_buffer[constant(detail::reduced_registers<Distribution, columns, 0>[d.value])];
      });
    }
  }
  if constexpr (Options.bias || any) {
    if (!any || args.bias) {
      unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
        x[d] += type_convert<float>(
            bias.thread_buffer[constant(detail::reduced_registers<Distribution, columns, 0>[d.value])]);
      });
    }
  }
  if constexpr (any) {
    activate(args.activation, x);
  } else {
    for (float& e : x) e = activate<Options.activation>(e);
  }
  if constexpr (Options.residual || any) {
    if (!any || args.residual) {
      for (index_t d = 0; d < n; ++d) x[d] += type_convert<float>(residual.thread_buffer[d]);
    }
  }
}

}  // namespace tilewright
