// SPDX-License-Identifier: MIT
// One kernel that uses every tile operation, and what its results must be: for the CPU emulator and for each GPU.
#pragma once

#include <tilewright/ck_tile.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/copy/async_load.hpp>
#include <tilewright/tile/copy/load_tile_transpose.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/scan.hpp>

#include <type_traits>

namespace tile_ops {

namespace tw = tilewright;

using namespace tilewright;

inline constexpr index_t rows = 32, cols = 64, size = rows * cols;
inline constexpr index_t lds_bytes = size * 4;

/// What the kernel writes, each as rows x cols floats unless said otherwise.
enum result : int {
  elementwise,        // 2 in + 1, then 100 on the diagonal
  positions,          // 1000 row + col
  converted,          // in as fp8, and back
  shuffled,           // in, stored by columns
  kept_in_lds,        // in, by way of elements of each thread in LDS
  permuted,           // in, after a change of registers
  transposed,         // in transposed, cols x rows
  sliced,             // in with its upper and lower half exchanged
  row_sums,           // rows floats
  col_max,            // cols floats
  scanned,            // sums of in from column 0 to this one, then of those from row 0 to this one
  broadcast,          // 2 in + the row's sum - the column's maximum
  updated,            // in + 3, by atomic additions
  copied,             // in as half, through swizzled LDS without registers
  transposed_in_lds,  // in transposed as it is read from LDS, cols x rows
  num_results
};

struct arguments {
  const float* in;
  const half_t* in_half;
  float* out[num_results];
};

template <index_t Wave>
using by_rows =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<256 / Wave, 2, Wave / 16>, sequence<16, 4>>,
                                                 tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                                 sequence<1, 2>, sequence<0, 1>>::value>;
template <index_t Wave>
using by_rows_permuted =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<256 / Wave, 2, Wave / 16>, sequence<16, 4>>,
                                                 tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                                 sequence<2, 1>, sequence<1, 0>>::value>;
template <index_t Wave>
using by_cols =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<8, 4>, sequence<2, Wave / 8, 256 / Wave>>,
                                                 tuple<sequence<2>, sequence<2, 1>>, tuple<sequence<0>, sequence<1, 0>>,
                                                 sequence<2, 1>, sequence<2, 1>>::value>;
/// cols x rows: the transposed tile, shared like by_rows.
template <index_t Wave>
using by_rows_of_transposed =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<256 / Wave, 2, Wave / 8>, sequence<8, 4>>,
                                                 tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                                 sequence<1, 2>, sequence<0, 1>>::value>;
/// cols x rows as the operand of a matrix instruction: waves of 64 lanes hold 16 rows next to each other and 8
/// neighbours of each, waves of 32 hold 8 rows and pairs.
template <index_t Wave>
using as_operand = tile_distribution<
    Wave == 64 ? tile_distribution_encoding<sequence<>, tuple<sequence<2, 2, 16>, sequence<4, 8>>,
                                            tuple<sequence<1>, sequence<2, 1>>, tuple<sequence<1>, sequence<0, 2>>,
                                            sequence<1, 2>, sequence<0, 1>>::value
               : tile_distribution_encoding<sequence<>, tuple<sequence<4, 2, 8>, sequence<4, 4, 2>>,
                                            tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 1>>,
                                            sequence<1, 2, 2>, sequence<0, 0, 2>>::value>;
/// For half_t in copies of 4 bytes: a wave fills whole rows.
template <index_t Wave>
using by_words =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<512 / Wave, 2, Wave / 32>, sequence<32, 2>>,
                                                 tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                                 sequence<1, 2>, sequence<0, 1>>::value>;

TILEWRIGHT_HD constexpr auto packed() {
  return make_naive_tensor_descriptor_packed(make_tuple(number<rows>{}, number<cols>{}));
}

TILEWRIGHT_HD auto matrix(float* p) { return make_tensor_view<address_space_enum::global>(p, packed()); }
TILEWRIGHT_HD auto matrix(const float* p) { return make_tensor_view<address_space_enum::global>(p, packed()); }

template <class T, class Distribution>
TILEWRIGHT_HD void store(float* out, const static_distributed_tensor<T, Distribution>& tile) {
  store_tile(make_tile_window(matrix(out), make_tuple(number<rows>{}, number<cols>{}), {}, Distribution{}),
             cast_tile<float>(tile));
}

template <class Tile>
TILEWRIGHT_HD void in_each_thread(const arguments& args, const Tile& in) {
  auto twice = tile_elementwise_in([](float a, float b) { return a + b; }, in, in);
  tile_elementwise_inout([](float& a) { a += 1.0f; }, twice);
  set_tile_if(twice, 100.0f, [](const multi_index<2>& x) { return x[0] == x[1]; });
  store(args.out[elementwise], twice);

  Tile where;
  clear_tile(where);
  sweep_tile(where, [&](auto i, float& element) {
    element += float(1000 * get_x_indices_from_distributed_indices(where.get_tile_distribution(), i)[0]);
  });
  sweep_tile_span<0>(where, [&](auto i) {
    sweep_tile_span<1>(where, [&](auto j) {
      const auto both = make_tuple(i, j);
      where(both) += float(get_x_indices_from_distributed_indices(where.get_tile_distribution(), both)[1]);
    });
  });
  store(args.out[positions], where);

  store(args.out[converted], cast_tile<fp8_ocp_t>(in));
  const auto left = get_slice_tile(in, sequence<0, 0>{}, sequence<rows / 2, cols>{});
  const auto right = get_slice_tile(in, sequence<rows / 2, 0>{}, sequence<rows, cols>{});
  Tile exchanged;
  set_slice_tile(exchanged, right, sequence<0, 0>{}, sequence<rows / 2, cols>{});
  set_slice_tile(exchanged, left, sequence<rows / 2, 0>{}, sequence<rows, cols>{});
  store(args.out[sliced], exchanged);
}

template <index_t Wave, class Tile>
TILEWRIGHT_HD void between_threads(const arguments& args, const Tile& in, exec::lds_pointer lds) {
  static_distributed_tensor<float, by_cols<Wave>> columns;
  shuffle_tile(columns, in, lds);
  store(args.out[shuffled], columns);
  exec::block_sync();

  const auto kept = make_static_distributed_lds_tensor<float>(lds, by_rows<Wave>{});
  store_tile(kept, in);
  store(args.out[kept_in_lds], load_tile(kept));
  exec::block_sync();

  static_distributed_tensor<float, by_rows_permuted<Wave>> other_registers;
  shuffle_tile(other_registers, in);
  store(args.out[permuted], other_registers);

  static_distributed_tensor<float, by_rows_of_transposed<Wave>> exchanged;
  transpose_tile(exchanged, in, lds);
  const auto view = make_tensor_view<address_space_enum::global>(
      args.out[transposed], make_naive_tensor_descriptor_packed(make_tuple(number<cols>{}, number<rows>{})));
  store_tile(make_tile_window(view, make_tuple(number<cols>{}, number<rows>{}), {}, by_rows_of_transposed<Wave>{}),
             exchanged);
  exec::block_sync();

  // Prefix sums along the rows, in registers and lanes; then along the columns, also across waves.
  Tile prefix = in;
  scan<1>(prefix, tw::plus);
  scan<0>(prefix, tw::plus, lds);
  store(args.out[scanned], prefix);
  exec::block_sync();

  // Rows across the lanes, columns across the waves that share them.
  const auto sums = row_reduce(in, tw::plus);
  const auto largest = reduce<0>(in, tw::max, lds);
  // Each element with the value of its row and of its column.
  Tile repeated = in;
  tile_elementwise_inout([](float& x, float row, float column) { x = 2 * x + row - column; }, repeated, along<0>(sums),
                         along<1>(largest));
  store(args.out[broadcast], repeated);
  using sums_distribution = typename std::remove_const_t<decltype(sums)>::distribution_type;
  const auto row_view = make_tensor_view<address_space_enum::global>(
      args.out[row_sums], make_naive_tensor_descriptor_packed(make_tuple(number<rows>{})));
  store_tile(make_tile_window(row_view, make_tuple(number<rows>{}), {0}, sums_distribution{}), sums);

  using largest_distribution = typename std::remove_const_t<decltype(largest)>::distribution_type;
  const auto col_view = make_tensor_view<address_space_enum::global>(
      args.out[col_max], make_naive_tensor_descriptor_packed(make_tuple(number<cols>{})));
  store_tile(make_tile_window(col_view, make_tuple(number<cols>{}), {0}, largest_distribution{}), largest);
  exec::block_sync();
}

template <index_t Wave, class Tile>
TILEWRIGHT_HD void through_memory(const arguments& args, const Tile& in, exec::lds_pointer lds) {
  const auto lengths = make_tuple(number<rows>{}, number<cols>{});
  Tile ones;
  set_tile(ones, 1.0f);
  const auto sum = make_tile_window(matrix(args.out[updated]), lengths, {}, by_rows<Wave>{});
  update_tile<memory_operation_enum::set>(sum, in);
  update_tile<memory_operation_enum::add>(sum, ones);
  update_tile<memory_operation_enum::atomic_add>(sum, ones);
  update_tile<memory_operation_enum::atomic_add>(sum, ones);
  set_tile(ones, -1e9f);
  update_tile<memory_operation_enum::atomic_max>(sum, ones);

  // In the order of the lanes on the global side, swizzled in LDS.
  using words = by_words<Wave>;
  const auto layout = make_lds_index_swapping_descriptor<cols, 8, 1, rows, half_t>();
  const auto in_lds = make_tensor_view<address_space_enum::lds, half_t>(lds, layout);
  const auto halves = make_tensor_view<address_space_enum::global>(args.in_half, packed());
  async_load_tile(make_async_tile_window(in_lds, lengths, {}, words{}, layout),
                  make_async_tile_window(halves, lengths, {}, words{}, layout));
  async_wait();
  exec::block_sync();
  store(args.out[copied], load_tile(make_tile_window(in_lds, lengths, {}, words{})));

  using addressed = decltype(make_transpose_input_distribution<half_t, current_target>(as_operand<Wave>{}));
  const auto operand = cast_tile<float>(load_tile_transpose(make_tile_window(in_lds, lengths, {}, addressed{})));
  const auto view = make_tensor_view<address_space_enum::global>(
      args.out[transposed_in_lds], make_naive_tensor_descriptor_packed(make_tuple(number<cols>{}, number<rows>{})));
  store_tile(make_tile_window(view, make_tuple(number<cols>{}, number<rows>{}), {},
                              typename decltype(operand)::distribution_type{}),
             operand);
}

template <index_t Wave>
TILEWRIGHT_HD void run(const arguments& args) {
  const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
  const auto in =
      load_tile(make_tile_window(matrix(args.in), make_tuple(number<rows>{}, number<cols>{}), {}, by_rows<Wave>{}));
  in_each_thread(args, in);
  between_threads<Wave>(args, in, lds);
  through_memory<Wave>(args, in, lds);
}

}  // namespace tile_ops
