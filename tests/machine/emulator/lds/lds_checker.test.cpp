// SPDX-License-Identifier: MIT
// Bytes of races in LDS, conflicts by line, and random programs with Hopper's barriers against an oracle. tests/planted
// has each kind of race, and random programs with the barriers of all GPUs.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace tw = tilewright;
namespace arch = tw::arch;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using tw::index_t;

namespace {

exec::lds_pointer lds() { return exec::lds_allocate<1024>(); }

template <class Kernel>
emulator::launch_report run(Kernel kernel, emulator::lds_checks checks = emulator::lds_checks::on,
                            const arch::target& target = arch::gfx942::value) {
  return emulator::launch(
      {.target = &target, .grid = {2}, .block_size = 128, .lds_bytes = 1024, .workers = 1, .check_lds = checks},
      kernel);
}

/// What was wrong, without "of block (0, 0, 0)", with lines relative to `first`, as in "(+2)".
template <class Kernel>
std::string fault_of(int first, Kernel kernel, const arch::target& target = arch::gfx942::value) {
  std::string text = "no fault";
  try {
    run(kernel, emulator::lds_checks::on, target);
  } catch (const emulator::fault& f) {
    text = f.what();
  }
  const std::string file = "lds_checker.test.cpp:", block = " of block (0, 0, 0)";
  if (const auto at = text.find(block); at != text.npos) text.erase(at, block.size());
  for (auto at = text.find(file); at != text.npos; at = text.find(file)) {
    const auto end = text.find(')', at);
    const int line = std::stoi(text.substr(at + file.size(), end - at - file.size()));
    text.replace(at, end - at, '+' + std::to_string(line - first));
  }
  return text;
}

using bytes_16 = tw::array<int, 4>;

TEST(LdsChecker, AFaultNamesAllBytesThatRaceAlike) {
  const int first = __LINE__;
  const auto wider = [] {
    const exec::lds_pointer p = lds();
    exec::lds_store(p, 4 * exec::thread_id(), 1);
    if (exec::thread_id() == 127) exec::lds_load<bytes_16>(p, 16);
  };
  EXPECT_EQ(fault_of(first, wider),
            "thread 127 reads LDS bytes 16 to 19 (+4) that thread 4 wrote (+3) with no barrier between");
  const int last = __LINE__;
  const auto one_astray = [] { exec::lds_store(lds(), exec::thread_id() == 99 ? 40 : 8 * exec::thread_id(), 1.0); };
  EXPECT_EQ(fault_of(last, one_astray),
            "thread 99 writes LDS bytes 40 to 47 (+1) that thread 5 wrote (+1) with no barrier between");
}

TEST(LdsChecker, SingleBytesAreToldApart) {
  const int first = __LINE__;
  const auto kernel = [](index_t pitch, index_t width_change) {
    const exec::lds_pointer p = lds();
    const index_t t = exec::thread_id();
    if (width_change && t == 0) exec::lds_store(p, 512, 1);  // four bytes, before anybody has used fewer
    exec::lds_store(p, t * pitch, char(t));
    exec::block_sync();
    exec::lds_load<char>(p, (127 - t) * pitch);
    if (width_change && t == 1) exec::lds_load<short>(p, 514);
    if (width_change == 2 && t == 1) exec::lds_store(p, 515, char{});
    if (width_change == 2 && t == 2) exec::lds_load<int>(p, 512);
    if (width_change == 3) exec::lds_load<tw::array<short, 1>>(p, 126);
    if (width_change == 3) exec::lds_load<short>(p, 128);
  };
  EXPECT_EQ(fault_of(first, [&] { kernel(1, 0); }), "no fault");
  EXPECT_EQ(fault_of(first, [&] { kernel(3, 1); }), "no fault");
  EXPECT_EQ(fault_of(first, [&] { kernel(1, 2); }),
            "thread 2 reads LDS byte 515 (+10) that thread 1 wrote (+9) with no barrier between");
  EXPECT_EQ(fault_of(first, [&] { kernel(1, 3); }),
            "thread 127 reads LDS bytes 128 to 129 (+12), which no thread has written before: is a write or a barrier "
            "missing?");
}

TEST(LdsChecker, ACopyThatABlockNeverWaitsForIsAFaultAtItsEnd) {
  const int source = 0;
  std::string found;
  try {
    run([&] {
      const exec::lds_pointer p = lds();
      exec::async_load_to_lds<4>(exec::make_global_buffer(&source, 4), 0, p, exec::thread_id() * 4);
    });
  } catch (const emulator::fault& f) {
    found = f.what();
  }
  EXPECT_NE(found.find("leaves the kernel before its copy to LDS"), found.npos) << found;
}

/// A function for kernels, as the tile functions are.
void write_and_read(exec::lds_pointer p, index_t offset, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  exec::lds_store(p, offset, 1);
  exec::lds_load<int>(p, offset);
}
void twice(exec::lds_pointer p, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  write_and_read(p, exec::thread_id() * 4);
  write_and_read(p, exec::thread_id() * 4);
}

TEST(LdsChecker, ConflictsBySourceLineOfTheOutermostScope) {
  const emulator::launch_report report = run([] {
    const exec::lds_pointer p = lds();
    twice(p);
    exec::block_sync();
    if (exec::thread_id() < 64) write_and_read(p, exec::thread_id() % 32 * 32 + exec::thread_id() / 32 * 4);
  });
  const int line = __LINE__ - 4;
  ASSERT_EQ(report.by_line.size(), 4u);
  const std::string file = __FILE__;
  const auto expect = [&](std::size_t i, int at, arch::lds_op op, tw::long_index_t executions,
                          tw::long_index_t conflicts) {
    EXPECT_EQ(report.by_line[i].file, file);
    EXPECT_EQ(report.by_line[i].line, at);
    EXPECT_EQ(report.by_line[i].op, op);
    EXPECT_EQ(report.by_line[i].executions, executions);
    EXPECT_EQ(report.by_line[i].conflicts, conflicts);
  };
  expect(0, line, arch::lds_op::read_b32, 8, 0);
  expect(1, line, arch::lds_op::write_b32, 8, 0);
  expect(2, line + 2, arch::lds_op::read_b32, 2, 2 * 14);  // 2 phases of 8 rows' words in each of 4 banks
  expect(3, line + 2, arch::lds_op::write_b32, 2, 2 * 14);
  tw::long_index_t conflicts = 0;
  for (const emulator::lds_line_counts& l : report.by_line) conflicts += l.conflicts;
  EXPECT_EQ(report.totals.conflicts, conflicts);
  EXPECT_EQ(report.of(arch::lds_op::read_b32).executions, 10);
}

TEST(LdsChecker, LinesTellInstructionsApartWhereLanesTakeDifferentBranches) {
  const emulator::launch_report report = run([] {
    const exec::lds_pointer p = lds();
    const index_t l = exec::thread_id();
    if (l % 2 == 0) {
      exec::lds_store(p, l * 4, 1);
    } else {
      exec::lds_store(p, l * 4, 1);
    }
  });
  EXPECT_EQ(report.by_line.size(), 2u);
  EXPECT_EQ(report.of(arch::lds_op::write_b32).executions, 2 * 2 * 2);
}

TEST(LdsChecker, IsOnUnlessTheLaunchOrTheEnvironmentSaysOtherwise) {
  const auto racy = [] { exec::lds_store(lds(), 0, 1); };
  ::unsetenv("TILEWRIGHT_CHECK_LDS");
  EXPECT_NO_THROW(run(racy, emulator::lds_checks::off));
  EXPECT_THROW(run(racy, emulator::lds_checks::from_environment), emulator::fault);
  EXPECT_TRUE(run(racy, emulator::lds_checks::off).by_line.empty());
  ::setenv("TILEWRIGHT_CHECK_LDS", "1", 1);
  EXPECT_NO_THROW(run(racy, emulator::lds_checks::off));
  EXPECT_THROW(run(racy, emulator::lds_checks::from_environment), emulator::fault);
  ::setenv("TILEWRIGHT_CHECK_LDS", "0", 1);
  EXPECT_NO_THROW(run(racy, emulator::lds_checks::from_environment));
  ::unsetenv("TILEWRIGHT_CHECK_LDS");
}

/// What one thread does in one step of a random program.
struct action {
  index_t thread, step, address, bytes;
  enum : signed char { reads, writes, updates } kind;
};
/// Sm_90's ways to meet, between two steps of a program of two waves.
struct meeting_of_two {
  enum : signed char { nothing, wave, named, arrives } kind;
  index_t thread;  // that arrives at a barrier in LDS, at which the other wave waits
};

/// Up to which step the second thread's accesses are over for the first one's in a step.
class knowledge {
 public:
  knowledge(const std::vector<meeting_of_two>& between) {
    const std::size_t steps = between.size() + 1;
    known_.assign(steps, std::vector<std::vector<index_t>>(64, std::vector<index_t>(64, -1)));
    for (std::size_t s = 0; s + 1 < steps; ++s) {
      auto &now = known_[s], &next = known_[s + 1];
      next = now;
      const auto learn = [&](index_t thread, index_t from) {
        auto& mine = next[std::size_t(thread)];
        for (std::size_t u = 0; u < 64; ++u) mine[u] = tw::max(mine[u], now[std::size_t(from)][u]);
        mine[std::size_t(from)] = tw::max(mine[std::size_t(from)], index_t(s));
      };
      for (index_t t = 0; t < 64; ++t) {
        for (index_t u = 0; u < 64; ++u) {
          const meeting_of_two m = between[s];
          if (m.kind == m.named || (m.kind == m.wave && t / 32 == u / 32) ||
              (m.kind == m.arrives && u == m.thread && t / 32 != u / 32))
            learn(t, u);
        }
      }
    }
  }
  bool is_over(const action& before, const action& after) const {
    return before.thread == after.thread ||
           known_[std::size_t(after.step)][std::size_t(after.thread)][std::size_t(before.thread)] >= before.step;
  }

 private:
  std::vector<std::vector<std::vector<index_t>>> known_;  // by step, thread and other thread
};

TEST(LdsChecker, RandomProgramsWithNamedBarriersAndBarriersInLds) {
  constexpr index_t steps = 7;
  const char* const rounds_text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 60;
  std::mt19937 random(11);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<meeting_of_two> between;
    std::vector<action> program;
    const index_t threads[] = {0, 1, 32, 40};
    for (index_t step = 0; step < steps; ++step) {
      const auto kind = std::array{meeting_of_two::nothing, meeting_of_two::wave, meeting_of_two::named,
                                   meeting_of_two::arrives, meeting_of_two::arrives}[random() % 5];
      if (step + 1 < steps) between.push_back({step == 0 ? meeting_of_two::named : kind, threads[random() % 4]});
      if (step == 0) {
        for (index_t i = 0; i < 2; ++i) program.push_back({threads[i % 4], step, i * 4, 4, action::writes});
        continue;
      }
      // Now one who writes, now many who read or update.
      if (random() % 4 == 0) {
        program.push_back({threads[random() % 4], step, index_t(random() % 2) * 4, 4, action::writes});
        continue;
      }
      const auto what = random() % 3 == 0 ? action::updates : action::reads;
      for (unsigned n = random() % 5; n > 0; --n)
        program.push_back({threads[random() % 4], step, index_t(random() % 2) * 4, 4, what});
    }
    const auto kernel = [&] {
      const exec::lds_pointer p = lds();
      const index_t thread = exec::thread_id();
      for (index_t i = 0; thread == 0 && i < steps; ++i) exec::mbarrier{unsigned(512 + 8 * i)}.init(1);
      exec::block_sync();
      for (index_t step = 0; step < steps; ++step) {
        for (const action& a : program) {
          if (a.step != step || a.thread != thread) continue;
          if (a.kind == action::updates) exec::lds_atomic<exec::atomic_op::add>(p, a.address, 1);
          if (a.kind == action::writes) exec::lds_store(p, a.address, 1);
          if (a.kind == action::reads) exec::lds_load<int>(p, a.address);
        }
        if (step + 1 == steps) return;
        const meeting_of_two m = between[std::size_t(step)];
        const exec::mbarrier barrier{unsigned(512 + 8 * step)};
        if (m.kind == m.wave) exec::wave_sync();
        if (m.kind == m.named) exec::named_sync<64>(1);
        if (m.kind == m.arrives && thread == m.thread) barrier.arrive();
        if (m.kind == m.arrives && thread / 32 != m.thread / 32) barrier.wait(0);
      }
    };
    std::string why;
    try {
      emulator::launch({.target = &arch::sm90::value,
                        .block_size = 64,
                        .lds_bytes = 1024,
                        .workers = 1,
                        .check_lds = emulator::lds_checks::on},
                       kernel);
    } catch (const emulator::fault& f) {
      why = f.what();
    }
    const knowledge known(between);
    bool expected = false;
    for (const action& a : program) {
      for (const action& b : program) {
        const bool race = a.address == b.address && (a.kind == action::writes || a.kind != b.kind);
        if (race && !known.is_over(a, b) && !known.is_over(b, a)) expected = true;
      }
    }
    wrong += expected;
    ASSERT_EQ(!why.empty(), expected) << "program " << round << ": " << why;
  }
  EXPECT_GT(wrong, rounds / 4);
  EXPECT_LT(wrong, rounds * 9 / 10);
}

}  // namespace
