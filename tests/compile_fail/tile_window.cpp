// SPDX-License-Identifier: MIT
// Windows.
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/window/tile_window.hpp>

#include "sample_tile.hpp"

// A tensor of another number of dimensions under a window.
// EXPECT: replace_bottom_tensor_view: the new tensor has another number of dimensions
void replace_view_dimensions(float* p) {
  const auto vector =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8), make_tuple(number<1>{}));
  (void)tw::replace_bottom_tensor_view(vector, tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}));
}

// An origin with too few entries.
// EXPECT: make_tile_window: the origin needs one entry for each dimension
void static_origin_dimensions(float* p) {
  (void)tw::make_tile_window(view(p), lengths, make_tuple(number<0>{}), distribution{});
}

// A window of a swizzled view at an origin that is no multiple of its lengths.
// EXPECT: make_tile_window: the view is swizzled, so the origin must be a multiple of the window's lengths in each dimension
void static_origin_swizzled(float* p) {
  constexpr auto layout = tw::make_lds_index_swapping_descriptor<64, 4, 1, 32, float>();
  const auto swizzled = tw::make_tensor_view<tw::address_space_enum::global>(p, layout);
  (void)tw::make_tile_window(swizzled, lengths, make_tuple(number<0>{}, number<8>{}), distribution{});
}

// A window between two vectors.
// EXPECT: make_tile_window: the origin must be a multiple of the vector's length along the vectors
void static_origin_vector(float* p) {
  (void)tw::make_tile_window(view(p), lengths, make_tuple(number<0>{}, number<2>{}), distribution{});
}

// A tile of one dimension transposed; LDS that may not be written.
// EXPECT: transpose_tile2d: the tiles must have two dimensions
// EXPECT: async_load_tile: the view of LDS is of const elements
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(lengths);
using line =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<>, tuple<sequence<64, 2>>, tuple<sequence<1>>,
                                                         tuple<sequence<0>>, sequence<1>, sequence<1>>::value>;

void transposed_and_const(float* p, tw::exec::lds_pointer lds, tw::static_distributed_tensor<float, line>& tile) {
  constexpr auto space = tw::address_space_enum::global;
  tw::transpose_tile2d(tile, tile);
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, const float>(lds, packed);
  tw::async_load_tile(tw::make_tile_window(in_lds, lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(tw::make_tensor_view<space>(p, packed), lengths, {0, 0}, distribution{}));
}

// A window of one dimension into a matrix.
// EXPECT: make_tile_window: one length is needed for each dimension of the view
auto window_dimensions = tw::make_tile_window(view<float>(nullptr), make_tuple(number<8>{}), {0}, distribution{});

// A window of another size than its distribution's tile.
// EXPECT: tile_window: the lengths are not those of the tile distribution
// EXPECT(clang): '16 == 32'
auto window_lengths =
    tw::make_tile_window(view<float>(nullptr), make_tuple(number<8>{}, number<16>{}), {0, 0}, distribution{});

// An origin of one dimension, and one of three, for windows into a matrix.
// EXPECT(2): make_tile_window: the origin needs one entry for each dimension
auto one = tw::make_tile_window(view<float>(nullptr), lengths, tw::multi_index<1>{8}, distribution{});
auto three = tw::make_tile_window(view<float>(nullptr), lengths, tw::multi_index<3>{0, 8, 0}, distribution{});

// A window as high as the tensor happens to be.
// EXPECT: tile_window: the lengths are those of the distribution's tile, which the compiler knows
auto window_run_time_lengths(int height) {
  return tw::make_tile_window(view<float>(nullptr), make_tuple(height, number<32>{}), {0, 0}, distribution{});
}
// A window without threads with one length too many.
// EXPECT: make_tile_window: one length is needed for each dimension of the view
void window_without_threads_dimensions(float* p) {
  (void)tw::make_tile_window(view(p), make_tuple(number<8>{}, number<32>{}, number<1>{}), {0, 0, 0});
}
