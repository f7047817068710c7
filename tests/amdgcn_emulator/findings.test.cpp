// SPDX-License-Identifier: MIT
// Findings that a launch collects: the same mistakes as faults, with everything that is known of them, on every target.
#include "emulated_kernels.hpp"

namespace {
std::vector<emu::finding> of_kind(const emu::result& r, emu::finding_kind kind) {
  std::vector<emu::finding> found;
  for (const emu::finding& f : r.findings)
    if (f.kind == kind) found.push_back(f);
  return found;
}
emu::options collecting() {
  emu::options o;
  o.collect = true;
  return o;
}
}  // namespace

class Findings : public testing::TestWithParam<emulated_object> {
 protected:
  Findings() { code_.use(gpu_); }
  ~Findings() override { code_.use(nothing_); }
  emu::memory gpu_;
  static inline emu::memory nothing_;
  emu::module code_{path_of(GetParam().name, GetParam().target)};
};

TEST_P(Findings, NameBufferLaneAndThread) {
  int* out = gpu_.allocate<int>(60, "out");
  const emu::result r = code_.launch("out_of_bounds", {1}, {64}, 0, emu::kernarg().add(out).add(0), collecting());
  ASSERT_EQ(r.findings.size(), 1u);
  const emu::finding& f = r.findings[0];
  EXPECT_EQ(f.kind, emu::finding_kind::out_of_bounds);
  EXPECT_EQ(f.count, 4u);  // lanes 60 to 63
  EXPECT_EQ(f.thread.x, 60u);
  EXPECT_EQ(f.lane, 60 % int(wave_size(GetParam().target)));
  EXPECT_EQ(f.address, reinterpret_cast<std::uint64_t>(out + 60));
  EXPECT_NE(f.memory.find("0 bytes after the end of buffer out of 240 bytes"), f.memory.npos) << f.memory;
  EXPECT_EQ(f.kernel, "out_of_bounds");
  EXPECT_EQ(out[59], 1) << "the rest of the kernel ran";
}
TEST_P(Findings, FreedBuffers) {
  int* out = gpu_.allocate<int>(64, "out");
  EXPECT_TRUE(gpu_.release(out));
  EXPECT_FALSE(gpu_.release(out));
  const emu::result r = code_.launch("out_of_bounds", {1}, {64}, 0, emu::kernarg().add(out).add(0), collecting());
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].kind, emu::finding_kind::use_after_free);
  EXPECT_NE(text_of(r.findings[0]).find("freed buffer out"), std::string::npos);
}
TEST_P(Findings, LdsRacesNameBothAccesses) {
  int* out = gpu_.allocate<int>(256, "out");
  for (const char* kernel : {"no_barrier", "one_barrier"}) {
    const emu::result r = code_.launch(kernel, {1}, {256}, 0, emu::kernarg().add(out), collecting());
    const auto races = of_kind(r, emu::finding_kind::lds_race);
    ASSERT_FALSE(races.empty()) << kernel;
    EXPECT_NE(races[0].other.text.find("ds_"), std::string::npos) << kernel;
    EXPECT_NE(races[0].other.where.find(kernel), std::string::npos);
  }
  const emu::result r = code_.launch("unwaited_barrier", {1}, {256}, 0, emu::kernarg().add(out), collecting());
  EXPECT_FALSE(of_kind(r, emu::finding_kind::in_flight).empty()) << "a weak finding";
}
TEST_P(Findings, MissingWaitsAreReportedOnce) {
  int *in = gpu_.allocate<int>(512, "in"), *out = gpu_.allocate<int>(64, "out");
  gpu_.mark_written(in, 2048);
  for (const char* kernel : {"no_wait", "short_wait"}) {
    const emu::result r = code_.launch(kernel, {1}, {64}, 0, emu::kernarg().add(in).add(out), collecting());
    const auto found = of_kind(r, emu::finding_kind::missing_wait);
    ASSERT_EQ(found.size(), 1u) << kernel;
    EXPECT_NE(found[0].other.text.find("global_load"), std::string::npos);
  }
}
TEST_P(Findings, EndlessLoopsEndTheLaunch) {
  int* out = gpu_.allocate<int>(1, "out");
  emu::options few = collecting();
  few.limit = 100000;
  const emu::result r = code_.launch("deadlock", {1}, {256}, 0, emu::kernarg().add(out), few);
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].kind, emu::finding_kind::stuck);
}
TEST_P(Findings, ResultsOfUninitialisedMemory) {
  int *in = gpu_.allocate<int>(64, "in"), *out = gpu_.allocate<int>(64, "out");
  emu::options o = collecting();
  o.waits = false;
  code_.launch("no_wait", {1}, {64}, 0, emu::kernarg().add(in).add(out), o);  // out = in + 1
  const auto found = gpu_.check_results(out, 256);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, emu::finding_kind::uninitialised);
  EXPECT_NE(found[0].site.text.find("store"), std::string::npos);
  EXPECT_NE(found[0].other.text.find("load"), std::string::npos);
  gpu_.mark_written(in, 256);
  code_.launch("no_wait", {1}, {64}, 0, emu::kernarg().add(in).add(out), o);
  EXPECT_TRUE(gpu_.check_results(out, 256).empty());
}
TEST_P(Findings, HalvesThatAreMovedAreFollowedApart) {
  float *known = gpu_.allocate<float>(64, "known"), *unknown = gpu_.allocate<float>(64, "unknown"),
        *out = gpu_.allocate<float>(128, "out");
  std::fill_n(known, 64, 5.0f), gpu_.mark_written(known, 256);
  const auto run = [&](int both) {
    const auto arguments = emu::kernarg().add(known).add(unknown).add(out).add(both);
    EXPECT_TRUE(code_.launch("moved_halves", {1}, {64}, 0, arguments, collecting()).findings.empty());
    return gpu_.check_results(out, 512);
  };
  EXPECT_TRUE(run(0).empty());
  EXPECT_EQ(out[0], 10.0f);
  EXPECT_EQ(out[127], 15.0f);
  EXPECT_EQ(run(1).size(), 1u);
}
TEST_P(Findings, LoadsOutOfBoundsAreNotAlsoUninitialised) {
  int *in = gpu_.allocate<int>(64, "in"), *out = gpu_.allocate<int>(64, "out");
  gpu_.mark_written(in, 256);
  const emu::result r = code_.launch("copy_from", {1}, {64}, 0, emu::kernarg().add(in).add(out).add(4), collecting());
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].kind, emu::finding_kind::out_of_bounds);
  EXPECT_TRUE(gpu_.check_results(out, 256).empty());
}
TEST_P(Findings, UnknownInstructionsAreNoFindings) {
  int* out = gpu_.allocate<int>(1, "out");
  EXPECT_THROW(code_.launch("unknown", {1}, {64}, 0, emu::kernarg().add(out), collecting()), emu::not_supported);
}

TEST_P(Findings, DoNotDependOnTheNumberOfThreads) {
  int* out = gpu_.allocate<int>(60, "out");
  std::fill_n(out, 60, 1), gpu_.mark_written(out, 240);
  emu::options o = collecting();
  o.global_races = false;  // which of two racing workgroups comes first is left to the threads
  const auto run = [&](const char* kernel, unsigned block, const emu::kernarg& arguments, unsigned threads) {
    o.threads = threads;
    std::vector<std::string> texts;
    for (const emu::finding& f : code_.launch(kernel, {16}, {block}, 0, arguments, o).findings)
      texts.push_back(text_of(f));
    return texts;
  };
  int* long_enough = gpu_.allocate<int>(256, "long");
  for (unsigned threads : {2u, 5u}) {
    const auto bounds = emu::kernarg().add(out).add(0), race = emu::kernarg().add(long_enough);
    const auto one = run("out_of_bounds", 64, bounds, 1);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_NE(one[0].find("64 times"), std::string::npos) << one[0];
    EXPECT_EQ(run("out_of_bounds", 64, bounds, threads), one);
    EXPECT_EQ(run("no_barrier", 256, race, threads), run("no_barrier", 256, race, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Findings, testing::ValuesIn(objects_named({"mistakes"})));

// The example of docs/check.md.
TEST(FindingsExample, SaxpyHasNone) {
  const unsigned n = 1000;
  emu::memory gpu;  // buffers with guards around them
  float *x = gpu.allocate<float>(n, "x"), *y = gpu.allocate<float>(n, "y"), *z = gpu.allocate<float>(n, "z");
  std::fill_n(x, n, 2.0f), gpu.mark_written(x, n * sizeof(float));
  std::fill_n(y, n, 1.0f), gpu.mark_written(y, n * sizeof(float));
  emu::module code(path_of("basic", "gfx942"));
  code.use(gpu);
  const auto arguments = emu::kernarg().add(x).add(y).add(z).add(n).add(2.5f);
  const emu::result result = code.launch("saxpy", {4}, {256}, 0, arguments, {.collect = true});
  for (const emu::finding& f : result.findings) ADD_FAILURE() << text_of(f);
  for (const emu::finding& f : gpu.check_results(z, n * sizeof(float))) ADD_FAILURE() << text_of(f);
  EXPECT_EQ(z[999], 6.0f);
}
