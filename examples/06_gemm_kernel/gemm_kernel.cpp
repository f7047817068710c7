// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU as two GPUs, and compares with three loops.
#include "gemm_kernel.hpp"

#include <tilewright/emulator/launch.hpp>

#include <algorithm>
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

/// Whether the kernel's result on the target is relu(A B + bias), element by element, and LDS had no conflict.
template <class Arch>
bool is_right() {
  using kernel = gemm_kernel_example::kernel<Arch>;
  constexpr index_t m = 200, n = 136, k = 72;
  const std::vector<half_t> a = numbers(m * k, 3), b = numbers(n * k, 7), bias = numbers(n, 11);
  std::vector<half_t> c(std::size_t(m * n));
  const tw::gemm_args args{.a = a.data(),
                           .b = b.data(),
                           .c = c.data(),
                           .m = m,
                           .n = n,
                           .k = k,
                           .lda = k,
                           .ldb = k,
                           .ldc = n,
                           .bias = bias.data()};
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
      float sum = float(bias[std::size_t(j)]);
      for (index_t l = 0; l < k; ++l) sum += float(a[std::size_t(i * k + l)]) * float(b[std::size_t(j * k + l)]);
      wrong += float(c[std::size_t(i * n + j)]) != std::max(sum, 0.0f);
    }
  }
  const tw::long_index_t conflicts = report.totals.conflicts;
  std::printf("%-8s %d of %d elements wrong, %lld LDS conflicts\n", Arch::value.name, wrong, m * n, conflicts);
  return wrong == 0 && conflicts == 0;
}

int main() { return is_right<tw::arch::gfx942>() && is_right<tw::arch::gfx1201>() ? 0 : 1; }
