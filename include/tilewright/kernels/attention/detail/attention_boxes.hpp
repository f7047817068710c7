// SPDX-License-Identifier: MIT
// Tensors of attention as TMA sees them: tensor maps, and boxes of 128 bytes along the columns.
#pragma once

#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/block/mma/wgmma_gemm.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/window/tile_window.hpp>

namespace tilewright::detail {

/// Row extent of the map of packed sequences: an upper bound of every start + length.
inline constexpr index_t rows_of_map = 1 << 30;

/// Why TMA cannot copy rows of these lengths and strides, as an error message; nullptr: there is none.
template <index_t N>
constexpr const char* check_tma(const attention_args& args, const attention_strides (&strides)[N]) {
  for (const attention_strides& s : strides) {
    if (s.batch < 0 || s.head < 0 || s.batch >= 1ll << 38 || s.head >= 1ll << 38)
      return "TMA needs strides that are not negative and less than 2^38 elements; use attention_policy";
  }
  if ((args.query_starts && args.queries >= rows_of_map) || (args.key_starts && args.keys >= rows_of_map))
    return "a packed sequence has fewer than 2^30 rows; use attention_policy for longer ones";
  return nullptr;
}

/// Rows of one of the tensors as a tensor map sees them: (dimension, row, head, sequence). Packed sequences are found
/// by the sum of three coordinates: with a stride of s bytes for a row, those of dimensions 3 and 4 are s and T - s,
/// where 2^30 T is 0 modulo 2^64. So (2^30 - length + row, start + length, 2^30) is row start + row; and rows from
/// `length` on are outside of dimension 1, which ends at 2^30.
template <class T>
exec::tensor_map_request request_attention_map(const void* data, const attention_strides& strides, bool has_starts,
                                               index_t dim, index_t rows, index_t heads, index_t batch,
                                               index_t box_rows) {
  constexpr long_index_t bytes = sizeof(T), any_stride = 16, unbounded = 0x7fff0000;
  const long_index_t row_bytes = strides.row * bytes, head_bytes = heads > 1 ? strides.head * bytes : any_stride;
  exec::tensor_map_request r{const_cast<void*>(data),
                             arch::matrix_element_v<T>,
                             {dim, max(rows, 1), heads, batch, 1},
                             {row_bytes, head_bytes, batch > 1 ? strides.batch * bytes : any_stride, any_stride},
                             {128 / bytes, box_rows}};
  if (has_starts) {
    r.lengths[1] = rows_of_map;
    r.lengths[3] = r.lengths[4] = unbounded;
    r.stride_bytes[2] = row_bytes;
    r.stride_bytes[3] = (bytes << 34) - row_bytes;
  }
  return r;
}

/// Makes the maps of a launch's tensors.
template <class T>
struct attention_map_maker {
  const attention_args& args;
  const launch_facts& facts;

  /// The map of a tensor with the rows of Q, or of K, in boxes of `box_rows`.
  void operator()(exec::tensor_map& map, const void* data, const attention_strides& strides, index_t dim,
                  bool of_queries, index_t box_rows) const {
    const void* const starts = of_queries ? args.query_starts : args.key_starts;
    // Without keys nothing is copied, but a map needs an address.
    facts.make_tensor_map(map, request_attention_map<T>(data ? data : args.q, strides, starts != nullptr, dim,
                                                        of_queries ? args.queries : args.keys,
                                                        of_queries ? args.heads : args.kv_heads, args.batch, box_rows));
  }
};

/// Element 0 of row `row` of a head in such a map. Rows after the sequence's last one read as zeros and are not
/// written.
TILEWRIGHT_HD constexpr multi_index<5> position_in_map(bool has_starts, index_t rows, long_index_t first_row,
                                                       index_t row, index_t head, index_t batch) {
  if (has_starts) return {{0, rows_of_map - rows + row, head, index_t(first_row) + rows, rows_of_map}};
  return {{0, rows == 0 ? row + 1 : row, head, batch, 0}};
}
TILEWRIGHT_HD constexpr multi_index<5> query_position(const attention_args& args, const attention_problem& p,
                                                      index_t row) {
  return position_in_map(args.query_starts != nullptr, p.queries, p.query_start.row, row, p.head, p.batch);
}
TILEWRIGHT_HD constexpr multi_index<5> key_position(const attention_args& args, const attention_problem& p,
                                                    index_t row) {
  return position_in_map(args.key_starts != nullptr, p.keys, p.key_start.row, row, p.kv_head, p.batch);
}

#if TILEWRIGHT_HOPPER_PASS

/// Starts the copies of an operand's boxes to `to`.
template <index_t Boxes, index_t BoxBytes, class T>
TILEWRIGHT_HD void load_boxes(unsigned to, const exec::tensor_map& map, exec::mbarrier done, multi_index<5> at) {
  for (index_t box = 0; box < Boxes; ++box) {
    exec::tma_load(to + box * BoxBytes, map, done, at);
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
  static constexpr swizzled_layout layout = tma_swizzle(16, 128, sizeof(T));
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
    static_distributed_tensor<T, typename access::distribution> chunk{};
    __builtin_memcpy(chunk.thread_buffer.data(), words.data() + first, count * sizeof(unsigned));
    store_fragments(window, chunk, box * box_bytes);
  });
}

/// One lane, after wave_sync(): starts the stores of a wave's rows from LDS to a tensor.
template <class T>
TILEWRIGHT_HD void store_boxes(const exec::tensor_map& map, unsigned from, index_t boxes, index_t box_bytes,
                               multi_index<5> at) {
  exec::fence_async_proxy();
  for (index_t box = 0; box < boxes; ++box) {
    exec::tma_store(map, from + unsigned(box * box_bytes), at);
    at[0] += 128 / index_t(sizeof(T));
  }
  exec::tma_store_commit();
}

#endif

}  // namespace tilewright::detail
