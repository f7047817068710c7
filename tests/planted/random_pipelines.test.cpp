// SPDX-License-Identifier: MIT
// Random asynchronous programs of Hopper on the CPU emulator: it is silent where an oracle finds all conflicting
// accesses ordered, and reports a race where it does not. The oracle knows the graph of all events, and no clocks.
#include "planted.hpp"

#include <bitset>
#include <cstdlib>
#include <random>

namespace tilewright::planted {
namespace {

enum class act {
  read_lds,
  write_lds,
  read_memory,
  write_memory,
  tma_load,
  tma_store,
  wait_until_read,
  wait_until_written,
  fence,
  fence_memory,
  arrive,
  wait
};

/// What lane 0 of a wave does, with a box in LDS, a row of global memory and a barrier that is used once. A TMA load
/// counts its bytes at its barrier; the waits for stores are for all stores of the wave.
struct step {
  act what;
  index_t wave = 0, box = 0, row = 0, barrier = 0;
};

constexpr index_t waves = 3, boxes = 3, rows = 3, row_bytes = 128, max_events = 192, max_barriers = 48;

/// The relation that PTX's memory model gives the events of a program: a step, and what a TMA operation does after it.
class events {
 public:
  explicit events(const std::vector<step>& program) : steps_(program) {
    std::vector<index_t> last(waves, -1), arrived(max_barriers, -1);
    std::vector<std::vector<index_t>> reads(waves), writes(waves);
    for (index_t i = 0; i < index_t(program.size()); ++i) {
      const step& s = program[std::size_t(i)];
      const auto wave = std::size_t(s.wave);
      const index_t self = add({i, s.what});
      if (last[wave] >= 0) edge(last[wave], self);
      last[wave] = self;
      if (s.what == act::arrive) arrived[std::size_t(s.barrier)] = self;
      if (s.what == act::wait) edge(arrived[std::size_t(s.barrier)], self);
      if (s.what == act::tma_load) {
        const index_t done = add({i, s.what, true});
        edge(self, done);
        arrived[std::size_t(s.barrier)] = done;
      }
      if (s.what == act::tma_store) {
        const index_t read = add({i, act::tma_store, true}), written = add({i, act::tma_store, true, true});
        edge(self, read);
        edge(read, written);
        reads[wave].push_back(read);
        writes[wave].push_back(written);
      }
      if (s.what == act::wait_until_read || s.what == act::wait_until_written)
        for (const index_t e : reads[wave]) edge(e, self);
      if (s.what == act::wait_until_written)
        for (const index_t e : writes[wave]) edge(e, self);
    }
  }

  /// The step that an earlier step of the program races with; -1: there is none.
  index_t racing_with(index_t number) const {
    for (std::size_t b = 0; b < all_.size(); ++b) {
      if (all_[b].step != number) continue;
      for (std::size_t a = 0; a < all_.size(); ++a)
        if (all_[a].step < number && conflict(all_[a], all_[b]) && !ordered(index_t(a), index_t(b)))
          return all_[a].step;
    }
    return -1;
  }
  bool has_race() const {
    for (index_t i = 0; i < index_t(steps_.size()); ++i)
      if (racing_with(i) >= 0) return true;
    return false;
  }

 private:
  struct event {
    index_t step;
    act what;
    bool is_asynchronous = false, is_written = false;  // of a TMA operation: not its start; a store's write
  };
  struct touched {
    index_t box = -1, row = -1;
    bool writes_box = false, writes_row = false;
  };

  touched touches(const event& e) const {
    const step& s = steps_[std::size_t(e.step)];
    switch (e.what) {
      case act::read_lds: return {.box = s.box};
      case act::write_lds: return {.box = s.box, .writes_box = true};
      case act::read_memory: return {.row = s.row};
      case act::write_memory: return {.row = s.row, .writes_row = true};
      case act::tma_load: return e.is_asynchronous ? touched{s.box, s.row, true, false} : touched{};
      case act::tma_store:
        if (!e.is_asynchronous) return {};
        return e.is_written ? touched{.row = s.row, .writes_row = true} : touched{.box = s.box};
      default: return {};
    }
  }
  bool conflict(const event& a, const event& b) const {
    const touched x = touches(a), y = touches(b);
    return (x.box >= 0 && x.box == y.box && (x.writes_box || y.writes_box)) ||
           (x.row >= 0 && x.row == y.row && (x.writes_row || y.writes_row));
  }
  /// b follows a, and what TMA reads or writes after a thread's write follows a fence between.
  bool ordered(index_t a, index_t b) const {
    const event &x = all_[std::size_t(a)], &y = all_[std::size_t(b)];
    if (!after_[std::size_t(a)][std::size_t(b)]) return false;
    const bool in_lds = x.what == act::write_lds, in_memory = x.what == act::write_memory;
    if (!y.is_asynchronous || !(in_lds || in_memory)) return true;
    for (std::size_t f = 0; f < all_.size(); ++f)
      if (all_[f].what == (in_lds ? act::fence : act::fence_memory) && after_[std::size_t(a)][f] &&
          after_[f][std::size_t(b)])
        return true;
    return false;
  }

  index_t add(const event& e) {
    all_.push_back(e);
    before_.emplace_back();
    after_.emplace_back();
    return index_t(all_.size()) - 1;
  }
  /// Events are added in an order that edges follow.
  void edge(index_t from, index_t to) {
    before_[std::size_t(to)] |= before_[std::size_t(from)];
    before_[std::size_t(to)].set(std::size_t(from));
    for (std::size_t e = 0; e < all_.size(); ++e)
      if (before_[std::size_t(to)][e]) after_[e].set(std::size_t(to));
  }

  const std::vector<step>& steps_;
  std::vector<event> all_;
  std::vector<std::bitset<max_events>> before_, after_;
};

/// Makes programs without a race: each access is preceded by the waits and fences that it needs.
class pipeline_generator {
 public:
  explicit pipeline_generator(unsigned seed) : random_(seed) {}

  std::vector<step> next() {
    program_.clear();
    barriers_ = 0;
    for (index_t left = 4 + below(7); left > 0 && barriers_ + 8 < max_barriers; --left) {
      constexpr act accesses[] = {act::read_lds,     act::write_lds, act::read_memory,
                                  act::write_memory, act::tma_load,  act::tma_store};
      step s{accesses[below(6)], below(waves), below(boxes), below(rows)};
      if (s.what == act::tma_load) s.barrier = barriers_++;
      program_.push_back(s);
      for (index_t before = race(); before >= 0; before = race()) put_in_order(before);
    }
    return program_;
  }
  index_t below(index_t n) { return index_t(random_() % unsigned(n)); }

 private:
  index_t race() const { return events(program_).racing_with(index_t(program_.size()) - 1); }
  void insert(const step& s) { program_.insert(program_.end() - 1, s); }
  /// Adds one more thing that the last step lacks to follow an earlier one; again, until nothing is missing.
  void put_in_order(index_t before) {
    const step first = program_[std::size_t(before)], last = program_.back();
    if (first.what == act::tma_load) return insert({.what = act::wait, .wave = last.wave, .barrier = first.barrier});
    if (first.what == act::tma_store) insert({.what = act::wait_until_written, .wave = first.wave});
    const bool is_fenced = last.what == act::tma_load || last.what == act::tma_store;
    const act fence = first.what == act::write_lds ? act::fence : act::fence_memory;
    const bool fences_first = below(2) == 0;
    if (is_fenced && fences_first) insert({.what = fence, .wave = first.wave});
    if (first.wave != last.wave) {
      insert({.what = act::arrive, .wave = first.wave, .barrier = barriers_});
      insert({.what = act::wait, .wave = last.wave, .barrier = barriers_++});
    }
    if (is_fenced && !fences_first) insert({.what = fence, .wave = last.wave});
  }

  std::mt19937 random_;
  std::vector<step> program_;
  index_t barriers_ = 0;
};

alignas(128) float memory[rows * row_bytes / 4];

void run(const step& s, const exec::tensor_map& map, float value) {
  const exec::lds_pointer box{s.box * row_bytes};
  const exec::global_buffer row = exec::make_global_buffer(memory + s.row * 32, row_bytes);
  const exec::mbarrier barrier{unsigned(boxes * row_bytes + s.barrier * 8)};
  switch (s.what) {
    case act::read_lds: (void)exec::lds_load<float>(box, 4); break;
    case act::write_lds: exec::lds_store(box, 4, value); break;
    case act::read_memory: (void)exec::buffer_load<float>(row, 4); break;
    case act::write_memory: exec::buffer_store(row, 4, value); break;
    case act::tma_load:
      barrier.arrive_and_expect(row_bytes);
      exec::tma_load(exec::lds_address(box), map, barrier, 0, s.row, 0);
      break;
    case act::tma_store:
      exec::tma_store(map, exec::lds_address(box), 0, s.row, 0);
      exec::tma_store_commit();
      break;
    case act::wait_until_read: exec::tma_store_wait_read<0>(); break;
    case act::wait_until_written: exec::tma_store_wait<0>(); break;
    case act::fence: exec::fence_async_proxy(); break;
    case act::fence_memory: exec::fence_async_proxy_global(); break;
    case act::arrive: barrier.arrive(); break;
    case act::wait: barrier.wait(0); break;
  }
}

std::string fault_of(const std::vector<step>& program, std::uint64_t seed) {
  constexpr index_t lds_bytes = boxes * row_bytes + max_barriers * 8;
  std::fill(std::begin(memory), std::end(memory), 0.0f);  // a write of what is there is no race
  exec::tensor_map map;
  exec::make_tensor_map(map,
                        {memory, arch::matrix_element::f32, {32, rows, 1}, {row_bytes, rows * row_bytes}, {32, 1}});
  try {
    emulator::launch({.target = &arch::sm90::value,
                      .grid = {1},
                      .block_size = waves * 32,
                      .lds_bytes = lds_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .schedule_seed = seed},
                     [&] {
                       const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
                       if (exec::thread_id() < boxes * row_bytes / 4) exec::lds_store(lds, exec::thread_id() * 4, 0.5f);
                       if (exec::thread_id() == 0) {
                         for (index_t b = 0; b < max_barriers; ++b)
                           exec::mbarrier{unsigned(boxes * row_bytes + b * 8)}.init(1);
                         exec::fence_barrier_init();
                       }
                       exec::fence_async_proxy();
                       exec::block_sync();
                       if (exec::lane_id() != 0) return;
                       for (std::size_t i = 0; i < program.size(); ++i)
                         if (program[i].wave == exec::wave_id()) run(program[i], map, float(i + 1));
                       exec::tma_store_wait_read<0>();
                       for (const step& s : program)  // no load is in flight at the end
                         if (s.what == act::tma_load)
                           exec::mbarrier{unsigned(boxes * row_bytes + s.barrier * 8)}.wait(0);
                     });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}

std::string text_of(const std::vector<step>& program) {
  static const char* const names[] = {
      "read box",  "write box", "read row",        "write row",         "TMA load",
      "TMA store", "wait_read", "wait for stores", "fence_async_proxy", "fence_async_proxy_global",
      "arrive",    "wait"};
  std::ostringstream out;
  for (const step& s : program)
    out << "  wave " << s.wave << ": " << names[int(s.what)] << ", box " << s.box << ", row " << s.row << ", barrier "
        << s.barrier << '\n';
  return out.str();
}

/// What a race is called.
constexpr const char* sentences =
    "no barrier between|waited for|fence_async_proxy|may not have written yet|that reads there was waited for";

// Each program as it is, and without one of its waits or fences, or with a store's wait weakened to wait_read.
TEST(RandomPipelines, AreReportedWhereTheyRace) {
  const char* const count_text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const char* const seed_text = std::getenv("TILEWRIGHT_PROPERTY_SEED");
  const int count = count_text ? std::atoi(count_text) : 60;
  pipeline_generator generator(seed_text ? unsigned(std::atoi(seed_text)) : 1);
  int broken = 0, racy = 0;
  const auto expect = [&](const std::vector<step>& program, bool races, int number) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t(number + 1)}) {
      const std::string fault = fault_of(program, seed);
      ASSERT_EQ(!fault.empty(), races) << fault << "\nprogram " << number << ", order of threads " << seed << ":\n"
                                       << text_of(program);
      EXPECT_TRUE(!races || holds_one_of(fault, sentences)) << fault;
    }
  };
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    std::vector<step> program = generator.next();
    ASSERT_FALSE(events(program).has_race());
    expect(program, false, i);
    std::vector<std::size_t> removable;
    for (std::size_t n = 0; n < program.size(); ++n)
      if (program[n].what >= act::wait_until_read && program[n].what != act::arrive) removable.push_back(n);
    if (removable.empty()) continue;
    const std::size_t chosen = removable[std::size_t(generator.below(index_t(removable.size())))];
    if (program[chosen].what == act::wait_until_written && generator.below(2) == 0)
      program[chosen].what = act::wait_until_read;
    else
      program.erase(program.begin() + std::ptrdiff_t(chosen));
    const bool races = events(program).has_race();
    ++broken, racy += races;
    expect(program, races, i);
  }
  EXPECT_GT(racy, broken / 2);
  EXPECT_GT(broken, count / 2);
}

}  // namespace
}  // namespace tilewright::planted
