// SPDX-License-Identifier: MIT
// z = x + y: the smallest kernel that works on tiles.
#pragma once

#include <tilewright/tilewright.hpp>

namespace first_kernel {

namespace tw = tilewright;
using tw::index_t, tw::number, tw::make_tuple;

struct vectors {
  const float *x, *y;
  float* z;
  index_t length;
};

template <class Arch>  // the GPU that the kernel is compiled for: AMD's waves have 64 or 32 lanes
struct add {
  using arch = Arch;
  using args_type = vectors;
  static constexpr index_t block_size = 256, lds_bytes = 0, tile = 1024;  // a block adds 1,024 elements, a thread four
  static constexpr const char* check(const vectors& args) {
    return args.length > 0 ? nullptr : "add: the length must be positive";
  }
  static constexpr tw::exec::block_index grid(const vectors& args) { return {tw::ceil_div(args.length, tile), 1, 1}; }

  TILEWRIGHT_HD void operator()(const vectors& args) const {
    // Which thread holds which elements of a tile of 1 x 1024: neighbouring lanes have neighbouring vectors.
    using elements = decltype(tw::make_row_distribution<1, tile, float, block_size, Arch::value.wave_size>());
    const auto window = [&](auto* data) TILEWRIGHT_INLINE_LAMBDA {
      const auto view =
          tw::make_naive_tensor_view_packed<tw::address_space_enum::global>(data, make_tuple(number<1>{}, args.length));
      return tw::make_tile_window(view, make_tuple(number<1>{}, number<tile>{}), {0, tw::exec::block_id().x * tile},
                                  elements{});
    };
    auto sum = tw::load_tile(window(args.x));  // registers; zeros after the end of the vector
    tw::tile_elementwise_inout([](float& a, float b) { a += b; }, sum, tw::load_tile(window(args.y)));
    tw::store_tile(window(args.z), sum);  // nothing is stored after the end
  }
};

}  // namespace first_kernel
