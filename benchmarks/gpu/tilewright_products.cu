// SPDX-License-Identifier: MIT
// The kernels of one type and order: compile this file with GEMM_PRODUCT (such as f16_row_col: A row-major, B
// column-major), GEMM_ELEMENT, GEMM_RESULT (types of the library), GEMM_A_MAJOR and GEMM_B_MAJOR (k or mn).
#include <tilewright/gemm/gemm_plan.hpp>
#include <tilewright/tilewright.hpp>

#include <limits>

#include "device.hpp"
#include "tilewright_products.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using product = tw::gemm_product<tw::GEMM_ELEMENT, tw::operand_major::GEMM_A_MAJOR, tw::operand_major::GEMM_B_MAJOR,
                                 tw::GEMM_RESULT>;
using plan = tw::gemm_plan<product>;

/// Seconds of a launch; launches take turns with the sets of operands, as they do when they are compared.
double time_of(const std::vector<plan>& plans, double wanted) {
  event first, begin, end;
  plans[0]();
  first.record();
  plans[plans.size() - 1]();
  begin.record();
  const double once = begin.seconds_since(first);
  const int count = int(std::clamp(wanted / once, 1.0, 100.0));
  begin.record();
  for (int i = 0; i < count; ++i) plans[std::size_t(i) % plans.size()]();
  end.record();
  return end.seconds_since(begin) / count;
}

tw::gemm_choice fastest(const std::vector<tw::gemm_args>& all) {
  struct candidate {
    tw::gemm_choice choice;
    std::vector<plan> plans;
    double seconds;
  };
  std::vector<candidate> list;
  for (const tw::gemm_choice& c : tw::possible_choices<product>(all[0])) {
    list.push_back({c, {}, 0});
    for (const tw::gemm_args& args : all) list.back().plans.push_back(plan(args, c));
    list.back().seconds = time_of(list.back().plans, 0.5e-3);
  }
  const auto by_time = [](const candidate& x, const candidate& y) { return x.seconds < y.seconds; };
  std::sort(list.begin(), list.end(), by_time);
  list.resize(std::min<std::size_t>(list.size(), 4));
  for (candidate& c : list) c.seconds = time_of(c.plans, 3e-3);
  return std::min_element(list.begin(), list.end(), by_time)->choice;
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
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "asking for multiprocessors");
  const tw::gemm_choice choice = tuned ? fastest(all) : tw::choose_gemm<product>(all[0], multiprocessors);
  prepared_product result;
  result.choice = tw::gemm_kernels<product>::name(choice.kernel) + (choice.splits_k ? "" : " whole");
  for (const tw::gemm_args& args : all) result.launches.push_back(plan(args, choice));
  return result;
} catch (const tw::launch_error& error) {
  return {error.what(), {}, {}};
}

}  // namespace gpu_benchmark
