// SPDX-License-Identifier: MIT
// Who addresses what for a transposing read, against the exchange of elements between lanes,
// for each register of each thread.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Warray-bounds"  // g++ 12 believes that embed writes a third partition index
#endif

#include "copies.hpp"
#include "naive_distribution.hpp"

#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/transpose_encoding.hpp>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

using arch::lds_op;
using enum arch::matrix_op;

const lds_op operations[] = {lds_op::read_b64_tr_b16, lds_op::read_b64_tr_b8, lds_op::ldmatrix, lds_op::read_b16};

/// Row-major index of y.
naive::indices y_of(const distribution_encoding& e, index_t register_index) {
  const naive::indices lengths = naive::y_lengths(e);
  naive::indices y(lengths.size());
  for (std::size_t i = lengths.size(); i-- > 0; register_index /= lengths[i]) y[i] = register_index % lengths[i];
  return y;
}

/// The element that a register receives is the one that the exchange's source addresses,
/// with rows and columns exchanged.
void expect_exchange(const distribution_encoding& held, lds_op op, const std::string& what) {
  SCOPED_TRACE(what + ", operation " + std::to_string(int(op)));
  const arch::lane_exchange exchange = arch::exchange_of(op);
  const detail::encoding_transpose input = detail::transpose_encoding(held, exchange, true);
  ASSERT_EQ(input.fault, detail::transpose_fault::none);
  const distribution_encoding& addressed = input.encoding;
  ASSERT_TRUE(check_encoding(addressed).is_sound());
  ASSERT_EQ(naive::ownership_fault(addressed), "");
  const index_t lanes = held.p_length(held.ndim_p() - 1), length = exchange.vector_length();
  ASSERT_EQ(addressed.num_elements_per_thread(), held.num_elements_per_thread());
  for (index_t wave = 0; wave < (held.ndim_p() == 2 ? held.p_length(0) : 1); ++wave) {
    const auto place = [&](index_t lane) {
      return held.ndim_p() == 2 ? naive::indices{wave, lane} : naive::indices{lane};
    };
    for (index_t lane = 0; lane < lanes; ++lane) {
      for (index_t r = 0; r < held.num_elements_per_thread(); ++r) {
        const arch::lane_element from = arch::source_of_transposing_read(op, {lane, r % length});
        const naive::indices wanted = naive::position(held, place(lane), y_of(held, r));
        const naive::indices found =
            naive::position(addressed, place(from.lane), y_of(addressed, r / length * length + from.element));
        ASSERT_EQ(found, (naive::indices{wanted[1], wanted[0]})) << wave << ", " << lane << ", " << r;
      }
    }
  }
  const detail::encoding_transpose back = detail::transpose_encoding(addressed, exchange, false);
  ASSERT_EQ(back.fault, detail::transpose_fault::none);
  EXPECT_TRUE(detail::hold_the_same(back.encoding, held));
}

/// A block of waves: repeats along both dimensions, waves that hold the same.
constexpr distribution_encoding block = [] {
  distribution_encoding outer;
  outer.r.push_back(2);
  outer.h.push_back({});
  outer.h[0].push_back(3);
  outer.h[0].push_back(2);
  outer.h.push_back({});
  outer.h[1].push_back(2);
  outer.p.push_back({});
  outer.p[0].push_back({1, 1});
  outer.p[0].push_back({0, 0});
  outer.p.push_back({});
  outer.y.push_back({1, 0});
  outer.y.push_back({2, 0});
  return outer;
}();

/// The block with an operand's fragments.
distribution_encoding block_of(const arch::lane_map& operand) { return embed(block, encoding_of(operand)); }

TEST(TransposeEncoding, LeadsToOperandsOfMatrixInstructions) {
  for (const arch::matrix_op op :
       {mfma_16x16x16, mfma_16x16x16_x2, mfma_32x32x8, mfma_32x32x8_x2, mfma_16x16x32, mfma_32x32x16}) {
    for (const lds_op read : {lds_op::read_b64_tr_b16, lds_op::read_b16}) {
      expect_exchange(encoding_of(arch::describe(op).a), read, "fragment");
      expect_exchange(encoding_of(arch::describe(op).b), read, "fragment");
    }
    expect_exchange(block_of(arch::describe(op).a), lds_op::read_b64_tr_b16, "block");
    expect_exchange(block_of(arch::describe(op).b), lds_op::read_b16, "block");
  }
  for (const arch::matrix_op op :
       {mfma_16x16x32_b8_x2, mfma_16x16x64_b8, mfma_32x32x32_b8, mfma_16x16x128_b8, mfma_32x32x64_b8}) {
    expect_exchange(encoding_of(arch::describe(op).a), lds_op::read_b64_tr_b8, "fragment");
    expect_exchange(block_of(arch::describe(op).b), lds_op::read_b64_tr_b8, "block");
  }
  for (const auto& operand : {arch::describe(mma_m16n8k16_x2).a, arch::describe(mma_m16n8k16_x2).b})
    expect_exchange(block_of(operand), lds_op::ldmatrix, "block");
}

TEST(TransposeEncoding, TakesAnyDistributionMadeOfEnoughBits) {
  for (const lds_op op : operations) {
    expect_exchange(copies::along_rows(32, 64, 2, 64, 8), op, "rows");
    expect_exchange(copies::along_rows(96, 16, 3, 32, 8), op, "rows of three waves");
    expect_exchange(copies::along_columns(64, 32, 2, 64, 8), op, "columns");
  }
}

// An operand's fragment comes back in the very encoding that describes it.
TEST(TransposeEncoding, IsItsOwnInverse) {
  for (const arch::matrix_op op : {mfma_16x16x32, mfma_32x32x16}) {
    const distribution_encoding held = encoding_of(arch::describe(op).a);
    const arch::lane_exchange exchange = arch::exchange_of(lds_op::read_b64_tr_b16);
    EXPECT_EQ(
        detail::transpose_encoding(detail::transpose_encoding(held, exchange, true).encoding, exchange, false).encoding,
        held);
    EXPECT_FALSE(detail::hold_the_same(detail::transpose_encoding(held, exchange, true).encoding, held));
  }
}

// CK Tile's pattern of 16 lanes: they address 4 rows of 16 halves, or 8 rows of 16 bytes,
// and hold 16 rows of 4, or of 8.
TEST(TransposeEncoding, AgreesWithCkTilesLaneGroups) {
  using halves = tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<4, 4>>, tuple<sequence<1, 2>>,
                                            tuple<sequence<0, 0>>, sequence<2>, sequence<1>>;
  using halves_held = tile_distribution_encoding<sequence<>, tuple<sequence<16>, sequence<4>>, tuple<sequence<1>>,
                                                 tuple<sequence<0>>, sequence<2>, sequence<0>>;
  using bytes = tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<2, 8>>, tuple<sequence<1, 2>>,
                                           tuple<sequence<0, 0>>, sequence<2>, sequence<1>>;
  using bytes_held = tile_distribution_encoding<sequence<>, tuple<sequence<16>, sequence<8>>, tuple<sequence<1>>,
                                                tuple<sequence<0>>, sequence<2>, sequence<0>>;
  static_assert(
      __is_same(decltype(make_transpose_output_distribution<half_t, arch::gfx950>(tile_distribution<halves::value>{})),
                tile_distribution<halves_held::value>));
  static_assert(__is_same(
      decltype(make_transpose_input_distribution<half_t, arch::gfx950>(tile_distribution<halves_held::value>{})),
      tile_distribution<halves::value>));
  static_assert(
      __is_same(decltype(make_transpose_output_distribution<int8_t, arch::gfx950>(tile_distribution<bytes::value>{})),
                tile_distribution<bytes_held::value>));
  static_assert(__is_same(
      decltype(make_transpose_input_distribution<int8_t, arch::gfx950>(tile_distribution<bytes_held::value>{})),
      tile_distribution<bytes::value>));
}

// Waves that hold copies, in two factors of different lengths; registers that are more than an instruction exchanges.
TEST(TransposeEncoding, KeepsReplicationAndTheRestOfTheRegisters) {
  using replicated = tile_distribution_encoding<sequence<2, 3>, tuple<sequence<16>, sequence<2, 4, 16>>,
                                                tuple<sequence<0, 2, 0>, sequence<2, 1>>,
                                                tuple<sequence<1, 0, 0>, sequence<1, 0>>, sequence<2>, sequence<2>>;
  for (const lds_op op : {lds_op::read_b64_tr_b16, lds_op::read_b64_tr_b8, lds_op::read_b16})
    expect_exchange(replicated::value, op, "replicated");
  const distribution_encoding input =
      detail::transpose_encoding(replicated::value, arch::exchange_of(lds_op::read_b64_tr_b16), true).encoding;
  EXPECT_EQ(input.r, replicated::value.r);
  ASSERT_EQ(input.y.size(), 2);
  EXPECT_EQ(input.y_length(0), 4);
  EXPECT_EQ(input.y_length(1), 4);
}

TEST(TransposeEncoding, SaysWhatIsImpossible) {
  const auto fault = [](const distribution_encoding& e, lds_op op) {
    return detail::transpose_encoding(e, arch::exchange_of(op), true).fault;
  };
  EXPECT_EQ(fault(copies::along_rows(32, 16, 1, 8, 8), lds_op::read_b64_tr_b16), detail::transpose_fault::lanes);
  EXPECT_EQ(fault(copies::along_rows(32, 16, 1, 8, 8), lds_op::read_b16), detail::transpose_fault::none);
  EXPECT_EQ(fault(copies::along_rows(32, 64, 2, 64, 2), lds_op::read_b64_tr_b8), detail::transpose_fault::none);
  EXPECT_EQ(fault(copies::along_rows(16, 16, 1, 64, 2), lds_op::read_b64_tr_b8), detail::transpose_fault::registers);
  EXPECT_EQ(fault(encoding_of(arch::describe(wmma_16x16x16_gfx11).a), lds_op::ldmatrix), detail::transpose_fault::lanes)
      << "copies";
  distribution_encoding twelve_lanes = copies::along_rows(32, 16, 1, 16, 8);
  twelve_lanes.h[0] = {};
  twelve_lanes.h[0].push_back(12);
  twelve_lanes.h[1] = {};
  twelve_lanes.h[1].push_back(8);
  twelve_lanes.p[0] = {};
  twelve_lanes.p[1] = {};
  twelve_lanes.p[1].push_back({1, 0});
  twelve_lanes.y = {};
  twelve_lanes.y.push_back({2, 0});
  EXPECT_EQ(fault(twelve_lanes, lds_op::read_b64_tr_b16), detail::transpose_fault::lanes);
  distribution_encoding flat;
  flat.h.push_back({});
  flat.h[0].push_back(64);
  flat.p.push_back({});
  flat.p[0].push_back({1, 0});
  EXPECT_EQ(fault(flat, lds_op::read_b16), detail::transpose_fault::dimensions);
  distribution_encoding full = copies::along_rows(64, 64, 2, 64, 8);  // factors of its second dimension: lanes, vector
  full.h[1] = {};
  for (const index_t factor : {2, 2, 2, 2, 8, 8}) full.h[1].push_back(factor);
  full.p[1][1] = {2, 4};
  full.y = {};
  for (const signed char minor : {0, 1, 2, 3, 5}) full.y.push_back({2, minor});
  full.y.push_back({1, 1});
  EXPECT_EQ(fault(full, lds_op::read_b16), detail::transpose_fault::none);
  EXPECT_EQ(fault(full, lds_op::ldmatrix), detail::transpose_fault::too_many_factors);
}

}  // namespace
}  // namespace tilewright
