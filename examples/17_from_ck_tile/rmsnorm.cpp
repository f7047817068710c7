// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU emulator for two AMD GPUs and compares it with double precision.
#include <tilewright/launch/launch.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "rmsnorm.hpp"

using namespace from_ck_tile;

template <class Arch>
void run(const char* name) {
  constexpr index_t rows = 3, cols = 1000;
  std::vector<half_t> x(rows * cols), weight(cols), y(rows * cols);
  for (index_t i = 0; i < rows * cols; ++i) x[std::size_t(i)] = half_t(float(i * 37 % 101 - 50) / 32);
  for (index_t j = 0; j < cols; ++j) weight[std::size_t(j)] = half_t(1 + float(j % 7) / 8);
  ck_tile::launch<rmsnorm<Arch>>({x.data(), weight.data(), y.data(), rows, cols, 1e-5f}, {.emulate = Arch::value});
  double worst = 0;
  for (index_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (index_t j = 0; j < cols; ++j) sum += std::pow(double(float(x[std::size_t(i * cols + j)])), 2);
    for (index_t j = 0; j < cols; ++j) {
      const std::size_t at = std::size_t(i * cols + j);
      const double wanted = double(float(x[at])) / std::sqrt(sum / cols + 1e-5) * double(float(weight[std::size_t(j)]));
      worst = std::max(worst, std::abs(double(float(y[at])) - wanted) / (std::abs(wanted) + 0.01));
    }
  }
  std::printf("%s: %s\n", name, worst < 1e-3 ? "right" : "wrong");
}

int main() {
  run<ck_tile::arch::gfx942>("gfx942");
  run<ck_tile::arch::gfx1201>("gfx1201");
}
