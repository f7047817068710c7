// SPDX-License-Identifier: MIT
// Writes the result: scales, bias, activation, residual, the old C, and the conversion to C's type.
#pragma once

#include <tilewright/gemm/finish_sums.hpp>
#include <tilewright/gemm/result_stage.hpp>
#include <tilewright/tile/load_store.hpp>
#include <tilewright/tile/update.hpp>

namespace tilewright {

namespace detail {

/// A tile of an m x n tensor with these strides; zeros if `wanted` is false, without reading.
template <class T, class Rows, class Ld, class Step, index_t Vector>
TILEWRIGHT_HD auto load_rows(const void* data, const gemm_args& args, const multi_index<2>& origin, Rows distribution,
                             Ld ld, Step step, number<Vector> vector, const multi_index<2>& partition,
                             bool wanted = true) {
  const auto view = make_naive_tensor_view<address_space_enum::global>(
      static_cast<const T*>(data), make_tuple(args.m, args.n), make_tuple(ld, step), vector);
  const auto lengths = make_tuple(number<Rows::x_lengths[0]>{}, number<Rows::x_lengths[1]>{});
  static_distributed_tensor<T, Rows> tile{};
  if (wanted) tile = load_tile(make_tile_window(view, lengths, origin, distribution, partition));
  return tile;
}

/// The sums of one place of C become what is written there.
template <class Policy, class Sum, class Rows>
TILEWRIGHT_HD auto finished_rows(const static_distributed_tensor<Sum, Rows>& sums, const gemm_args& args,
                                 const multi_index<2>& origin, long_index_t batch, const multi_index<2>& partition) {
  using R = typename Policy::result_type;
  constexpr epilogue_options options = Policy::epilogue;
  constexpr bool any = options.from_args;  // what has a pointer is done
  constexpr index_t n = Rows::num_elements;
  static_distributed_tensor<R, Rows> result;
  constexpr bool reads_c = Policy::split_k != split_k_kind::atomic;  // that adds to C anyway
  const R* const c = static_cast<const R*>(args.c) + batch * args.batch_stride_c;
  const auto old = load_rows<R>(c, args, origin, Rows{}, args.ldc, number<1>{}, number<Policy::vector>{}, partition,
                                reads_c && args.beta != 0.0f);
  if constexpr (__is_same(R, int)) {
    static_assert(__is_same(Sum, int) && options.is_plain(),
                  "gemm: sums that stay integers can only be scaled by alpha and beta");
    const unsigned alpha = unsigned(int(args.alpha)), beta = unsigned(int(args.beta));
    for (index_t i = 0; i < n; ++i)
      result.thread_buffer[i] = int(alpha * unsigned(sums.thread_buffer[i]) + beta * unsigned(old.thread_buffer[i]));
  } else {
    float factor = args.alpha;
    if constexpr (options.scale || any) {
      if (!any || args.scale) factor *= *args.scale;
    }
    static_distributed_tensor<float, Rows> finished;
    auto& x = finished.thread_buffer;
    for (index_t i = 0; i < n; ++i) x[i] = factor * float(sums.thread_buffer[i]);
    if constexpr (!options.is_plain())
      finish_sums<options, R, Policy::vector>(finished, args, origin, batch, partition);
    for (index_t i = 0; i < n; ++i) x[i] += args.beta * type_convert<float>(old.thread_buffer[i]);
    if constexpr (is_fp8_v<R> && n % 2 == 0) {
      for (index_t i = 0; i < n; i += 2) {
        const array<R, 2> pair = convert_pair<R>(x[i], x[i + 1]);
        result.thread_buffer[i] = pair[0];
        result.thread_buffer[i + 1] = pair[1];
      }
    } else {
      for (index_t i = 0; i < n; ++i) result.thread_buffer[i] = type_convert<R>(x[i]);
    }
  }
  return result;
}

}  // namespace detail

/// Writes the sums of the block tile at `origin`. With beta = 0 the old contents of C are not read,
/// so they may be anything. LDS from `lds` on is overwritten.
template <class Policy, class Sum, class C>
TILEWRIGHT_HD void write_result(const static_distributed_tensor<Sum, C>& sums, const gemm_args& args,
                                multi_index<2> origin, long_index_t batch, exec::lds_pointer lds) {
  using R = typename Policy::result_type;
  using stage = result_stage<Policy>;
  using chunk_sums = tile_distribution<stage::sums>;
  using chunk_rows = tile_distribution<stage::rows>;
  constexpr auto layout = make_lds_descriptor<stage::layout.layout>();
  constexpr auto lengths = make_tuple(number<stage::chunk.m>{}, number<stage::chunk.n>{});
  const auto view = make_tensor_view<address_space_enum::lds, Sum>(lds, layout);
  // Addresses are computed here, not before the loop over k, where registers are scarce.
  const multi_index<2> partition{{exec::wave_id(), exec::forget_origin(exec::lane_id())}};
  const auto write = make_tile_window(view, lengths, {}, chunk_sums{}, partition);
  const auto read = make_tile_window(view, lengths, {}, chunk_rows{}, partition);
  R* const c = static_cast<R*>(args.c) + batch * args.batch_stride_c;
  const auto c_view = make_naive_tensor_view<address_space_enum::global>(
      c, make_tuple(args.m, args.n), make_tuple(args.ldc, number<1>{}), number<Policy::vector>{});
  unroll<stage::num_chunks>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    static_distributed_tensor<Sum, chunk_sums> chunk;
    constexpr index_t n = chunk_sums::num_elements;
    for (index_t r = 0; r < n; ++r) chunk.thread_buffer[r] = sums.thread_buffer[i * n + r];
    exec::block_sync();  // what others read from LDS before is no longer needed
    store_tile(write, chunk);
    exec::block_sync();
    const auto result = detail::finished_rows<Policy>(load_tile(read), args, origin, batch, partition);
    constexpr auto operation =
        Policy::split_k == split_k_kind::atomic ? memory_operation_enum::atomic_add : memory_operation_enum::set;
    update_tile<operation>(make_tile_window(c_view, lengths, origin, chunk_rows{}, partition), result);
    origin[0] += stage::chunk.m;
  });
}

}  // namespace tilewright
