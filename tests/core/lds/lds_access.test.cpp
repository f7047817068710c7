// SPDX-License-Identifier: MIT
// The analysis of a tile access, against one that looks at the banks of every instruction by itself.
#include "../distribution/copies.hpp"
#include "../distribution/naive_distribution.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tilewright {
namespace {

/// Sum over phases of (degree - 1) for one instruction, from its table row.
index_t conflicts_of(const arch::lds_service& service, index_t bytes, const lds_addresses& address) {
  index_t conflicts = 0;
  for (index_t phase = 0; phase < service.phases.num_phases(); ++phase) {
    std::map<index_t, std::set<index_t>> dwords_of_bank;
    for (index_t lane = 0; lane < 64; ++lane) {
      if (!(service.phases.lanes_of(phase) >> lane & 1) || address[lane] < 0) continue;
      for (index_t byte = 0; byte < bytes; ++byte) {
        const index_t dword = (address[lane] + byte) / 4;
        dwords_of_bank[dword % service.banks].insert(dword);
      }
    }
    index_t degree = 0;
    for (const auto& [bank, dwords] : dwords_of_bank) degree = max(degree, index_t(dwords.size()));
    conflicts += max(0, degree - 1);
  }
  return conflicts;
}

template <tensor_graph Graph, distribution_encoding E>
void expect_analysis(const arch::target& target, const tensor_descriptor<Graph>& descriptor,
                     tile_distribution<E> distribution, index_t element_bytes, lds_access_kind kind, index_t vector) {
  const lds_access_analysis result =
      analyze_lds_access(target, descriptor, distribution, element_bytes, kind, lds_reading::first);
  const index_t bytes = vector * element_bytes;
  EXPECT_EQ(arch::access_bytes(result.op), bytes);
  EXPECT_EQ(arch::is_write(result.op), kind == lds_access_kind::write);
  index_t waves = E.ndim_p() == 2 ? E.p_length(0) : 1, executions = 0, conflicts = 0;
  const index_t lanes = E.p_length(E.ndim_p() - 1), dim = detail::choose_vector(Graph, E, element_bytes).dim_y;
  for (index_t wave = 0; wave < waves; ++wave) {
    naive::each_index(naive::y_lengths(E), [&](const naive::indices& y) {
      if (y[std::size_t(dim)] % vector != 0) return;
      lds_addresses address{};
      for (index_t lane = 0; lane < 64; ++lane) {
        address[lane] = -1;
        if (lane >= lanes) continue;
        const naive::indices x =
            naive::position(E, E.ndim_p() == 2 ? naive::indices{wave, lane} : naive::indices{lane}, y);
        address[lane] = descriptor.calculate_offset({x[0], x[1]}) * element_bytes;
      }
      ++executions;
      conflicts += conflicts_of(target.find(result.op)->readings[0], bytes, address);
    });
  }
  EXPECT_EQ(result.executions, executions) << target.name;
  EXPECT_EQ(result.conflicts, conflicts) << target.name;
  EXPECT_EQ(result.cycles - result.phases, conflicts) << target.name;
  EXPECT_EQ(result.is_conflict_free(), conflicts == 0) << target.name;
  if (conflicts == 0) return;

  // The two lanes that are blamed want different dwords of one bank in one phase.
  const arch::lds_service& service = target.find(result.op)->readings[0];
  EXPECT_NE(result.lanes[0], result.lanes[1]);
  std::set<index_t> dwords[2];
  for (index_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(service.phases.lanes_of(result.phase) >> result.lanes[i] & 1);
    const index_t begin = descriptor.calculate_offset(result.coordinates[i]) * element_bytes;
    for (index_t byte = begin; byte < begin + bytes; ++byte) {
      if (byte / 4 % service.banks == result.bank) dwords[i].insert(byte / 4);
    }
    EXPECT_FALSE(dwords[i].empty()) << target.name << ": lane " << result.lanes[i] << " does not touch bank "
                                    << result.bank;
  }
  EXPECT_NE(dwords[0], dwords[1]);
}

template <index_t Pitch>
constexpr auto rows =
    make_naive_tensor_descriptor(make_tuple(number<64>{}, number<32>{}), make_tuple(number<Pitch>{}, number<1>{}));
constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();
constexpr auto columns =
    make_naive_tensor_descriptor(make_tuple(number<64>{}, number<32>{}), make_tuple(number<1>{}, number<68>{}));

template <index_t Wave>
void expect_on(const arch::target& target) {
  using write = tile_distribution<copies::along_rows(64, 32, 2, Wave, 8)>;
  using write_down = tile_distribution<copies::along_columns(64, 32, 2, Wave, 8)>;
  constexpr arch::matrix_op op = Wave == 64 ? arch::matrix_op::mfma_32x32x8_x2 : arch::matrix_op::wmma_16x16x16_gfx12;
  constexpr index_t tile_rows = Wave == 64 ? 32 : 16;
  using read =
      tile_distribution<embed(tile_distribution_encoding<sequence<>, tuple<sequence<64 / tile_rows>, sequence<2>>,
                                                         tuple<>, tuple<>, sequence<1, 2>, sequence<0, 0>>::value,
                              encoding_of(arch::describe(op).a))>;
  expect_analysis(target, rows<32>, write{}, 2, lds_access_kind::write, 8);
  expect_analysis(target, rows<32>, read{}, 2, lds_access_kind::read, 8);
  expect_analysis(target, rows<40>, read{}, 2, lds_access_kind::read, 8);
  expect_analysis(target, rows<36>, read{}, 2, lds_access_kind::read, 4);
  expect_analysis(target, rows<33>, read{}, 2, lds_access_kind::read, 1);
  expect_analysis(target, rows<33>, read{}, 4, lds_access_kind::read, 1);
  expect_analysis(target, rows<36>, read{}, 4, lds_access_kind::read, 4);
  expect_analysis(target, swizzled, read{}, 2, lds_access_kind::read, 8);
  expect_analysis(target, swizzled, write{}, 2, lds_access_kind::write, 8);
  expect_analysis(target, swizzled, write_down{}, 2, lds_access_kind::write, Wave == 64 ? 2 : 4);
  expect_analysis(target, columns, write_down{}, 2, lds_access_kind::write, 4);
}

TEST(AnalyzeLdsAccess, CountsWhatTheBanksCount) {
  for (const arch::target* target : arch::all_targets)
    target->wave_size == 64 ? expect_on<64>(*target) : expect_on<32>(*target);
}

// Two instructions begin at the same address and cost different things: lanes read rows 0 and 1, then rows 0 and 2.
TEST(AnalyzeLdsAccess, RowsInAnyOrder) {
  constexpr auto matrix = make_naive_tensor_descriptor_packed(make_tuple(number<3>{}, number<16>{}));
  constexpr auto gathered = transform_tensor_descriptor(
      matrix,
      make_tuple(make_indexing_transform(number<4>{}, make_tuple(number<0>{}, number<1>{}, number<0>{}, number<2>{})),
                 make_pass_through_transform(number<16>{})),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  constexpr distribution_encoding two_rows_of_lanes =
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 2>, sequence<16>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 0>>, sequence<1>, sequence<0>>::value;
  const lds_access_analysis result =
      analyze_lds_access(arch::sm90::value, graph_of(gathered), two_rows_of_lanes, 4, lds_access_kind::read);
  EXPECT_EQ(result.executions, 2);
  EXPECT_EQ(result.conflicts, 1);
}

// Offset row + 8 (row ^ column): the highest bit that a bit of the row flips is that of a bit of the column.
TEST(LdsAccessWalk, RangeOfAddressesThatBothDimensionsFlip) {
  constexpr auto plain =
      make_naive_tensor_descriptor(make_tuple(number<8>{}, number<8>{}), make_tuple(number<1>{}, number<8>{}));
  constexpr auto flipped =
      transform_tensor_descriptor(plain, make_tuple(make_xor_transform(make_tuple(number<8>{}, number<8>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
  constexpr distribution_encoding rows_of_lanes =
      tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                 sequence<2>, sequence<0>>::value;
  const tensor_graph graph = graph_of(flipped);
  const lds_access_pattern pattern(graph, rows_of_lanes, 4);
  EXPECT_EQ(pattern.rule(), lds_access_pattern::addresses_are::xor_of_terms);
  EXPECT_EQ(pattern.address_range(), (array<index_t, 2>{{0, 252}}));
}

TEST(AnalyzeLdsAccess, WorksAtCompileTime) {
  using copy = tile_distribution<copies::along_rows(64, 32, 2, 64, 8)>;
  constexpr lds_access_analysis result = analyze_lds_access<arch::gfx942>(swizzled, copy{}, 2, lds_access_kind::write);
  static_assert(result.is_conflict_free() && result.op == arch::lds_op::write_b128 && result.executions == 4 &&
                result.phases == 32);
  EXPECT_EQ(analyze_lds_access(arch::gfx942::value, swizzled, copy{}, 2, lds_access_kind::write), result);
}

TEST(AnalyzeLdsAccess, LdmatrixIsAnInstructionOfItsOwn) {
  using copy = tile_distribution<copies::along_rows(64, 32, 1, 32, 8)>;
  constexpr lds_access_analysis result = analyze_lds_access<arch::sm90>(rows<32>, copy{}, 2, lds_access_kind::ldmatrix);
  static_assert(result.op == arch::lds_op::ldmatrix && result.phases == 4 * result.executions);
}

// Columns of A for a matrix instruction: 16 rows of k, each of which four lanes address.
TEST(AnalyzeLdsAccess, TransposingReadsAreInstructionsOfTheirOwn) {
  const arch::lane_map addresses =
      address_map(arch::exchange_of(arch::lds_op::read_b64_tr_b16), arch::describe(arch::matrix_op::mfma_16x16x16).a);
  const distribution_encoding of_tile = encoding_of(addresses);  // (m, k)
  const auto columns = [&](index_t pitch) {
    const auto layout =
        make_naive_tensor_descriptor(make_tuple(number<16>{}, number<16>{}), make_tuple(number<1>{}, pitch));
    return analyze_lds_access(arch::gfx950::value, graph_of(layout), of_tile, 2, lds_access_kind::transposing_read);
  };
  // 64 lanes, 8 bytes each; 32 of them at once, on 64 banks: the 8 columns of a phase lie side by side,
  // or on top of each other.
  EXPECT_EQ(columns(16).op, arch::lds_op::read_b64_tr_b16);
  EXPECT_TRUE(columns(16).is_conflict_free());
  EXPECT_EQ(columns(128).worst_degree, 8);
  EXPECT_TRUE(columns(128 + 16).is_conflict_free());
  EXPECT_EQ(columns(16).known_by, arch::grade::inferred);
}

TEST(AnalyzeLdsAccess, DisputedRowsAreReadForTheWorst) {
  using narrow = tile_distribution<copies::along_rows(64, 32, 1, 64, 2)>;
  const auto with = [](lds_reading reading) {
    return analyze_lds_access(arch::gfx950::value, rows<32>, narrow{}, 2, lds_access_kind::read, reading).cycles;
  };
  EXPECT_EQ(with(lds_reading::worst), max(with(lds_reading::first), with(lds_reading::second)));
}

}  // namespace
}  // namespace tilewright
