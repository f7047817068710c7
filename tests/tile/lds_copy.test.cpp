// SPDX-License-Identifier: MIT
// Copies through LDS on every target: what is written is read, and the conflicts that the CPU emulator
// counts are those that were predicted.
#include "on_cpu.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;

constexpr index_t rows = 64, cols = 32;

/// What the waves of a block read for a matrix instruction: 2 waves, each half of the rows.
template <arch::matrix_op Op>
using fragments = tile_distribution<detail::a_encoding(block_tile{rows, arch::describe(Op).n, cols, 2, 1, Op}, false)>;

template <index_t Wave>
using along_rows = tile_distribution<copies::along_rows(rows, cols, 2, Wave, 8)>;
template <index_t Wave>
using along_columns = tile_distribution<copies::along_columns(rows, cols, 2, Wave, 8)>;

/// Writes a tile of numbers with one distribution, reads it with another.
template <class T, class Write, class Read, class Layout>
void expect_copy(const arch::target& target, const Layout& layout, const char* what) {
  SCOPED_TRACE(std::string(target.name) + ", " + what);
  static constexpr auto lengths = make_tuple(number<rows>{}, number<cols>{});
  static_assert(Write::num_threads() == Read::num_threads());
  constexpr index_t lds_bytes =
      detail::round_up<index_t>(index_t(Layout{}.graph.num_values == 0 ? rows * cols * 2 : 0) * sizeof(T), 16);
  const auto written = positions<Write>(), read = positions<Read>();
  std::vector<T> loaded(read.size());
  const auto number_at = [](const multi_index<2>& x) { return T(x[0] * cols + x[1] + 1); };
  const emulator::launch_report report = run<Write>(
      target,
      [&] {
        const auto view = make_tensor_view<address_space_enum::lds, T>(exec::lds_allocate<lds_bytes>(), layout);
        static_distributed_tensor<T, Write> tile;
        for (index_t d = 0; d < Write::num_elements; ++d) {
          tile.thread_buffer[d] = number_at(written[std::size_t(exec::thread_id() * Write::num_elements + d)]);
        }
        store_tile(make_tile_window(view, lengths, {}, Write{}), tile);
        exec::block_sync();
        const auto result = load_tile(make_tile_window(view, lengths, {}, Read{}));
        for (index_t d = 0; d < Read::num_elements; ++d)
          loaded[std::size_t(exec::thread_id() * Read::num_elements + d)] = result.thread_buffer[d];
      },
      lds_bytes);
  for (std::size_t i = 0; i < read.size(); ++i)
    ASSERT_EQ(loaded[i], number_at(read[i])) << read[i][0] << ", " << read[i][1];

  const auto expect_counts = [&](const lds_access_analysis& predicted) {
    const emulator::lds_counts counted = report.of(predicted.op);
    EXPECT_EQ(counted.executions, predicted.executions);
    EXPECT_EQ(counted.phases, predicted.phases);
    EXPECT_EQ(counted.cycles, predicted.cycles);
    EXPECT_EQ(counted.conflicts, predicted.conflicts);
    EXPECT_EQ(counted.worst_degree, predicted.worst_degree);
  };
  expect_counts(analyze_lds_access(target, layout, Write{}, sizeof(T), lds_access_kind::write));
  expect_counts(analyze_lds_access(target, layout, Read{}, sizeof(T), lds_access_kind::read));
  EXPECT_EQ(report.by_op.size(), 2u);
}

template <index_t Pitch>
constexpr auto strided =
    make_naive_tensor_descriptor(make_tuple(number<rows>{}, number<cols>{}), make_tuple(number<Pitch>{}, number<1>{}));
constexpr auto by_column =
    make_naive_tensor_descriptor(make_tuple(number<rows>{}, number<cols>{}), make_tuple(number<1>{}, number<rows>{}));
constexpr auto two_layers = make_lds_index_swapping_descriptor<cols, 8, 2, rows, half_t>();
constexpr auto four_layers = make_lds_index_swapping_descriptor<cols, 8, 4, rows, half_t>();
constexpr auto xor_of_elements = transform_tensor_descriptor(
    strided<cols>, make_tuple(make_xor_transform(make_tuple(number<rows>{}, number<cols>{}))),
    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));

template <arch::matrix_op Op>
void expect_copies(const arch::target& target) {
  constexpr index_t wave = arch::describe(Op).wave_size();
  using by_rows = along_rows<wave>;
  using by_columns = along_columns<wave>;
  using read = fragments<Op>;
  using element = unsigned short;
  expect_copy<element, by_rows, read>(target, strided<32>, "plain rows");
  expect_copy<element, by_rows, read>(target, strided<40>, "rows with 16 bytes of padding");
  expect_copy<element, by_rows, read>(target, strided<36>, "rows with 8 bytes of padding");
  expect_copy<element, by_rows, read>(target, strided<33>, "rows with 2 bytes of padding");
  expect_copy<element, by_rows, read>(target, two_layers, "xor, rows of banks of 128 bytes");
  expect_copy<element, by_rows, read>(target, four_layers, "xor, rows of banks of 256 bytes");
  expect_copy<element, by_columns, read>(target, two_layers, "xor, written down the columns");
  expect_copy<element, by_columns, read>(target, by_column, "columns");
  expect_copy<element, by_rows, read>(target, xor_of_elements, "xor of single elements");
}

TEST(LdsCopy, WithMfmaOf16Rows) {
  for (const arch::target* target : {&arch::gfx90a::value, &arch::gfx942::value, &arch::gfx950::value}) {
    expect_copies<arch::matrix_op::mfma_16x16x16>(*target);
    expect_copies<arch::matrix_op::mfma_16x16x16_x2>(*target);
  }
}

TEST(LdsCopy, WithMfmaOf32Rows) {
  for (const arch::target* target : {&arch::gfx90a::value, &arch::gfx942::value, &arch::gfx950::value}) {
    expect_copies<arch::matrix_op::mfma_32x32x8_x2>(*target);
  }
}

TEST(LdsCopy, WithWmma) {
  expect_copies<arch::matrix_op::wmma_16x16x16_gfx11>(arch::gfx1100::value);
  expect_copies<arch::matrix_op::wmma_16x16x16_gfx12>(arch::gfx1201::value);
}

TEST(LdsCopy, WithMmaFragmentsReadDirectly) {
  for (const arch::target* target : {&arch::sm80::value, &arch::sm90::value})
    expect_copies<arch::matrix_op::mma_m16n8k16_x2>(*target);
}

TEST(LdsCopy, OfElementsOfOtherWidths) {
  for (const arch::target* target : arch::all_targets) {
    const auto both = [&](auto wave, auto read) {
      using by_rows = along_rows<wave.value>;
      expect_copy<float, by_rows, decltype(read)>(*target, strided<32>, "floats");
      expect_copy<float, by_rows, decltype(read)>(*target, strided<36>, "floats, padded");
      expect_copy<double, by_rows, decltype(read)>(*target, strided<33>, "doubles, padded");
      expect_copy<char, by_rows, decltype(read)>(*target, strided<32>, "bytes");
    };
    if (target->wave_size == 64) {
      both(number<64>{}, fragments<arch::matrix_op::mfma_32x32x8_x2>{});
    } else {
      both(number<32>{}, fragments<arch::matrix_op::wmma_16x16x16_gfx12>{});
    }
  }
}

}  // namespace
}  // namespace tilewright
