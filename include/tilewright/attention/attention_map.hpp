// SPDX-License-Identifier: MIT
// Tensors of attention as bulk copies see them: tensor maps, and the positions of rows in them.
#pragma once

#include <tilewright/arch/matrix_element.hpp>
#include <tilewright/arch/tensor_map.hpp>
#include <tilewright/attention/attention_problem.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright::detail {

/// Rows that the tensor map of packed sequences has; rows and starts are less.
inline constexpr index_t rows_of_map = 1 << 30;

/// What bulk copies cannot do with rows of these lengths and strides, as a sentence; nullptr when there is nothing.
template <index_t N>
constexpr const char* check_bulk_copies(const attention_args& args, const attention_strides (&strides)[N]) {
  for (const attention_strides& s : strides) {
    if (s.batch < 0 || s.head < 0 || s.batch >= 1ll << 38 || s.head >= 1ll << 38)
      return "bulk copies need strides that are not negative and less than 2^38 elements; use attention_policy";
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
                             matrix_element_v<T>,
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

}  // namespace tilewright::detail
