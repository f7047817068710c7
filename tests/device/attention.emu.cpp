// SPDX-License-Identifier: MIT
// attention.hip on emulated GPUs: results, bounds and races.
#include "attention_policies.hpp"

#include <amdgcn_emulator.hpp>

#include "../kernels/attention/backward/check_attention_backward.hpp"
#include "../kernels/attention/decode/check_attention_decode.hpp"
#include "code_objects.hpp"

namespace attention_test {

/// Three query heads share a key head; causal, with lengths that are no multiples of a tile, one shorter than a step.
problem ragged() {
  problem p;
  p.heads = 3;
  p.has_sinks = true;
  p.queries = {70, 9};
  p.keys = {150, 3};
  p.window = causal;
  p.packed = true;
  return p;
}
/// A window, and keys that are seen by no query.
problem sliding() {
  problem p;
  p.queries = p.keys = {140};
  p.window = {30, 5};
  p.rows_before_heads = false;
  return p;
}

/// Pages in random order, shares of two sequences, and a last block of rows that is not full.
decode_problem paged() {
  decode_problem p;
  p.heads = 6;
  p.queries = 3;
  p.own_queries = {3, 1};
  p.has_sinks = true;
  p.scales = scales_of::token;
  p.keys = {70, 200};
  p.rows_per_page = 32;
  p.splits = 3;
  p.window = causal;
  return p;
}

template <class Kernel, class Args>
void run(emu::module& code, const char* name, const Args& args, const std::vector<memory>& memories) {
  ASSERT_EQ(Kernel::check(args), nullptr);
  code.forbid_all();
  for (const memory& m : memories) code.allow(m.data, m.bytes);
  const grid_size grid = Kernel::grid(args);
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  const emu::result result = code.launch(name, {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                                         {unsigned(Kernel::block_size)}, 0, emu::kernarg().add(args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
}

template <class Policy>
void expect_right(emu::module& code, const char* name, const problem& p) {
  expect_attention_by<Policy>(
      [&](const auto& args, const auto& m) { run<attention_forward<Policy>>(code, name, args, m); }, p);
}

class Attention : public testing::TestWithParam<code_object> {
 protected:
  template <class Arch>
  void expect_right_on() {
    if (GetParam().arch != std::string(Arch::value.name)) return;
    emu::module& code = load(GetParam());
    expect_right<half_64<Arch>>(code, "half_64", ragged());
    expect_right<half_64<Arch>>(code, "half_64", sliding());
    expect_right<bfloat16_96<Arch>>(code, "bfloat16_96", ragged());
    if constexpr (has_fp8<Arch>) {
      problem p = ragged();
      p.has_scales = true;
      expect_right<fp8_64<Arch>>(code, "fp8_64", p);
    }
    if constexpr (has_ping_pong<Arch>) {
      problem p = ragged();
      p.queries = {300, 20};
      expect_right<ping_pong_64<Arch>>(code, "ping_pong_64", p);
    }
    using decode = attention_decode<decode_half_128<Arch>>;
    expect_decode_by<decode_half_128<Arch>>(
        [&](const auto& args, const auto& m) {
          run<decode>(code, "decode_half_128", args, m);
          run<typename decode::followed_by>(code, "decode_combine_half_128", args, m);
        },
        paged());
    decode_problem one_split = paged();
    one_split.splits = 1;
    problem wide = ragged();
    wide.queries = {40, 9};
    expect_right<half_512<Arch>>(code, "half_512", wide);
    expect_decode_by<decode_half_512<Arch>>(
        [&](const auto& args, const auto& m) {
          run<attention_decode<decode_half_512<Arch>>>(code, "decode_half_512", args, m);
        },
        one_split);
    expect_decode_by<decode_int8_64<Arch>>(
        [&](const auto& args, const auto& m) {
          run<attention_decode<decode_int8_64<Arch>>>(code, "decode_int8_64", args, m);
        },
        one_split);
    using backward = attention_backward<backward_bfloat16_64<Arch>>;
    for (const problem& p : {ragged(), sliding()}) {
      expect_gradients_by<backward_bfloat16_64<Arch>>(
          [&](const auto& args, const auto& m) {
            run<backward>(code, "backward_bfloat16_64", args, m);
            run<typename backward::followed_by>(code, "gradients_bfloat16_64", args, m);
          },
          p);
    }
    found_ = true;
  }
  bool found_ = false;
};

TEST_P(Attention, IsRight) {
  for_each_target([&]<class Arch>() { expect_right_on<Arch>(); });
  EXPECT_TRUE(found_);
}

INSTANTIATE_TEST_SUITE_P(Targets, Attention, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace attention_test
