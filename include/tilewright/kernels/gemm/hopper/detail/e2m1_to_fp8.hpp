// SPDX-License-Identifier: MIT
// Weights of e2m1 times powers of two as e4m3, relative to the largest scale of a row.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// Whether a format's elements are e2m1 times powers of two.
template <class Format>
inline constexpr bool is_e2m1_with_powers = __is_base_of(e2m1_groups<Format::group, e8m0_t>, Format);

/// The eight magnitudes of e2m1 times 2^d as e4m3, a table for each d. e4m3 has all of them from 2^-8 to 2^6; with less
/// they round to multiples of 2^-9, from 2^-13 on to 0. A row's largest scale has the last table: so elements are exact
/// where their scale is at least 2^-14 of it, others are off by at most 2^-10 where it has 6 2^6. Lane i holds table i.
struct e2m1_tables {
  static constexpr index_t count = 20;       // of d = -13 to 6
  static constexpr float largest = 0x1p-6f;  // the factor of a result is this times the largest scale

  array<unsigned, 2> own;  // of the lane

  TILEWRIGHT_HD static constexpr array<unsigned, 2> table(index_t number) {
    array<unsigned, 2> bytes{};
    const float power = bit_cast<float>(unsigned(number - 13 + 127) << 23);
    for (unsigned code = 0; code < 8; ++code) {
      const float magnitude = power * float_of_small_magnitude<1, 1>(code);
      bytes[index_t(code / 4)] |= unsigned(bit_cast<unsigned char>(fp8_ocp_t(magnitude))) << code % 4 * 8;
    }
    return bytes;
  }
  TILEWRIGHT_HD e2m1_tables() : own(table(min(exec::lane_id(), count - 1))) {}

  /// The table of a group whose scale is `scale`, in a row whose largest is `row_largest`; both biased exponents.
  TILEWRIGHT_HD array<unsigned, 2> of(index_t scale, index_t row_largest) const {
    const index_t number = max(scale - row_largest + count - 1, 0);
    return {exec::shuffle(own[0], number), exec::shuffle(own[1], number)};
  }
};

/// Of 16 bytes of a row, what lane t of four multiplies: of 32 elements 4 t to 4 t + 3, and those 16 after them.
TILEWRIGHT_HD array<unsigned, 2> decode_e2m1_to_fp8(const array<unsigned, 4>& chunk, const array<unsigned, 2>& table) {
  const unsigned t = unsigned(exec::lane_id()) % 4, two_bytes = 2 * t | (2 * t + 1) << 4;
  const unsigned codes = exec::gather_halves(exec::permute_bytes(chunk[0], chunk[1], two_bytes),
                                             exec::permute_bytes(chunk[2], chunk[3], two_bytes), 0);
  const unsigned numbers = codes & 0x77777777u, even = codes << 4;  // a sign is the upper bit of its byte
  return {exec::and_or(exec::permute_bytes(even, codes, 0x5140), 0x80808080u,
                       exec::permute_bytes(table[0], table[1], numbers)),
          exec::and_or(exec::permute_bytes(even, codes, 0x7362), 0x80808080u,
                       exec::permute_bytes(table[0], table[1], numbers >> 16))};
}

}  // namespace tilewright::detail
