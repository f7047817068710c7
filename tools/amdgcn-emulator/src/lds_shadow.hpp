// SPDX-License-Identifier: MIT
// The latest access to each LDS byte: one cell for a dword, or one for each byte where those of a dword differ.
#pragma once

#include <vector>

#include "numeric.hpp"

namespace emu {
/// A cell is 0, or instruction + 1 << 32 | epoch << 8 | in flight at a barrier << 7 | wave + 1 (127: several waves).
struct lds_shadow {
  static constexpr u64 split = ~0ull;  // the dword has cells for its bytes
  std::vector<u64> dwords, bytes;

  void resize(std::size_t lds_bytes) { dwords.resize(lds_bytes / 4 + 1), bytes.resize(lds_bytes + 4); }
  void clear() { std::fill(dwords.begin(), dwords.end(), 0); }
  bool is_split(u32 dword) const { return dwords[dword] == split; }
  void expand(u32 dword) {
    if (is_split(dword)) return;
    for (u32 k = 0; k < 4; ++k) bytes[4 * dword + k] = dwords[dword];
    dwords[dword] = split;
  }
  /// f(cell, first byte) for the cells of [a, a + n), until it returns true.
  template <class F>
  void each(u32 a, u32 n, F f) {
    for (u32 k = a; k < a + n;) {
      const u32 d = k / 4, end = a + n < 4 * d + 4 ? a + n : 4 * d + 4;
      if (!is_split(d)) {
        if (f(dwords[d], k)) return;
        k = end;
      }
      for (; k < end; ++k)
        if (f(bytes[k], k)) return;
    }
  }
  /// f(cell) for the cells of [a, a + n), which it changes.
  template <class F>
  void change(u32 a, u32 n, F f) {
    for (u32 k = a; k < a + n;) {
      const u32 d = k / 4, end = a + n < 4 * d + 4 ? a + n : 4 * d + 4;
      const bool whole = k % 4 == 0 && end == k + 4;
      if (!whole) expand(d);
      if (!is_split(d)) f(dwords[d]), k = end;
      for (; k < end; ++k) f(bytes[k]);
      if (whole && is_split(d) && bytes[4 * d] == bytes[4 * d + 1] && bytes[4 * d] == bytes[4 * d + 2] &&
          bytes[4 * d] == bytes[4 * d + 3])
        dwords[d] = bytes[4 * d];
    }
  }
};
}  // namespace emu
