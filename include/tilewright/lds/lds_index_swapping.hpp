// SPDX-License-Identifier: MIT
// The documented names of the XOR preshuffle: xor_preshuffle_layout as a descriptor from (M, K), and its parameters.
#pragma once

#include <tilewright/arch/target.hpp>
#include <tilewright/lds/swizzles.hpp>

namespace tilewright {

/// Rows of the tile that share one row of banks: those that fit into `bank_row_bytes` (128 for 32 banks, 256 for 64).
TILEWRIGHT_HD constexpr index_t lds_layer(index_t k_per_block, index_t element_bytes, index_t bank_row_bytes = 128) {
  return max(1, bank_row_bytes / (k_per_block * element_bytes));
}

/// KPack elements stay together and should be 16 bytes. MLdsLayer: see lds_layer. Both and KPerBlock are powers of two.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
TILEWRIGHT_HD constexpr auto make_lds_index_swapping_descriptor() {
  static_assert(KPerBlock % KPack == 0, "lds_index_swapping: KPerBlock must be a multiple of KPack");
  static_assert(MPerBlock % MLdsLayer == 0, "lds_index_swapping: MPerBlock must be a multiple of MLdsLayer");
  static_assert(
      detail::is_power_of_two(KPerBlock) && detail::is_power_of_two(KPack) && detail::is_power_of_two(MLdsLayer),
      "lds_index_swapping: KPerBlock, KPack and MLdsLayer must be powers of two");
  constexpr lds_tile tile{MPerBlock, KPerBlock, sizeof(T)};
  return make_lds_descriptor<xor_preshuffle_layout(tile, MLdsLayer, KPack * index_t(sizeof(T)))>();
}

/// The same as a type.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
struct lds_index_swapping {
  static constexpr auto descriptor = make_lds_index_swapping_descriptor<KPerBlock, KPack, MLdsLayer, MPerBlock, T>();
  using FinalDescriptor = decltype(descriptor);
};

/// Parameters of lds_index_swapping for rows of KPerBlock elements: vectors of 16 bytes, and as many rows to a row of
/// banks as fit, for the reads that see the most banks.
template <class T, index_t KPerBlock, class Arch>
struct lds_swapping_config {
  static constexpr index_t KPack = 16 / index_t(sizeof(T));
  static_assert(KPerBlock % KPack == 0, "lds_swapping_config: rows must be a multiple of 16 bytes");
  static constexpr index_t bank_row_bytes = [] {
    constexpr arch::target target = Arch::value;
    index_t banks = 0;
    for (const arch::lds_service& reading : target.find(arch::lds_op::read_b128)->readings)
      banks = max(banks, reading.banks);
    return banks * arch::lds_bank_bytes;
  }();
  static constexpr index_t MLdsLayer = lds_layer(KPerBlock, sizeof(T), bank_row_bytes);
};

}  // namespace tilewright
