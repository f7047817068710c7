// SPDX-License-Identifier: MIT
// The documents' functions for swizzled LDS: what is written is read, columns meet in no bank,
// and the descriptor says the same.
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(XorPreshuffle, IsWhatTheDocumentsSay) {
  static_assert(xor_preshuffle<64, 8>(0, 5) == 5 && xor_preshuffle<64, 8>(3, 5) == 6 &&
                xor_preshuffle<64, 8>(11, 5) == 6);
  static_assert(xor_preshuffle<24, 3>(6, 5) == 3 && xor_preshuffle<4, 1>(6, 1) == 3, "any vectors");
  for (index_t row = 0; row < 64; ++row) {
    unsigned seen = 0;
    for (index_t col = 0; col < 8; ++col) seen |= 1u << xor_preshuffle<64, 8>(row, col);
    ASSERT_EQ(seen, 0xffu) << "each place of row " << row << " once";
  }
}

TEST(XorPreshuffle, IsTheDescriptorsLayout) {
  constexpr auto layout = make_lds_index_swapping_descriptor<64, 8, 1, 32, half_t>();
  for (index_t row = 0; row < 32; ++row) {
    for (index_t col = 0; col < 8; ++col) {
      const index_t offset = layout.calculate_offset({row, col * 8});
      const index_t place = xor_preshuffle<64, 8>(row, col);
      ASSERT_EQ(offset, row * 64 + place * 8);
    }
  }
}

TEST(LdsSwappingConfig, FitsTypesTilesAndTargets) {
  using arch::gfx942, arch::gfx950;
  static_assert(lds_swapping_config<half_t, 64, gfx942>::KPack == 8 &&
                lds_swapping_config<float, 64, gfx942>::KPack == 4);
  static_assert(lds_swapping_config<fp8_ocp_t, 64, gfx950>::KPack == 16 &&
                lds_swapping_config<double, 64, gfx950>::KPack == 2);
  static_assert(lds_swapping_config<half_t, 64, gfx942>::MLdsLayer == 1 &&
                lds_swapping_config<half_t, 32, gfx942>::MLdsLayer == 2);
  static_assert(lds_swapping_config<half_t, 32, gfx950>::MLdsLayer == 4 &&
                lds_swapping_config<half_t, 256, gfx950>::MLdsLayer == 1);
  static_assert(lds_swapping_config<float, 16, arch::sm90>::MLdsLayer == 2);
}

}  // namespace
}  // namespace tilewright
