// SPDX-License-Identifier: MIT
// The kernels of one type and order: compile this file with GEMM_PRODUCT (such as f16_row_col: A row-major, B
// column-major), GEMM_ELEMENT, GEMM_RESULT (types of the library), GEMM_A_MAJOR and GEMM_B_MAJOR (k or mn).
#include <tilewright/kernels/gemm/choice/gemm_autotune.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device.hpp"
#include "tilewright_products.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using product = tw::gemm_operation<tw::GEMM_ELEMENT, tw::operand_major::GEMM_A_MAJOR, tw::operand_major::GEMM_B_MAJOR,
                                   tw::GEMM_RESULT>;
using plan = tw::gemm_plan<product>;

/// The fastest choice; with GEMM_BENCHMARK_TIMES in the environment, the others' times are printed.
tw::gemm_choice tuned_choice(const std::vector<tw::gemm_args>& all) {
  std::vector<std::pair<tw::gemm_choice, double>> times;
  const tw::gemm_choice best = tw::gemm_autotune<product>(all, nullptr, nullptr, {}, &times);
  if (std::getenv("GEMM_BENCHMARK_TIMES")) {
    std::sort(times.begin(), times.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    for (const auto& [choice, seconds] : times) std::printf(" [%s] %.2f", tw::name_of(choice).c_str(), seconds * 1e6);
    std::printf("\n");
  }
  return best;
}

}  // namespace

#define TILEWRIGHT_NAME(a, b) a##b
#define TILEWRIGHT_PREPARE(name) TILEWRIGHT_NAME(prepare_, name)

prepared_product TILEWRIGHT_PREPARE(GEMM_PRODUCT)(const problem& p, const std::vector<operands>& sets,
                                                  const get_workspace& workspace, bool tuned) try {
  std::vector<tw::gemm_args> all;
  for (const operands& o : sets) {
    const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
    all.push_back({.a = o.a, .b = o.b, .c = o.c, .m = m, .n = n, .k = k});
    all.back().lda = p.a_col_major ? m : k;
    all.back().ldb = p.b_col_major ? k : n;
    all.back().ldc = n;
  }
  tw::long_index_t bytes = 0;
  for (const tw::gemm_args& args : all) bytes = std::max(bytes, tw::gemm_workspace_bytes<product>(args));
  for (tw::gemm_args& args : all) args.workspace = workspace(std::size_t(bytes));
  int SMs = 0;
  check(cudaDeviceGetAttribute(&SMs, cudaDevAttrMultiProcessorCount, 0), "asking for SMs");
  const tw::gemm_choice choice = tuned ? tuned_choice(all) : tw::choose_gemm<product>(all[0], SMs);
  prepared_product result;
  result.choice = tw::name_of(choice);
  for (const tw::gemm_args& args : all) result.launches.push_back(plan(args, choice));
  return result;
} catch (const tw::launch_error& error) {
  return {error.what(), {}, {}};
}

}  // namespace gpu_benchmark
