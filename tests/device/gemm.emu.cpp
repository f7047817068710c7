// SPDX-License-Identifier: MIT
// The GEMM kernels on emulated GPUs: results, bounds, races, waits, and LDS conflicts of the emitted instructions.
#include <gtest/gtest.h>

#include <map>

#include "gemm_problem.hpp"

namespace {

using tilewright::index_t;

struct compiled_kernel {
  code_object object;
  gemm_kernel_facts facts;
};

std::vector<compiled_kernel> compiled_kernels() {
  std::vector<compiled_kernel> kernels;
  for (const code_object& object : code_objects()) {
    for (const gemm_kernel_facts& facts : gemm_kernels_for(object.arch)) kernels.push_back({object, facts});
  }
  return kernels;
}

std::string name_of(const compiled_kernel& kernel) { return kernel.object.arch + "_" + kernel.facts.name; }
void PrintTo(const compiled_kernel& kernel, std::ostream* out) { *out << name_of(kernel); }

emu::kernel_summary find_kernel(const emu::module& code, const std::string& name) {
  for (const emu::kernel_summary& kernel : code.kernels()) {
    if (kernel_name_of(kernel.name) == name) return kernel;
  }
  throw std::runtime_error("the code object has no kernel " + name);
}

/// The shape with lengths rounded up to what a kernel that moves vectors can do.
gemm_shape possible(const gemm_kernel_facts& kernel, gemm_shape shape) {
  using enum tilewright::operand_major;
  const auto whole = [&](index_t length) { return (length + kernel.vector - 1) / kernel.vector * kernel.vector; };
  if (kernel.a_major == mn) shape.m = whole(shape.m);
  if (kernel.a_major == k || kernel.b_major == k) shape.k = whole(shape.k);
  shape.n = whole(shape.n);
  shape.padding = whole(shape.padding);
  return shape;
}

emu::result launch(emu::module& code, const gemm_kernel_facts& kernel, gemm_problem& problem,
                   const emu::options& options) {
  const tilewright::gemm_args args = problem.args();
  if (const char* why = kernel.check(args)) throw std::runtime_error(why);
  const tilewright::grid_size grid = kernel.grid(args);
  return code.launch(find_kernel(code, kernel.name).name, {unsigned(grid.x), unsigned(grid.y), unsigned(grid.z)},
                     {unsigned(kernel.block_size)}, 0, emu::kernarg().add(args), options);
}

/// Executions and conflict cycles by (is a write, bytes per lane).
struct lds_cost_of_kind {
  long long executions = 0, conflicts = 0;

  friend bool operator==(const lds_cost_of_kind&, const lds_cost_of_kind&) = default;
  friend std::ostream& operator<<(std::ostream& out, const lds_cost_of_kind& cost) {
    return out << cost.executions << " instructions with " << cost.conflicts << " conflicts";
  }
};
using lds_costs = std::map<std::pair<bool, index_t>, lds_cost_of_kind>;

lds_costs predicted_lds_costs(const gemm_kernel_facts& kernel, const tilewright::gemm_args& args) {
  lds_costs costs;
  const tilewright::gemm_lds_prediction one = kernel.lds_prediction();
  one.for_each(kernel.num_lds_phases(args), [&](const auto& access, long long times) {
    lds_cost_of_kind& cost = costs[{tilewright::arch::is_write(access.op), tilewright::arch::access_bytes(access.op)}];
    cost.executions += times * access.executions;
    cost.conflicts += times * access.conflicts;
  });
  return costs;
}

lds_costs executed_lds_costs(const emu::result& result) {
  lds_costs costs;
  for (const emu::lds_row& row : result.lds) {
    lds_cost_of_kind& cost = costs[{row.store, index_t(row.bytes)}];
    cost.executions += (long long)(row.executions);
    cost.conflicts += (long long)(row.conflicts);
  }
  return costs;
}

class Gemm : public testing::TestWithParam<compiled_kernel> {
 protected:
  const gemm_kernel_facts& kernel() const { return GetParam().facts; }

  /// Runs a problem and checks everything about it.
  void run(const gemm_shape& shape, emu::options options) {
    const gemm_shape s = possible(kernel(), shape);
    SCOPED_TRACE(testing::Message() << s << "; wave order " << int(options.order) << ", seed " << options.seed
                                    << ", slice " << options.slice);
    gemm_problem problem(kernel(), s, unsigned(options.seed));
    code_.forbid_all();
    for (padded_matrix* matrix : {&problem.a(), &problem.b(), &problem.c()}) matrix->allow(code_);
    options.lds_log = true;
    const emu::result result = launch(code_, kernel(), problem, options);
    for (const emu::race_row& race : result.races) ADD_FAILURE() << race.message;
    EXPECT_EQ(problem.first_difference(), "");
    EXPECT_EQ(executed_lds_costs(result), predicted_lds_costs(kernel(), problem.args()));
  }

  emu::module& code_ = load(GetParam().object);
};

TEST_P(Gemm, IsRightAndCleanOnAllEdges) {
  const gemm_shape shapes[] = {
      {1, 1, 1},                      // almost nothing
      {5, 7, 31, 1, 1, 0, 3},         // less than a tile in every dimension
      {127, 65, 33},                  // the first tile along k has one column
      {130, 129, 40, 1, 0.5f, 2},     // four blocks
      {33, 20, 160, 1, -1.5f, 1, 1},  // five tiles along k, none of them partial
      {128, 128, 64},                 // nothing is partial
      {130, 5, 72, 2, 2, 0.25f, 2},   // two batches, three tiles along k
  };
  emu::options options;
  for (const gemm_shape& shape : shapes) {
    run(shape, options);
    options.order = emu::options::random;
    ++options.seed;
    options.slice = 5 * options.seed;
  }
}

TEST_P(Gemm, DoesNotDependOnTheOrderOfWaves) {
  emu::options options;
  options.order = emu::options::reverse;
  run({40, 24, 100}, options);
  options.order = emu::options::random;
  for (options.seed = 11; options.seed < 15; ++options.seed) {
    options.slice = options.seed % 2 ? 3 : 200;
    run({40, 24, 100}, options);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Gemm, testing::ValuesIn(compiled_kernels()),
                         [](const auto& info) { return name_of(info.param); });

/// That these tests would notice: each of them plants one mistake.
class PlantedMistake : public testing::TestWithParam<code_object> {
 protected:
  void SetUp() override {
    for (padded_matrix* matrix : matrices) matrix->allow(code);
  }
  void expect_fault_without_the_last_element_of(const padded_matrix& hidden) {
    code.forbid_all();
    for (padded_matrix* matrix : matrices) {
      if (matrix != &hidden) matrix->allow(code);
    }
    code.allow(hidden.elements.data(), (hidden.elements.size() - 1) * sizeof(std::uint16_t));
    EXPECT_THROW(launch(code, kernel, problem, {}), emu::fault);
  }

  emu::module& code = load(GetParam());
  const gemm_kernel_facts kernel = gemm_kernels_for(GetParam().arch).front();
  gemm_problem problem{kernel, {.m = 24, .n = 16, .k = 40}, 1};
  padded_matrix* matrices[3] = {&problem.a(), &problem.b(), &problem.c()};
};

TEST_P(PlantedMistake, NonePlanted) {
  EXPECT_NO_THROW(launch(code, kernel, problem, {}));
  EXPECT_EQ(problem.first_difference(), "");
}

TEST_P(PlantedMistake, TensorsEndEarlier) {
  for (const padded_matrix* matrix : matrices) expect_fault_without_the_last_element_of(*matrix);
}

TEST_P(PlantedMistake, AnotherElementOfA) {
  problem.a().at(0, 23, 39) ^= 0x0400;
  launch(code, kernel, problem, {});
  EXPECT_NE(problem.first_difference().find("C(23, "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Targets, PlantedMistake, testing::ValuesIn(code_objects()),
                         [](const auto& info) { return info.param.arch; });

}  // namespace
