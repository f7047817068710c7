// SPDX-License-Identifier: MIT
// rows.hip on the emulated GPUs: results, and that memory is accessed in vectors of 16 bytes, without scratch.
#include "../max_error.hpp"

#include <amdgcn_emulator.hpp>

#include "../kernels/tensor/tensor.hpp"
#include "code_objects.hpp"
#include "rows.hpp"

namespace rows {
namespace {

using rows_test::as_input;
using rows_test::matrix;
using rows_test::offset_of;
using rows_test::tensor;

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
      if (row.text.find("store") != std::string::npos && has_narrow_results_) continue;
      if (starts_anywhere_) continue;
      ++accesses;
      EXPECT_TRUE(row.text.find("x4") != std::string::npos || row.text.find("b128") != std::string::npos) << row.text;
    }
    EXPECT_EQ(accesses > 0, !starts_anywhere_);
    for (const emu::lds_row& row : result.lds)
      EXPECT_TRUE(row.bytes < 16 || row.conflicts == 0 || has_short_rows_) << row.text;
    for (const emu::kernel_summary& k : code_.kernels()) EXPECT_EQ(k.scratch_bytes + k.vgpr_spills, 0u) << k.name;
  }
  bool has_narrow_results_ = false;  // stores may be shorter
  bool starts_anywhere_ = false;     // loads, too
  bool has_short_rows_ = false;      // whose places in LDS follow from their lengths
  emu::module& code_ = load(GetParam());
  std::mt19937 random_{7};
};

strided_tensor<unsigned short> bits_of(const strided_tensor<half_t>& t) {
  strided_tensor<unsigned short> result;
  result.data = reinterpret_cast<unsigned short*>(t.data);
  std::copy_n(t.lengths, 6, result.lengths), std::copy_n(t.strides, 6, result.strides);
  result.dims = t.dims;
  return result;
}

TEST_P(ReadyRows, Permute) {
  const auto permute = [&]<class Kernel>(const char* name, Kernel, index_t rows, index_t cols) {
    const tensor<half_t> x({rows, 3, cols}, random_, starts_anywhere_ ? 0 : 8, 0, false);
    tensor<half_t> y({rows, 3, cols}, random_, 0, 0, false);
    y.view = strided_tensor<half_t>(y.values.data(), {cols, 3, rows}).permuted({2, 1, 0});
    const auto args = Kernel::prepare({.x = as_input(bits_of(x.view)), .y = bits_of(y.view)}, 0);
    run(name, Kernel::grid(args).x, emu::kernarg().add(args), x.values, y.values);
    index_t wrong = 0;
    for (long_index_t i = 0; i < x.elements(); ++i)
      wrong += x.view.data[offset_of(x.view, i)] != y.view.data[offset_of(y.view, i)];
    EXPECT_EQ(wrong, 0);
  };
  permute("permute_16", permute_16<arch::gfx942>{}, 136, 104);
  starts_anywhere_ = true;
  permute("permute_unaligned_16", permute_unaligned_16<arch::gfx942>{}, 137, 133);
  has_short_rows_ = true;
  permute("permute_runs_16", permute_runs_16<arch::gfx942>{}, 19, 13);
}

TEST_P(ReadyRows, SwigluOfStridedTensors) {
  using kernel = swiglu_f16<arch::gfx942>;
  for (const index_t cols : {200, 201}) {
    starts_anywhere_ = cols % 8 != 0;
    const index_t gap = starts_anywhere_ ? 1 : 8;
    const tensor<half_t> x({5, 7, cols}, random_, gap, 0, false), x2({5, 7, cols}, random_, gap, 0, false);
    tensor<half_t> y({5, 7, cols}, random_, 2 * gap, 0, false);
    const auto args = kernel::prepare({x.input(), y.view, x2.input()}, 0);
    run("swiglu_f16", kernel::grid(args).x, emu::kernarg().add(args), x.values, x2.values, y.values);
    double worst = 0;
    for (long_index_t i = 0; i < x.elements(); ++i) {
      const double a = x.view.data[offset_of(x.view, i)],
                   exact = a / (1 + std::exp(-a)) * x2.view.data[offset_of(x2.view, i)];
      worst = max_error(worst, std::abs(y.view.data[offset_of(y.view, i)] - exact) / std::max(1.0, std::abs(exact)));
    }
    EXPECT_LT(worst, 0x1p-10);
  }
}

TEST_P(ReadyRows, MeanAndVarianceAlongRowsAndColumns) {
  using kernel = mean_variance_f16<arch::gfx942>;
  has_narrow_results_ = true;
  for (const index_t dim : {0, 1}) {
    const tensor<half_t> x({264, 136}, random_, 8, 0, false);
    const index_t results = dim == 0 ? 136 : 264, elements = dim == 0 ? 264 : 136;
    std::vector<float> mean(std::size_t(results), -1.0f), variance = mean;
    const reduce_args<half_t> all{.x = x.input(),
                                  .y = strided_tensor<float>(mean.data(), {dim == 0 ? 1 : 264, dim == 0 ? 136 : 1}),
                                  .variance = variance.data()};
    const auto args = kernel::prepare(all, 0);
    run("mean_variance_f16", kernel::grid(args).x, emu::kernarg().add(args), x.values, mean, variance);
    for (index_t r = 0; r < results; ++r) {
      double sum = 0, squares = 0;
      const auto element = [&](index_t i) {
        return double(x.view.data[dim == 0 ? i * x.view.strides[0] + r : r * x.view.strides[0] + i]);
      };
      for (index_t i = 0; i < elements; ++i) sum += element(i);
      for (index_t i = 0; i < elements; ++i) squares += (element(i) - sum / elements) * (element(i) - sum / elements);
      ASSERT_NEAR(mean[std::size_t(r)], sum / elements, 1e-6);
      ASSERT_NEAR(variance[std::size_t(r)], squares / elements, squares / elements * 1e-5);
    }
  }
}

TEST_P(ReadyRows, Softmax) {
  for (const index_t cols : {1000, 2568}) {
    matrix<half_t> x(5, cols, 8, random_, 3), y(5, cols, 0, half_t(-1.0f));
    const softmax_args<half_t> args{x.data(), y.data(), 5, cols, x.stride, y.stride};
    run("softmax_f16", 3, emu::kernarg().add(args), x.values, y.values);
    for (index_t r = 0; r < 5; ++r) {
      double sum = 0, worst = 0;
      for (index_t c = 0; c < cols; ++c) sum += std::exp(x(r, c));
      for (index_t c = 0; c < cols; ++c) worst = max_error(worst, std::abs(y(r, c) - std::exp(x(r, c)) / sum));
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
        worst = max_error(worst, std::abs(residual(r, c) - x(r, c) - before(r, c)));
      }
      for (index_t c = 0; c < cols; ++c)
        worst = max_error(worst, std::abs(y(r, c) - residual(r, c) / std::sqrt(squares / cols + 1e-5) * weight(0, c)));
    }
    EXPECT_LT(worst, 0x1p-7);  // of numbers up to 16
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ReadyRows, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
}  // namespace rows
