// SPDX-License-Identifier: MIT
// The kernels of policies.hip on emulated GPUs: results, bounds, races and waits.
#include "../gemm/check_gemm.hpp"

#include <tilewright/arch/arch.hpp>

#include <amdgcn_emulator.hpp>
#include <memory>

#include "code_objects.hpp"
#include "policies.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::testing_gemm;

/// Lets kernels touch everything that a problem's arguments point to.
template <class Policy>
void allow(emu::module& code, gemm_case<Policy>& gemm) {
  const auto all = [&](auto& values) { code.allow(values.data(), values.size() * sizeof values[0]); };
  all(gemm.a), all(gemm.b), all(gemm.c), all(gemm.residual), all(gemm.bias);
  all(gemm.scale), all(gemm.row_scale), all(gemm.column_scale);
}

template <class Args>
void launch(emu::module& code, const char* kernel, const grid_size& grid, index_t threads, const Args& args) {
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  const emu::result result = code.launch(kernel, {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                                         {unsigned(threads)}, 0, emu::kernarg().add(args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
}

template <class Policy>
void expect_right(emu::module& code, const char* kernel, const problem& p) {
  SCOPED_TRACE(std::string(kernel) + ": " + describe<Policy>(p));
  gemm_case<Policy> gemm(p);
  ASSERT_STREQ(gemm_kernel<Policy>::check(gemm.args), nullptr);
  code.forbid_all();
  allow(code, gemm);
  launch(code, kernel, gemm_kernel<Policy>::grid(gemm.args), gemm_kernel<Policy>::block_size, gemm.args);
  expect_result(gemm);
}

template <class Arch>
void expect_split_k(emu::module& code) {
  using policy = policies::reducing<Arch>;
  gemm_case<policy> gemm({.m = 136, .n = 72, .k = 264, .alpha = 0.5f, .beta = 2, .batch = 2, .gap = 8});
  gemm.args.split_k = 3;
  std::vector<char> workspace(std::size_t(workspace_bytes(gemm.args)), char(0xff));
  gemm.args.workspace = workspace.data();
  ASSERT_STREQ(gemm_kernel<policy>::check(gemm.args), nullptr);
  code.forbid_all();
  allow(code, gemm);
  code.allow(workspace.data(), workspace.size());
  launch(code, "reducing_kernel", gemm_kernel<policy>::grid(gemm.args), gemm_kernel<policy>::block_size, gemm.args);
  launch(code, "reduction_kernel", split_k_reduction<policy>::grid(gemm.args), split_k_reduction<policy>::block_size,
         gemm.args);
  expect_result(gemm);

  gemm_case<policies::adding<Arch>> sums({.m = 40, .n = 136, .k = 200, .beta = 1, .gap = 8});
  sums.args.split_k = 4;
  code.forbid_all();
  allow(code, sums);
  launch(code, "adding_kernel", gemm_kernel<policies::adding<Arch>>::grid(sums.args),
         gemm_kernel<policies::adding<Arch>>::block_size, sums.args);
  expect_result(sums);
}

template <class Arch>
void expect_group(emu::module& code) {
  using policy = policies::f16<Arch>;
  using kernel = gemm_kernel<policy>;
  std::vector<std::unique_ptr<gemm_case<policy>>> cases;
  std::vector<gemm_args> problems;
  code.forbid_all();
  for (const problem& p : {problem{.m = 136, .n = 72, .k = 40}, problem{.m = 8, .n = 8, .k = 8, .gap = 8},
                           problem{.m = 16, .n = 264, .k = 136, .alpha = 2, .beta = 1}}) {
    cases.push_back(std::make_unique<gemm_case<policy>>(p));
    problems.push_back(cases.back()->args);
    allow(code, *cases.back());
  }
  code.allow(problems.data(), problems.size() * sizeof(gemm_args));
  const gemm_group group = kernel::group(problems.data(), index_t(problems.size()), problems.data());
  launch(code, "grouped_kernel", {group.blocks, 1, 1}, kernel::block_size, group);
  for (const auto& c : cases) expect_result(*c);
}

template <class Arch>
void expect_all(emu::module& code) {
  expect_right<policies::fused<Arch>>(code, "fused_kernel",
                                      {.m = 131, .n = 257, .k = 67, .alpha = 0.5f, .beta = -1, .gap = 3});
  expect_right<policies::int8<Arch>>(code, "int8_kernel",
                                     {.m = 33, .n = 130, .k = 301, .alpha = 3, .beta = -2, .gap = 1});
  expect_right<policies::fp8<Arch>>(code, "fp8_kernel",
                                    {.m = 144, .n = 32, .k = 288, .alpha = 0.5f, .batch = 2, .gap = 16});
  expect_split_k<Arch>(code);
  expect_group<Arch>(code);
  if constexpr (Arch::value.isa == arch::instruction_set::cdna) {
    expect_right<policies::f32<Arch>>(code, "f32_kernel", {.m = 132, .n = 20, .k = 100, .beta = 1, .gap = 4});
    expect_right<policies::large<Arch>>(code, "large_kernel", {.m = 264, .n = 40, .k = 200});
  }
}

class policies_of : public testing::TestWithParam<code_object> {};

TEST_P(policies_of, are_right_and_clean) {
  const code_object& object = GetParam();
  emu::module code{object.path};
  if (object.arch == "gfx942") return expect_all<arch::gfx942>(code);
  if (object.arch == "gfx950") return expect_all<arch::gfx950>(code);
  expect_all<arch::gfx1201>(code);
}

/// Those for which policies.hip has kernels.
std::vector<code_object> objects_with_kernels() {
  std::vector<code_object> objects;
  for (const code_object& object : code_objects()) {
    if (object.arch == "gfx942" || object.arch == "gfx950" || object.arch == "gfx1201") objects.push_back(object);
  }
  return objects;
}

INSTANTIATE_TEST_SUITE_P(targets, policies_of, testing::ValuesIn(objects_with_kernels()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
