// SPDX-License-Identifier: MIT
// The LDS accesses of a workgroup that no barrier has ordered yet, as long as different waves access different lines:
// they need no entry in the shadow of each dword then.
#pragma once

#include <array>
#include <vector>

#include "numeric.hpp"

namespace emu {
/// LDS is divided into 64 lines. Accesses that share no line with one of another wave, or only read it, are logged;
/// others enter the shadow (lds_shadow), and all that were logged before them.
struct lds_window {
  struct access {
    u64 cell;  // of the shadow, see lds_shadow
    u64 lanes;
    u32 bytes;
    bool write;
    u32 address[64];
  };
  static constexpr std::size_t most_logged = 1024, most_waves = 32;

  u32 line_bits = 0;  // a line has 1 << line_bits bytes
  std::vector<access> log;
  std::array<u64, most_waves> read{}, written{};  // lines of what is logged, by wave
  u64 shadow_read = 0, shadow_written = 0;        // lines of the shadow's accesses that may be unordered
  u64 shadow_epoch = 0;                           // of the latest of them
  bool shadow_used = false;                       // since the workgroup began

  void resize(u32 lds_bytes) {
    for (line_bits = 4; lds_bytes >> line_bits >= 64;) ++line_bits;
  }
  void clear() {
    log.clear(), read.fill(0), written.fill(0);
    shadow_read = shadow_written = shadow_epoch = 0, shadow_used = false;
  }
  /// The lines of the bytes [a, a + n).
  u64 lines_of(u64 a, u32 n) const {
    const u64 first = a >> line_bits, last = (a + n - 1) >> line_bits;
    return (~0ull << first) & (~0ull >> (63 - last));
  }
  /// Whether no access to these lines may race with one of this wave.
  bool apart(u32 wave, u64 lines, bool write) const {
    u64 others = shadow_written | (write ? shadow_read : 0);
    for (u32 n = 0; n < most_waves; ++n)
      if (n != wave) others |= written[n] | (write ? read[n] : 0);
    return !(others & lines);
  }
  /// All waves have passed the barrier of this epoch: what is older is ordered before all that follows.
  void pass(u64 epoch) {
    const auto ordered = [=](const access& x) { return ((x.cell & 0xffffffff) >> 8) < epoch; };
    if (shadow_epoch < epoch) shadow_read = shadow_written = 0;
    std::erase_if(log, ordered);
    if (log.empty()) read.fill(0), written.fill(0);
  }
};
}  // namespace emu
