// SPDX-License-Identifier: MIT
// Copies a batch of matrices to another leading dimension: for copies that need rows at multiples of 16 bytes.
#pragma once

#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

/// `rows` rows of `cols` elements. Leading dimensions and strides of the batch count elements.
struct repitch_args {
  const void* from = nullptr;  ///< rows of any alignment
  void* to = nullptr;          ///< rows aligned to 16 bytes
  /// Rows and elements of each; elements from row to row in both; matrices of the batch.
  index_t rows = 0, cols = 0, from_ld = 0, to_ld = 0, batch = 1;
  /// In elements.
  long_index_t from_batch_stride = 0, to_batch_stride = 0;
};

/// T: an element of 1 or 2 bytes, which is copied as it is. Elements after the end of a row stay as they are.
template <class T>
struct repitch {
  using args_type = repitch_args;
  /// Rows and elements that a block copies.
  static constexpr index_t block_size = 256, lds_bytes = 0, rows_of_block = 8, cols_of_block = 512;
  static constexpr bool overlaps_previous = true;
  /// Neighbouring lanes move neighbouring elements, since rows may start anywhere.
  using distribution = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<16, 32>>, tuple<sequence<1>, sequence<2>>,
                                 tuple<sequence<0>, sequence<1>>, sequence<2>, sequence<0>>::value>;

  static constexpr const char* check(const args_type& g) {
    if (g.rows < 1 || g.cols < 1 || g.batch < 1) return "rows, cols and the batch count must be positive";
    if (g.from_ld < g.cols || g.to_ld < g.cols) return "a leading dimension is smaller than a row";
    if (g.batch > 65535) return "the batch has more than 65535 matrices";
    const long_index_t limit = 0x7fffffff / long_index_t(sizeof(T)) / rows_of_block;
    if (g.from_ld > limit || g.to_ld > limit)
      return "a leading dimension is so large that a block would need offsets of 2 GiB or more";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& g) {
    return {ceil_div(g.rows, rows_of_block) * ceil_div(g.cols, cols_of_block), 1, g.batch};
  }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const args_type& g) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    exec::grid_dependency_launch();
    const exec::block_index block = exec::block_id();
    const index_t across = ceil_div(g.cols, cols_of_block), row = divide(block.x, across);
    const index_t row0 = row * rows_of_block, col0 = (block.x - row * across) * cols_of_block;
    const auto window = [&](auto* data, index_t ld, long_index_t batch_stride) TILEWRIGHT_INLINE_LAMBDA {
      auto* const first = data + block.z * batch_stride + long_index_t(row0) * ld;
      const auto view = make_naive_tensor_view<address_space_enum::global>(first, make_tuple(g.rows - row0, g.cols),
                                                                           make_tuple(ld, number<1>{}), number<1>{});
      return make_tile_window(view, make_tuple(number<rows_of_block>{}, number<cols_of_block>{}), {0, col0},
                              distribution{});
    };
    exec::grid_dependency_wait();
    store_tile(window(static_cast<T*>(g.to), g.to_ld, g.to_batch_stride),
               load_tile(window(static_cast<const T*>(g.from), g.from_ld, g.from_batch_stride)));
#endif
  }
};

}  // namespace tilewright
