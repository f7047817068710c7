// SPDX-License-Identifier: MIT
// What can be proven about accesses to LDS, and what not.
#include "../distribution/copies.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_proof.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum lds_access_kind;
constexpr auto plain = make_naive_tensor_descriptor_packed(make_tuple(number<32>{}, number<64>{}));
constexpr auto swizzled = make_lds_index_swapping_descriptor<64, 8, 1, 32, half_t>();
using operand = tile_distribution<encoding_of(arch::describe(arch::matrix_op::mfma_32x32x8_x2).a)>;

static_assert(ConflictFree<lds_access<arch::gfx942, swizzled, operand, half_t, read>>);
static_assert(!ConflictFree<lds_access<arch::gfx942, plain, operand, half_t, read>>);
static_assert(require_conflict_free<lds_access<arch::gfx942, swizzled, operand, half_t, read>,
                                    lds_access<arch::gfx90a, swizzled, operand, half_t, read>>());
// AMD has published gfx90a's row. RDNA's rows for writes are inferred.
using copy = tile_distribution<copies::along_rows(32, 64, 1, 32, 8)>;
static_assert(ConflictFreeByEvidence<lds_access<arch::gfx90a, swizzled, operand, half_t, read>>);
static_assert(ConflictFree<lds_access<arch::gfx1201, swizzled, copy, half_t, write>>);
static_assert(!ConflictFreeByEvidence<lds_access<arch::gfx1201, swizzled, copy, half_t, write>>);
static_assert(proof_grade<lds_access<arch::gfx90a, swizzled, operand, half_t, read>>() == arch::grade::vendor);
static_assert(proof_grade<lds_access<arch::gfx90a, swizzled, operand, half_t, read>,
                          lds_access<arch::gfx1201, swizzled, copy, half_t, write>,
                          lds_access<arch::gfx1201, swizzled, copy, half_t, read>>() == arch::grade::inferred);
static_assert(
    require_conflict_free<proof_basis::evidence, lds_access<arch::gfx942, swizzled, operand, half_t, read>>());
static_assert(is_conflict_free<arch::gfx90a>(swizzled, operand{}, 2, read));
static_assert(!is_conflict_free<arch::gfx1201, proof_basis::evidence>(swizzled, copy{}, 2, write));
static_assert(!is_conflict_free<arch::gfx942>(plain, operand{}, 2, read));
// Waves of 64 lanes on a target with 32: no proof.
static_assert(!ConflictFree<lds_access<arch::sm90, swizzled, operand, half_t, read>>);
static_assert(!is_conflict_free<arch::sm90>(swizzled, operand{}, 2, read));

TEST(RestsOnEvidence, AcceptsWhatSomebodySaw) {
  using arch::lds_op;
  EXPECT_TRUE(arch::rests_on_evidence(arch::gfx942::value, lds_op::read_b128)) << "vendor";
  EXPECT_TRUE(arch::rests_on_evidence(arch::gfx950::value, lds_op::read_b96)) << "measured by others";
  EXPECT_TRUE(arch::rests_on_evidence(arch::sm90::value, lds_op::ldmatrix)) << "measured here";
  EXPECT_TRUE(arch::rests_on_evidence(arch::gfx950::value, lds_op::read_b32))
      << "disputed, but the cost holds under both readings";
  EXPECT_FALSE(arch::rests_on_evidence(arch::gfx90a::value, lds_op::read_b96)) << "inferred";
  EXPECT_FALSE(arch::rests_on_evidence(arch::gfx1201::value, lds_op::write_b128)) << "one reading is inferred";
  EXPECT_FALSE(arch::rests_on_evidence(arch::gfx942::value, lds_op::write_b96)) << "unknown";
  EXPECT_FALSE(arch::rests_on_evidence(arch::gfx942::value, lds_op::ldmatrix)) << "does not exist";
}

// 64 lanes read every second word: without conflicts in neither reading, though each differs.
TEST(IsConflictFree, DisputedRowsHoldUnderBothReadings) {
  using lanes =
      tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<64>, sequence<1>>, tuple<sequence<1>>,
                                                   tuple<sequence<0>>, sequence<2>, sequence<0>>::value>;
  const auto with_stride = [](index_t stride, lds_reading reading) {
    return analyze_lds_access(arch::gfx950::value, strided_graph(64, 1, stride, 1), lanes::encoding, 4, read, reading)
        .is_conflict_free();
  };
  EXPECT_TRUE(with_stride(1, lds_reading::first) && with_stride(1, lds_reading::second) &&
              with_stride(1, lds_reading::worst));
  EXPECT_FALSE(with_stride(2, lds_reading::first) || with_stride(2, lds_reading::second) ||
               with_stride(2, lds_reading::worst));
  // gfx1201: 32 lanes at stride 2 are free of conflicts on 64 banks, but not on 32.
  using half_wave =
      tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<32>, sequence<1>>, tuple<sequence<1>>,
                                                   tuple<sequence<0>>, sequence<2>, sequence<0>>::value>;
  const tensor_graph every_second = strided_graph(32, 1, 2, 1);
  const auto on_gfx1201 = [&](lds_reading reading) {
    return analyze_lds_access(arch::gfx1201::value, every_second, half_wave::encoding, 4, read, reading)
        .is_conflict_free();
  };
  EXPECT_FALSE(on_gfx1201(lds_reading::first));
  EXPECT_TRUE(on_gfx1201(lds_reading::second));
  EXPECT_FALSE(on_gfx1201(lds_reading::worst));
}

TEST(AnalyzeLdsAccess, KnowsClocks) {
  const auto of = [](const arch::target& target, const tensor_graph& layout) {
    return analyze_lds_access(target, layout, operand::encoding, 2, read);
  };
  EXPECT_EQ(of(arch::gfx942::value, swizzled.graph).clocks, 16) << "1024 bytes at 64 bytes per clock";
  EXPECT_EQ(of(arch::gfx942::value, plain.graph).clocks, 16 + 56);
  EXPECT_EQ(of(arch::gfx950::value, plain.graph).clocks, 8 + 28);
}

}  // namespace
}  // namespace tilewright
