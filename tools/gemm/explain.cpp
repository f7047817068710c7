// SPDX-License-Identifier: MIT
// The static performance report, and the model's choices.
#include "explain.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "formatted.hpp"

namespace gemm_program {
namespace {

namespace tw = tilewright;

/// The kernels of a target that have a report, and its figures.
struct known_kernels {
  const tw::arch::gpu_facts* gpu = nullptr;
  std::vector<const char*> names;
  std::vector<tw::gemm_static_report> reports;
};

known_kernels known_of(const kernel_list& all, const std::string& target) {
  known_kernels result;
  for (const tw::arch::gpu_facts& gpu : tw::arch::known_gpus)
    if (target == gpu.target) result.gpu = &gpu;
  if (!result.gpu) throw refusal("there are no figures for '" + target + "', which --explain needs");
  std::vector<const kernel_entry*> reported;
  for (const kernel_entry& e : all)
    if (e.report && e.result == element::f16) reported.push_back(&e);
  std::sort(reported.begin(), reported.end(),
            [](const kernel_entry* x, const kernel_entry* y) { return x->policy_number < y->policy_number; });
  for (const kernel_entry* e : reported) {
    result.names.push_back(e->policy.c_str());
    result.reports.push_back(*e->report);
  }
  return result;
}

/// Whether times are those of the model of docs/amd_predictions.md; else nothing but the rates of the tables bounds
/// them.
bool is_predicted(const known_kernels& kernels) { return tw::detail::cdna_facts(*kernels.gpu) != nullptr; }

int width_of_names(const known_kernels& kernels) {
  int width = 14;
  for (const char* name : kernels.names) width = std::max(width, int(std::string(name).size()));
  return width;
}

const char* name_of(tw::gemm_bound bound) {
  switch (bound) {
    case tw::gemm_bound::lds: return "LDS";
    case tw::gemm_bound::l2: return "L2";
    case tw::gemm_bound::matrix_instructions: break;
  }
  return "matrix";
}

std::string bound_of(const known_kernels& kernels, const tw::gemm_estimate& e) {
  if (e.memory_seconds > e.loop_seconds) return "memory";
  const std::string part = name_of(kernels.reports[std::size_t(e.policy)].bound(*kernels.gpu));
  return e.idle >= 0.25 ? part + ", idle units" : part;
}

}  // namespace

std::string explain(const kernel_list& all, const std::string& target, std::int64_t m, std::int64_t n, std::int64_t k) {
  const known_kernels kernels = known_of(all, target);
  const tw::arch::gpu_facts& gpu = *kernels.gpu;
  const int width = width_of_names(kernels);
  std::string text =
      formatted("%s (%s): %d compute units, %.4g GHz, f16 %.5g TFLOP/s, %.4g GB/s\n", gpu.name, gpu.target,
                gpu.compute_units, gpu.clock_ghz, gpu.tera_16bit, gpu.memory_gigabytes_per_second);
  text += formatted(
      "f16, A row-major, B column-major; for one tile along k of one block:\n%-*s %-12s %5s %10s %9s %9s %9s %9s %9s "
      "%9s %5s %6s %-7s %8s\n",
      width, "kernel", "tile", "waves", "matrix clk", "LDS read", "LDS write", "waits", "conflicts", "bytes",
      "LDS bytes", "VGPRs", "blocks", "bound", "TFLOP/s");
  for (std::size_t i = 0; i < kernels.reports.size(); ++i) {
    const tw::gemm_static_report& r = kernels.reports[i];
    const std::string tile = std::to_string(r.tile.m) + "x" + std::to_string(r.tile.n) + "x" + std::to_string(r.tile.k);
    text += formatted("%-*s %-12s %5d %10.0f %9d %9d %9d %9s %9d %9d %5d %6d %-7s %8.1f\n", width, kernels.names[i],
                      tile.c_str(), r.tile.num_waves(), r.matrix_clocks(gpu), r.lds_read_clocks, r.lds_write_clocks,
                      r.wait_clocks() + r.role_exchanges * tw::lds_latency, r.conflict_free ? "none" : "some",
                      r.global_bytes, r.lds_bytes, r.registers, r.blocks_per_cu(), name_of(r.bound(gpu)),
                      r.tera_bound(gpu));
  }
  const tw::gemm_estimate e = tw::choose_portable_gemm(kernels.reports, *kernels.gpu, {m, n, k});
  const double tera = 2.0 * double(m) * double(n) * double(k) / e.seconds * 1e-12;
  text += formatted("m n k = %lld %lld %lld: %s, split_k %d; %s %.4g us, %.4g TFLOP/s, bound by %s\n",
                    static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k),
                    kernels.names[std::size_t(e.policy)], e.split_k, is_predicted(kernels) ? "predicted" : "at best",
                    e.seconds * 1e6, tera, bound_of(kernels, e).c_str());
  return text;
}

std::string explain_shapes(const kernel_list& all, const std::string& target) {
  const known_kernels kernels = known_of(all, target);
  const int width = width_of_names(kernels);
  std::string text = formatted("%s (%s), f16, %s:\n", kernels.gpu->name, kernels.gpu->target,
                               is_predicted(kernels) ? "predicted" : "at best");
  text += formatted("%6s %6s %6s  %-*s %10s %10s %8s %8s  %s\n", "m", "n", "k", width, "kernel", "split_k",
                    "idle units", "us", "TFLOP/s", "bound by");
  constexpr std::array<std::array<int, 2>, 10> sizes{{{16, 4096},
                                                      {64, 4096},
                                                      {256, 4096},
                                                      {512, 512},
                                                      {1024, 1024},
                                                      {2048, 2048},
                                                      {4096, 4096},
                                                      {8192, 8192},
                                                      {4096, 11008},
                                                      {8192, 28672}}};
  for (const auto& [m, n] : sizes) {
    for (const int k : {512, 2048, 4096, 16384}) {
      const tw::gemm_estimate e = tw::choose_portable_gemm(kernels.reports, *kernels.gpu, {m, n, k});
      text += formatted("%6d %6d %6d  %-*s %10d %8.0f %% %8.4g %8.4g  %s\n", m, n, k, width,
                        kernels.names[std::size_t(e.policy)], e.split_k, e.idle * 100, e.seconds * 1e6,
                        2.0 * m * n * k / e.seconds * 1e-12, bound_of(kernels, e).c_str());
    }
  }
  return text;
}

}  // namespace gemm_program
