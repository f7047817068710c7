// SPDX-License-Identifier: MIT
// The kernels of policies.hip on emulated GPUs: results, bounds, races, waits,
// and LDS conflicts of the emitted instructions.
#include "../kernels/gemm/check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>

#include <amdgcn_emulator.hpp>

#include "code_objects.hpp"
#include "policies.hpp"

namespace {

using namespace tilewright;
using namespace tilewright::testing_gemm;

/// Executions and conflicts of LDS instructions, by whether they write and how many bytes for each lane.
struct lds_cost {
  long long executions = 0, conflicts = 0;
  friend bool operator==(const lds_cost&, const lds_cost&) = default;
  friend std::ostream& operator<<(std::ostream& out, const lds_cost& cost) {
    return out << cost.executions << " instructions with " << cost.conflicts << " conflicts";
  }
};
using lds_costs = std::map<std::pair<bool, index_t>, lds_cost>;

template <class Policy>
lds_costs predicted_costs(const gemm_args& args) {
  lds_costs costs;
  const gemm_lds_prediction prediction = predict_lds<Policy>();
  prediction.for_each(num_lds_phases<Policy>(args), [&](const lds_access_analysis& access, long_index_t times) {
    lds_cost& cost = costs[{arch::is_write(access.op), arch::access_bytes(access.op)}];
    cost.executions += times * access.executions;
    cost.conflicts += times * access.conflicts;
  });
  return costs;
}

/// Lets kernels touch everything that a problem's arguments point to.
template <class Policy>
void allow(emu::module& code, gemm_case<Policy>& gemm) {
  const auto all = [&](auto& values) { code.allow(values.data(), values.size() * sizeof values[0]); };
  all(gemm.a), all(gemm.b), all(gemm.c), all(gemm.residual), all(gemm.bias);
  all(gemm.scale), all(gemm.row_scale), all(gemm.column_scale);
}

template <class Args>
lds_costs launch(emu::module& code, const std::string& kernel, const grid_size& grid, index_t threads,
                 const Args& args) {
  emu::options options;
  options.order = emu::options::random;
  options.seed = 7;
  options.lds_log = true;
  const emu::result result = code.launch(kernel, {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                                         {unsigned(threads)}, 0, emu::kernarg().add(args), options);
  for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
  lds_costs costs;
  for (const emu::lds_row& row : result.lds) {
    lds_cost& cost = costs[{row.store, index_t(row.bytes)}];
    cost.executions += (long long)(row.executions);
    cost.conflicts += (long long)(row.conflicts);
  }
  return costs;
}

/// Runs a problem, its k in `parts` where the policy splits k or with one worker more where blocks share tiles, and
/// checks everything about it.
template <class Policy>
void expect_right(emu::module& code, const std::string& name, const problem& p, index_t parts) {
  SCOPED_TRACE(name + ": " + describe<Policy>(p));
  using kernel = policies::kernel_of<Policy>;
  constexpr bool shares_tiles = policies::shares_tiles<Policy>;
  gemm_case<Policy> gemm(p);
  code.forbid_all();
  allow(code, gemm);
  std::vector<char> workspace;
  if constexpr (Policy::split_k != split_k_kind::none || shares_tiles) {
    gemm.args.split_k = parts + shares_tiles;
    workspace.resize(std::size_t(kernel::workspace_bytes(gemm.args)), char(0xff));
    std::fill_n(workspace.begin(), 4096, char(0));  // counters
    gemm.args.workspace = workspace.data();
    code.allow(workspace.data(), workspace.size());
  }
  ASSERT_STREQ(kernel::check(gemm.args), nullptr);
  const lds_costs executed = launch(code, name + "_kernel", kernel::grid(gemm.args), kernel::block_size, gemm.args);
  lds_costs predicted = predicted_costs<Policy>(gemm.args);
  if constexpr (Policy::split_k == split_k_kind::fix_up) {  // whether the block is the last one: a word, for all waves
    const grid_size grid = kernel::grid(gemm.args);
    const long long blocks = (long long)(grid.x) * grid.y * grid.z;
    predicted[{true, 4}].executions += blocks;
    predicted[{false, 4}].executions += blocks * Policy::tile.num_waves();
  }
  constexpr bool moves_tensors =
      Policy::arch::value.has_tensor_mover && requires { Policy::pipeline::last_tile_is_partial; };
  if constexpr (shares_tiles || moves_tensors) {  // other numbers of k tiles than the analysed ones, or no writes
    for (const auto& [access, cost] : executed) EXPECT_EQ(cost.conflicts, 0) << access.second << " bytes";
  } else {
    EXPECT_EQ(executed, predicted);
  }
  if constexpr (Policy::split_k == split_k_kind::workspace)
    launch(code, "reduction_kernel", split_k_reduction<Policy>::grid(gemm.args), split_k_reduction<Policy>::block_size,
           gemm.args);
  expect_result(gemm);
}

/// Four blocks whose tiles leave C, and a partial first tile along k; less than a tile of everything, twice; and more
/// tiles along k than any pipeline has stages. Alpha and beta, gaps between rows.
template <class Policy>
void expect_right(emu::module& code, const std::string& name) {
  constexpr block_tile t = Policy::tile;
  const index_t v = Policy::vector, gap = v == 1 ? 3 : v;
  const auto whole = [&](index_t length) { return ceil_div(length, v) * v; };
  expect_right<Policy>(code, name, {.m = t.m + v, .n = t.n + v, .k = 2 * t.k + v, .alpha = 2, .beta = -2, .gap = gap},
                       2);
  expect_right<Policy>(code, name, {.m = v, .n = v, .k = v, .batch = 2, .gap = gap}, 1);
  expect_right<Policy>(code, name, {.m = whole(t.m / 2 + 1), .n = whole(t.n / 2), .k = 6 * t.k - v, .beta = 1}, 3);
}

struct emulated_policy {
  code_object object;
  std::string name;
  void (*check)(emu::module&, const std::string&);
};
void PrintTo(const emulated_policy& p, std::ostream* out) { *out << p.object.arch << "_" << p.name; }

template <template <class> class Policy, class Arch, bool Has>
void add(std::vector<emulated_policy>& all, const code_object& object, const char* name) {
  if constexpr (Has) all.push_back({object, name, expect_right<Policy<Arch>>});
}

template <class Arch>
void add_all(std::vector<emulated_policy>& all, const code_object& object) {
#define ADD(name, targets, what) add<policies::name, Arch, policies::targets(Arch::value)>(all, object, #name);
  TILEWRIGHT_TEST_POLICIES(ADD)
  TILEWRIGHT_TEST_CLUSTERS(ADD)
}

std::vector<emulated_policy> all_policies() {
  std::vector<emulated_policy> all;
  for (const code_object& object : code_objects())
    for_each_target([&]<class Arch>() {
      if (object.arch == Arch::value.name) add_all<Arch>(all, object);
    });
  return all;
}

class Policy : public testing::TestWithParam<emulated_policy> {};

TEST_P(Policy, IsRightAndClean) {
  emu::module& code = load(GetParam().object);
  GetParam().check(code, GetParam().name);
}

TEST(Clusters, MasksNameTheirBlocks) {
  using policy = policies::tensor_move_cluster<arch::gfx1250>;
  for (const code_object& object : code_objects()) {
    if (object.arch != "gfx1250") continue;
    emu::module& code = load(object);
    gemm_case<policy> gemm({.m = 64, .n = 64, .k = 64});
    allow(code, gemm);
    EXPECT_THROW(launch(code, "tensor_move_cluster_alone_kernel", gemm_kernel<policy>::grid(gemm.args),
                        gemm_kernel<policy>::block_size, gemm.args),
                 emu::not_supported);
    code.forbid_all();
  }
}

INSTANTIATE_TEST_SUITE_P(Emulated, Policy, testing::ValuesIn(all_policies()),
                         [](const auto& info) { return info.param.object.arch + "_" + info.param.name; });

}  // namespace
