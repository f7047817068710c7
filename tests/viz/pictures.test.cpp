// SPDX-License-Identifier: MIT
// What pictures show: the right cells, lanes, owners and numbers.
// That they are well-formed is tested with the tool's output.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/viz/curve_picture.hpp>
#include <tilewright/viz/descriptor_picture.hpp>
#include <tilewright/viz/distribution_picture.hpp>
#include <tilewright/viz/lds_picture.hpp>
#include <tilewright/viz/phases_picture.hpp>

#include <gtest/gtest.h>

namespace tilewright::viz {
namespace {

constexpr auto operand = encoding_of(arch::describe(arch::matrix_op::mfma_32x32x8_x2).a);

lds_picture picture(const tensor_graph& layout, lds_view view) {
  const lds_access_pattern pattern(layout, operand, 2);
  const lds_step step = step_of(pattern, lds_access_kind::read, 0, 0);
  const arch::lds_service& service = deciding_reading(arch::gfx942::value, step);
  return picture_of(lds_map(layout, 2), step, service, phases_of(service, step)[0], view);
}

const tensor_graph narrow = packed_graph(32, 16), plain = packed_graph(32, 64);
const tensor_graph swizzled = graph_of(lds_index_swapping<64, 8, 1, 32, half_t>::descriptor);

TEST(LdsPicture, PlainRowsPutEightLanesIntoOneColumnOfBanks) {
  const lds_picture p = picture(plain, lds_view::tile);
  EXPECT_EQ(p.grid.piece_bytes, 16);
  ASSERT_EQ(p.grid.row_numbers.size(), 32u);
  ASSERT_EQ(p.grid.col_numbers.size(), 8u);
  for (std::size_t row = 0; row < 32; ++row) {
    const lds_cell& cell = p.grid.at(row, 0);
    const bool touched = row < 4 || (20 <= row && row < 24);  // lanes 0-3 and 20-23 are one phase
    EXPECT_EQ(cell.lanes, touched ? std::vector<index_t>{index_t(row)} : std::vector<index_t>{});
    EXPECT_EQ(cell.is_in_conflict, touched);
    for (std::size_t col = 0; col < 8; ++col) EXPECT_EQ(p.grid.at(row, col).bank, index_t(4 * col));
  }
  ASSERT_EQ(p.queues.columns.size(), 8u);
  EXPECT_EQ(p.queues.columns[0].size(), 8u);
  EXPECT_TRUE(p.queues.columns[1].empty());
  EXPECT_EQ(verdict_of(p.phase), "8 lanes meet in bank 0: 8 cycles instead of 1");
}

TEST(LdsPicture, TheSwizzleGivesEachLaneBanksOfItsOwn) {
  const lds_picture p = picture(swizzled, lds_view::tile);
  index_t lanes = 0;
  for (const auto& column : p.queues.columns) {
    ASSERT_EQ(column.size(), 1u);
    lanes += index_t(column[0].size());
  }
  EXPECT_EQ(lanes, 8);
  for (const lds_cell& cell : p.grid.cells) EXPECT_FALSE(cell.is_in_conflict);
  EXPECT_EQ(verdict_of(p.phase), "no conflict: 1 cycle");
}

TEST(LdsPicture, MemoryViewShowsEveryPieceOnceUnderItsBank) {
  const lds_picture p = picture(swizzled, lds_view::memory);
  std::vector<bool> seen(32 * 8);
  for (std::size_t r = 0; r < p.grid.row_numbers.size(); ++r) {
    for (std::size_t c = 0; c < p.grid.col_numbers.size(); ++c) {
      const lds_cell& cell = p.grid.at(r, c);
      EXPECT_EQ(cell.bank, index_t(4 * c));
      EXPECT_EQ(cell.piece, index_t(c) ^ (cell.row % 8));
      const std::size_t number = std::size_t(cell.row * 8 + cell.piece);
      EXPECT_FALSE(seen[number]);
      seen[number] = true;
    }
  }
}

TEST(LdsPicture, TextMarksLanesAndConflicts) {
  const std::string text = lds_text(picture(plain, lds_view::tile), lds_view::tile);
  EXPECT_NE(text.find("row 3   !3!    4    8   12"), std::string::npos) << text;
  EXPECT_EQ(text.find("row 4 "), std::string::npos) << text;  // not touched
  EXPECT_NE(text.find("cycle 8   23    .    ."), std::string::npos) << text;
  const std::string free = lds_text(picture(swizzled, lds_view::tile), lds_view::tile);
  EXPECT_EQ(free.find('!'), std::string::npos) << free;
  EXPECT_NE(free.find("row 1   (1)    0   12    8"), std::string::npos) << free;
}

TEST(LdsPicture, SvgEscapesTextAndMarksConflicts) {
  const std::string with =
      lds_svg({{"a<b&c", "", picture(plain, lds_view::tile), lds_view::tile}}, "h", svg_theme::light);
  EXPECT_NE(with.find("a&lt;b&amp;c"), std::string::npos);
  EXPECT_NE(with.find("class=\"clash\""), std::string::npos);
  const std::string without =
      lds_svg({{"x", "", picture(swizzled, lds_view::tile), lds_view::tile}}, "h", svg_theme::automatic);
  EXPECT_EQ(without.find("class=\"clash\""), std::string::npos);
  EXPECT_NE(without.find("prefers-color-scheme"), std::string::npos);
}

/// One phase of eight lanes that read `op` at the first piece of the given rows of a tile of 512 x 64 halves.
lds_picture picture_of_rows(const tensor_graph& layout, arch::lds_op op, index_t first, index_t stride) {
  const lds_map map(layout, 2);
  lds_step step;
  step.op = op;
  for (index_t& address : step.address) address = -1;
  for (index_t lane = 0; lane < 8; ++lane) {
    step.element[lane] = {{first + lane * stride, 0}};
    step.address[lane] = map.at(first + lane * stride, 0);
  }
  const arch::lds_service& service = arch::sm90::value.find(op)->readings[0];
  return picture_of(map, step, service, phases_of(service, step)[0], lds_view::tile);
}

TEST(LdsPicture, ShowsTheRowsThatThePhaseTouches) {
  using numbers = std::vector<index_t>;
  const tensor_graph tall = packed_graph(512, 64);
  const auto rows = [&](index_t first, index_t stride) {
    return picture_of_rows(tall, arch::lds_op::read_b128, first, stride).grid.row_numbers;
  };
  EXPECT_EQ(rows(40, 1), (numbers{40, 41, 42, 43, 44, 45, 46, 47}));  // the aligned block around them
  EXPECT_EQ(rows(44, 1).front(), 32);
  EXPECT_EQ(rows(44, 1).size(), 32u);
  EXPECT_EQ(rows(3, 60), (numbers{3, 63, 123, 183, 243, 303, 363, 423}));  // too far apart: they alone
  const lds_picture far = picture_of_rows(tall, arch::lds_op::read_b128, 3, 60);
  EXPECT_EQ(far.grid.num_rows, 512);
  for (std::size_t r = 0; r < 8; ++r) EXPECT_EQ(far.grid.at(r, 0).lanes, numbers{index_t(r)});
  EXPECT_NE(lds_text(far, lds_view::tile).find("..."), std::string::npos);
}

TEST(LdsPicture, PiecesAreAsLongAsAccessesThatAreWhole) {
  const tensor_graph tall = packed_graph(512, 64), padded = strided_graph(512, 64, 66, 1);
  const auto picture = [&](const tensor_graph& layout, arch::lds_op op) { return picture_of_rows(layout, op, 0, 1); };
  EXPECT_EQ(picture(tall, arch::lds_op::read_b128).grid.piece_bytes, 16);
  EXPECT_EQ(picture(tall, arch::lds_op::read_b128).queues.banks_per_column, 4);
  EXPECT_EQ(picture(tall, arch::lds_op::read_b32).grid.piece_bytes, 4);
  EXPECT_EQ(picture(tall, arch::lds_op::read_b16).grid.piece_bytes, 4);
  EXPECT_EQ(picture(tall, arch::lds_op::read_b16).queues.banks_per_column, 1);
  // Rows that begin at a multiple of 4 bytes only: an access of 16 bytes is four pieces, and banks stand alone.
  const lds_picture ragged = picture(padded, arch::lds_op::read_b128);
  EXPECT_EQ(ragged.grid.piece_bytes, 4);
  EXPECT_EQ(ragged.queues.banks_per_column, 1);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(ragged.grid.at(1, c).lanes, std::vector<index_t>{1});
  EXPECT_TRUE(ragged.grid.at(1, 4).lanes.empty());
}

TEST(LdsPicture, MemoryThatHoldsNothingIsEmpty) {
  const tensor_graph padded = strided_graph(512, 64, 72, 1);
  const lds_map map(padded, 2);
  lds_step step;
  for (index_t& address : step.address) address = -1;
  step.op = arch::lds_op::read_b128;
  step.address[0] = 0;
  const arch::lds_service& service = arch::sm90::value.find(step.op)->readings[0];
  const lds_picture p = picture_of(map, step, service, phases_of(service, step)[0], lds_view::memory);
  EXPECT_EQ(p.grid.at(1, 0).bank, -1);  // bytes 128 to 143 are past the end of row 0
  EXPECT_EQ(p.grid.at(1, 1).bank, 4);
  EXPECT_EQ(p.grid.at(1, 1).row, 1);
}

TEST(LdsPicture, NarrowTilesAreShownWhole) {
  const lds_picture p = picture(narrow, lds_view::tile);
  EXPECT_EQ(p.grid.num_cols, 2);
  EXPECT_EQ(p.grid.row_numbers.size(), 32u);
}

TEST(Ownership, EqualsTheDistribution) {
  using distribution = tile_distribution<operand>;
  const ownership who = ownership_of(operand);
  ASSERT_EQ(who.rows, 32);
  ASSERT_EQ(who.cols, 16);
  index_t count = 0;
  for (const auto& owners : who.owners) count += index_t(owners.size());
  EXPECT_EQ(count, 64 * distribution::num_elements);
  for (index_t lane = 0; lane < 64; ++lane) {
    const auto x = distribution::calculate_index({lane});
    EXPECT_EQ(who.at(x[0], x[1]), (std::vector<owner>{{0, lane, 0}}));
  }
  const std::vector<owned_run> runs = owned_runs(who);
  ASSERT_EQ(runs.size(), 64u);
  EXPECT_EQ(runs[1].col, 8);
  EXPECT_EQ(runs[1].length, 8);
  EXPECT_EQ(runs[1].owners[0].lane, 32);
}

TEST(Ownership, ListsReplicas) {
  const ownership who = ownership_of(encoding_of(arch::describe(arch::matrix_op::wmma_16x16x16_gfx11).a));
  EXPECT_EQ(who.at(5, 7), (std::vector<owner>{{0, 5, 7}, {0, 21, 7}}));
  EXPECT_NE(
      distribution_text(encoding_of(arch::describe(arch::matrix_op::wmma_16x16x16_gfx11).a)).find("row 5   5,21:0-15"),
      std::string::npos);
}

TEST(CurvePicture, TextNumbersTheAccesses) {
  const curve<2> snake{{2, 6}, {0, 1}, {1, 2}, true};
  EXPECT_EQ(curve_text(path_of(snake)), "row 0 0 0 1 1 2 2\nrow 1 5 5 4 4 3 3\n");
  EXPECT_EQ(curve_text(path_of(hilbert_curve{.rows = 2, .cols = 2})), "row 0 0 3\nrow 1 1 2\n");
}

TEST(DescriptorPicture, ShowsOffsetsAndWhatDoesNotExist) {
  constexpr auto packed = make_naive_tensor_descriptor_packed(make_tuple(number<2>{}, number<3>{}));
  constexpr auto padded = transform_tensor_descriptor(
      packed,
      make_tuple(make_pad_transform(number<2>{}, number<0>{}, number<1>{}), make_pass_through_transform(number<3>{})),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_EQ(offsets_text(offsets_of(padded)), "row 0 0 1 2\nrow 1 3 4 5\nrow 2 . . .\n");
  constexpr auto merged =
      transform_tensor_descriptor(packed, make_tuple(make_merge_transform(make_tuple(number<3>{}, number<2>{}))),
                                  make_tuple(sequence<1, 0>{}), make_tuple(sequence<0>{}));
  EXPECT_EQ(offsets_text(offsets_of(merged)), "row 0 0 3 1 4 2 5\n");
  const std::string svg = offsets_svg({{"t", offsets_of(padded), 3}}, "h", svg_theme::light);
  const auto count = [&](std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("class=\"empty\""), 3u);
  EXPECT_EQ(count("class=\"c1\""), 3u);
}

TEST(PhasesPicture, TextNamesLanesAndBanks) {
  const std::string text = phases_text(arch::gfx950::value);
  EXPECT_NE(text.find("ds_read_b128: 64 banks, known by V"), std::string::npos) << text;
  EXPECT_NE(text.find("phase 0: lanes 0-3, 12-15, 20-27"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewright::viz
