// SPDX-License-Identifier: MIT
// rows.hip on the emulated GPUs: results, and that memory is accessed in vectors of 16 bytes, without scratch.
#include <amdgcn_emulator.hpp>

#include "../rows/matrix.hpp"
#include "code_objects.hpp"
#include "rows.hpp"

namespace rows {
namespace {

using rows_test::matrix;

class ReadyRows : public testing::TestWithParam<code_object> {
 protected:
  template <class... Memory>
  void run(const char* kernel, index_t blocks, emu::kernarg args, Memory&... memory) {
    code_.forbid_all();
    (code_.allow(memory.data(), memory.size() * sizeof(memory[0])), ...);
    emu::options options;
    options.count = options.lds_log = true;
    const emu::result result = code_.launch(kernel, {unsigned(blocks)}, {256}, 0, args, options);
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    std::size_t accesses = 0;
    for (const emu::count_row& row : result.counts) {
      if (!row.text.starts_with("buffer_") && !row.text.starts_with("global_")) continue;
      if (row.text.find("wb") != std::string::npos || row.text.find("inv") != std::string::npos) continue;
      ++accesses;
      EXPECT_TRUE(row.text.find("x4") != std::string::npos || row.text.find("b128") != std::string::npos) << row.text;
    }
    EXPECT_GT(accesses, 0u);
    for (const emu::lds_row& row : result.lds) EXPECT_TRUE(row.bytes < 16 || row.conflicts == 0) << row.text;
    for (const emu::kernel_summary& k : code_.kernels()) EXPECT_EQ(k.scratch_bytes + k.vgpr_spills, 0u) << k.name;
  }
  emu::module code_{GetParam().path};
  std::mt19937 random_{7};
};

TEST_P(ReadyRows, Transpose) {
  matrix<half_t> x(200, 136, 8, random_), y(136, 200, 16, half_t(0.0f));
  const transpose_args<half_t> args{x.data(), y.data(), 200, 136, 1, x.stride, y.stride};
  run("transpose_f16", 4, emu::kernarg().add(args), x.values, y.values);
  index_t wrong = 0;
  for (index_t r = 0; r < 200; ++r) {
    for (index_t c = 0; c < 136; ++c) wrong += x(r, c) != y(c, r);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(y.has_clean_gaps(half_t(0.0f)));
}

TEST_P(ReadyRows, Softmax) {
  for (const index_t cols : {1000, 2568}) {
    matrix<half_t> x(5, cols, 8, random_, 3), y(5, cols, 0, half_t(-1.0f));
    const softmax_args<half_t> args{x.data(), y.data(), 5, cols, x.stride, y.stride};
    run("softmax_f16", 3, emu::kernarg().add(args), x.values, y.values);
    for (index_t r = 0; r < 5; ++r) {
      double sum = 0, worst = 0;
      for (index_t c = 0; c < cols; ++c) sum += std::exp(x(r, c));
      for (index_t c = 0; c < cols; ++c) worst = std::max(worst, std::abs(y(r, c) - std::exp(x(r, c)) / sum));
      EXPECT_LT(worst, 2.5e-4);  // half_t rounds 0.3 by up to 1.2e-4
    }
  }
}

TEST_P(ReadyRows, RmsNormWithResidual) {
  for (const index_t cols : {1000, 2568}) {
    matrix<half_t> x(3, cols, 8, random_), residual(3, cols, 0, random_), weight(1, cols, 0, random_),
        y(3, cols, 0, half_t(0.0f));
    const matrix<half_t> before = residual;
    const norm_args<half_t> args{.x = x.data(),
                                 .residual = residual.data(),
                                 .sum = residual.data(),
                                 .weight = weight.data(),
                                 .y = y.data(),
                                 .rows = 3,
                                 .cols = cols,
                                 .x_stride = x.stride,
                                 .residual_stride = cols,
                                 .sum_stride = cols,
                                 .y_stride = cols};
    run("rms_norm_f16", 3, emu::kernarg().add(args), x.values, residual.values, weight.values, y.values);
    double worst = 0;
    for (index_t r = 0; r < 3; ++r) {
      double squares = 0;
      for (index_t c = 0; c < cols; ++c) {
        squares += residual(r, c) * residual(r, c);
        worst = std::max(worst, std::abs(residual(r, c) - x(r, c) - before(r, c)));
      }
      for (index_t c = 0; c < cols; ++c)
        worst = std::max(worst, std::abs(y(r, c) - residual(r, c) / std::sqrt(squares / cols + 1e-5) * weight(0, c)));
    }
    EXPECT_LT(worst, 0x1p-7);  // of numbers up to 16
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ReadyRows, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
}  // namespace rows
