// SPDX-License-Identifier: MIT
// Registers that matrix instructions of a warpgroup in flight own: accumulators, and operand a.
#pragma once

#include <tilewright/emulator/hopper/wgmma_emulation.hpp>
#include <tilewright/emulator/threads/refuse.hpp>

#include <array>
#include <vector>

namespace tilewright::emulator {

inline constexpr index_t warpgroup_size = 128;  // threads

/// The accumulators of instructions in flight: sums that the threads do not see yet. Their registers hold NaN
/// meanwhile.
struct wgmma_accumulators {
  static constexpr unsigned poison = 0xffa5ffa5;  // NaN

  index_t n = 0;
  index_t in_flight = 0;  // instructions
  std::array<float*, warpgroup_size> registers{};
  std::vector<float> sums{};

  wgmma_accumulators(index_t columns, index_t instructions)
      : n(columns), in_flight(instructions), sums(std::size_t(64 * columns)) {}

  bool are_of(const thread_context& self, const float* c, index_t columns) const {
    return in_flight > 0 && registers[std::size_t(self.number % warpgroup_size)] == c && n == columns;
  }

  /// A thread passes its registers. The first instruction in flight takes their values.
  void take(const thread_context& self, float* c, bool accumulate, bool has_fenced, call_site where) {
    const index_t thread = self.number % warpgroup_size;
    float*& mine = registers[std::size_t(thread)];
    if (mine == c) return;
    if (mine != nullptr) {
      refuse(self, "passes wgmma" + in_parentheses(self, where) +
                       " other accumulators than the threads of its warpgroup before it");
    }
    if (!has_fenced) {
      refuse(self, "passes accumulators to wgmma" + in_parentheses(self, where) +
                       " without a wgmma_fence() since they were the thread's own");
    }
    mine = c;
    for (index_t i = 0; i < n / 2; ++i) {
      const wgmma_position at = position_of_wgmma_result(thread, i);
      sums[std::size_t(at.row * n + at.col)] = accumulate ? c[i] : 0;
      __builtin_memcpy(&c[i], &poison, sizeof(float));
    }
  }

  /// All instructions have ended: the registers of the warpgroup's threads get the sums.
  void give_back(const thread_context* threads, const thread_context& self, call_site where) const {
    for (index_t thread = 0; thread < warpgroup_size; ++thread) {
      for (index_t i = 0; i < n / 2; ++i) {
        float& c = registers[std::size_t(thread)][i];
        if (__builtin_memcmp(&c, &poison, sizeof(float)) != 0) {
          refuse(threads[thread], "changes accumulators before it has waited" + in_parentheses(self, where) +
                                      " for the matrix instructions that add to them");
        }
        const wgmma_position at = position_of_wgmma_result(thread, i);
        c = sums[std::size_t(at.row * n + at.col)];
      }
    }
  }
};

/// Operand a of each thread: where its registers are, and what they held when the instruction started.
struct wgmma_a_registers {
  std::array<const void*, warpgroup_size> places{};
  std::array<std::array<char, 16>, warpgroup_size> bytes{};

  void take(const thread_context& self, const void* a, bool has_fenced, call_site where) {
    if (!has_fenced)
      refuse(self, "passes operand a in registers to wgmma" + in_parentheses(self, where) + " without a wgmma_fence()");
    const auto thread = std::size_t(self.number % warpgroup_size);
    places[thread] = a;
    __builtin_memcpy(bytes[thread].data(), a, 16);
  }

  /// They must be what they were.
  void check(const thread_context* threads, const thread_context& self, call_site where) const {
    for (std::size_t thread = 0; thread < warpgroup_size; ++thread) {
      if (__builtin_memcmp(places[thread], bytes[thread].data(), 16) == 0) continue;
      refuse(threads[thread], "changes operand a in registers before it has waited" + in_parentheses(self, where) +
                                  " for the matrix instruction that reads it");
    }
  }
};

}  // namespace tilewright::emulator
