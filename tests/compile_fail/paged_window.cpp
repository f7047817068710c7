// SPDX-License-Identifier: MIT
// Pages of a third dimension, pages without rows, pages in LDS; a copy without registers of rows that may be anywhere.
// EXPECT: make_paged_tile_window: the view has no such dimension
// EXPECT: make_paged_tile_window: a page must have at least one row
// EXPECT: make_paged_tile_window: the pool must be in global memory
// EXPECT: async_load_tile: copies without registers reach rows within 2^31 bytes only
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/window/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

constexpr auto packed = tw::make_naive_tensor_descriptor_packed(lengths);

void f(float* p, tw::exec::lds_pointer lds, const index_t* pages, index_t rows) {
  const auto view = tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(rows, number<32>{}),
                                                                               make_tuple(number<32>{}, number<1>{}));
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, float>(lds, packed);
  const tw::page_table table{pages, rows, number<16>{}};
  const tw::page_table no_rows{pages, rows, number<0>{}};
  (void)tw::make_paged_tile_window(view, lengths, {0, 0}, distribution{}, table, number<2>{});
  (void)tw::make_paged_tile_window(view, lengths, {0, 0}, distribution{}, no_rows, number<0>{});
  (void)tw::make_paged_tile_window(in_lds, lengths, {0, 0}, distribution{}, table, number<0>{});
  tw::async_load_tile(
      tw::make_tile_window(in_lds, lengths, {0, 0}, distribution{}),
      tw::make_tile_scatter_gather(view, lengths, {0, 0}, distribution{}, tw::array<index_t, 1>{}, number<0>{}));
}
