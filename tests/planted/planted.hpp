// SPDX-License-Identifier: MIT
// Small kernels, each with a name, a launch and what the CPU emulator must say of it.
#pragma once

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/expect.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

#include "shared.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright::planted {

inline constexpr const arch::target *gfx90a = &arch::gfx90a::value, *gfx942 = &arch::gfx942::value,
                                    *gfx1100 = &arch::gfx1100::value, *sm80 = &arch::sm80::value,
                                    *sm90 = &arch::sm90::value;

using four = array<int, 4>;

/// A world with its memory, whose second half holds different numbers; the last one is not registered.
struct emulated_world : world {
  alignas(128) int storage[4100] = {};
  unsigned counts[4] = {};
  emulator::memory_range registered{storage, sizeof(storage) - 4};

  emulated_world() : world{storage, counts, {}} {
    for (int i = 2048; i < 4100; ++i) storage[i] = i;
    exec::make_tensor_map(map, {numbers, arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}});
  }
  emulated_world(const emulated_world&) = delete;
};

struct shape {
  index_t blocks = 1, threads = block_threads, cluster = 1, lds_bytes = planted::lds_bytes;
};

struct kernel {
  const char* name;
  const char* sentence;  // parts of the fault, one of which must come, with | between
  void (*run)(world&);
  const arch::target* target = gfx942;
  shape launch = {};
};

/// The text of the fault, "" if there is none. run(a world) is the kernel.
template <class Run>
std::string fault_of(Run run, const arch::target* target, const shape& launch, std::uint64_t seed,
                     bool registers_memory) {
  const auto w = std::make_unique<emulated_world>();
  try {
    emulator::launch({.target = target,
                      .grid = {launch.blocks, 1, 1},
                      .cluster = launch.cluster,
                      .block_size = launch.threads,
                      .lds_bytes = launch.lds_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .memory = registers_memory ? std::vector{w->registered} : std::vector<emulator::memory_range>{},
                      .schedule_seed = seed},
                     [&] { run(*w); });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}
inline std::string fault_of(const kernel& k, std::uint64_t seed, bool registers_memory) {
  return fault_of(k.run, k.target, k.launch, seed, registers_memory);
}
/// Memory is registered with seed 0 alone, and where that is what the kernel breaks.
inline std::string fault_of(const kernel& k, std::uint64_t seed) {
  return fault_of(k, seed, seed == 0 || std::string(k.sentence).find("launch_config::memory") != std::string::npos);
}

/// "here" instead of a file and a line.
inline std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex("[a-z_]+(\\.test\\.cpp|\\.hpp):[0-9]+"), "here");
}

inline bool holds_one_of(const std::string& text, const std::string& sentences) {
  std::istringstream all(sentences);
  for (std::string one; std::getline(all, one, '|');) {
    if (text.find(one) != text.npos) return true;
  }
  return false;
}

/// In the order of the threads' numbers and in random ones: one, or as many as TILEWRIGHT_SCHEDULE_SEEDS says.
inline std::vector<std::uint64_t> seeds() {
  const char* const count = std::getenv("TILEWRIGHT_SCHEDULE_SEEDS");
  std::vector<std::uint64_t> result;
  for (std::uint64_t seed = 0; seed <= (count ? std::strtoull(count, nullptr, 10) : 1); ++seed) result.push_back(seed);
  return result;
}

}  // namespace tilewright::planted
