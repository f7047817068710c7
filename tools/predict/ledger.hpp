// SPDX-License-Identifier: MIT
// Predicted against measured times: errors by GPU, type, library and length, and as text and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../program/json.hpp"
#include "measured_gemm.hpp"

namespace predict {

/// Predicted over measured times of some rows.
struct ratios {
  std::vector<double> values;

  /// Of the sorted values; 0 without any. `share` from 0 to 1.
  double quantile(double share) const;
  /// Of |predicted / measured - 1|.
  double error_quantile(double share) const;
};

/// How often the model says which of two is faster. Ties within 3 % of the measured time do not count.
struct order_test {
  std::size_t pairs = 0, right = 0;
};

struct group {
  std::string gpu, type, library, time;
  ratios rows;
};

/// This library's kernel for a shape and the fastest measured one.
struct own_row {
  const measured_gemm* fastest;
  tw::cdna_gemm_choice own;
  tw::cdna_gemm_kernel kernel;
  double theirs_us;  ///< Predicted for the measured kernel; 0 where the table does not name its tile.

  double over_measured() const { return own.time.us / fastest->us; }
};

/// This library's best predicted time over the shortest measured one, for shapes of a type.
struct own_comparison {
  std::string type;
  std::size_t left_out = 0;  ///< Shapes that some other GPU computed than the table names.
  std::vector<own_row> shapes;

  ratios over_measured() const;
  /// Over what the model says of the measured kernels, where their tiles are known.
  ratios over_predicted() const;
};

double geometric_mean(const ratios& r);

struct ledger {
  std::size_t rows = 0, fitted = 0, without_facts = 0, batched = 0;
  ratios all, above_60_us, fitted_rows;
  std::vector<group> gpus;                      ///< Of named tiles: by GPU, all and above 60 us.
  std::vector<group> groups;                    ///< By GPU, type, library and time, those without a named tile too.
  std::size_t bound_rows = 0, bound_above = 0;  ///< Rows, and those with a bound 2 % above the measured time.
  order_test order;                             ///< Two kernels that the tables hold for one shape.
  ratios winner;  ///< Predicted time of the measured winner over that of the best of its library's tiles.
  std::vector<own_comparison> own, own_of_all;  ///< Of drawn shapes, and of all.
};

/// The predicted time of a row; empty if the model has no facts of its GPU or the row holds several GEMMs.
std::optional<tw::cdna_gemm_time> predict_row(const measured_gemm& g);

/// For up to `count` shapes of bf16, and of 8-bit elements with block scales. Shapes are drawn by their hash and
/// `seed`, from all rows. Those with an n and k of which a table has a time below the roofline are left out.
std::vector<own_comparison> compare_own(const std::vector<measured_gemm>& rows, std::size_t count,
                                        std::uint64_t seed = 0);

/// What the rows say that no constant was fitted to. `seed`: of the shapes that own kernels are compared for.
ledger make_ledger(const std::vector<measured_gemm>& rows, std::uint64_t seed = 0);

/// With the errors of `groups` if `by_group`.
std::string as_text(const ledger& l, bool by_group);
program::json as_json(const ledger& l);
/// Each row that can be predicted, with its measured and predicted time.
program::json rows_as_json(const std::vector<measured_gemm>& rows);
/// Of all shapes those where own kernels are predicted to take more than `factor` times as long as measured ones, the
/// worst first, each with its cause.
std::string as_text_of_behind(const ledger& l, double factor);

}  // namespace predict
