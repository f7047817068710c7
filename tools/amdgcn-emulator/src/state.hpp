// SPDX-License-Identifier: MIT
// What executes: waves, workgroups, and the launch they belong to.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>

#include <amdgcn_emulator.hpp>
#include "buffers.hpp"
#include "grid_barrier.hpp"
#include "inst.hpp"
#include "lds_shadow.hpp"
#include "lds_window.hpp"

namespace emu {
struct lds_stats;
struct traced_inst;
struct launch_state;

// A memory operation whose result an s_wait* has not yet guaranteed.
struct pending {
  const inst* i;
  counter cnt;
  u8 order, order2;  // in-order class, 0: completes in any order
  counter partner;   // flat: counted twice; both counters must agree
  bool done1 = false, done2 = false;
  u64 lanes = 0;  // LDS side: lanes and bytes touched
  bool lds_read = false, lds_write = false, dma = false;
  u8 nlds = 0;
  u16 slot = 0;  // of wave::lds_addresses
  u32 lds_bytes = 0;
};

/// Registers that outstanding loads will write: 0..511 vector, 512 + n scalar.
class busy_registers {
 public:
  static constexpr u16 scalar_base = 512;
  void add(u32 reg, int delta) {
    u8& n = writers_[reg];
    total_ += static_cast<u32>(delta), n = static_cast<u8>(n + delta);
    u64& word = words_[reg / 64];
    word = n ? word | 1ull << reg % 64 : word & ~(1ull << reg % 64);
  }
  bool any() const { return total_ != 0; }
  bool any(u32 first, u32 count) const {
    const u32 last = first + count - 1;
    u64 found = 0;
    for (u32 n = first / 64; n <= last / 64; ++n) {
      u64 word = words_[n];
      if (n == first / 64) word &= ~0ull << first % 64;
      if (n == last / 64) word &= ~0ull >> (63 - last % 64);
      found |= word;
    }
    return found != 0;
  }

 private:
  std::array<u64, 10> words_{};
  std::array<u8, 640> writers_{};
  u32 total_ = 0;
};

/// Which accesses of other workgroups happen before those of one workgroup.
struct workgroup_clock {
  u16 epoch = 1, released = 0;               // released: accesses up to this epoch
  std::map<u32, u16> seen, seen_at_release;  // workgroup -> epoch
  std::vector<u64> read;                     // addresses whose releases a fence will acquire
};
struct workgroup {
  launch_state* launch = nullptr;
  u32 id[3] = {0, 0, 0};
  u32 cluster = 0, rank = 0;  // number of its cluster, and its own in it
  u64 signalled = 1;          // the latest barrier epoch that a wave has signalled
  std::vector<u8> lds;
  u32 lds_size = 0;
  lds_shadow writes, reads;
  lds_window window;
  std::vector<u8> state;  // byte_state of each byte
  u32 tag = 0;            // number of this workgroup over all launches
  workgroup_clock clock;
  std::vector<u8> dma;  // bytes that a load-to-LDS is still to write
  u32 dma_bytes = 0;
};

struct sync_state {
  u32 first = 0, base = 0;  // workgroups up to base: of earlier launches, or before the latest barrier of the grid
  std::map<u64, std::map<u32, u16>> published;  // address -> what an acquire there sees
};

/// What the threads of a launch share. Locks are taken where there are several threads, and never two of one kind.
struct launch_shared {
  std::mutex reports;                 // source lines, undefined_stores, compared
  std::mutex synchronising;           // sync.published
  std::array<std::mutex, 64> memory;  // by address: atomics, race_cells
  std::atomic<u64> started = 0;       // workgroups
  std::atomic<u64> executed = 0;      // instructions, counted after each slice
  grid_barriers barriers;
  std::atomic<bool> ended = false;         // a thread cannot go on
  std::set<std::pair<u32, u32>> compared;  // barriers that waves of a workgroup waited at together
  sync_state sync;
};
/// One thread's view of a launch.
struct launch_state {
  launch_shared* shared = nullptr;
  bool concurrent = false;  // there are several threads
  const code_object* co;
  const program* prog;
  const kernel_info* kernel;
  const options* opt;
  result* res;
  struct range {
    u64 lo, hi;
    buffer_state* buffer;
  };
  std::vector<range> ranges;  // sorted
  range last{0, 0, nullptr};
  memory::impl* mem = nullptr;
  dim3 block;
  bool follow = false, globals = false;  // uninitialised values; races between workgroups
  u8* state = nullptr;                   // byte_state of the address that was looked up last
  buffer_state* raced = nullptr;         // the buffer that was looked up last, where races in it are followed
  std::map<std::pair<int, u64>, std::size_t> found;
  u8 nowhere[64] = {};                           // what accesses outside of all buffers read and write
  u8 nowhere_state[64] = {};                     // byte_state of it
  std::function<void(launch_state&)> interrupt;  // a wave calls the host; empty: it cannot
  std::vector<u64> counts;
  u64 executed = 0;
  u32 scratch_bytes = 0;
  lds_stats* stats = nullptr;
  bool race = false, waits = false;
  int trace_left = 0;
  std::vector<std::vector<traced_inst>>* traces = nullptr;  // of the first workgroup's waves
  u32 lds_phases = 0;                                       // of the last instruction

  std::unique_lock<std::mutex> lock(std::mutex& m) const {
    return concurrent ? std::unique_lock(m) : std::unique_lock<std::mutex>();
  }
  /// Of the page that this dword is in.
  std::unique_lock<std::mutex> lock_memory(u64 dword) const { return lock(shared->memory[dword >> 10 & 63]); }
  bool in_range(u64 a, u64 n) {
    if (a >= last.lo && a + n <= last.hi && a + n >= a) return true;
    auto it = std::upper_bound(ranges.begin(), ranges.end(), a, [](u64 x, const range& r) { return x < r.lo; });
    if (it == ranges.begin()) return false;
    --it;
    if (a + n > it->hi || a + n < a) return false;
    last = *it;
    return true;
  }
  u32 site(const inst& i) const {  // + 1; 0 for what is no instruction of the program
    const auto n = static_cast<u64>(&i - prog->code.data());
    return n < prog->code.size() ? static_cast<u32>(n + 1) : 0;
  }
};

struct wave {
  enum status_t : u8 { running, at_barrier, at_grid_barrier, ended };
  launch_state* launch = nullptr;
  workgroup* wg = nullptr;
  u32 id = 0, lanes = 64;
  bool w32 = false;
  family fam = family::gfx9;
  bool gfx90a = false, gfx950 = false, gfx1250 = false;
  u32 s[s_file_size] = {};
  std::vector<u32> vfile;   // 512 rows of 64
  std::vector<u8> scratch;  // lanes * scratch_bytes
  u32 ip = 0, next = 0;
  status_t status = running;
  u64 signals = 1, waits_done = 1;  // barrier epochs
  bool in_wait = false;
  u32 mode = 0;     // MODE register: round 3:0, denorm 7:4, dx10_clamp 8, ieee 9
  u32 gpr_idx = 0;  // gfx9 s_set_gpr_idx mode, bit 4: on
  std::vector<pending> queue;
  std::vector<std::array<u32, 64>> lds_addresses;  // two for each slot of the queue
  std::vector<u16> free_slots;
  busy_registers busy;
  std::vector<u32> calls;  // instructions of the calls that have not returned
  // Values that depend on memory or registers that were never written.
  struct undefined_values {
    std::array<u64, 512> vector, computed;  // lanes of each vector register; computed: by arithmetic, not only moved
    std::array<u32, 512> origin;            // instruction + 1 that loaded the value
    std::array<u32, 136> scalar;            // bits of each scalar register
    u32 scalar_origin;
    std::vector<u8> scratch;  // byte_state
    bool any_scalar;
  };
  std::unique_ptr<undefined_values> undefined;
  bool yield = false;
  u32 barrier = 0;        // instruction of the barrier that the wave waits at
  u64 started = 0;        // lanes that the wave began with
  u64 skipped = 0;        // lanes that were not active at the latest barrier
  u64 gws_opened = 0;     // of gws_resource, when the wave arrived
  u32 gws_resource = 0;   // the latest
  u64 cluster_waits = 0;  // barriers of the cluster that it has waited for

  u32* v(u32 r) { return vfile.data() + r * 64u; }
  u64 full() const { return lanes == 64 ? ~0ull : 0xffffffffull; }
  u64 exec() const { return s[s_exec] | static_cast<u64>(s[s_exec + 1]) << 32; }
  void set_exec(u64 e) { e &= full(), s[s_exec] = static_cast<u32>(e), s[s_exec + 1] = static_cast<u32>(e >> 32); }
  u64 vcc() const { return w32 ? s[s_vcc] : s[s_vcc] | static_cast<u64>(s[s_vcc + 1]) << 32; }
  u32& scc() { return s[s_scc]; }
  bool flush_f32_in() const { return !(mode >> 4 & 1); }
  bool flush_f32_out() const { return !(mode >> 5 & 1); }
  bool ieee() const { return mode >> 9 & 1; }

  [[noreturn]] void refuse(const inst& i, const std::string& what) const;  // no mistake of the kernel
  [[noreturn]] void die(const inst& i, const std::string& what, int lane = -1) const;

  // scalar operands
  u32 rs32(const operand& o) const {
    switch (o.kind) {
      case operand::sgpr:
        if (o.reg >= s_vccz) return o.reg == s_vccz ? vcc() == 0 : exec() == 0;
        return s[o.reg];
      case operand::fconst: return bits(static_cast<float>(o.value));
      default: return static_cast<u32>(o.bits);
    }
  }
  u64 rs64(const operand& o) const {
    switch (o.kind) {
      case operand::sgpr:
        if (o.count == 1) return rs32(o);
        return s[o.reg] | static_cast<u64>(s[o.reg + 1]) << 32;
      case operand::fconst: return bits(o.value);
      default: return o.bits;
    }
  }
  void ws32(const operand& o, u32 x) {
    if (o.reg != s_null) s[o.reg] = x;
    if (w32) s[s_exec + 1] = 0;
  }
  void ws64(const operand& o, u64 x) {
    if (o.reg == s_null) return;
    s[o.reg] = static_cast<u32>(x), s[o.reg + 1] = static_cast<u32>(x >> 32);
    if (w32) s[s_exec + 1] = 0;
  }
  // a lane mask: one or two registers by wave size
  void wmask(const operand& o, u64 m) {
    if (o.count == 2)
      ws64(o, m);
    else
      ws32(o, static_cast<u32>(m));
  }
  u64 rmask(const operand& o) const { return o.count == 2 || o.kind != operand::sgpr ? rs64(o) : rs32(o); }
};

// hazards.cpp
void check_waits(wave& w, const inst& i);
void issue(wave& w, const inst& i, u64 lanes, const u32* a0, const u32* a1, u32 bytes, bool read, bool write,
           bool dma = false);
void bind_wait(inst& i, family fam);
void apply_wait(wave& w, const inst& i);
void on_signal(wave& w);
void race_check(wave& w, const inst& i, u32 addr, u32 bytes, bool write);
// A store that changes nothing: it conflicts with reads of other waves.
void overwrite_check(wave& w, const inst& i, u32 addr, u32 bytes);
void dma_check(wave& w, const inst& i, u32 addr, u32 bytes, u32 lane);
void collect_regs(inst& i);
// undefined.cpp
void classify(inst& i);
void follow(wave& w, const inst& i);
void follow_load(wave& w, const inst& i, const operand& d, u32 first, u32 lane, u32 bytes, const u8* state);
void follow_store(wave& w, const inst& i, const operand& d, u32 lane, u32 bytes, u8* state);
// global_races.cpp
void forget_accesses(launch_state& L);
void on_fence(wave& w, const inst& i);
void check_global(wave& w, const inst& i, u32 lane, u64 a, u32 bytes, bool write);
// report.cpp
void log_lds(wave& w, const inst& i, int which, bool store, u32 bytes, u64 lanes, const u32* addr);
}  // namespace emu
