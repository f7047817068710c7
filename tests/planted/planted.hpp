// SPDX-License-Identifier: MIT
// Small kernels, each with a name, a launch and what the CPU machine must say of it.
#pragma once

#include <tilewright/arch/arch.hpp>
#include <tilewright/emulator/launch.hpp>
#include <tilewright/exec/expect.hpp>
#include <tilewright/exec/hopper.hpp>
#include <tilewright/exec/host/make_tensor_map.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright::planted {

inline constexpr const arch::target *gfx90a = &arch::gfx90a::value, *gfx942 = &arch::gfx942::value,
                                    *gfx1100 = &arch::gfx1100::value, *sm80 = &arch::sm80::value,
                                    *sm90 = &arch::sm90::value;

using four = array<int, 4>;

/// Global memory of a launch: 4096 numbers, of which a tensor map knows rows of 64, and counters.
struct world {
  alignas(128) int numbers[4096] = {};
  unsigned counters[4] = {};
  exec::tensor_map map{};

  world() { exec::make_tensor_map(map, {numbers, arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}}); }
  exec::global_buffer buffer() { return exec::make_global_buffer(numbers, sizeof(numbers)); }
};

struct shape {
  index_t blocks = 1, threads = 128, cluster = 1, lds_bytes = 8192;
};

struct kernel {
  const char* name;
  const char* sentence;  // parts of the fault, one of which must come, with | between
  void (*run)(world&);
  const arch::target* target = gfx942;
  shape launch = {};
};

/// The text of the fault, "" if there is none.
inline std::string fault_of(const kernel& k, std::uint64_t seed) {
  auto w = std::make_unique<world>();
  try {
    emulator::launch({.target = k.target,
                      .grid = {k.launch.blocks, 1, 1},
                      .cluster = k.launch.cluster,
                      .block_size = k.launch.threads,
                      .lds_bytes = k.launch.lds_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .memory = {{w->numbers, sizeof(w->numbers)}},
                      .schedule_seed = seed},
                     [&] { k.run(*w); });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}

inline bool holds_one_of(const std::string& text, const std::string& sentences) {
  std::istringstream all(sentences);
  for (std::string one; std::getline(all, one, '|');) {
    if (text.find(one) != text.npos) return true;
  }
  return false;
}

/// In the order of the threads' numbers and in three random ones.
inline constexpr std::uint64_t seeds[] = {0, 1, 2, 3};

}  // namespace tilewright::planted
