// SPDX-License-Identifier: MIT
// What a target cannot do with LDS, what allocations leave to others, and what addresses need.
#include "random_access.hpp"

#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_legality.hpp>

#include "../distribution/copies.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum lds_access_kind;
const tensor_graph rows_of_64_bytes = packed_graph(64, 32);
const distribution_encoding by_rows = copies::along_rows(64, 32, 2, 64, 8);

TEST(CheckLdsAccess, SaysWhatIsWrong) {
  const auto fault_on = [](const arch::target& target, const tensor_graph& layout, const distribution_encoding& e,
                           lds_access_kind kind = read) { return check_lds_access(target, layout, e, 2, kind).fault; };
  const arch::target& gfx942 = arch::gfx942::value;
  EXPECT_EQ(fault_on(gfx942, rows_of_64_bytes, by_rows), lds_fault::none);
  EXPECT_EQ(fault_on(gfx942, packed_graph(64, 4, 8), by_rows), lds_fault::dimensions_differ);
  EXPECT_EQ(fault_on(gfx942, packed_graph(32, 32), by_rows), lds_fault::tile_too_large);
  EXPECT_EQ(fault_on(arch::sm90::value, rows_of_64_bytes, by_rows), lds_fault::too_many_lanes);
  EXPECT_EQ(fault_on(gfx942, rows_of_64_bytes, by_rows, ldmatrix), lds_fault::no_such_instruction);
  EXPECT_EQ(fault_on(arch::sm90::value, packed_graph(64, 36), copies::along_rows(64, 32, 2, 32, 8), ldmatrix),
            lds_fault::narrow_ldmatrix);
  const lds_access_kind transposing = lds_access_kind::transposing_read;
  const distribution_encoding halves = copies::along_rows(64, 32, 2, 64, 4);
  EXPECT_EQ(fault_on(arch::gfx950::value, rows_of_64_bytes, halves, transposing), lds_fault::none);
  EXPECT_EQ(fault_on(gfx942, rows_of_64_bytes, halves, transposing), lds_fault::no_such_instruction);
  EXPECT_EQ(fault_on(arch::gfx950::value, rows_of_64_bytes, by_rows, transposing), lds_fault::transposing_width);
  EXPECT_EQ(
      check_lds_access(arch::gfx950::value, packed_graph(64, 32), copies::along_rows(64, 32, 2, 64, 2), 4, transposing),
      (lds_legality{lds_fault::transposing_width, 8, 8}))
      << "no elements of 4 bytes";
  for (const index_t element_bytes : {3, 24, 32}) {
    EXPECT_EQ(check_lds_access(gfx942, rows_of_64_bytes, by_rows, element_bytes, read),
              (lds_legality{lds_fault::no_such_instruction, element_bytes, 0}));
  }
  distribution_encoding unsound = by_rows;
  unsound.y = {};
  EXPECT_EQ(fault_on(gfx942, rows_of_64_bytes, unsound), lds_fault::unsound_distribution);
  tensor_graph dynamic_rows = rows_of_64_bytes;
  dynamic_rows.num_values = 1;
  EXPECT_EQ(fault_on(gfx942, dynamic_rows, by_rows), lds_fault::run_time_values);
}

TEST(CheckLdsAccess, EveryByteLiesInLds) {
  const auto at = [](const tensor_graph& layout, index_t begin, index_t lds_bytes) {
    return check_lds_access(arch::gfx942::value, layout, by_rows, 2, write, begin, lds_bytes);
  };
  EXPECT_TRUE(at(rows_of_64_bytes, 0, 4096).is_legal());
  EXPECT_TRUE(at(rows_of_64_bytes, 4096, 8192).is_legal());
  EXPECT_EQ(at(rows_of_64_bytes, 4096, 8191), (lds_legality{lds_fault::outside_of_lds, 8192, 8191}));
  EXPECT_EQ(at(strided_graph(64, 32, 40, 1), 0, 4096).fault, lds_fault::outside_of_lds) << "pads need room";
  EXPECT_EQ(at(rows_of_64_bytes, 8, 8192), (lds_legality{lds_fault::unaligned_begin, 8, 16}));
  EXPECT_TRUE(at(strided_graph(64, 32, 36, 1), 8, 8192).is_legal())
      << "rows at multiples of 8 bytes leave vectors of 8 bytes";
}

// Far beyond what LDS has, the numbers are still right.
TEST(CheckLdsAccess, OfTilesOfAnyLength) {
  constexpr distribution_encoding column =
      tile_distribution_encoding<sequence<>, tuple<sequence<1 << 14, 64>, sequence<1>>, tuple<sequence<1>>,
                                 tuple<sequence<1>>, sequence<1>, sequence<0>>::value;
  EXPECT_EQ(check_lds_access(arch::gfx942::value, packed_graph(1 << 20, 2), column, 1, read),
            (lds_legality{lds_fault::outside_of_lds, (1 << 21) - 1, 65536}));
  constexpr distribution_encoding few =
      tile_distribution_encoding<sequence<>, tuple<sequence<64>, sequence<1>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                 sequence<>, sequence<>>::value;
  EXPECT_EQ(address_needs(packed_graph(1 << 20, 2), few, 1).registers, 1);
}

TEST(DirectToLds, AWaveFillsOneRange) {
  using arch::gfx942, arch::gfx950, arch::sm90;
  const auto on = [](const arch::target& target, const tensor_graph& layout, const distribution_encoding& e) {
    return check_direct_to_lds(target, layout, e, 2).fault;
  };
  EXPECT_EQ(on(gfx950::value, rows_of_64_bytes, by_rows), lds_fault::none);
  EXPECT_EQ(on(gfx942::value, rows_of_64_bytes, by_rows), lds_fault::width_not_direct) << "16 bytes are for gfx950";
  EXPECT_EQ(on(gfx942::value, rows_of_64_bytes, copies::along_rows(64, 32, 2, 64, 2)), lds_fault::none);
  EXPECT_EQ(on(gfx950::value, strided_graph(64, 32, 40, 1), by_rows), lds_fault::leaves_footprint)
      << "pads lie between the lanes";
  // 16 rows of 64 bytes per wave: chunks that are permuted within a row stay with the wave.
  const swizzled_layout within = swizzled_rows({64, 32, 2}, 64, {1, 2, 3});
  EXPECT_EQ(on(gfx950::value, detail::make_lds_graph(within), by_rows), lds_fault::none);
  // Columns: neighbouring lanes are rows apart.
  const distribution_encoding by_columns = copies::along_columns(64, 32, 1, 32, 2);
  EXPECT_NE(on(arch::gfx1201::value, rows_of_64_bytes, by_columns), lds_fault::none);
  EXPECT_EQ(on(sm90::value, strided_graph(64, 32, 40, 1), copies::along_rows(64, 32, 2, 32, 8)), lds_fault::none)
      << "cp.async writes anywhere";
}

// Each lane fetches what belongs to its place: then lane after lane is written,
// and every element lies where the layout has it.
TEST(DirectToLds, ThePermutationGoesToGlobalMemory) {
  constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();
  const tensor_graph graph = graph_of(swizzled);
  ASSERT_TRUE(check_direct_to_lds(arch::gfx950::value, graph, by_rows, 2).is_legal());
  const lds_access_pattern pattern(graph, by_rows, 2);
  index_t moved = 0;
  for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
    for (index_t access = 0; access < pattern.num_access(); ++access) {
      const auto order = pattern.lanes_by_address(wave, access);
      const lds_addresses address = pattern.addresses(wave, access);
      for (index_t place = 0; place < 64; ++place) {
        EXPECT_EQ(address[order[place]], address[order[0]] + place * 16);
        moved += order[place] != place;
      }
    }
  }
  EXPECT_GT(moved, 0);
}

template <auto Descriptor, distribution_encoding E>
void expect_needs_as_planned() {
  constexpr const auto& list = access_plan<Descriptor.graph, E, 2>::list;
  const lds_address_needs needs = address_needs(Descriptor.graph, E, 2);
  EXPECT_EQ(needs.registers, list.num_bases);
  index_t largest = 0;
  for (const index_t immediate : list.immediate) largest = max(largest, immediate * 2);
  EXPECT_EQ(needs.largest_offset, largest);
}

TEST(AddressNeeds, AreThoseOfTileWindows) {
  constexpr auto plain = make_naive_tensor_descriptor_packed(make_tuple(number<64>{}, number<64>{}));
  constexpr auto padded =
      make_naive_tensor_descriptor(make_tuple(number<64>{}, number<64>{}), make_tuple(number<72>{}, number<1>{}));
  constexpr auto swizzled = make_lds_index_swapping_descriptor<64, 8, 1, 64, half_t>();
  constexpr distribution_encoding rows = copies::along_rows(64, 64, 1, 64, 8),
                                  columns = copies::along_columns(64, 64, 2, 32, 2);
  expect_needs_as_planned<plain, rows>();
  expect_needs_as_planned<padded, rows>();
  expect_needs_as_planned<swizzled, rows>();
  expect_needs_as_planned<plain, columns>();
  expect_needs_as_planned<padded, columns>();
  expect_needs_as_planned<swizzled, columns>();
}

TEST(AddressNeeds, ConstantsHave16Bits) {
  // The second stage of a 128 KiB ring is beyond the largest offset of an instruction.
  const lds_address_needs needs = address_needs(rows_of_64_bytes, by_rows, 2, 65536);
  EXPECT_EQ(needs.largest_offset, 65536 + 2048);
  EXPECT_FALSE(needs.fits(arch::gfx950::value));
  EXPECT_TRUE(address_needs(rows_of_64_bytes, by_rows, 2, 61440).fits(arch::gfx950::value));
  EXPECT_TRUE(needs.fits(arch::sm90::value));
}

}  // namespace
}  // namespace tilewright
