// SPDX-License-Identifier: MIT
// Boxes of 128 bytes along the columns, by which rows come to LDS and results leave it.
#pragma once

#include <tilewright/attention/attention_map.hpp>
#include <tilewright/exec/hopper.hpp>
#include <tilewright/mma/fragment_store.hpp>
#include <tilewright/mma/wgmma_gemm.hpp>
#include <tilewright/tile/tile_window.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Starts the copies of an operand's boxes to `to`.
template <index_t Boxes, index_t BoxBytes, class T>
TILEWRIGHT_HD void load_boxes(unsigned to, const exec::tensor_map& map, exec::mbarrier done, multi_index<5> at) {
  for (index_t box = 0; box < Boxes; ++box) {
    exec::bulk_load(to + box * BoxBytes, map, done, at);
    at[0] += 128 / index_t(sizeof(T));
  }
}

/// The result of one instruction column of a wave after another, multiplied by `factor`, rounded and packed.
template <class T, class C>
TILEWRIGHT_HD auto round_to_words(const static_distributed_tensor<float, C>& tile, float factor = 1) {
  array<unsigned, C::num_elements / 2> words;
  for (index_t i = 0; i < C::num_elements / 2; ++i)
    words[i] = exec::round_pair<T>(tile.thread_buffer[2 * i] * factor, tile.thread_buffer[2 * i + 1] * factor);
  return words;
}

/// Who writes what of a wave's 16 rows of a box.
template <arch::matrix_op Op, class T>
struct box_access {
  static constexpr index_t columns = 128 / index_t(sizeof(T));
  static constexpr swizzled_layout layout = bulk_swizzle(16, 128, sizeof(T));
  static constexpr arch::lane_map map = arch::describe(Op).c;
  using distribution = tile_distribution<number<wave_tile_encoding(columns / 16, map)>::value>;
  using addresses = tile_distribution<number<wave_tile_encoding(columns / 16, ldmatrix_address_map(map))>::value>;
};

/// Writes a wave's 16 rows of a result to LDS. `place`: of these rows in the first box; boxes are `box_bytes` apart.
template <arch::matrix_op Op, class T, index_t Count>
TILEWRIGHT_HD void store_to_boxes(exec::lds_pointer place, const array<unsigned, Count>& words, index_t box_bytes) {
  using access = box_access<Op, T>;
  constexpr auto descriptor = make_lds_descriptor<access::layout>();
  const auto window =
      make_tile_window(make_tensor_view<address_space_enum::lds, T>(place, descriptor),
                       make_tuple(number<16>{}, number<access::columns>{}), {}, typename access::addresses{});
  constexpr index_t words_of_box = access::columns / 4;
  unroll<ceil_div(Count, words_of_box)>([&](auto box) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t first = box * words_of_box, count = min(words_of_box, Count - first);
    static_distributed_tensor<T, typename access::distribution> part{};
    __builtin_memcpy(part.thread_buffer.data(), words.data() + first, count * sizeof(unsigned));
    store_fragments(window, part, box * box_bytes);
  });
}

/// One lane, after wave_sync(): starts the stores of a wave's rows from LDS to a tensor.
template <class T>
TILEWRIGHT_HD void store_boxes(const exec::tensor_map& map, unsigned from, index_t boxes, index_t box_bytes,
                               multi_index<5> at) {
  exec::fence_async_proxy();
  for (index_t box = 0; box < boxes; ++box) {
    exec::bulk_store(map, from + unsigned(box * box_bytes), at);
    at[0] += 128 / index_t(sizeof(T));
  }
  exec::commit_bulk_stores();
}

}  // namespace tilewright::detail
#endif
