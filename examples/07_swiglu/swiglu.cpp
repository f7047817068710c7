// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU as several GPUs, and compares with three loops.
#include "swiglu.hpp"

#include <tilewright/emulator/launch.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace tw = tilewright;
using tw::half_t, tw::index_t;

/// Small integers, so that every sum is exact.
std::vector<half_t> numbers(index_t count, index_t step) {
  std::vector<half_t> values(static_cast<std::size_t>(count));
  for (index_t i = 0; i < count; ++i) values[std::size_t(i)] = half_t(float(i * step % 5 - 2));
  return values;
}

template <class Arch>
bool is_right() {
  using kernel = swiglu_example::kernel<Arch>;
  constexpr index_t m = 200, n = 136, k = 72;
  const std::vector<half_t> a = numbers(m * k, 3), b = numbers(2 * n * k, 7), bias = numbers(n, 11);
  std::vector<half_t> c(std::size_t(m * n));
  swiglu_example::swiglu_args args{{.a = a.data(),
                                    .b = b.data(),
                                    .c = c.data(),
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .lda = k,
                                    .ldb = k,
                                    .ldc = n,
                                    .product_stride_b = n * k},
                                   bias.data()};
  if (const char* why = kernel::check(args)) {
    std::fprintf(stderr, "%s\n", why);
    return false;
  }
  const tw::grid_size grid = kernel::grid(args);
  const tw::emulator::launch_report report = tw::emulator::launch({.target = &Arch::value,
                                                                   .grid = {grid.x, grid.y, grid.z},
                                                                   .block_size = kernel::block_size,
                                                                   .lds_bytes = kernel::lds_bytes,
                                                                   .check_lds = tw::emulator::lds_checks::on},
                                                                  [&] { kernel{}(args); });
  index_t wrong = 0;
  for (index_t i = 0; i < m; ++i) {
    for (index_t j = 0; j < n; ++j) {
      float gate = 0, up = float(bias[std::size_t(j)]);
      for (index_t l = 0; l < k; ++l) {
        gate += float(a[std::size_t(i * k + l)]) * float(b[std::size_t(j * k + l)]);
        up += float(a[std::size_t(i * k + l)]) * float(b[std::size_t((n + j) * k + l)]);
      }
      const float expected = gate / (1 + std::exp(-gate)) * up;
      wrong += std::abs(float(c[std::size_t(i * n + j)]) - expected) > 0.001f * (1 + std::abs(expected));
    }
  }
  const tw::long_index_t conflicts = report.totals.conflicts;
  std::printf("%-8s %d of %d elements wrong, %lld LDS conflicts\n", Arch::value.name, wrong, m * n, conflicts);
  return wrong == 0 && conflicts == 0;
}

int main() {
  return is_right<tw::arch::gfx942>() && is_right<tw::arch::gfx1201>() && is_right<tw::arch::sm80>() ? 0 : 1;
}
