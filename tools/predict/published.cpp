// SPDX-License-Identifier: MIT
#include "published.hpp"

#include <cmath>
#include <cstdio>

namespace predict {
namespace {

namespace tw = tilewright;

constexpr const tw::arch::cdna_gpu& mi355x = tw::arch::cdna_gpus[2];

/// Square GEMMs of HipKittens' kernels, in 10^12 operations per second: arXiv 2511.08083 and the results in its
/// repository. Their block tile is 256 x 256 with rows of 128 bytes along k, eight waves in two groups (section 3.3);
/// 2048^3 is faster than 64 such tiles could be at the peak, so below 4096 the fastest of three tiles is predicted.
struct square_gemm {
  tw::index_t length, element_bits;
  double tera;
};
constexpr square_gemm hipkittens_gemms[] = {{1024, 16, 139},  {2048, 16, 665}, {4096, 16, 1413},
                                            {8192, 16, 1610}, {1024, 8, 270},  {2048, 8, 1054},
                                            {4096, 8, 2741},  {8192, 8, 3327}, {16384, 8, 3378}};

/// Attention forward, d = 128, without a mask; taken to be of 16 sequences, 64 heads, 8 of keys, as in its section 4.
struct attention_rate {
  tw::index_t length;
  double tera;
};
constexpr attention_rate hipkittens_attention[] = {{1024, 953}, {2048, 1148}, {4096, 1228}};

std::string line_of(const std::string& name, double published, double predicted) {
  char text[120];
  std::snprintf(text, sizeof text, "%-40s %10.0f %10.0f %8.2f\n", name.c_str(), published, predicted,
                published / predicted);
  return text;
}

double operations_of(const attention_problem& p) {
  return 4.0 * double(p.batch * p.heads) * double(p.length) * double(p.length) * double(p.dim) * (p.causal ? 0.5 : 1);
}

}  // namespace

tw::cdna_gemm_time predict_attention(const tw::arch::cdna_gpu& gpu, const attention_problem& p) {
  const tw::cdna_gemm_constants c;
  const double per_clock = gpu.operations_per_clock(16) / gpu.isa->simds_per_cu;  // of a SIMD
  const double clocks = 4.0 * 64 * double(p.dim) / per_clock + 16 + 5 * 4;        // for 64 scores
  const double blocks = double(p.batch * p.heads) * double(tw::ceil_div<tw::long_index_t>(p.length, 256));
  const double each = double(tw::ceil_div<tw::long_index_t>(tw::long_index_t(blocks), gpu.compute_units));
  const double scores = 256.0 * double(p.length) * (p.causal ? 0.5 : 1) / gpu.isa->simds_per_cu;  // of a SIMD and block
  const double bytes = 2.0 * double(p.batch * p.length * p.dim) * double(2 * p.heads + 2 * p.kv_heads);
  tw::cdna_gemm_time t;
  t.compute_us = each * (scores / 64 * clocks + c.tile_clocks) / (gpu.loaded_clock_ghz * 1e3);
  t.memory_us = bytes / (gpu.memory_gb_s * c.memory_share * 1e3);
  t.us = c.launch_us + tw::min(t.memory_us, c.ramp_us) + tw::max(t.compute_us, t.memory_us) +
         c.exposed_memory * tw::min(t.compute_us, t.memory_us);
  t.bound_us = tw::max(operations_of(p) / (gpu.tera_16bit * 1e6), bytes / (gpu.memory_gb_s * 1e3));
  return t;
}

tw::cdna_gemm_time predict_rows(const tw::arch::cdna_gpu& gpu, double bytes) {
  const tw::cdna_gemm_constants c;
  tw::cdna_gemm_time t;
  t.memory_us = bytes / (gpu.memory_gb_s * c.memory_share * 1e3);
  t.us = c.launch_us + tw::min(t.memory_us, c.ramp_us) + t.memory_us;
  t.bound_us = bytes / (gpu.memory_gb_s * 1e3);
  return t;
}

std::string published_rates() {
  std::string text = "MI355X, HipKittens, 10^12 operations/s       published  predicted    ratio of times\n";
  for (const square_gemm& g : hipkittens_gemms) {
    tw::cdna_gemm_kernel tiles[3];
    for (int i = 0; i < 3; ++i)
      tiles[i] = {.m = 256 >> i,
                  .n = 256 >> i,
                  .k = 1024 / g.element_bits,
                  .waves = 8 >> (i > 0),
                  .waves_n = 4 >> (i > 0),
                  .element_bits = g.element_bits,
                  .stages = 1 + i,
                  .loop = tw::cdna_loop::scheduled};
    const double n = g.length;
    const double us =
        tw::choose_gemm(mi355x, tiles, g.length < 4096 ? 3 : 1, g.length, g.length, g.length, false).time.us;
    text += line_of("GEMM, " + std::to_string(g.element_bits) + " bits, " + std::to_string(g.length) + "^3", g.tera,
                    2 * n * n * n / us / 1e6);
  }
  for (const attention_rate& a : hipkittens_attention) {
    const attention_problem p{.batch = 16, .heads = 64, .kv_heads = 8, .length = a.length, .dim = 128};
    text += line_of("attention forward, d 128, " + std::to_string(a.length) + " keys", a.tera,
                    operations_of(p) / predict_attention(mi355x, p).us / 1e6);
  }
  return text;
}

}  // namespace predict
