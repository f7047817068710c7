// SPDX-License-Identifier: MIT
// Times of instructions whose clocks are known by hand.
#include "emulated_kernels.hpp"

namespace {

struct timed_run {
  std::string target;
  unsigned threads = 64;
  emu::options options{};
};

template <class... Arguments>
emu::timing time_of(const timed_run& run, const char* kernel, const Arguments&... arguments) {
  static std::map<std::string, emu::module> codes;  // reading one takes longer than running it
  emu::module& code = codes.try_emplace(run.target, path_of("cycles", run.target)).first->second;
  static std::vector<int> memory(8192, 1);
  allow(code, memory);
  emu::options options = run.options;
  options.cycles = true, options.poison = false;
  emu::kernarg all;
  (all.add(arguments), ...);
  if (std::string(kernel) == "loads") all.add(memory.data());
  return code.launch(kernel, {1}, {run.threads}, 0, all, options).cycles;
}

TEST(Cycles, MatrixInstructionsTakeTheirPasses) {
  for (const auto& [target, clocks] : {std::pair{"gfx942", 32u}, {"gfx950", 16u}}) {
    const emu::timing one = time_of({target}, "matrix_chain");
    EXPECT_EQ(one.matrix_clocks, 64 * clocks) << target;
    EXPECT_NEAR(double(one.clocks), 64.0 * clocks, 40) << target;
    EXPECT_NEAR(double(time_of({target, 256}, "matrix_chain").clocks), 64.0 * clocks, 40) << "four SIMDs";
    EXPECT_NEAR(double(time_of({target, 512}, "matrix_chain").clocks), 128.0 * clocks, 40) << "two waves on each";
    EXPECT_GT(one.waited[emu::timing::matrix], 63u * (clocks - 4) - 1) << "each waits for the one before it";
  }
}

TEST(Cycles, VectorInstructionsTakeFourClocksOfASimd) {
  EXPECT_NEAR(double(time_of({"gfx942"}, "vector_chain").clocks), 800, 20);
  EXPECT_NEAR(double(time_of({"gfx942", 256}, "vector_chain").clocks), 800, 20);
  EXPECT_NEAR(double(time_of({"gfx942", 512}, "vector_chain").clocks), 1600, 20);
}

TEST(Cycles, LdsReadsTakeTheClocksOfTheirPhases) {
  EXPECT_EQ(time_of({"gfx942"}, "lds_reads", 16).lds_clocks, 32u * 16) << "8 phases of 2 clocks";
  EXPECT_EQ(time_of({"gfx950"}, "lds_reads", 16).lds_clocks, 32u * 8);
  EXPECT_EQ(time_of({"gfx942", 256}, "lds_reads", 16).lds_clocks, 4 * 32u * 16) << "one LDS for four waves";
  const emu::timing conflicts = time_of({"gfx942"}, "lds_reads", 128);
  EXPECT_EQ(conflicts.lds_clocks, 8 * 32u * 16) << "eight lanes of a phase in the same banks";
  EXPECT_GE(conflicts.clocks, conflicts.lds_clocks);
  EXPECT_GT(conflicts.waited[emu::timing::lds], 3000u);
}

TEST(Cycles, LoadsTakeTheLatencyAndTheirBytes) {
  timed_run run{"gfx942"};
  for (const unsigned latency : {100u, 700u, 2000u}) {
    run.options.memory_clocks = latency;
    const emu::timing t = time_of(run, "loads");
    EXPECT_NEAR(double(t.clocks), 10.0 * (latency + 16) + 200, 250) << "64 lanes of 16 bytes at 64 bytes in a clock";
    EXPECT_EQ(t.memory_clocks, 160u);
    EXPECT_GE(t.waited[emu::timing::memory], 10u * (latency - 4));
    if (latency < 700) continue;  // the scalar load of the argument takes longer
    ASSERT_FALSE(t.longest_waits.empty());
    EXPECT_EQ(t.longest_waits[0].cause, emu::timing::memory);
    EXPECT_EQ(t.longest_waits[0].text.rfind("s_waitcnt", 0), 0u) << t.longest_waits[0].text;
  }
  run.options.memory_bytes_per_clock = 16;
  EXPECT_EQ(time_of(run, "loads").memory_clocks, 640u);
}

TEST(Cycles, LoopsAndBarriers) {
  const emu::timing t = time_of({"gfx942", 256}, "loop");
  EXPECT_EQ(t.loop_iterations, 19u) << "taken branches";
  EXPECT_NEAR(t.loop_clocks, 4 * 52 + 16, 8);
  EXPECT_NEAR(double(t.waited[emu::timing::barrier]), 3 * 20 * t.loop_clocks, 300) << "three waves for the first one";
  EXPECT_EQ(time_of({"gfx942"}, "vector_chain").loop_iterations, 0u);
}

TEST(Cycles, OfCdnaOnly) {
  emu::module code(path_of("basic", "gfx1201"));
  emu::options options;
  options.cycles = true;
  try {
    code.launch("saxpy", {1}, {32}, 0, emu::kernarg().add(nullptr).add(nullptr).add(nullptr).add(0).add(1.0f), options);
    ADD_FAILURE() << "times of gfx1201";
  } catch (const std::runtime_error& why) {
    EXPECT_NE(std::string(why.what()).find("cycles are known of gfx90a, gfx942 and gfx950, not of gfx1201"),
              std::string::npos)
        << why.what();
  }
}

}  // namespace
