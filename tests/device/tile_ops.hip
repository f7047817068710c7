// SPDX-License-Identifier: MIT
// Every tile operation, compiled for each GPU.
#include "tile_ops.hpp"

extern "C" TILEWRIGHT_GLOBAL void run_tile_ops(tile_ops::arguments args) {
#if TILEWRIGHT_DEVICE_PASS
  tile_ops::run<tilewright::arch::current::value.wave_size>(args);
#endif
}

/// Rows 64 MiB and more apart: out[i] is row table[i] of 32, doubled in place as well.
extern "C" TILEWRIGHT_GLOBAL void gather_far(float* pool, int num_rows, int stride, const int* table, float* out) {
#if TILEWRIGHT_DEVICE_PASS
  using namespace tilewright;
  using distribution = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<4, 8>, sequence<4, 4>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 0>>, sequence<1, 2>, sequence<0, 1>>::value>;
  constexpr auto lengths = make_tuple(number<32>{}, number<16>{});
  const auto view = make_naive_tensor_view<address_space_enum::global>(pool, make_tuple(num_rows, number<16>{}),
                                                                       make_tuple(stride, number<1>{}), number<4>{});
  const auto window = make_tile_scatter_gather(
      view, lengths, {}, distribution{},
      load_page_indices<std::remove_const_t<decltype(view)>, 0>(table, 32, 0, distribution{}), number<0>{});
  if (exec::thread_id() >= 32) return;
  const auto tile = load_tile(window);
  store_tile(window, tile_elementwise_in([](float x) { return 2 * x; }, tile));
  const auto result = make_tensor_view<address_space_enum::global>(out, make_naive_tensor_descriptor_packed(lengths));
  store_tile(make_tile_window(result, lengths, {}, distribution{}), tile);
#endif
}
