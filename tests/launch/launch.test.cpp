// SPDX-License-Identifier: MIT
// The contract of a ready kernel, for every kernel of the library: it refuses before anything is written, and a launch
// on the CPU emulator computes the whole result.
#include "../../examples/04_tile_copy/tile_copy.hpp"
#include "../kernels/gemm/check_gemm.hpp"
#include "../launch_sentence.hpp"

#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright {
namespace {

using testing_gemm::gemm_case;
using enum operand_major;

// A sample has: kernel; options; args, which kernel takes; refused(), arguments that it does not take; result and
// expected, equal after a launch of args and different before.

/// A product whose parts of k are added up by a second kernel, and more rows than a whole number of tiles.
template <class Policy>
struct gemm_sample : gemm_case<Policy> {
  using kernel = gemm_kernel<Policy>;
  static constexpr bool splits_k = Policy::split_k == split_k_kind::workspace;

  gemm_sample() : gemm_case<Policy>({.m = 72, .n = 40, .k = 168, .beta = 2, .gap = 8}), result(this->c) {
    this->args.c = result.data();
    this->args.split_k = splits_k ? 3 : 1;
    workspace.resize(std::size_t(workspace_bytes(this->args)), char(0xff));
    this->args.workspace = workspace.data();
  }
  gemm_args refused() const {
    gemm_args bad = this->args;
    bad.split_k = 0;
    return bad;
  }
  launch_options options;
  std::vector<typename Policy::result_type> result;
  std::vector<char> workspace;
};

template <class Arch, block_tile Tile>
struct split_policy : gemm_policy<Arch, half_t, k, mn, 8, Tile> {
  static constexpr split_k_kind split_k = split_k_kind::workspace;
};
using split_gfx942 = split_policy<arch::gfx942, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_32x32x8_x2}>;
using plain_sm80 =
    gemm_policy<arch::sm80, half_t, k, k, 8, block_tile{64, 64, 32, 2, 2, arch::matrix_op::mma_m16n8k16_x2}>;

/// The second kernel of a product alone: sums of four parts that were computed elsewhere.
struct reduction_sample {
  using kernel = split_k_reduction<split_gfx942>;
  static constexpr index_t m = 70, n = 40, parts = 4;

  reduction_sample() {
    args.workspace = sums.data();
    args.c = result.data();
  }
  gemm_args refused() const {
    gemm_args bad = args;
    bad.workspace = nullptr;
    return bad;
  }
  launch_options options;
  std::vector<float> sums = std::vector<float>(1024 + parts * m * n, 1.5f);
  std::vector<half_t> result = std::vector<half_t>(m * n), expected = std::vector<half_t>(m * n, half_t(6.0f));
  gemm_args args{.m = m, .n = n, .ldc = n, .split_k = parts};
};

/// A kernel for any target with waves of the right size.
template <class Arch>
struct copy_sample {
  using kernel = tile_copy_example::tile_copy<tile_copy_example::swizzled_rows, Arch::value.wave_size>;
  static constexpr index_t height = 70, width = 136;

  copy_sample() {
    for (index_t i = 0; i < height * width; ++i) expected.push_back(half_t(float(i % 2048) + 1));
    args = {expected.data(), result.data(), height, width};
  }
  tile_copy_example::matrices refused() const { return {args.from, args.to, height, width - 1}; }
  launch_options options{.emulate = Arch::value};
  std::vector<half_t> expected, result = std::vector<half_t>(height * width);
  tile_copy_example::matrices args;
};

/// Multiplies by two, then a second kernel adds one. The first is persistent: prepare() makes its grid from the number
/// of resident clusters.
struct vector_args {
  int* data = nullptr;
  index_t size = 0;
};
struct add_one {
  using args_type = vector_args;
  static constexpr index_t block_size = 64, lds_bytes = 0;
  static const char* check(const vector_args&) { return nullptr; }
  static exec::block_index grid(const vector_args& args) { return {ceil_div(args.size, block_size)}; }
  void operator()(const vector_args& args) const {
    const index_t i = exec::block_id().x * block_size + exec::thread_id();
    if (i < args.size) ++args.data[i];
  }
};
struct persistent_doubling {
  using args_type = vector_args;
  using followed_by = add_one;
  struct device_args {
    vector_args vector;
    index_t blocks = 0;
  };
  static constexpr index_t block_size = 128, lds_bytes = 0, cluster = 2;
  static const char* check(const vector_args& args) { return args.size > 0 ? nullptr : "the vector is empty"; }
  static device_args prepare(const vector_args& args, const launch_facts& facts) {
    return {args, facts.resident_clusters * cluster};
  }
  static exec::block_index grid(const device_args& args) { return {args.blocks}; }
  void operator()(const device_args& args) const {
    for (index_t i = exec::block_id().x * block_size + exec::thread_id(); i < args.vector.size;
         i += args.blocks * block_size)
      args.vector.data[i] *= 2;
  }
};
struct persistent_sample {
  using kernel = persistent_doubling;
  persistent_sample() { args = {result.data(), 1000}; }
  vector_args refused() const { return {args.data, 0}; }
  launch_options options{.emulate = arch::sm90::value, .resident_clusters = 3};
  std::vector<int> result = std::vector<int>(1000, 4), expected = std::vector<int>(1000, 9);
  vector_args args;
};

template <class Sample>
class ReadyKernelContract : public testing::Test {};
using samples = testing::Types<gemm_sample<split_gfx942>, gemm_sample<plain_sm80>, reduction_sample,
                               copy_sample<arch::gfx942>, copy_sample<arch::sm90>, persistent_sample>;
TYPED_TEST_SUITE(ReadyKernelContract, samples);

template <class T>
bool are_equal(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TYPED_TEST(ReadyKernelContract, RefusesBeforeAnythingIsWritten) {
  using kernel = typename TypeParam::kernel;
  static_assert(ReadyKernel<kernel>);
  TypeParam sample;
  const auto before = sample.result;
  const char* const why = kernel::check(sample.refused());
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(sentence_of([&] { launch<kernel>(sample.refused(), sample.options); }), why);
  EXPECT_TRUE(are_equal(sample.result, before));
}

TYPED_TEST(ReadyKernelContract, ComputesTheWholeResult) {
  TypeParam sample;
  ASSERT_FALSE(are_equal(sample.result, sample.expected));
  launch<typename TypeParam::kernel>(sample.args, sample.options);
  EXPECT_TRUE(are_equal(sample.result, sample.expected));
}

TEST(Launch, NeedsResidentClustersForPrepare) {
  persistent_sample sample;
  sample.options.resident_clusters = 0;
  EXPECT_EQ(sentence_of([&] { launch<persistent_doubling>(sample.args, sample.options); }),
            "launch: launch_options::resident_clusters must be positive");
}

TEST(Launch, ReportsBothKernels) {
  persistent_sample sample;
  const emulator::launch_report report = launch<persistent_doubling>(sample.args, sample.options);
  EXPECT_EQ(report.blocks, 3 * 2 + 16);

  gemm_sample<split_gfx942> product;
  using kernel = gemm_kernel<split_gfx942>;
  const emulator::launch_report sums = launch<kernel>(product.args, {.check_lds = emulator::lds_checks::on});
  const grid_size first = kernel::grid(product.args), second = kernel::followed_by::grid(product.args);
  EXPECT_EQ(sums.blocks, first.x * first.y * first.z + second.x * second.y * second.z);
  EXPECT_GT(sums.matrix_instructions, 0);
  long_index_t executions = 0;
  for (const auto& counts : sums.by_op) executions += counts.executions;
  EXPECT_EQ(executions, sums.totals.executions);
}

TEST(Launch, AddsUpCountsOfTheSameInstructionOnTheSameLine) {
  using enum arch::lds_op;
  emulator::launch_report one, sum;
  const auto add_line = [&](arch::lds_op op, const char* file, int line) {
    one.by_line.push_back({{{.executions = 3}, op}, file, line});
  };
  add_line(read_b32, "a", 1), add_line(read_b32, "a", 2), add_line(read_b32, "b", 1), add_line(write_b32, "a", 1);
  detail::add_report(sum, one);
  EXPECT_EQ(sum.by_line, one.by_line);
  detail::add_report(sum, one);
  for (auto& counts : one.by_line) counts.executions = 6;
  EXPECT_EQ(sum.by_line, one.by_line);
}

TEST(Launch, TakesTheTargetFromTheKernelOrTheOptions) {
  gemm_sample<plain_sm80> product;
  using kernel = gemm_kernel<plain_sm80>;
  EXPECT_EQ(sentence_of([&] { launch<kernel>(product.args, {.emulate = arch::sm90::value}); }),
            "launch: the kernel is for sm_80, but .emulate asks for sm_90");
  EXPECT_NO_THROW(launch<kernel>(product.args, {.emulate = arch::sm80::value}));
  persistent_sample sample;
  EXPECT_EQ(sentence_of([&] { launch<persistent_doubling>(sample.args); }),
            "launch: no target to emulate; give one, for instance {.emulate = arch::gfx942::value}");
  EXPECT_EQ(sample.result, std::vector<int>(1000, 4));
}

template <class Arch>
struct write_wave_size {
  using args_type = vector_args;
  using arch = Arch;
  static constexpr index_t block_size = 64, lds_bytes = 0;
  static const char* check(const vector_args&) { return nullptr; }
  static exec::block_index grid(const vector_args&) { return {1}; }
  void operator()(const vector_args& args) const { *args.data = Arch::value.wave_size; }
};

struct without_threads : write_wave_size<arch::gfx942> {
  static constexpr index_t block_size = 0;
};
struct without_lds_bytes : write_wave_size<arch::gfx942> {
  static constexpr index_t lds_bytes = -1;
};
static_assert(ReadyKernel<write_wave_size<arch::gfx942>>);
static_assert(!ReadyKernel<without_threads> && !ReadyKernel<without_lds_bytes>);

/// Overlaps the previous kernel, but for launches with negative arguments.
struct often_overlapping {
  using args_type = int;
  static constexpr bool overlaps_previous = true;
  static constexpr bool starts_alone(int x) { return x < 0; }
};
struct always_overlapping {
  using args_type = int;
  static constexpr bool overlaps_previous = true;
};
struct never_overlapping : often_overlapping {
  static constexpr bool overlaps_previous = false;
};
using tilewright::detail::overlaps_previous;
static_assert(overlaps_previous<often_overlapping>(1) && !overlaps_previous<often_overlapping>(-1));
static_assert(overlaps_previous<always_overlapping>(-1) && !overlaps_previous<never_overlapping>(1));

struct with_many_threads : write_wave_size<arch::gfx942> {
  static exec::block_index grid(const vector_args& args) { return {args.size}; }
};

TEST(Launch, RefusesMoreThreadsThanHipStarts) {
  int wave = 0;
  EXPECT_EQ(sentence_of([&] { launch<with_many_threads>({&wave, 1 << 26}); }),
            "launch: HIP starts fewer than 2^32 threads along a dimension of a grid; use several launches");
  EXPECT_EQ(wave, 0);
  EXPECT_NO_THROW(launch<with_many_threads>({&wave, 2}));
  EXPECT_EQ(wave, 64);
}

TEST(Launch, ChoosesTheKernelOfTheTarget) {
  int wave = 0;
  const vector_args args{&wave, 1};
  launch<write_wave_size>(args, {.emulate = arch::gfx90a::value});
  EXPECT_EQ(wave, 64);
  launch<write_wave_size, arch::gfx942, arch::sm80>({&wave, 1}, {.emulate = arch::sm80::value});
  EXPECT_EQ(wave, 32);
  wave = 0;
  EXPECT_EQ(
      sentence_of([&] { launch<write_wave_size, arch::gfx942, arch::sm80>(args, {.emulate = arch::gfx1201::value}); }),
      "launch: gfx1201 is not one of the targets that the kernel is compiled for: gfx942, sm_80");
  EXPECT_EQ(sentence_of([&] { launch<write_wave_size, arch::gfx942>(args, {}); }),
            "launch: no target to emulate; give one that the kernel is compiled for: gfx942");
  EXPECT_EQ(wave, 0);
}

}  // namespace
}  // namespace tilewright
