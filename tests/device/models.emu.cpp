// SPDX-License-Identifier: MIT
// models.hip on the emulated GPUs: the results are those of the CPU emulator, memory is accessed in vectors of 16
// bytes, and nothing is spilled.
#include "../max_error.hpp"

#include <amdgcn_emulator.hpp>

#include <tilewright/launch/launch.hpp>

#include "../kernels/rows/matrix.hpp"
#include "code_objects.hpp"
#include "models.hpp"

namespace models {
namespace {

using rows_test::matrix;
using cpu = arch::gfx942;

class Models : public testing::TestWithParam<code_object> {
 protected:
  template <class Args, class... Memory>
  void run(const char* kernel, exec::block_index blocks, const Args& args, const Memory&... memory) {
    run_threads(256, kernel, blocks, args, memory...);
  }
  template <class Args, class... Memory>
  void run_threads(index_t threads, const char* kernel, exec::block_index blocks, const Args& args,
                   const Memory&... memory) {
    if (blocks.x == 0) return;
    code_.forbid_all();
    (code_.allow(memory.data(), memory.size() * sizeof(memory[0])), ...);
    emu::options options;
    options.count = true;
    const emu::result result = code_.launch(kernel, {unsigned(blocks.x), unsigned(blocks.y)}, {unsigned(threads)}, 0,
                                            emu::kernarg().add(args), options);
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    for (const emu::count_row& row : result.counts) {
      if (!row.text.starts_with("buffer_") && !row.text.starts_with("global_")) continue;
      const bool is_wide = row.text.find("x4") != std::string::npos || row.text.find("b128") != std::string::npos;
      (is_wide ? wide_ : narrow_) += row.executions;
    }
    for (const emu::kernel_summary& k : code_.kernels()) EXPECT_EQ(k.scratch_bytes + k.vgpr_spills, 0u) << k.name;
  }
  template <class T>
  static double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      worst = max_error(worst, std::abs(double(float(a[i])) - double(float(b[i]))));
    return worst;
  }
  emu::module code_{GetParam().path};
  std::mt19937 random_{9};
  std::uint64_t wide_ = 0, narrow_ = 0;  // executed accesses of 16 bytes, and of fewer
};

TEST_P(Models, LayerNormWithScalesPer128) {
  const index_t cols = 2568, groups = ceil_div(cols, 128);
  matrix<half_t> x(3, cols, 0, random_), weight(1, cols, 0, random_), bias(1, cols, 0, random_);
  matrix<int8_t> y(3, cols, 0, int8_t(0)), wanted = y;
  std::vector<float> scale(std::size_t(3 * groups)), wanted_scale = scale;
  norm_args<half_t, int8_t> args{.x = x.data(),
                                 .weight = weight.data(),
                                 .bias = bias.data(),
                                 .y = wanted.data(),
                                 .scale = wanted_scale.data(),
                                 .scale_row_stride = groups,
                                 .scale_group_stride = 1,
                                 .rows = 3,
                                 .cols = cols,
                                 .x_stride = cols,
                                 .y_stride = cols};
  launch<layer_norm_128<cpu>>(args);
  args.y = y.data(), args.scale = scale.data();
  run("layer_norm_128", {2}, args, x.values, weight.values, bias.values, y.values, scale);
  EXPECT_LE(largest_difference(y.values, wanted.values), 1);
  EXPECT_LT(largest_difference(scale, wanted_scale), 1e-5);
  EXPECT_GT(wide_, narrow_);  // results have 8 bytes
}

TEST_P(Models, NormGradient) {
  for (const index_t cols : {1000, 3000}) {  // a part has 2048 elements
    matrix<half_t> dy(3, cols, 0, random_), s(3, cols, 0, random_), weight(1, cols, 0, random_),
        dx(3, cols, 0, half_t(0.0f)), wanted = dx, sums(2, cols, 0, half_t(0.0f));
    const std::vector<float> mean{0.1f, -0.2f, 0.3f}, rstd{0.9f, 1.0f, 1.1f};
    std::vector<float> parts(std::size_t(2 * 2 * cols)), wanted_parts = parts;
    norm_gradient_args<half_t> args{.dy = dy.data(),
                                    .s = s.data(),
                                    .weight = weight.data(),
                                    .mean = mean.data(),
                                    .rstd = rstd.data(),
                                    .dx = wanted.data(),
                                    .dweight = sums.data(),
                                    .dbias = sums.data() + cols,
                                    .partials = wanted_parts.data(),
                                    .num_partials = 2,
                                    .rows = 3,
                                    .cols = cols,
                                    .dy_stride = cols,
                                    .s_stride = cols,
                                    .dx_stride = cols};
    launch<norm_gradient<cpu>>(args);
    args.dx = dx.data(), args.partials = parts.data();
    run("norm_gradient", {2}, args, dy.values, s.values, weight.values, mean, rstd, dx.values, parts);
    EXPECT_LT(largest_difference(dx.values, wanted.values), 0x1p-6);
    EXPECT_LT(largest_difference(parts, wanted_parts), 1e-4);
    EXPECT_GT(wide_, narrow_);  // mean and rstd of each row
  }
}

TEST_P(Models, LossAndGradient) {
  const index_t cols = 2568;
  matrix<half_t> x(3, cols, 0, random_, 3), gradient(3, cols, 0, half_t(0.0f)), wanted = gradient;
  const std::vector<index_t> target{5, -100, 2567};
  std::vector<float> loss(3), wanted_loss = loss;
  cross_entropy_args<half_t> args{.x = x.data(),
                                  .target = target.data(),
                                  .loss = wanted_loss.data(),
                                  .gradient = wanted.data(),
                                  .rows = 3,
                                  .cols = cols,
                                  .x_stride = cols,
                                  .gradient_stride = cols};
  launch<loss_and_gradient<cpu>>(args);
  args.loss = loss.data(), args.gradient = gradient.data();
  run("loss_and_gradient", {2}, args, x.values, target, loss, gradient.values);
  EXPECT_LT(largest_difference(loss, wanted_loss), 1e-4);
  EXPECT_LT(largest_difference(gradient.values, wanted.values), 0x1p-10);
  EXPECT_GT(wide_, narrow_);
}

TEST_P(Models, QuantisedSwiglu) {
  for (const index_t cols : {1000, 2568}) {
    matrix<half_t> x(3, cols, 8, random_), x2(3, cols, 0, random_);
    matrix<int8_t> y(3, cols, 0, int8_t(0)), wanted = y;
    std::vector<float> scale(3), wanted_scale = scale;
    quantise_args<half_t, int8_t> args{.x = x.data(),
                                       .x2 = x2.data(),
                                       .y = wanted.data(),
                                       .scale = wanted_scale.data(),
                                       .rows = 3,
                                       .cols = cols,
                                       .x_stride = x.stride,
                                       .x2_stride = cols,
                                       .y_stride = cols};
    launch<swiglu_int8<cpu>>(args);
    args.y = y.data(), args.scale = scale.data();
    run("swiglu_int8", {2}, args, x.values, x2.values, y.values, scale);
    EXPECT_LE(largest_difference(y.values, wanted.values), 1);
    EXPECT_LT(largest_difference(scale, wanted_scale), 1e-5);
    EXPECT_GT(wide_, narrow_);  // results have 8 bytes
  }
}

TEST_P(Models, RowsToExpertsAndBack) {
  const index_t cols = 2568;
  matrix<half_t> x(3, cols, 8, random_), y(6, cols, 0, half_t(-7.0f)), wanted = y, back(3, cols, 0, half_t(0.0f)),
                                                                       wanted_back = back;
  const std::vector<index_t> place{4, 0, -1, 3, 2, 5};
  const std::vector<float> weight{0.5f, 1, 2, 0.25f, 1, 1};
  expert_rows_args<half_t> args{x.data(), wanted.data(), place.data(), weight.data(), 3, 2, cols, x.stride, cols};
  launch<scatter_f16<cpu>>(args);
  args.y = y.data();
  run("scatter_f16", scatter_f16<cpu>::grid(args), args, x.values, y.values, place, weight);
  EXPECT_EQ(largest_difference(y.values, wanted.values), 0);
  args = {y.data(), wanted_back.data(), place.data(), weight.data(), 3, 2, cols, cols, cols};
  launch<combine_f16<cpu>>(args);
  args.y = back.data();
  run("combine_f16", combine_f16<cpu>::grid(args), args, y.values, back.values, place, weight);
  EXPECT_LE(largest_difference(back.values, wanted_back.values), 0x1p-9);
  EXPECT_LT(narrow_, 2 * wide_);  // place and weight of each choice
}

TEST_P(Models, Rotary) {
  matrix<half_t> x(20, 3 * 128, 0, random_), y(20, 3 * 128, 0, half_t(0.0f)), wanted = y;
  const matrix<float> cos(20, 64, 0, random_), sin(20, 64, 0, random_);
  rotary_args<half_t> args{.x = x.data(),
                           .y = wanted.data(),
                           .cos = cos.values.data(),
                           .sin = sin.values.data(),
                           .tokens = 20,
                           .heads = 3,
                           .pairs = 64,
                           .max_position = 20,
                           .x_token_stride = 384,
                           .x_head_stride = 128,
                           .y_token_stride = 384,
                           .y_head_stride = 128};
  launch<rotary_f16<cpu>>(args);
  args.y = y.data();
  run("rotary_f16", rotary_f16<cpu>::grid(args), args, x.values, y.values, cos.values, sin.values);
  EXPECT_LT(largest_difference(y.values, wanted.values), 0x1p-7);
  EXPECT_EQ(narrow_, 0u);
}

TEST_P(Models, RoutingToExperts) {
  matrix<half_t> logits(100, 24, 0, random_, 2);
  std::vector<index_t> expert(400), wanted(400);
  std::vector<float> weight(400), wanted_weight(400);
  choose_experts_args<half_t> choice{logits.data(), wanted.data(), wanted_weight.data(), 100, 24, 4, 24};
  launch<choose_f16<cpu>>(choice);
  choice.expert = expert.data(), choice.weight = weight.data();
  for_each_target([&]<class Arch>() {  // a block is one wave
    using choose = choose_f16<Arch>;
    if (Arch::value.name == GetParam().arch)
      run_threads(choose::block_size, "choose_f16", choose::grid(choice), choice, logits.values, expert, weight);
  });
  EXPECT_EQ(expert, wanted);
  EXPECT_LT(largest_difference(weight, wanted_weight), 1e-5);

  using count = count_by_expert<cpu>;
  using sum = sum_by_expert<cpu>;
  using place_all = position_by_expert<cpu>;
  for (const index_t n : {400, 8400, 65600}) {  // one part, few parts, which add up their counts themselves, many
    while (index_t(expert.size()) < n) expert.push_back(expert[expert.size() - 400] * 7 % 24);
    std::vector<index_t> ends(24), source(std::size_t(n), -7), place = source,
                                                               counts(std::size_t(count::workspace_rows(n) * 24));
    const order_by_expert_args order{expert.data(), ends.data(), source.data(), place.data(), counts.data(), n, 24};
    run_threads(count::block_size, "count_by_expert", count::grid(order), order, expert, counts, ends, source, place);
    run_threads(sum::block_size, "sum_by_expert", sum::grid(order), order, counts);
    run_threads(place_all::block_size, "position_by_expert", place_all::grid(order), order, expert, counts, ends,
                source, place);
    for (index_t p = 0; p < n; ++p) {
      ASSERT_EQ(place[std::size_t(source[std::size_t(p)])], p);
      ASSERT_LT(p, ends[std::size_t(expert[std::size_t(source[std::size_t(p)])])]);
    }
    EXPECT_EQ(ends.back(), n);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Models, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
}  // namespace models
