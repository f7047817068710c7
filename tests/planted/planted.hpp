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
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright::planted {

inline constexpr const arch::target *gfx90a = &arch::gfx90a::value, *gfx942 = &arch::gfx942::value,
                                    *gfx1100 = &arch::gfx1100::value, *sm80 = &arch::sm80::value,
                                    *sm90 = &arch::sm90::value;

using four = array<int, 4>;

/// Global memory of a launch: 4096 numbers, of which a tensor map knows rows of 64, and counters. The last number is
/// not registered.
struct world {
  alignas(128) int numbers[4100] = {};
  unsigned counters[4] = {};
  exec::tensor_map map{};

  world() { exec::make_tensor_map(map, {numbers, arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}}); }
  exec::global_buffer buffer() { return exec::make_global_buffer(numbers, 16384); }
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

// What kernels call. Faults name the kernel's line, not these.
inline exec::lds_pointer lds(exec::call_site where = {}) { return exec::lds_allocate<8192>(where); }
inline index_t thread() { return exec::thread_id(); }
template <class T = int>
void store(index_t place, T value = T{1}, exec::call_site where = {}) {
  exec::lds_store(exec::lds_pointer{}, place, value, where);
}
template <class T = int>
T load(index_t place, exec::call_site where = {}) {
  return exec::lds_load<T>(exec::lds_pointer{}, place, where);
}
inline void add(index_t place, exec::call_site where = {}) {
  exec::lds_atomic<exec::atomic_op::add>(exec::lds_pointer{}, place, 1, where);
}
inline int read(world& w, index_t place, exec::call_site where = {}) {
  return exec::buffer_load<int>(w.buffer(), place, 0, where);
}
template <class T = int>
void write(world& w, index_t place, T value = T{1}, exec::call_site where = {}) {
  exec::buffer_store(w.buffer(), place, value, where);
}
inline void copy(world& w, index_t from, index_t to, exec::call_site where = {}) {
  exec::async_load_to_lds<4>(w.buffer(), from, exec::lds_pointer{}, to, where);
}
/// A barrier at byte 0 that all threads know.
inline exec::mbarrier barrier(index_t arrivals, exec::call_site where = {}) {
  const exec::mbarrier b{exec::lds_address(lds(where))};
  if (thread() == 0) {
    b.init(arrivals, where);
    exec::fence_barrier_init();
  }
  exec::block_sync();
  return b;
}
/// A box has 2048 bytes and lies at byte 1024 of LDS.
inline void load_box(world& w, exec::mbarrier b, index_t expected_bytes = 2048, exec::call_site where = {}) {
  b.arrive_and_expect(expected_bytes);
  exec::bulk_load(1024, w.map, b, 0, 0, 0, where);
}
inline void write_box(exec::call_site where = {}) {
  lds(where);
  for (index_t i = 0; i < 4; ++i) store(1024 + i * 512 + thread() * 4, 1, where);
}
inline void store_box(world& w, exec::call_site where = {}) {
  exec::bulk_store(w.map, 1024, 0, 0, 0, where);
  exec::commit_bulk_stores();
}

/// The text of the fault, "" if there is none. Memory is registered with seed 0 alone, and where that is what the
/// kernel breaks.
inline std::string fault_of(const kernel& k, std::uint64_t seed) {
  const bool registers = seed == 0 || std::string(k.sentence).find("launch_config::memory") != std::string::npos;
  auto w = std::make_unique<world>();
  const emulator::memory_range memory{w->numbers, sizeof(w->numbers) - 4};
  try {
    emulator::launch({.target = k.target,
                      .grid = {k.launch.blocks, 1, 1},
                      .cluster = k.launch.cluster,
                      .block_size = k.launch.threads,
                      .lds_bytes = k.launch.lds_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .memory = registers ? std::vector{memory} : std::vector<emulator::memory_range>{},
                      .schedule_seed = seed},
                     [&] { k.run(*w); });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}

/// "here" instead of "mistakes.test.cpp:30".
inline std::string without_lines(std::string text, const std::string& file) {
  for (auto at = text.find(file + ':'); at != text.npos; at = text.find(file + ':'))
    text.replace(at, text.find_first_not_of("0123456789", at + file.size() + 1) - at, "here");
  return text;
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
