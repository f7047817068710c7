// SPDX-License-Identifier: MIT
// A convolution as a matrix product: transforms show the image as the matrix whose rows are the filter's positions.
#include <tilewright/core.hpp>

#include <cstdio>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence;

// The filter is 3 x 3 and the image has 2 channels; how high and wide the image is, is known only at run time.
constexpr number<3> filter;
constexpr number<2> channels;
constexpr number<1> border;

/// Row m of the matrix is one position of the filter, column k one of its 18 elements. Nothing is copied.
auto patches_of(index_t height, index_t width) {
  const auto image = tw::make_naive_tensor_descriptor_packed(make_tuple(height, width, channels));
  const auto padded = tw::transform_tensor_descriptor(
      image,
      make_tuple(tw::make_pad_transform(height, border, border), tw::make_pad_transform(width, border, border),
                 tw::make_pass_through_transform(channels)),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}));
  // (y, row of the filter), (x, column of the filter), channel
  const auto windows = tw::transform_tensor_descriptor(
      padded,
      make_tuple(tw::make_embed_transform(make_tuple(height, filter), make_tuple(number<1>{}, number<1>{})),
                 tw::make_embed_transform(make_tuple(width, filter), make_tuple(number<1>{}, number<1>{})),
                 tw::make_pass_through_transform(channels)),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
      make_tuple(sequence<0, 1>{}, sequence<2, 3>{}, sequence<4>{}));
  return tw::transform_tensor_descriptor(windows,
                                         make_tuple(tw::make_merge_transform(make_tuple(height, width)),
                                                    tw::make_merge_transform(make_tuple(filter, filter, channels))),
                                         make_tuple(sequence<0, 2>{}, sequence<1, 3, 4>{}),
                                         make_tuple(sequence<0>{}, sequence<1>{}));
}

int main() {
  constexpr index_t height = 3, width = 4;
  const auto patches = patches_of(height, width);
  static_assert(patches.ndim == 2 && !patches.is_static());
  static_assert(patches.get_length<1>() == 18, "the number of columns is known to the compiler");

  std::printf("%d positions, %d elements each; offsets of channel 0 (. lies in the border):\n", patches.get_length<0>(),
              int(patches.get_length<1>()));
  for (index_t m = 0; m < patches.get_length<0>(); ++m) {
    std::printf("position %2d:", m);
    for (index_t k = 0; k < 18; k += channels) {
      if (patches.is_valid({m, k})) {
        std::printf(" %2d", patches.calculate_offset({m, k}));
      } else {
        std::printf("  .");
      }
    }
    std::printf("\n");
  }

  // Every offset against plain index arithmetic.
  for (index_t m = 0; m < height * width; ++m) {
    for (index_t k = 0; k < 18; ++k) {
      const index_t y = m / width + k / 6 - 1, x = m % width + k / 2 % 3 - 1;
      const bool inside = 0 <= y && y < height && 0 <= x && x < width;
      if (patches.is_valid({m, k}) != inside) return 1;
      if (inside && patches.calculate_offset({m, k}) != (y * width + x) * 2 + k % 2) return 1;
    }
  }
}
