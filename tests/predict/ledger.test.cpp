// SPDX-License-Identifier: MIT
// The ledger of tables whose errors are planted, and the fit of constants that are known.
#include "ledger.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fit.hpp"
#include "own_kernels.hpp"

namespace predict {
namespace {

/// Rows that the constants `c` predict exactly, times `factor`; shapes that are not fitted have a factor of their own.
std::vector<measured_gemm> exact_rows(const tw::cdna_gemm_constants& c, double factor = 1,
                                      double factor_of_others = 1) {
  const char* const kernels[] = {"a8w8_rowwise_256x128x128x128_32x32_2x2_intrawave_v3",
                                 "a8w8_rowwise_256x64x64x256_32x32_1x1_intrawave_v1",
                                 "_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_64x128E"};
  std::vector<measured_gemm> rows;
  for (const tw::arch::cdna_gpu& gpu : tw::arch::cdna_gpus)
    for (const char* name : kernels)
      for (int m = 16; m <= 8192; m *= 2)
        for (int n = 512; n <= 8192; n *= 2) {
          measured_gemm g;
          g.gpu = &gpu;
          g.m = m;
          g.n = n;
          g.k = 7 * n / 4;
          g.element_bits = 8;
          g.kernel_name = name;
          g.kernel = parse_kernel_name(name, 8);
          g.us = tw::predict_gemm(gpu, *g.kernel.tile, g.m, g.n, g.k, c).us;
          g.us *= is_fitted(g) ? factor : factor_of_others;
          rows.push_back(g);
        }
  return rows;
}

TEST(Ledger, OfTimesThatAreAsPredicted) {
  const ledger l = make_ledger(exact_rows({}));
  EXPECT_EQ(l.rows, 450u);
  EXPECT_EQ(l.fitted + l.all.values.size(), l.rows);
  EXPECT_NEAR(l.all.error_quantile(0.9), 0, 1e-12);
  EXPECT_EQ(l.bound_above, 0u);
  EXPECT_GT(l.order.pairs, 100u);
  EXPECT_EQ(l.order.right, l.order.pairs);
}

TEST(Ledger, CountsOnlyRowsThatAreNotFitted) {
  EXPECT_NEAR(make_ledger(exact_rows({}, 3, 1)).all.error_quantile(0.9), 0, 1e-12);
  const ledger l = make_ledger(exact_rows({}, 1, 2));
  EXPECT_NEAR(l.all.quantile(0.5), 0.5, 1e-12) << "times twice as long as predicted";
  EXPECT_NEAR(l.all.error_quantile(0.5), 0.5, 1e-12);
  EXPECT_NEAR(l.fitted_rows.error_quantile(0.9), 0, 1e-12);
  EXPECT_NEAR(l.above_60_us.quantile(0.1), 0.5, 1e-12);
}

TEST(Ledger, FindsImpossibleTimesAndWrongOrders) {
  const ledger l = make_ledger(exact_rows({}, 1, 0.05));
  EXPECT_GT(l.bound_above, 0u) << "below the roofline";
  std::vector<measured_gemm> rows = exact_rows({});
  for (measured_gemm& g : rows) g.us = 1000 / g.us;
  const ledger reversed = make_ledger(rows);
  EXPECT_GT(reversed.order.pairs, 100u);
  EXPECT_EQ(reversed.order.right, 0u);
}

TEST(Ledger, LeavesOutWhatItCannotPredict) {
  std::vector<measured_gemm> rows = exact_rows({});
  rows.resize(3);
  rows[0].gpu = nullptr;
  rows[1].batched = true;
  rows[2].gpu = &tw::arch::cdna_gpus[0];
  rows[2].element_bits = 4;
  const ledger l = make_ledger(rows);
  EXPECT_EQ(l.without_facts, 2u) << "no facts of the GPU; no matrix instructions for 4 bits";
  EXPECT_EQ(l.batched, 1u);
  EXPECT_TRUE(l.all.values.empty());
  EXPECT_NE(as_text(l, true).find("3 measured GEMMs"), std::string::npos);
}

TEST(Ledger, AKernelWithoutATileIsTheBestOfUsualOnes) {
  measured_gemm g;
  g.gpu = &tw::arch::cdna_gpus[2];
  g.m = 16;
  g.n = 2048;
  g.k = 65536;
  g.us = 1;
  tw::cdna_gemm_kernel large{.m = 256, .n = 256, .k = 64, .stages = 2, .loop = tw::cdna_loop::scheduled};
  EXPECT_LT(predict_row(g)->us, 0.5 * tw::predict_gemm(*g.gpu, large, g.m, g.n, g.k).us);
}

TEST(Ledger, ComparesOwnKernelsWithTheFastestRow) {
  std::vector<measured_gemm> rows = exact_rows({});
  for (measured_gemm& g : rows) g.block_scaled = true;
  const std::vector<own_comparison> all = compare_own(rows, 1000), few = compare_own(rows, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].shapes.empty()) << "no rows of bf16";
  EXPECT_EQ(geometric_mean(all[0].over_measured()), 0);
  const std::vector<double> ratios = all[1].over_measured().values;
  EXPECT_EQ(ratios.size(), 150u) << "three kernels for each shape: the fastest counts";
  EXPECT_EQ(few[1].over_measured().values, std::vector(ratios.begin(), ratios.begin() + 10)) << "the same draw";
  EXPECT_NE(compare_own(rows, 10, 1)[1].over_measured().values, few[1].over_measured().values) << "another seed";
  EXPECT_EQ(all[1].over_predicted().values, ratios) << "rows are as predicted";
  const double before = geometric_mean(all[1].over_measured());
  for (measured_gemm& g : rows) g.us *= 0.99;
  const own_comparison faster = compare_own(rows, 1000)[1];
  EXPECT_NEAR(geometric_mean(faster.over_measured()) * 0.99, before, 1e-9);
  EXPECT_EQ(faster.over_predicted().values, ratios);
}

TEST(Ledger, LeavesOutTablesOfAnotherGpu) {
  std::vector<measured_gemm> rows = exact_rows({});
  for (measured_gemm& g : rows) g.block_scaled = true;
  measured_gemm& impossible = rows.front();
  impossible.us = 0.9 * predict_row(impossible)->bound_us;
  const own_comparison c = compare_own(rows, 1000)[1];
  EXPECT_EQ(c.left_out, 10u) << "all m of its n and k, on its GPU";
  EXPECT_EQ(c.shapes.size(), 140u);
  for (const own_row& r : c.shapes)
    EXPECT_FALSE(r.fastest->gpu == impossible.gpu && r.fastest->n == impossible.n && r.fastest->k == impossible.k);
}

TEST(Ledger, NamesTheCauseOfWhatIsBehind) {
  std::vector<measured_gemm> rows = exact_rows({});
  for (measured_gemm& g : rows) g.block_scaled = true;
  EXPECT_EQ(as_text_of_behind(make_ledger(rows), 1000), "");
  for (measured_gemm& g : rows) g.us /= 3;
  const std::string text = as_text_of_behind(make_ledger(rows), 1.3);
  EXPECT_NE(text.find(": the model\n"), std::string::npos) << "their kernels are predicted to take as long";
  EXPECT_LT(std::stod(text.substr(text.rfind('\n', text.size() - 2) + 1)), std::stod(text)) << "the worst first";
}

TEST(Ledger, OwnKernelsAreThoseOfTheTarget) {
  EXPECT_EQ(own_kernels(tw::arch::cdna_gpus[0], 16).size(), 11u);
  EXPECT_EQ(own_kernels(tw::arch::cdna_gpus[2], 16).size(), 24u) << "and copies of 16 bytes that bypass registers";
  EXPECT_EQ(own_kernels(tw::arch::cdna_gpus[0], 8).size(), 17u) << "those of one stage in LDS";
  EXPECT_EQ(own_kernels(tw::arch::cdna_gpus[2], 8).size(), 20u);
  for (const tw::arch::cdna_gpu& gpu : tw::arch::cdna_gpus) {
    for (const tw::cdna_gemm_kernel& r : own_kernels(gpu, 16)) {
      EXPECT_EQ(r.element_bits, 16);
      EXPECT_GT(r.blocks_per_cu, 0);
    }
    for (const tw::cdna_gemm_kernel& r : own_kernels(gpu, 8)) EXPECT_EQ(r.scale_k, 128);
  }
}

TEST(Fit, FindsPlantedConstantsFromTheFittedHalfAlone) {
  tw::cdna_gemm_constants planted;
  planted.launch_us = 5.5;
  planted.store_bytes_per_clock = 2;
  const std::vector<measured_gemm> rows = exact_rows(planted, 1, 100);  // the other half would lead astray
  const fit_result before = fit(rows, {}, 0), after = fit(rows, {}, 40);
  EXPECT_GT(before.mean_error, 0.1);
  EXPECT_LT(after.mean_error, 0.2 * before.mean_error);
  EXPECT_NEAR(after.constants.launch_us, 5.5, 0.5);
  EXPECT_NEAR(after.constants.store_bytes_per_clock, 2, 0.3);
  EXPECT_EQ(values_of(after.constants).front().name, "launch_us");
  EXPECT_EQ(values_of(after.constants).front().value, after.constants.launch_us);
}

}  // namespace
}  // namespace predict
