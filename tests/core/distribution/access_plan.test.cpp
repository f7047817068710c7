// SPDX-License-Identifier: MIT
// The accesses of a plan: every thread finds each of its elements where the descriptor says,
// by the rule that the plan names.
#include "copies.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/access_plan.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tilewright {
namespace {

template <index_t N>
multi_index<N> sum(multi_index<N> a, const multi_index<N>& b) {
  for (index_t d = 0; d < N; ++d) a[d] += b[d];
  return a;
}

/// f(partition index) for every thread.
template <class Distribution, class F>
void each_thread(F&& f) {
  constexpr distribution_encoding e = Distribution::encoding;
  const index_t waves = e.ndim_p() == 2 ? e.p_length(0) : 1, lanes = e.p_length(e.ndim_p() - 1);
  for (index_t wave = 0; wave < waves; ++wave) {
    for (index_t lane = 0; lane < lanes; ++lane) {
      multi_index<Distribution::ndim_p> p{};
      p[0] = wave;
      p[Distribution::ndim_p - 1] = lane;
      f(p);
    }
  }
}

/// Checks the plan at several origins. Returns it.
template <distribution_encoding E, index_t Bytes, tensor_graph Graph>
auto expect_addresses(const tensor_descriptor<Graph>& descriptor, const std::vector<multi_index<Graph.ndim()>>& origins,
                      address_rule rule, index_t vector_length) {
  using distribution = tile_distribution<E>;
  constexpr index_t ndim = Graph.ndim();
  constexpr auto list = access_plan<Graph, E, Bytes>::list;
  EXPECT_EQ(list.rule, rule);
  EXPECT_EQ(list.vector.length, vector_length);

  // Vectors hold each register once.
  std::set<index_t> registers;
  const index_t step = distribution::calculate_y_strides()[list.vector.dim_y];
  for (const index_t first : list.first_register) {
    for (index_t j = 0; j < list.vector.length; ++j) registers.insert(first + j * step);
  }
  for (const index_t base : list.base) EXPECT_TRUE(base >= 0 && base < list.num_bases);
  EXPECT_EQ(index_t(registers.size()), distribution::num_elements);
  EXPECT_EQ(list.first_register.size() * list.vector.length, distribution::num_elements);

  const index_t at_zero = descriptor.calculate_offset({});
  const index_t along = E.y[list.vector.dim_y].major - 1;
  for (const auto& origin : origins) {
    each_thread<distribution>([&](const auto& p) {
      const auto first = sum(origin, distribution::calculate_index(p));
      const index_t address = descriptor.calculate_offset(first);
      for (index_t i = 0; i < list.base.size(); ++i) {
        const auto x = sum(first, list.x[i]);
        index_t planned = 0;
        switch (list.rule) {
          case address_rule::constant_steps: planned = address + list.immediate[i]; break;
          case address_rule::uniform_steps: planned = address + descriptor.calculate_offset(list.x[i]) - at_zero; break;
          case address_rule::xor_groups:
            planned = (address ^ list.flipped_bits[list.base[i]]) + list.immediate[i];
            break;
          case address_rule::independent: planned = descriptor.calculate_offset(x); break;
        }
        // Every element of the vector, where the descriptor has it.
        for (index_t j = 0; j < list.vector.length; ++j) {
          multi_index<ndim> element = x;
          element[along] += j;
          ASSERT_EQ(planned + j, descriptor.calculate_offset(element)) << "access " << i << ", element " << j;
        }
        ASSERT_EQ(planned % list.vector.length, 0) << "access " << i;
      }
    });
  }
  return list;
}

constexpr distribution_encoding along_k = copies::along_rows(64, 32, 4, 64, 8);
constexpr distribution_encoding along_rows = copies::along_columns(64, 32, 2, 64, 8);
constexpr distribution_encoding fragments =
    embed(tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<2>>, tuple<>, tuple<>, sequence<1, 2>,
                                     sequence<0, 0>>::value,
          encoding_of(arch::describe(arch::matrix_op::mfma_32x32x8_x2).a));

TEST(AccessPlan, ConstantStepsThroughStaticStrides) {
  constexpr auto rows =
      make_naive_tensor_descriptor(make_tuple(number<128>{}, number<64>{}), make_tuple(number<72>{}, number<1>{}));
  expect_addresses<along_k, 2>(rows, {{{0, 0}}, {{64, 32}}, {{8, 8}}}, address_rule::constant_steps, 8);
  const auto list = expect_addresses<fragments, 2>(rows, {{{0, 0}}, {{64, 32}}}, address_rule::constant_steps, 8);
  EXPECT_EQ(list.num_bases, 1) << "one address, the rest are constants";
  EXPECT_TRUE(std::is_sorted(list.first_register.begin(), list.first_register.end())) << "row by row, without snaking";
  expect_addresses<along_rows, 2>(rows, {{{0, 0}}, {{64, 32}}}, address_rule::constant_steps, 2);
  constexpr auto columns =
      make_naive_tensor_descriptor(make_tuple(number<128>{}, number<64>{}), make_tuple(number<1>{}, number<132>{}));
  expect_addresses<along_rows, 2>(columns, {{{0, 0}}, {{64, 32}}}, address_rule::constant_steps, 4);
}

TEST(AccessPlan, ConstantStepsWithPadsAndOffsets) {
  constexpr auto matrix =
      make_naive_tensor_descriptor(make_tuple(number<60>{}, number<64>{}), make_tuple(number<64>{}, number<1>{}));
  constexpr auto padded =
      transform_tensor_descriptor(matrix,
                                  make_tuple(make_pad_transform(number<60>{}, number<3>{}, number<1>{}),
                                             make_offset_transform(number<32>{}, number<16>{})),
                                  make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  expect_addresses<along_k, 2>(padded, {{{0, 0}}, {{3, 0}}}, address_rule::constant_steps, 8);
  expect_addresses<fragments, 2>(padded, {{{0, 0}}}, address_rule::constant_steps, 8);
}

TEST(AccessPlan, UniformStepsThroughRunTimeStrides) {
  const auto plain = make_naive_tensor_descriptor(make_tuple(128, 64), make_tuple(80, number<1>{}));
  expect_addresses<along_k, 2>(plain, {{{0, 0}}, {{3, 5}}}, address_rule::uniform_steps, 1);
  const auto guaranteed = make_naive_tensor_descriptor(make_tuple(128, 64), make_tuple(80, number<1>{}), number<8>{});
  expect_addresses<along_k, 2>(guaranteed, {{{0, 0}}, {{64, 32}}}, address_rule::uniform_steps, 8);
  const auto columns = make_naive_tensor_descriptor(make_tuple(128, 64), make_tuple(number<1>{}, 128), number<4>{});
  expect_addresses<along_rows, 2>(columns, {{{0, 0}}, {{64, 32}}}, address_rule::uniform_steps, 4);
}

TEST(AccessPlan, XorGroupsThroughSwizzles) {
  // The documented LDS layout: rows of 64 bytes, two of them in a row of banks.
  constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, 128, half_t>();
  const std::vector<multi_index<2>> origins{{{0, 0}}, {{64, 0}}};
  const auto write = expect_addresses<along_k, 2>(swizzled, origins, address_rule::xor_groups, 8);
  EXPECT_EQ(write.num_bases, 1);
  const auto read = expect_addresses<fragments, 2>(swizzled, origins, address_rule::xor_groups, 8);
  EXPECT_LT(read.num_bases, read.base.size()) << "some accesses share an address";
  expect_addresses<along_rows, 2>(swizzled, origins, address_rule::xor_groups, 2);
  // Wider rows: 128 bytes, and 64 banks.
  constexpr auto wide = make_lds_index_swapping_descriptor<64, 8, 1, 128, half_t>();
  expect_addresses<fragments, 2>(wide, {{{0, 0}}, {{64, 32}}}, address_rule::xor_groups, 8);
  constexpr auto four_layers = make_lds_index_swapping_descriptor<32, 8, 4, 128, half_t>();
  expect_addresses<fragments, 2>(four_layers, origins, address_rule::xor_groups, 8);
}

TEST(AccessPlan, XorGroupsWhereTheFastestDimensionIsPermuted) {
  constexpr auto matrix = make_naive_tensor_descriptor_packed(make_tuple(number<64>{}, number<32>{}));
  constexpr auto permuted =
      transform_tensor_descriptor(matrix, make_tuple(make_xor_transform(make_tuple(number<64>{}, number<32>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
  expect_addresses<fragments, 2>(permuted, {{{0, 0}}}, address_rule::xor_groups, 1);
  // Only the thread's own row flips the lowest bit of the column.
  constexpr distribution_encoding pairs =
      tile_distribution_encoding<sequence<>, tuple<sequence<32, 2>, sequence<16, 2>>, tuple<sequence<2>, sequence<1>>,
                                 tuple<sequence<0>, sequence<0>>, sequence<1, 2>, sequence<1, 1>>::value;
  EXPECT_EQ((expect_addresses<pairs, 2>(permuted, {{{0, 0}}}, address_rule::xor_groups, 1)).num_bases, 1);
}

// Rows and columns of which a thread holds single elements: bits of the offset that no thread sets are constants.
TEST(AccessPlan, XorGroupsShareAnAddressWhereTheyDifferByAConstant) {
  constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, 128, half_t>();
  constexpr distribution_encoding scattered =
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 16, 2, 2>, sequence<2, 4, 2, 2>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 1>>, sequence<1, 1, 2, 1, 2, 2>, sequence<0, 3, 0, 2, 2, 3>>::value;
  const auto list = expect_addresses<scattered, 2>(swizzled, {{{0, 0}}, {{64, 0}}}, address_rule::xor_groups, 2);
  std::set<index_t> flips(list.flipped_bits.begin(), list.flipped_bits.begin() + list.num_bases);
  EXPECT_EQ(index_t(flips.size()), list.num_bases) << "an address twice";
  // Three bits of y meet bits that lanes set: row 1 and column 16 in the number of a chunk, and row 2, which flips it.
  EXPECT_EQ(list.num_bases, 8);
  // Row 2 flips what column 8 sets; a thread holds both.
  constexpr distribution_encoding crossed =
      tile_distribution_encoding<sequence<>, tuple<sequence<16, 2, 2>, sequence<2, 2, 8>>, tuple<sequence<1, 1, 2>>,
                                 tuple<sequence<0, 2, 0>>, sequence<1, 2, 2>, sequence<1, 1, 2>>::value;
  expect_addresses<crossed, 2>(swizzled, {{{0, 0}}, {{64, 0}}}, address_rule::xor_groups, 8);
  // No thread sets row 8, or what it flips, which is what row 1 sets.
  constexpr distribution_encoding apart =
      tile_distribution_encoding<sequence<>, tuple<sequence<8, 2, 4, 2>, sequence<4, 8>>,
                                 tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<0>, sequence<2, 0>>,
                                 sequence<1, 1, 2>, sequence<1, 3, 1>>::value;
  EXPECT_EQ((expect_addresses<apart, 2>(swizzled, {{{0, 0}}}, address_rule::xor_groups, 8)).num_bases, 1);
}

// The rows that a thread holds are not bits of the row's number.
TEST(AccessPlan, IndependentWhereATileIsNoPowerOfTwo) {
  constexpr auto swizzled = make_lds_index_swapping_descriptor<32, 8, 2, 128, half_t>();
  constexpr distribution_encoding thirds =
      tile_distribution_encoding<sequence<>, tuple<sequence<3, 16>, sequence<4, 8>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 0>>, sequence<1, 2>, sequence<0, 1>>::value;
  expect_addresses<thirds, 2>(swizzled, {{{0, 0}}, {{48, 0}}, {{5, 0}}}, address_rule::independent, 8);
  constexpr distribution_encoding of_lanes =
      tile_distribution_encoding<sequence<>, tuple<sequence<4, 3, 4>, sequence<4, 8>>, tuple<sequence<1, 1, 2>>,
                                 tuple<sequence<0, 1, 0>>, sequence<1, 2>, sequence<2, 1>>::value;
  expect_addresses<of_lanes, 2>(swizzled, {{{0, 0}}, {{48, 0}}}, address_rule::independent, 8);
}

TEST(AccessPlan, IndependentWhereNothingIsKnown) {
  // A merge by an odd length, and a swizzle below run-time lengths.
  constexpr auto cube = make_naive_tensor_descriptor_packed(make_tuple(number<64>{}, number<6>{}, number<16>{}));
  constexpr auto merged = transform_tensor_descriptor(
      cube,
      make_tuple(make_merge_transform(make_tuple(number<64>{}, number<6>{})),
                 make_pass_through_transform(number<16>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  constexpr distribution_encoding narrow = copies::along_rows(128, 16, 2, 64, 8);
  expect_addresses<narrow, 2>(merged, {{{0, 0}}, {{5, 0}}}, address_rule::independent, 8);

  const auto rows = make_naive_tensor_descriptor(make_tuple(128, number<8>{}, number<8>{}),
                                                 make_tuple(64, number<8>{}, number<1>{}), number<8>{});
  const auto swizzled = transform_tensor_descriptor(
      rows, make_tuple(make_xor_transform(make_tuple(128, number<8>{})), make_pass_through_transform(number<8>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  const auto flat = transform_tensor_descriptor(
      swizzled,
      make_tuple(make_pass_through_transform(128), make_merge_transform(make_tuple(number<8>{}, number<8>{}))),
      make_tuple(sequence<0>{}, sequence<1, 2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  expect_addresses<along_k, 2>(flat, {{{0, 0}}, {{64, 32}}}, address_rule::independent, 8);
}

}  // namespace
}  // namespace tilewright
