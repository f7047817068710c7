// SPDX-License-Identifier: MIT
// Values of other lanes of the wave, on AMD GPUs.
#pragma once

#include <tilewright/exec/amdgcn/native.hpp>

namespace tilewright::exec::inline amdgcn {

template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  return bit_cast<T>(__builtin_amdgcn_ds_bpermute(source_lane * 4, bit_cast<int>(value)));
}

template <index_t Mask, class T>
TILEWRIGHT_HD T shuffle_xor(T value) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < arch::current::value.wave_size,
                "shuffle_xor: the mask must be less than the wave's size, and not 0");
  const int bits = bit_cast<int>(value);
  if constexpr (Mask < 4) {
    // quad_perm: the lanes of each four in the order i ^ Mask
    constexpr int order = Mask | (1 ^ Mask) << 2 | (2 ^ Mask) << 4 | (3 ^ Mask) << 6;
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, order, 0xf, 0xf, true));
  } else if constexpr (Mask == 7) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x141, 0xf, 0xf, true));  // row_half_mirror
  } else if constexpr (Mask == 8) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x128, 0xf, 0xf, true));  // row_ror:8
  } else if constexpr (Mask == 15) {
    return bit_cast<T>(__builtin_amdgcn_mov_dpp(bits, 0x140, 0xf, 0xf, true));  // row_mirror
  } else if constexpr (Mask < 32) {
    return bit_cast<T>(__builtin_amdgcn_ds_swizzle(bits, Mask << 10 | 0x1f));
  } else {
    return shuffle(value, lane_id() ^ Mask);
  }
}

using lane_mask = unsigned long long;

TILEWRIGHT_HD lane_mask ballot(bool condition) {
  if constexpr (arch::current::value.wave_size == 64) {
    return __builtin_amdgcn_ballot_w64(condition);
  } else {
    return __builtin_amdgcn_ballot_w32(condition);
  }
}
TILEWRIGHT_HD index_t count_lanes(lane_mask mask) { return __builtin_popcountll(mask); }
TILEWRIGHT_HD index_t count_lower_lanes(lane_mask mask) {
  const unsigned low = __builtin_amdgcn_mbcnt_lo(unsigned(mask), 0);
  if constexpr (arch::current::value.wave_size == 32) return index_t(low);
  return index_t(__builtin_amdgcn_mbcnt_hi(unsigned(mask >> 32), low));
}

}  // namespace tilewright::exec::inline amdgcn
