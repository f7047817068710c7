// SPDX-License-Identifier: MIT
// Causal attention with two query heads for each key head: kernel, launch, check. Compiled as HIP or CUDA it runs on
// the GPU, compiled as C++ on the CPU, which emulates a target.   attention [TARGET]
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/launch/launch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../05_gemm/device_vector.hpp"

namespace attention_example {

namespace tw = tilewright;
using tw::half_t, tw::index_t;

constexpr index_t heads = 2, kv_heads = 1, queries = 70, keys = 100, dim = 64;
constexpr float scale = 0.125f;

// Tile, LDS layouts and matrix instruction are the target's defaults; a policy can replace the tile.
template <class Arch>
struct kernel : tw::attention_forward<tw::attention_policy<Arch, half_t, dim>> {};

/// Launches the kernel for this machine. Throws launch_error if it cannot compute the problem.
void launch([[maybe_unused]] const char* arch, const tw::attention_args& args) {
#if TILEWRIGHT_CPU_PASS
  const tw::arch::target* const target = tw::arch::find_target(arch);
  if (!target) throw tw::launch_error("there is no target of this name");
  using namespace tw::arch;
  tw::launch<kernel, gfx942, sm90>(args, {.emulate = *target, .check_lds = tw::emulator::lds_checks::on});
  std::printf("%s: ", target->name);
#else
  tw::launch<kernel>(args, {.stream = nullptr});
  std::printf("GPU: ");
#endif
}

std::vector<half_t> numbers(index_t count, index_t step) {
  std::vector<half_t> values;
  for (index_t i = 0; i < count; ++i) values.push_back(half_t(float(i * step % 41 - 20) / 10));
  return values;
}

/// The largest difference from double precision, for one head. Rows of all tensors are (row, head, dim).
double largest_error(index_t head, const std::vector<half_t>& q, const std::vector<half_t>& k,
                     const std::vector<half_t>& v, const std::vector<half_t>& o) {
  const auto at = [](const std::vector<half_t>& x, index_t row, index_t h, index_t count, index_t d) {
    return double(float(x[std::size_t((row * count + h) * dim + d)]));
  };
  double worst = 0;
  for (index_t i = 0; i < queries; ++i) {
    const index_t seen = i + keys - queries + 1, kv = head / (heads / kv_heads);  // the ends are aligned
    std::vector<double> expected(std::size_t(dim), 0.0);
    double sum = 0;
    for (index_t j = 0; j < seen; ++j) {
      double score = 0;
      for (index_t d = 0; d < dim; ++d) score += at(q, i, head, heads, d) * at(k, j, kv, kv_heads, d);
      const double weight = std::exp(score * scale);
      sum += weight;
      for (index_t d = 0; d < dim; ++d) expected[std::size_t(d)] += weight * at(v, j, kv, kv_heads, d);
    }
    for (index_t d = 0; d < dim; ++d) {
      const double error = std::abs(at(o, i, head, heads, d) - expected[std::size_t(d)] / sum);
      worst = error <= worst ? worst : error;
    }
  }
  return worst;
}

int attend(const char* arch) {
  const std::vector<half_t> q = numbers(queries * heads * dim, 7), k = numbers(keys * kv_heads * dim, 11),
                            v = numbers(keys * kv_heads * dim, 13);
  gemm_example::device_vector q_there(q), k_there(k), v_there(v), o_there(std::vector<half_t>(q.size()));
  tw::attention_args args;
  args.q = q_there.data();
  args.k = k_there.data();
  args.v = v_there.data();
  args.o = o_there.data();
  args.heads = heads;
  args.kv_heads = kv_heads;
  args.queries = queries;
  args.keys = keys;
  args.q_strides = args.o_strides = {.batch = 0, .head = dim, .row = heads * dim};
  args.k_strides = args.v_strides = {.batch = 0, .head = dim, .row = kv_heads * dim};
  args.scale = scale;
  args.window = tw::causal;
  launch(arch, args);

  const std::vector<half_t> o = o_there.to_host();
  const double error = std::max(largest_error(0, q, k, v, o), largest_error(1, q, k, v, o));
  if (error < 2e-3) {
    std::puts("attention is right");
    return 0;
  }
  std::printf("attention is wrong by %g\n", error);
  return 1;
}

}  // namespace attention_example

int main(int argc, char** argv) {
  try {
    return attention_example::attend(argc > 1 ? argv[1] : "gfx942");
  } catch (const tilewright::launch_error& error) {
    std::fprintf(stderr, "attention: %s\n", error.what());
    return 2;
  }
}
