// SPDX-License-Identifier: MIT
// Solved layouts: the analysis finds exactly the conflicts that the solver admits,
// and no better layout exists where it says so.
#include "../distribution/copies.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/lds/layout_padding.hpp>
#include <tilewright/core/lds/layout_solver.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

/// A tile of rows x cols of 16-bit elements, written by rows or by columns,
/// and read as operand A of an instruction by one wave.
template <index_t Rows, index_t Cols, arch::matrix_op Op>
struct tile_uses {
  static constexpr lds_tile tile{Rows, Cols, 2};
  static constexpr index_t wave = arch::describe(Op).wave_size();
  static constexpr block_tile block{Rows, arch::describe(Op).n, Cols, 1, 1, Op};
  using read = tile_distribution<detail::a_encoding(block, true)>;
  using write_rows = tile_distribution<copies::along_rows(Rows, Cols, 1, wave, 8)>;
  static constexpr lds_access_kind read_kind = fragment_access(Op);
};

template <class Uses, class... Archs>
index_t expect_analysis_agrees() {
  constexpr lds_use write{Uses::write_rows::encoding, lds_access_kind::write},
      read{Uses::read::encoding, Uses::read_kind};
  constexpr lds_layout_choice choice = choose_lds_layout<Archs...>(Uses::tile, write, read);
  constexpr auto descriptor = make_lds_descriptor<choice.layout>();
  index_t worst = 0;
  const auto look_at = [&](const arch::target& target) {
    for (const lds_reading reading : {lds_reading::first, lds_reading::second}) {
      const auto w =
          analyze_lds_access(target, descriptor, typename Uses::write_rows{}, 2, lds_access_kind::write, reading);
      const auto r = analyze_lds_access(target, descriptor, typename Uses::read{}, 2, Uses::read_kind, reading);
      worst = max(worst, max(w.worst_degree, r.worst_degree));
    }
  };
  (look_at(Archs::value), ...);
  EXPECT_EQ(worst, choice.worst_degree);
  return choice.worst_degree;
}

using arch::matrix_op;

TEST(ChooseLdsLayout, ServesAWriterAndAReaderOnEachTarget) {
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_16x16x16_x2>, arch::gfx942>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_32x32x8_x2>, arch::gfx90a>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<128, 64, matrix_op::mfma_32x32x8_x2>, arch::gfx942>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_16x16x32>, arch::gfx950>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 64, matrix_op::mfma_32x32x16>, arch::gfx950>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<32, 32, matrix_op::wmma_16x16x16_gfx11>, arch::gfx1100>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<32, 32, matrix_op::wmma_16x16x16_gfx12>, arch::gfx1201>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<32, 32, matrix_op::mma_m16n8k16_x2>, arch::sm90>()), 1);
}

TEST(ChooseLdsLayout, ServesSeveralTargetsAtOnce) {
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_16x16x16_x2>, arch::gfx90a, arch::gfx942,
                                    arch::gfx950>()),
            1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 64, matrix_op::mfma_32x32x8_x2>, arch::gfx942, arch::gfx950>()), 1);
}

// Reads of 8 bytes, narrower than what is permuted.
TEST(ChooseLdsLayout, ServesNarrowReads) {
  expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_16x16x16>, arch::gfx942>();
  expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_32x32x8>, arch::gfx950>();
}

/// The lowest worst degree of one reader over all layouts of a small tile, found by trying them all.
template <class Distribution, index_t Rows, index_t Cols>
index_t best_of_all(const arch::target& target, lds_access_kind kind) {
  index_t best = 64;
  for (index_t layer = 1; layer * Cols * 2 <= 256 && layer <= Rows; layer *= 2) {
    swizzled_layout layout = swizzled_rows({Rows, Cols, 2}, layer * Cols * 2);
    const index_t bits = detail::log2_floor(Rows / layer), chunks = layout.chunks_per_bank_row();
    for (index_t i = 0; i < bits; ++i) layout.flips.push_back(0);
    const std::function<void(index_t)> choose = [&](index_t bit) {
      if (bit < bits) {
        for (layout.flips[bit] = 0; layout.flips[bit] < chunks; ++layout.flips[bit]) choose(bit + 1);
        return;
      }
      index_t worst = 0;
      for (const lds_reading reading : {lds_reading::first, lds_reading::second}) {
        lds_addresses addresses;
        for (index_t lane = 0; lane < 64; ++lane) addresses[lane] = -1;
        for (index_t lane = 0; lane < target.wave_size; ++lane) {
          const auto x = Distribution::calculate_index({lane});
          addresses[lane] = layout.address(x[0], 2 * x[1]);
        }
        const arch::lds_op op = kind == lds_access_kind::write ? arch::lds_op::write_b128 : arch::lds_op::read_b128;
        worst = max(
            worst, lds_cost(target, op, addresses, target.find(op)->readings.size() == 2 ? reading : lds_reading::first)
                       .worst_degree);
      }
      best = min(best, worst);
    };
    choose(0);
  }
  return best;
}

TEST(ChooseLdsLayout, IsTheBestOfAll) {
  // Lanes that all read the first chunk of 64 rows of one chunk each: at most 8 of 16 bytes fit into a bank row.
  using one_column = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<16>, sequence<2, 2, 8>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<2, 2>, sequence<1, 2>>::value>;
  static_assert(one_column::num_threads() == 32);
  constexpr lds_use use{one_column::encoding, lds_access_kind::read};
  constexpr lds_layout_choice on_gfx1100 = choose_lds_layout<arch::gfx1100>(lds_tile{16, 32, 2}, use);
  static_assert(on_gfx1100.is_proven_best);
  EXPECT_EQ((best_of_all<one_column, 16, 32>(arch::gfx1100::value, lds_access_kind::read)), on_gfx1100.worst_degree);
  constexpr lds_layout_choice on_sm90 = choose_lds_layout<arch::sm90>(lds_tile{16, 32, 2}, use);
  EXPECT_EQ((best_of_all<one_column, 16, 32>(arch::sm90::value, lds_access_kind::read)), on_sm90.worst_degree);
}

/// Lanes go down a column and read element by element: neighbouring columns belong to other waves.
constexpr distribution_encoding down_columns(index_t rows, index_t cols, index_t waves, index_t wave_size) {
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  for (const index_t f : {rows / min(rows, wave_size), min(rows, wave_size)}) e.h[0].push_back(f);
  for (const index_t f : {cols / waves, waves}) e.h[1].push_back(f);
  e.p[0].push_back({2, 1});
  e.p[1].push_back({1, 1});
  e.y.push_back({1, 0});
  e.y.push_back({2, 0});
  return e;
}

// A tile that is written by rows, and read by rows and by columns, as for a product with A and with its transpose.
TEST(ChooseLdsLayout, ServesRowsAndColumns) {
  constexpr lds_tile tile{64, 64, 2};
  constexpr lds_use write{copies::along_rows(64, 64, 1, 64, 8), lds_access_kind::write};
  constexpr lds_use read_rows{encoding_of(arch::describe(matrix_op::mfma_32x32x8_x2).a), lds_access_kind::read};
  constexpr lds_use columns{down_columns(64, 64, 2, 64), lds_access_kind::read};
  constexpr distribution_encoding many_rows =
      embed(tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<4>>, tuple<>, tuple<>, sequence<1, 2>,
                                       sequence<0, 0>>::value,
            read_rows.distribution);
  constexpr lds_use read{many_rows, lds_access_kind::read};
  constexpr lds_layout_choice choice =
      choose_lds_layout<arch::gfx90a, arch::gfx942, arch::gfx950>(tile, write, read, columns);
  constexpr auto proof = analyze_choice<arch::gfx90a, arch::gfx942, arch::gfx950>(choice, write, read, columns);
  static_assert(proof.size() == 9);
  index_t worst = 0;
  for (const lds_access_analysis& a : proof) worst = max(worst, a.worst_degree);
  EXPECT_EQ(worst, choice.worst_degree);
  EXPECT_EQ(arch::access_bytes(proof[0].op), 16);
  EXPECT_EQ(arch::access_bytes(proof[2].op), 2) << "columns are read element by element";
  EXPECT_TRUE(choice.is_proven_best);
}

constexpr lds_tile floats{32, 32, 4};
constexpr lds_use column_of_floats{down_columns(32, 32, 4, 32), lds_access_kind::read};

// The transposition that everybody pads by one: without a pad when words are written one by one.
TEST(ChooseLdsLayout, TransposesWithoutPads) {
  constexpr lds_use write{copies::along_rows(32, 32, 4, 32, 1), lds_access_kind::write};
  constexpr lds_layout_choice choice =
      choose_lds_layout<arch::gfx1100, arch::sm80, arch::sm90>(floats, write, column_of_floats);
  static_assert(choice.worst_degree == 1 && choice.layout.chunk_bytes == 4);
  for (const lds_access_analysis& a :
       analyze_choice<arch::gfx1100, arch::sm80, arch::sm90>(choice, write, column_of_floats))
    EXPECT_TRUE(a.is_conflict_free());
}

// Words of one column lie at the same place of their 16-byte chunks: 32 of them find 8 banks on 32,
// whatever is done to chunks.
TEST(ChooseLdsLayout, SaysWhatIsImpossible) {
  constexpr lds_use write{copies::along_rows(32, 32, 4, 32, 4), lds_access_kind::write};
  constexpr lds_layout_choice choice = choose_lds_layout<arch::sm90>(floats, write, column_of_floats);
  static_assert(choice.worst_degree == 4 && choice.is_proven_best);
  constexpr auto proof = analyze_choice<arch::sm90>(choice, write, column_of_floats);
  EXPECT_TRUE(proof[0].is_conflict_free());
  EXPECT_EQ(proof[1].worst_degree, 4);
}

// Rows are left as they are where that does, and one address register serves all accesses of a use.
TEST(ChooseLdsLayout, LeavesPlainWhatIsFreeOfConflicts) {
  constexpr lds_use write{copies::along_rows(32, 64, 1, 32, 8), lds_access_kind::write};
  constexpr lds_layout_choice choice = choose_lds_layout<arch::sm90>(lds_tile{32, 64, 2}, write);
  static_assert(choice.layout.is_plain() && choice.worst_degree == 1 && choice.address_registers == 1);
  static_assert(detail::is_linear(make_lds_descriptor<choice.layout>().graph));
}

// Rows of 32 bytes: [K0][M][K1], or what conflicts as little. The column's bit chooses bank rows or places above those
// of rows.
TEST(ChooseLdsLayout, MovesColumnsAboveRows) {
  using tile = tile_uses<16, 16, matrix_op::wmma_16x16x16_gfx11>;
  EXPECT_EQ((expect_analysis_agrees<tile, arch::gfx1100, arch::gfx1201>()), 1);
}

// Reads see 64 banks and writes 32: two groups of places.
TEST(ChooseLdsLayout, ServesTwoWidthsOfBankRows) {
  EXPECT_EQ((expect_analysis_agrees<tile_uses<32, 256, matrix_op::mfma_16x16x32>, arch::gfx950>()), 1);
  EXPECT_EQ((expect_analysis_agrees<tile_uses<64, 32, matrix_op::mfma_16x16x32>, arch::gfx942, arch::gfx950>()), 1);
}

TEST(CheckLdsUses, RefusesWhatCheckLdsAccessRefuses) {
  using enum lds_access_kind;
  constexpr lds_tile tile{64, 64, 2};
  const auto fault_of = [](const arch::target& target, const lds_tile& on, const lds_use& use) {
    const arch::target* const targets[] = {&target};
    return check_lds_uses(targets, 1, on, &use, 1).fault;
  };
  const auto rows = [](index_t wave, index_t vector) { return copies::along_rows(64, 64, 1, wave, vector); };
  EXPECT_EQ(fault_of(arch::sm90::value, tile, {rows(32, 8), write}), lds_fault::none);
  EXPECT_EQ(fault_of(arch::sm90::value, tile, {rows(64, 8), write}), lds_fault::too_many_lanes);
  EXPECT_EQ(fault_of(arch::sm90::value, tile, {rows(32, 4), ldmatrix}), lds_fault::narrow_ldmatrix);
  EXPECT_EQ(fault_of(arch::gfx950::value, tile, {rows(64, 8), transposing_read}), lds_fault::transposing_width);
  EXPECT_EQ(fault_of(arch::gfx942::value, tile, {rows(64, 4), transposing_read}), lds_fault::no_such_instruction);
  EXPECT_EQ(fault_of(arch::gfx942::value, {1024, 64, 2}, {rows(64, 8), write}), lds_fault::outside_of_lds);
  EXPECT_EQ(fault_of(arch::gfx942::value, {32, 64, 2}, {rows(64, 8), write}), lds_fault::tile_too_large);
  EXPECT_EQ(fault_of(arch::gfx942::value, {64, 96, 2}, {rows(64, 8), write}), lds_fault::not_powers_of_two);
  distribution_encoding owned_twice = rows(64, 8);
  owned_twice.y.push_back(owned_twice.y[0]);
  EXPECT_EQ(fault_of(arch::gfx942::value, tile, {owned_twice, write}), lds_fault::unsound_distribution);
}

TEST(CheckLdsUses, RefusesProblemsWithoutUsesOrTargets) {
  const arch::target* const target = &arch::gfx942::value;
  const lds_use use{copies::along_rows(64, 64, 1, 64, 8), lds_access_kind::write};
  EXPECT_EQ(check_lds_uses(&target, 1, {64, 64, 2}, &use, 0).fault, lds_fault::nothing_to_serve);
  EXPECT_EQ(check_lds_uses(&target, 0, {64, 64, 2}, &use, 1).fault, lds_fault::nothing_to_serve);
}

// Every use of a problem of few uses, many times over.
TEST(ChooseLdsLayout, ServesAnyNumberOfUses) {
  const arch::target* const targets[] = {&arch::gfx942::value, &arch::sm90::value};
  const auto uses_of = [](std::size_t times) {
    std::vector<lds_use> uses;
    for (std::size_t i = 0; i < times; ++i) {
      uses.push_back({copies::along_rows(64, 64, 1, 32, 8), lds_access_kind::write});
      uses.push_back({copies::along_rows(64, 64, 2, 32, 4), lds_access_kind::read});
      uses.push_back({copies::along_rows(64, 64, 1, 32, 4), lds_access_kind::read});
    }
    return uses;
  };
  const auto choose = [&](const std::vector<lds_use>& uses) {
    return choose_lds_layout(targets, 2, {64, 64, 2}, uses.data(), index_t(uses.size()));
  };
  const lds_layout_choice few = choose(uses_of(1));
  for (const std::size_t times : {5, 6, 7, 40}) {  // 15 uses, 18, 21, 120
    const lds_layout_choice many = choose(uses_of(times));
    EXPECT_EQ(many.layout, few.layout) << times;
    EXPECT_EQ(many.worst_degree, few.worst_degree) << times;
    EXPECT_EQ(many.address_registers, few.address_registers * index_t(times));
  }
}

/// Uses no two of which ask the same of a layout: lanes take rows and columns in any order of their bits.
std::vector<lds_use> different_uses(index_t count) {
  std::vector<lds_use> uses;
  for (unsigned order = 0; index_t(uses.size()) < count; order = order * 5 + 7) {
    distribution_encoding e;
    e.h.push_back({});
    e.h.push_back({});
    e.p.push_back({});
    std::array<rh_id, 10> ids{};
    for (std::size_t i = 0; i < 10; ++i) {
      e.h[i < 5 ? 0 : 1].push_back(2);
      ids[i] = rh_id{static_cast<signed char>(i < 5 ? 1 : 2), static_cast<signed char>(i % 5)};
    }
    unsigned rest = order % 3628800u;
    for (unsigned i = 10; i > 0; rest /= i--) std::swap(ids[i - 1], ids[rest % i]);
    for (std::size_t i = 0; i < 10; ++i) i < 5 ? e.p[0].push_back(ids[i]) : e.y.push_back(ids[i]);
    uses.push_back({e, lds_access_kind::read});
  }
  return uses;
}

TEST(CheckLdsUses, RefusesMoreDemandsThanASearchFollows) {
  const arch::target* const target = &arch::sm90::value;
  const lds_tile tile{32, 32, 4};
  for (const index_t count : {16, 17, 24, 60, 200, 1000}) {
    const std::vector<lds_use> uses = different_uses(count);
    const lds_legality legality = check_lds_uses(&target, 1, tile, uses.data(), count);
    if (legality.is_legal()) {
      EXPECT_GE(choose_lds_layout(&target, 1, tile, uses.data(), count).worst_degree, 1) << count;
      EXPECT_LE(count, 60);
    } else {
      EXPECT_EQ(legality.fault, lds_fault::too_many_demands) << count;
      EXPECT_GT(count, 48);
    }
  }
}

TEST(ChooseLdsLayoutDeath, AnIllegalProblemEndsWithItsSentence) {
  const arch::target* const target = &arch::gfx942::value;
  const lds_use use{copies::along_rows(64, 64, 1, 64, 8), lds_access_kind::write};
  EXPECT_DEATH((void)choose_lds_layout(&target, 1, {64, 96, 2}, &use, 1),
               "layouts are chosen for rows of 4 bytes or more");
  EXPECT_DEATH((void)choose_lds_layout(&target, 1, {64, 64, 2}, &use, 0), "for one use or more on one target or more");
  const std::vector<lds_use> uses = different_uses(1000);
  EXPECT_DEATH((void)choose_lds_layout(&target, 1, {32, 32, 4}, uses.data(), 1000),
               "more different arrangements of lanes");
}

}  // namespace
}  // namespace tilewright
