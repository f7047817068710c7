// SPDX-License-Identifier: MIT
// Random programs on the CPU emulator: it reports a race exactly where some pair of accesses races. The pairs are found
// by comparing all of them, without shadows or clocks.
#include "planted.hpp"

#include <cstdlib>
#include <random>

namespace tilewright::planted {
namespace {

enum class act { read, write, update, block_sync, block_barrier, wave_sync, wait_for_lds, shuffle };

/// What every thread does, or those that `takes_part` says. Thread t of block b accesses `bytes` bytes of LDS or global
/// memory at slot (t factor + shift + b offset) % slots.
struct statement {
  act what = act::block_sync;
  bool global = false;
  index_t bytes = 4, factor = 1, shift = 0, offset = 0, slots = 1;
  index_t every = 1, remainder = 0;  // threads, or waves, that take part
  bool by_wave = false;
  index_t left = 0;  // of wait_for_lds: 0 or 2

  bool is_access() const { return what <= act::update; }
  bool takes_part(index_t thread, index_t wave) const { return (by_wave ? wave : thread) % every == remainder; }
  index_t address(index_t thread, index_t block) const {
    return (thread * factor + shift + block * offset) % slots * bytes;
  }
};

constexpr index_t memory_bytes = 512, wave_size = 32;

struct program {
  index_t waves, blocks;
  std::vector<statement> statements;
  index_t threads() const { return waves * wave_size; }
};

class program_generator {
 public:
  explicit program_generator(unsigned seed) : random_(seed) {}

  program next() {
    program p{below(3) + 1, below(4) == 0 ? 2 : 1, {}};
    // Every byte of LDS is written first: reads of what was never written are another subject.
    const index_t slots = memory_bytes / 4, per_thread = (slots + p.threads() - 1) / p.threads();
    for (index_t i = 0; i < per_thread; ++i)
      p.statements.push_back({.what = act::write, .shift = i * p.threads() % slots, .slots = slots});
    if (slots % p.threads() != 0) p.statements.assign(1, first_thread_writes_all());
    p.statements.push_back({});
    const bool careful = below(4) != 0;  // a barrier after most accesses: such programs are often right
    for (index_t left = below(9) + 2; left > 0; --left) {
      if (below(4) != 0) p.statements.push_back(access(p));
      if (below(careful ? 5 : 2) != 0) p.statements.push_back(other());
    }
    return p;
  }

 private:
  index_t below(index_t n) { return index_t(random_() % unsigned(n)); }
  statement first_thread_writes_all() {
    statement s{.what = act::write, .bytes = memory_bytes, .slots = 1};
    s.every = 1 << 20;
    return s;
  }
  statement access(const program& p) {
    statement s;
    const index_t kind = below(8);
    s.what = kind < 4 ? act::read : kind < 7 ? act::write : act::update;
    s.global = below(4) == 0;
    s.bytes = s.what == act::update ? 4 : 1 << below(5);
    s.slots = memory_bytes / s.bytes;
    s.factor = below(5) == 0 ? below(4) : 2 * below(4) + 1;
    s.shift = below(2) == 0 ? 0 : below(s.slots);
    if (p.blocks > 1 && below(2) == 0) s.offset = s.slots / 2;
    if (below(3) == 0) {
      s.by_wave = below(2) == 0;
      s.every = below(s.by_wave ? 3 : 64) + 1;
      s.remainder = below(s.every);
    }
    return s;
  }
  statement other() {
    statement s;
    const act all[] = {act::block_sync, act::block_sync,   act::block_sync,   act::block_sync, act::block_barrier,
                       act::wave_sync,  act::wait_for_lds, act::wait_for_lds, act::shuffle};
    s.what = all[below(9)];
    s.left = below(3) == 0 ? 2 : 0;
    return s;
  }

  std::mt19937 random_;
};

/// One access of one thread.
struct event {
  index_t block, thread, statement, address, bytes;
  act what;
  bool global;
  index_t number;  // among the thread's accesses to LDS
};

class all_pairs {
 public:
  explicit all_pairs(const program& p) : p_(p) {
    for (index_t block = 0; block < p.blocks; ++block) {
      for (index_t t = 0; t < p.threads(); ++t) add_thread(block, t);
    }
  }

  /// Two accesses to the same bytes, one of them a write or the two of different kinds, that nothing orders.
  bool has_race() const {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      for (std::size_t j = i + 1; j < events_.size(); ++j) {
        if (conflict(events_[i], events_[j]) && !happens_before(events_[i], events_[j]) &&
            !happens_before(events_[j], events_[i]))
          return true;
      }
    }
    return false;
  }

 private:
  void add_thread(index_t block, index_t t) {
    index_t number = 0;
    for (std::size_t i = 0; i < p_.statements.size(); ++i) {
      const statement& s = p_.statements[i];
      if (!s.is_access() || !s.takes_part(t, t / wave_size)) continue;
      const index_t pieces = s.bytes > 16 ? s.bytes / 16 : 1;
      events_.push_back({block, t, index_t(i), s.address(t, block), s.bytes, s.what, s.global, number});
      if (!s.global) number += pieces, events_.back().number = number - 1;
    }
  }
  static bool conflict(const event& a, const event& b) {
    if (a.global != b.global || (a.block != b.block && !a.global)) return false;
    if (a.block == b.block && a.thread == b.thread) return false;
    const bool overlap = a.address < b.address + b.bytes && b.address < a.address + a.bytes;
    return overlap && !(a.what == b.what && a.what != act::write);
  }
  bool happens_before(const event& a, const event& b) const {
    if (a.block != b.block) return false;
    const bool same_wave = a.thread / wave_size == b.thread / wave_size;
    for (index_t i = a.statement + 1; i < b.statement; ++i) {
      switch (p_.statements[std::size_t(i)].what) {
        case act::block_sync: return true;
        case act::block_barrier:
          if (a.global || same_wave || is_complete(a, i)) return true;
          break;
        case act::wave_sync:
          if (same_wave) return true;
          break;
        default: break;
      }
    }
    return false;
  }
  /// Whether the thread has waited for its access before the barrier: by a wait, or because 16 are in flight at most.
  bool is_complete(const event& a, index_t barrier) const {
    index_t done = a.number + 1;  // the thread's accesses so far
    for (index_t i = a.statement + 1; i < barrier; ++i) {
      const statement& s = p_.statements[std::size_t(i)];
      if (s.is_access() && !s.global && s.takes_part(a.thread, a.thread / wave_size))
        done += s.bytes > 16 ? s.bytes / 16 : 1;
      if ((s.what == act::wait_for_lds && a.number < done - s.left) || s.what == act::block_sync) return true;
    }
    return a.number < done - 16;
  }

  const program& p_;
  std::vector<event> events_;
};

template <index_t Bytes>
void access(const statement& s, const exec::global_buffer& memory, index_t at) {
  using number = std::conditional_t<Bytes == 1, char, std::conditional_t<Bytes == 2, short, int>>;
  using V = std::conditional_t<(Bytes > 4), array<int, (Bytes > 4 ? Bytes / 4 : 1)>, number>;
  const exec::lds_pointer lds{};
  if (s.what == act::read) {
    s.global ? (void)exec::buffer_load<V>(memory, at) : (void)exec::lds_load<V>(lds, at);
  } else {
    V other;  // a write of what is there would be no race
    for (std::size_t i = 0; i < sizeof other; ++i)
      reinterpret_cast<char*>(&other)[i] = char(~memory.base[std::size_t(at) + i]);
    s.global ? exec::buffer_store(memory, at, other) : exec::lds_store(lds, at, other);
  }
}
void run(const statement& s, const exec::global_buffer& memory) {
  const index_t t = exec::thread_id();
  if (s.is_access() && !s.takes_part(t, t / wave_size)) return;
  const index_t at = s.address(t, exec::block_id().x);
  switch (s.what) {
    case act::block_sync: return exec::block_sync();
    case act::block_barrier: return exec::block_barrier();
    case act::wave_sync: return exec::wave_sync();
    case act::wait_for_lds: return s.left == 0 ? exec::wait_for_lds<0>() : exec::wait_for_lds<2>();
    case act::shuffle: return (void)exec::shuffle(t, 3);
    case act::update:
      return s.global ? exec::buffer_atomic<exec::atomic_op::add>(memory, at, 1)
                      : exec::lds_atomic<exec::atomic_op::add>(exec::lds_pointer{}, at, 1);
    default: break;
  }
  switch (s.bytes) {
    case 1: return access<1>(s, memory, at);
    case 2: return access<2>(s, memory, at);
    case 4: return access<4>(s, memory, at);
    case 8: return access<8>(s, memory, at);
    case 16: return access<16>(s, memory, at);
    default:
      for (index_t i = 0; i < memory_bytes; i += 16) access<16>(s, memory, i);
  }
}

std::string fault_of(const program& p, std::uint64_t seed) {
  alignas(16) char memory[memory_bytes] = {};
  try {
    emulator::launch({.target = gfx1100,
                      .grid = {p.blocks, 1, 1},
                      .block_size = p.threads(),
                      .lds_bytes = memory_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .schedule_seed = seed},
                     [&] {
                       exec::lds_allocate<memory_bytes>();
                       const exec::global_buffer buffer = exec::make_global_buffer(memory, sizeof memory);
                       for (const statement& s : p.statements) run(s, buffer);
                     });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}

std::string text_of(const program& p) {
  static const char* const names[] = {"read",          "write",     "update",       "block_sync",
                                      "block_barrier", "wave_sync", "wait_for_lds", "shuffle"};
  std::ostringstream out;
  out << p.waves << " waves, " << p.blocks << " blocks\n";
  for (const statement& s : p.statements) {
    out << "  " << names[int(s.what)];
    if (s.what == act::wait_for_lds) out << ' ' << s.left;
    if (s.is_access())
      out << (s.global ? " global" : " lds") << ' ' << s.bytes << " bytes at slot (t " << s.factor << " + " << s.shift
          << " + b " << s.offset << ") % " << s.slots << " where " << (s.by_wave ? "wave" : "thread") << " % "
          << s.every << " == " << s.remainder;
    out << '\n';
  }
  return out.str();
}

TEST(RandomPrograms, FaultsAreRacesAndRacesAreFaults) {
  const char* const count_text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const char* const seed_text = std::getenv("TILEWRIGHT_PROPERTY_SEED");
  const int count = count_text ? std::atoi(count_text) : 60;
  program_generator generator(seed_text ? unsigned(std::atoi(seed_text)) : 1);
  int right = 0, racy = 0;
  for (int i = 0; i < count; ++i) {
    const program p = generator.next();
    const bool races = all_pairs(p).has_race();
    ++(races ? racy : right);
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t(i + 1)}) {
      const std::string fault = fault_of(p, seed);
      ASSERT_EQ(!fault.empty(), races) << fault << "\nprogram " << i << ", order of threads " << seed << ": "
                                       << text_of(p);
      const char* const sentences = "no barrier between|nothing orders these blocks|at the block_barrier()";
      EXPECT_TRUE(!races || holds_one_of(fault, sentences)) << fault;
    }
  }
  EXPECT_GT(right, count / 5);
  EXPECT_GT(racy, count / 5);
  RecordProperty("right", right);
  RecordProperty("racy", racy);
}

}  // namespace
}  // namespace tilewright::planted
