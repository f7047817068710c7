// SPDX-License-Identifier: MIT
// The documented XOR preshuffle: a K-major tile in LDS whose rows and columns are both free of bank conflicts.
#pragma once

#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tilewright {

/// Rows of the tile that share one row of banks: those that fit into `bank_row_bytes` (128 for 32 banks, 256 for 64).
TILEWRIGHT_HD constexpr index_t lds_layer(index_t k_per_block, index_t element_bytes, index_t bank_row_bytes = 128) {
  return max(1, bank_row_bytes / (k_per_block * element_bytes));
}

/// Descriptor from (M, K) to the offset: xor of K0 by M / L, then K0' split into (L, K0), then merges into (M, K).
/// KPack elements stay together and should be 16 bytes. MLdsLayer: see lds_layer.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
TILEWRIGHT_HD constexpr auto make_lds_index_swapping_descriptor() {
  static_assert(KPerBlock % KPack == 0, "lds_index_swapping: KPerBlock must be a multiple of KPack");
  static_assert(MPerBlock % MLdsLayer == 0, "lds_index_swapping: MPerBlock must be a multiple of MLdsLayer");
  constexpr number<KPerBlock / KPack * MLdsLayer> k0_times_layer{};
  constexpr number<KPerBlock / KPack> k0{};
  constexpr number<MPerBlock / MLdsLayer> m{};
  constexpr number<MLdsLayer> layer{};
  constexpr number<KPack> k1{};
  // (K0 * L, M / L, K1)
  const auto base = make_naive_tensor_descriptor(make_tuple(k0_times_layer, m, k1),
                                                 make_tuple(k1, number<KPerBlock * MLdsLayer>{}, number<1>{}));
  const auto permuted = transform_tensor_descriptor(
      base, make_tuple(make_xor_transform(make_tuple(m, k0_times_layer)), make_pass_through_transform(k1)),
      make_tuple(sequence<1, 0>{}, sequence<2>{}), make_tuple(sequence<1, 0>{}, sequence<2>{}));
  // (L, M / L, K0, K1)
  const auto layered =
      transform_tensor_descriptor(permuted,
                                  make_tuple(make_unmerge_transform(make_tuple(layer, k0)),
                                             make_pass_through_transform(m), make_pass_through_transform(k1)),
                                  make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
                                  make_tuple(sequence<0, 2>{}, sequence<1>{}, sequence<3>{}));
  return transform_tensor_descriptor(
      layered, make_tuple(make_merge_transform(make_tuple(m, layer)), make_merge_transform(make_tuple(k0, k1))),
      make_tuple(sequence<1, 0>{}, sequence<2, 3>{}), make_tuple(sequence<0>{}, sequence<1>{}));
}

/// The same as a type with the documents' names.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
struct lds_index_swapping {
  static constexpr auto descriptor = make_lds_index_swapping_descriptor<KPerBlock, KPack, MLdsLayer, MPerBlock, T>();
  using FinalDescriptor = decltype(descriptor);
};

}  // namespace tilewright
