// SPDX-License-Identifier: MIT
// The CPU backend: picks the emulated target that the user names.
#include "emulated_targets.hpp"

namespace gemm_example {
namespace {

class cpu_backend final : public backend {
 public:
  outcome run(const problem& p, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c,
              const run_options& options) override {
    const kernel_problem problem = kernel_problem_of(p, a, b, c);
    const std::size_t c_bytes = std::size_t(p.m) * std::size_t(p.n) * sizeof(std::uint16_t);
    outcome result;
    bool found = false;
    const auto run_if_named = [&](auto arch) {
      using Arch = decltype(arch);
      if (found || options.target != Arch::value.name) return;
      found = true;
      result = run_emulated<Arch>(problem, c_bytes, options);
    };
    tw::apply([&](auto... archs) { (run_if_named(archs), ...); }, emulated_arch_list{});
    if (!found) {
      std::string names;
      for (const std::string& name : emulated_targets()) names += (names.empty() ? "" : ", ") + name;
      throw refusal("there is no target '" + options.target + "'; the CPU backend emulates " + names);
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<backend> make_cpu_backend() { return std::make_unique<cpu_backend>(); }

std::vector<std::string> emulated_targets() {
  std::vector<std::string> names;
  tw::apply([&](auto... archs) { (names.push_back(decltype(archs)::value.name), ...); }, emulated_arch_list{});
  return names;
}

}  // namespace gemm_example
