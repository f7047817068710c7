// SPDX-License-Identifier: MIT
// Kernels of warp_specialized_pipeline on the CPU emulator: clusters of eight, A by columns, what is counted; and a
// kernel with mistakes, each of which is found.
#include "../../../launch_sentence.hpp"
#include "check_hopper_gemm.hpp"

#include <string>

namespace tilewright {
namespace {

using enum operand_major;

/// What a careless kernel leaves out or does wrongly, where it is asked to.
enum class mistake {
  none,
  parity_of_full,
  parity_of_empty,
  release_too_early,
  no_release,
  fewer_releases,
  expects_less,
  no_async_fence,
  slot_without_wait,
  stores_without_wait,
  no_last_wait
};
mistake made = mistake::none;

/// Two blocks that share A, two consumers each.
using careful_policy = gemm_hopper<half_t, k, k, hopper_gemm_tile{.m = 128, .n = 64, .cluster_n = 2}>;
struct careless_policy : careful_policy {};
using careful_block = hopper_gemm_block<careful_policy>;
using careless_block = hopper_gemm_block<careless_policy>;

}  // namespace

template <>
struct detail::operand_pipeline<careless_block> : detail::operand_pipeline<careful_block> {
  using careful = detail::operand_pipeline<careful_block>;
  using careful::careful;

  void init(const careful_block::device_args& args) const {
    careful::init(args);
    for (index_t s = 0; made == mistake::fewer_releases && s < careful_block::num_stages; ++s)
      empty(s).invalidate(), empty(s).init(tile.consumers * tile.cluster_n - 1);
  }
  template <class... Args>
  void load(const state& at, const Args&... args) const {
    if (made == mistake::expects_less && at.stage == 1) full(1).arrive_and_expect(-128);
    careful::load({at.stage, at.phase ^ unsigned(made == mistake::parity_of_empty)}, args...);
  }
  void consumer_wait(const state& at) const {
    careful::consumer_wait({at.stage, at.phase ^ unsigned(made == mistake::parity_of_full)});
  }
  void multiply(const state& at, index_t consumer, careful_block::accumulators& c, bool accumulate) const {
    careful::multiply(at, consumer, c, accumulate);
    if (made == mistake::release_too_early) careful::consumer_release(at.stage, release_rank(exec::thread_id() % 128));
  }
  void consumer_release(index_t stage, index_t rank) const {
    if (made == mistake::release_too_early || (made == mistake::no_release && stage == 1)) return;
    careful::consumer_release(stage, rank);
  }
};

template <>
struct detail::c_slots<careless_block> : detail::c_slots<careful_block> {
  template <class Scheduler>
  void store(const careful_block::device_args& args, Scheduler tiles) const {
    state at, read;
    index_t stored = 0;
    for_each_box(tiles, [&](const c_box& box) {
      if (made != mistake::slot_without_wait) full(at.stage).wait(at.phase);
      if (made != mistake::no_async_fence) exec::fence_async_proxy();
      exec::tma_store(args.c, address(at.stage), box.n, box.m, box.z);
      exec::tma_store_commit();
      if (made != mistake::stores_without_wait) exec::tma_store_wait_read<in_flight>();
      at.advance();
      if (++stored <= in_flight) return;
      empty(read.stage).arrive();
      read.advance();
    });
    if (made != mistake::no_last_wait) exec::tma_store_wait_read<0>();
  }
};

namespace testing_gemm {
namespace {

/// What is found, without lines.
std::string fault_with(mistake m, float beta = 0) {
  made = m;
  hopper_gemm_case<careful_policy> gemm({.m = 3 * 128, .n = 2 * 128, .k = 7 * 64, .beta = beta});
  std::string text = "no fault";
  try {
    launch_hopper_gemm<careless_policy>(gemm.args,
                                        {.workers = 1, .resident_clusters = 1, .check_lds = emulator::lds_checks::on});
    expect_result(gemm);
  } catch (const emulator::fault& f) {
    text = f.what();
  }
  for (auto at = text.find(" ("); at != text.npos; at = text.find(" (")) text.erase(at, text.find(')', at) + 1 - at);
  return text;
}

void expect_found(mistake m, const std::string& what) {
  const std::string found = fault_with(m);
  EXPECT_NE(found.find(what), found.npos) << found;
}

TEST(WarpSpecializedPipeline, MistakesAreFound) {
  EXPECT_EQ(fault_with(mistake::none), "no fault");
  EXPECT_EQ(fault_with(mistake::none, 1), "no fault");
  expect_found(mistake::parity_of_full, "multiplies LDS bytes");
  expect_found(mistake::parity_of_empty, "waits forever at a barrier in LDS, where");
  expect_found(mistake::release_too_early, "copies to LDS bytes");
  expect_found(mistake::no_release, "waits forever at a barrier in LDS, where");
  expect_found(mistake::fewer_releases, "that a matrix instruction read with no barrier between");
  expect_found(mistake::expects_less, "barrier in LDS");
  expect_found(mistake::no_async_fence, "without a fence_async_proxy() between");
  expect_found(mistake::slot_without_wait, "copies from LDS bytes");
  expect_found(mistake::stores_without_wait, "before a TMA copy that reads there was waited for");
  expect_found(mistake::no_last_wait, "tma_store_wait_read<0>() is missing");
}

TEST(WarpSpecializedPipeline, PassesInExploredSchedules) {
  explore_hopper_gemm<careful_policy>({.m = 3 * 128, .n = 128, .k = 72, .beta = 1});
}

/// Two of the four blocks that share B copy its 80 rows.
TEST(WarpSpecializedPipeline, ClustersOfEight) {
  using policy =
      gemm_hopper<half_t, mn, k, hopper_gemm_tile{.m = 64, .n = 80, .cluster_m = 4, .cluster_n = 2, .consumers = 1}>;
  expect_hopper_gemm<policy>({.m = 264, .n = 136, .k = 7 * 64 + 8, .beta = 1, .gap = 8},
                             {.workers = 2, .resident_clusters = 2});
}

// The first consumer is never two tiles ahead of the second one, however few k tiles they have.
TEST(WarpSpecializedPipeline, ShortK) {
  expect_hopper_gemm<careful_policy>({.m = 6 * 128, .n = 128, .k = 8}, {.workers = 1, .resident_clusters = 1});
}

TEST(WarpSpecializedPipeline, ArgumentsThatItRefuses) {
  hopper_gemm_case<careful_policy> gemm({.m = 8, .n = 8, .k = 8});
  gemm.args.lda = 4;
  EXPECT_EQ(sentence_of([&] { launch_hopper_gemm<careful_policy>(gemm.args); }),
            "lda is smaller than a row of A (a column, if A is column-major)");
}

// Each element is written to LDS once and multiplied once.
TEST(WarpSpecializedPipeline, Counts) {
  using policy = gemm_hopper<bfloat16_t, mn, mn, hopper_gemm_tile{.m = 128, .n = 64, .consumers = 1}>;
  const emulator::launch_report report = expect_hopper_gemm<policy>({.m = 256, .n = 128, .k = 192, .gap = 8});
  EXPECT_EQ(report.matrix_instructions, 256 / 16 * (128 / 64) * (192 / 16));
  EXPECT_EQ(report.of(arch::lds_op::stmatrix).executions, 256 * 128 / (32 * 8));
  EXPECT_EQ(report.by_op.size(), 1u);
  EXPECT_EQ(report.blocks, 2);
}

}  // namespace
}  // namespace testing_gemm
}  // namespace tilewright
