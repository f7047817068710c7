// SPDX-License-Identifier: MIT
// The kernels of grouped.hip on emulated GPUs: results, bounds, races.
#include "../kernels/gemm/grouped/check_grouped.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <amdgcn_emulator.hpp>

#include <vector>

#include "code_objects.hpp"
#include "grouped_policies.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::testing_gemm;

/// Two blocks that never hold all tiles.
template <class Policy>
void expect_right(emu::module& code, const char* name, const grouped_problem& p) {
  using kernel = grouped_gemm_kernel<Policy>;
  grouped_case<Policy> gemm(p);
  auto c = gemm.c;
  gemm.args.c = c.data();
  code.forbid_all();
  const auto all = [&](auto& values) { code.allow(values.data(), values.size() * sizeof values[0]); };
  all(gemm.a), all(gemm.b), all(c), all(gemm.ends), all(gemm.counts), all(gemm.a_scales), all(gemm.b_scales);
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  const auto args = kernel::prepare(gemm.args, {.resident_clusters = 2});
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  const emu::result result = code.launch(name, {unsigned(kernel::grid(args).x), 1, 1}, {unsigned(kernel::block_size)},
                                         0, emu::kernarg().add(args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  gemm.expect(c);
}

/// One problem without groups: k in `splits` slices, or shared by that many workers of stream_k_gemm.
template <class Policy, class Kernel = gemm_kernel<Policy>>
void expect_dense(emu::module& code, const char* name, const grouped_problem& p, index_t splits = 1) {
  using kernel = Kernel;
  grouped_case<grouped<Policy, group_kind::rows>> gemm(p);
  auto c = gemm.c;
  gemm.args.c = c.data();
  gemm.args.split_k = splits;
  std::vector<float> workspace(std::size_t(kernel::workspace_bytes(gemm.args)) / 4);
  gemm.args.workspace = workspace.data();
  code.forbid_all();
  const auto all = [&](auto& values) { code.allow(values.data(), values.size() * sizeof values[0]); };
  all(gemm.a), all(gemm.b), all(c), all(gemm.a_scales), all(gemm.b_scales), all(workspace);
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  const grid_size grid = kernel::grid(gemm.args);
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  options.lds_log = true;
  const emu::result result =
      code.launch(name, {unsigned(grid.x), unsigned(grid.y), 1}, {unsigned(kernel::block_size)}, 0,
                  emu::kernarg().add(static_cast<const block_scaled_args&>(gemm.args)), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  for (const emu::lds_row& row : result.lds) EXPECT_EQ(row.conflicts, 0u) << row.bytes << (row.store ? " w" : " r");
  gemm.expect(c);
}

/// Two rows of tiles whose k is split, the last step along k partial; less than a tile of everything. No LDS conflicts.
template <class Arch, block_scaled_tile Tile>
void expect_tile(emu::module& code, const char* name) {
  if constexpr (Tile.fits(Arch::value)) {
    SCOPED_TRACE(name);
    using policy = grouped_policies::scaled_tile<Arch, Tile>;
    expect_dense<policy>(code, name, {.counts = {Tile.m + 1}, .n = Tile.n + 16, .k = 5 * 128 + 16}, 2);
    expect_dense<policy>(code, name, {.counts = {Tile.m / 2 + 1}, .n = 48, .k = 144});
  }
}

template <class Arch>
void expect_block_scaled_tiles(emu::module& code) {
#define EXPECT_TILE(name, ...) expect_tile<Arch, block_scaled_tile{__VA_ARGS__}>(code, #name "_kernel");
  TILEWRIGHT_TEST_SCALED_TILES(EXPECT_TILE)
  // 2 x 3 tiles for 4 workers: each of two tiles is shared by two, then three tiles for 5 workers, whose ranges cross.
  using shared = grouped_policies::scaled_shared<Arch>;
  expect_dense<shared, stream_k_gemm<shared>>(code, "scaled_shared_kernel", {.counts = {65}, .n = 144, .k = 400}, 4);
  expect_dense<shared, stream_k_gemm<shared>>(code, "scaled_shared_kernel", {.counts = {40}, .n = 144, .k = 528}, 5);
}

struct EmulatedGrouped : testing::TestWithParam<code_object> {
  emu::module& code = load(GetParam());
};

TEST_P(EmulatedGrouped, BlockScaledRows) {
  const grouped_problem p{.counts = {5, 0, 130}, .n = 144, .k = 272, .after = 3};
  if (GetParam().arch == "gfx942")
    expect_right<grouped_policies::scaled_rows<arch::gfx942>>(code, "scaled_rows_kernel", p);
  if (GetParam().arch == "gfx950")
    expect_right<grouped_policies::scaled_rows<arch::gfx950>>(code, "scaled_rows_kernel", p);
}
TEST_P(EmulatedGrouped, BlockScaledTiles) {
  if (GetParam().arch == "gfx942") expect_block_scaled_tiles<arch::gfx942>(code);
  if (GetParam().arch == "gfx950") expect_block_scaled_tiles<arch::gfx950>(code);
}
TEST_P(EmulatedGrouped, RowsAndK) {
  if (GetParam().arch != "gfx942") return;  // it alone has these kernels
  expect_right<grouped_policies::rows<arch::gfx942>>(code, "rows_kernel",
                                                     {.counts = {3, 0, 129, 64}, .n = 136, .k = 72, .after = 5});
  expect_right<grouped_policies::rows<arch::gfx942>>(
      code, "rows_kernel", {.counts = {8, 0, 40}, .n = 8, .k = 8, .slot_rows = 40, .beta = 1});
  expect_right<grouped_policies::along_k<arch::gfx942>>(code, "along_k_kernel",
                                                        {.counts = {3, 0, 70}, .n = 136, .k = 72, .after = 5});
}

std::vector<code_object> objects() {
  std::vector<code_object> objects = code_objects();
  std::erase_if(objects, [&](const code_object& o) { return o.arch != "gfx942" && o.arch != "gfx950"; });
  return objects;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EmulatedGrouped);
INSTANTIATE_TEST_SUITE_P(All, EmulatedGrouped, testing::ValuesIn(objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
