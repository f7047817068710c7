// SPDX-License-Identifier: MIT
// Brings the accumulators of a block through LDS to its epilogue, and the result to C.
#pragma once

#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/kernels/gemm/epilogue/result_stage.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

namespace detail {

/// Sets `result` to what an epilogue makes of tiles of accumulators, one for each product, which it changes. It sees
/// floats, or integers where C has integers.
template <class E, class R, class Distribution, class At, class Args, class Sum, class... Others>
TILEWRIGHT_HD void finish(static_distributed_tensor<R, Distribution>& result, const At& at, const Args& args,
                          static_distributed_tensor<Sum, Distribution>& first, Others&... others) {
  if constexpr (__is_same(Sum, int) && !__is_same(R, int)) {
    const auto apply = [&](auto accumulators, auto... more) TILEWRIGHT_INLINE_LAMBDA {
      epilogue::detail::call<E>(at, args, accumulators, more...);
      cast_into(result, accumulators);
    };
    apply(cast_tile<float>(first), cast_tile<float>(others)...);
  } else {
    epilogue::detail::call<E>(at, args, first, others...);
    cast_into(result, first);
  }
}

}  // namespace detail

/// Writes the accumulators of the block tile at `origin`, of all products. With beta = 0 the old contents of C are not
/// read, so they may be anything. LDS from `lds` on is overwritten.
template <class Policy, class Sum, class C, class Args>
TILEWRIGHT_HD void write_result(const static_distributed_tensor<Sum, C>& accumulators, const Args& args,
                                const multi_index<2>& origin, long_index_t batch, exec::lds_pointer lds) {
  using R = typename Policy::result_type;
  using E = detail::epilogue_of<Policy>;
  using stage = detail::result_stage<Policy>;
  using chunk_accumulators = tile_distribution<stage::accumulators>;
  using lds_rows = tile_distribution<stage::lds_rows>;
  using chunk_rows = tile_distribution<stage::rows>;
  constexpr auto layout = make_lds_descriptor<stage::layout.layout>();
  using view_type = tensor_view<address_space_enum::lds, Sum, detail::remove_const_t<decltype(layout)>>;
  const view_type view{lds, layout};
  // Addresses are computed here, not before the loop over k, where registers are scarce.
  constexpr index_t wave_size = Policy::arch::value.wave_size;
  const multi_index<2> partition{{exec::wave_id(), modulo(exec::opaque(exec::thread_id()), wave_size)}};
  tile_window<view_type, chunk_accumulators> write;
  tile_window<view_type, lds_rows> first;
  [[maybe_unused]] tile_window<view_type, lds_rows> last;
  detail::place_window(write, view, {}, partition);
  detail::place_window(first, view, {}, partition);
  if constexpr (Policy::products > 1) detail::place_window(last, view, {0, stage::cols}, partition);
  detail::output_tile<chunk_rows, R, Policy::vector> at{{args, origin, batch, partition}};
  unroll<stage::num_chunks>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    static_distributed_tensor<Sum, chunk_accumulators> chunk;
    constexpr index_t n = chunk_accumulators::num_elements;
    for (index_t r = 0; r < n; ++r) chunk.thread_buffer[r] = accumulators.thread_buffer[i * n + r];
    exec::block_sync();  // what others read from LDS before is no longer needed
    store_tile(write, chunk);
    exec::block_sync();
    const auto read = [](const auto& window) TILEWRIGHT_INLINE_LAMBDA {
      static_distributed_tensor<Sum, lds_rows> staged;
      load_tile(staged, window);
      return static_distributed_tensor<Sum, chunk_rows>{staged.thread_buffer};
    };
    static_distributed_tensor<Sum, chunk_rows> of_first = read(first);
    static_distributed_tensor<R, chunk_rows> result;
    if constexpr (Policy::products == 1) {
      detail::finish<E>(result, at, args, of_first);
    } else {
      static_distributed_tensor<Sum, chunk_rows> of_last = read(last);
      detail::finish<E>(result, at, args, of_first, of_last);
    }
    store_tile(at.c_window, result);
    if constexpr (i + 1 < stage::num_chunks) at.move_down(stage::chunk.m);
  });
}

}  // namespace tilewright
