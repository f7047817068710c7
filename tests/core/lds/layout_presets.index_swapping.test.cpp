// SPDX-License-Identifier: MIT
// The documented XOR layout: its formula, and where it is free of bank conflicts.
#include "../distribution/copies.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

/// The layout in bytes and bits: rows of banks hold `layer` rows each;
/// chunks of k_pack elements are permuted by the row of banks.
template <index_t KPerBlock, index_t KPack, index_t Layer, index_t MPerBlock>
void expect_formula() {
  using layout = lds_index_swapping<KPerBlock, KPack, Layer, MPerBlock, half_t>;
  constexpr auto descriptor = layout::descriptor;
  static_assert(descriptor.is_static() && descriptor.get_lengths() == (multi_index<2>{{MPerBlock, KPerBlock}}));
  static_assert(descriptor.get_element_space_size() == MPerBlock * KPerBlock, "no element is wasted");
  std::set<index_t> places;
  for (index_t m = 0; m < MPerBlock; ++m) {
    for (index_t k = 0; k < KPerBlock; ++k) {
      const index_t chunks = KPerBlock / KPack, row_of_banks = m / Layer;
      const index_t chunk = ((m % Layer) * chunks + k / KPack) ^ (row_of_banks % (chunks * Layer));
      const index_t offset = row_of_banks * KPerBlock * Layer + chunk * KPack + k % KPack;
      EXPECT_EQ(descriptor.calculate_offset({m, k}), offset) << m << ", " << k;
      places.insert(offset);
    }
  }
  EXPECT_EQ(index_t(places.size()), MPerBlock * KPerBlock);
}

TEST(LdsIndexSwapping, Formula) {
  expect_formula<32, 8, 1, 128>();
  expect_formula<32, 8, 2, 64>();
  expect_formula<32, 8, 4, 32>();
  expect_formula<32, 8, 2, 96>();
  expect_formula<64, 8, 1, 64>();
  expect_formula<64, 4, 2, 16>();
  expect_formula<128, 8, 1, 32>();
}

TEST(LdsIndexSwapping, RowsThatShareARowOfBanks) {
  static_assert(lds_layer(32, 2) == 2 && lds_layer(64, 2) == 1 && lds_layer(128, 2) == 1 && lds_layer(16, 2) == 4);
  static_assert(lds_layer(32, 2, 256) == 4 && lds_layer(64, 2, 256) == 2);
}

/// Rows of `Rows` lanes, each lane a chunk of 8 elements: how MFMA operands with 16 or 32 rows, WMMA and ldmatrix read.
template <index_t Rows, index_t Wave, index_t K>
constexpr distribution_encoding column_read = [] {
  distribution_encoding e;
  constexpr index_t k_lanes = Wave / Rows;
  e.h.push_back({});
  e.h.push_back({});
  e.h[0].push_back(128 / Rows);
  e.h[0].push_back(Rows);
  for (const index_t f : {K / (8 * k_lanes), k_lanes, index_t(8)}) e.h[1].push_back(f);
  e.p.push_back({});
  e.p[0].push_back({2, 1});
  e.p[0].push_back({1, 1});
  e.y.push_back({1, 0});
  e.y.push_back({2, 0});
  e.y.push_back({2, 2});
  return e;
}();

struct degrees {
  index_t write, read_16_rows, read_32_rows;
  friend bool operator==(const degrees&, const degrees&) = default;
  friend void PrintTo(const degrees& d, std::ostream* out) {
    *out << d.write << ", " << d.read_16_rows << ", " << d.read_32_rows;
  }
};

/// Worst degrees of 16-byte accesses to a tile of 128 x K.
template <index_t Wave, index_t K, class Descriptor>
degrees worst_degrees(const arch::target& target, const Descriptor& descriptor) {
  const auto degree = [&](auto distribution, lds_access_kind kind) {
    return analyze_lds_access(target, descriptor, distribution, 2, kind).worst_degree;
  };
  constexpr distribution_encoding copy = copies::along_rows(128, K, 1, Wave, 8);
  return {degree(tile_distribution<copy>{}, lds_access_kind::write),
          degree(tile_distribution<column_read<16, Wave, K>>{}, lds_access_kind::read),
          degree(tile_distribution<column_read<32, Wave, K>>{}, lds_access_kind::read)};
}

template <index_t K, index_t BankRowBytes = 128>
constexpr auto swizzled = make_lds_index_swapping_descriptor<K, 8, lds_layer(K, 2, BankRowBytes), 128, half_t>();

template <index_t K, index_t PadBytes = 0>
constexpr auto rows = make_naive_tensor_descriptor(make_tuple(number<128>{}, number<K>{}),
                                                   make_tuple(number<K + PadBytes / 2>{}, number<1>{}));

constexpr degrees no_conflicts{1, 1, 1};

TEST(LdsIndexSwapping, IsConflictFreeOnTargetsWith32Banks) {
  for (const arch::target* target : {&arch::gfx90a::value, &arch::gfx942::value}) {
    EXPECT_EQ((worst_degrees<64, 32>(*target, swizzled<32>)), no_conflicts) << target->name;
    EXPECT_EQ((worst_degrees<64, 64>(*target, swizzled<64>)), no_conflicts) << target->name;
    EXPECT_EQ((worst_degrees<64, 128>(*target, swizzled<128>)), no_conflicts) << target->name;
  }
  for (const arch::target* target :
       {&arch::gfx1100::value, &arch::gfx1201::value, &arch::sm80::value, &arch::sm90::value}) {
    EXPECT_EQ((worst_degrees<32, 32>(*target, swizzled<32>)), no_conflicts) << target->name;
    EXPECT_EQ((worst_degrees<32, 64>(*target, swizzled<64>)), no_conflicts) << target->name;
    EXPECT_EQ((worst_degrees<32, 128>(*target, swizzled<128>)), no_conflicts) << target->name;
  }
}

// 64 banks: rows of banks of 256 bytes. One case is left: rows of 64 bytes that are read 16 at a time.
TEST(LdsIndexSwapping, OnGfx950) {
  const arch::target& gfx950 = arch::gfx950::value;
  EXPECT_EQ((worst_degrees<64, 32>(gfx950, swizzled<32, 256>)), (degrees{1, 2, 1}));
  EXPECT_EQ((worst_degrees<64, 64>(gfx950, swizzled<64, 256>)), no_conflicts);
  EXPECT_EQ((worst_degrees<64, 128>(gfx950, swizzled<128, 256>)), no_conflicts);
}

TEST(LdsIndexSwapping, PlainRowsConflict) {
  const degrees plain = worst_degrees<64, 64>(arch::gfx942::value, rows<64>);
  EXPECT_EQ(plain.write, 1);
  EXPECT_EQ(plain.read_16_rows, 4) << "the documented four-way conflict of a column-wise read";
  EXPECT_EQ(plain.read_32_rows, 8);
}

// The unmerge must list (layer, K0): (K0, layer) puts rows of one phase into the same banks.
TEST(LdsIndexSwapping, OrderOfTheUnmergeMatters) {
  constexpr number<4> k0{};
  constexpr number<2> layer{};
  constexpr number<64> m{};
  constexpr number<8> k1{};
  constexpr auto base =
      make_naive_tensor_descriptor(make_tuple(number<8>{}, m, k1), make_tuple(k1, number<64>{}, number<1>{}));
  constexpr auto permuted = transform_tensor_descriptor(
      base, make_tuple(make_xor_transform(make_tuple(m, number<8>{})), make_pass_through_transform(k1)),
      make_tuple(sequence<1, 0>{}, sequence<2>{}), make_tuple(sequence<1, 0>{}, sequence<2>{}));
  constexpr auto layered =
      transform_tensor_descriptor(permuted,
                                  make_tuple(make_unmerge_transform(make_tuple(k0, layer)),
                                             make_pass_through_transform(m), make_pass_through_transform(k1)),
                                  make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
                                  make_tuple(sequence<2, 0>{}, sequence<1>{}, sequence<3>{}));
  constexpr auto other = transform_tensor_descriptor(
      layered, make_tuple(make_merge_transform(make_tuple(m, layer)), make_merge_transform(make_tuple(k0, k1))),
      make_tuple(sequence<1, 0>{}, sequence<2, 3>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  EXPECT_NE((worst_degrees<64, 32>(arch::gfx942::value, other)), no_conflicts);
}

template <index_t K, index_t... Pads>
void expect_no_pad_serves_both(const arch::target& target, sequence<Pads...>) {
  const auto expect = [&](const degrees& d, index_t pad) {
    EXPECT_FALSE(d.read_16_rows == 1 && d.read_32_rows == 1)
        << target.name << ", rows of " << 2 * K << " bytes and " << pad << " of padding";
  };
  (expect(worst_degrees<64, K>(target, rows<K, 16 * (Pads + 1)>), 16 * (Pads + 1)), ...);
}

TEST(Padding, ServesNeverBoth16And32Rows) {
  const auto up_to_128_bytes = make_sequence<8>{};
  expect_no_pad_serves_both<64>(arch::gfx942::value, up_to_128_bytes);
  expect_no_pad_serves_both<64>(arch::gfx950::value, up_to_128_bytes);
  expect_no_pad_serves_both<32>(arch::gfx942::value, up_to_128_bytes);
}

// What an H100's counter of wavefronts said of a 64 x 64 tile with 16-byte accesses.
TEST(MeasuredOnAnH100, RowsColumnsAndPadding) {
  constexpr distribution_encoding down_the_columns =
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 32>, sequence<8, 8>>, tuple<sequence<1>>,
                                 tuple<sequence<1>>, sequence<1, 2, 2>, sequence<0, 0, 1>>::value;
  constexpr distribution_encoding along_rows = copies::along_rows(64, 64, 1, 32, 8);
  constexpr auto square = [](auto pitch) {
    return make_naive_tensor_descriptor(make_tuple(number<64>{}, number<64>{}), make_tuple(pitch, number<1>{}));
  };
  constexpr auto plain = square(number<64>{});
  constexpr auto padded = square(number<72>{});
  constexpr auto swizzle = make_lds_index_swapping_descriptor<64, 8, 1, 64, half_t>();
  const auto extra = [](const auto& descriptor, auto distribution, lds_access_kind kind) {
    return analyze_lds_access<arch::sm90>(descriptor, distribution, 2, kind).conflicts;
  };
  EXPECT_EQ(extra(plain, tile_distribution<down_the_columns>{}, lds_access_kind::read), 448);
  EXPECT_EQ(extra(padded, tile_distribution<down_the_columns>{}, lds_access_kind::read), 0);
  EXPECT_EQ(extra(swizzle, tile_distribution<down_the_columns>{}, lds_access_kind::read), 0);
  EXPECT_EQ(extra(plain, tile_distribution<along_rows>{}, lds_access_kind::write), 0);
  EXPECT_EQ(extra(padded, tile_distribution<along_rows>{}, lds_access_kind::write), 0);
  EXPECT_EQ(extra(swizzle, tile_distribution<along_rows>{}, lds_access_kind::write), 0);
}

}  // namespace
}  // namespace tilewright
