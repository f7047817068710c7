// SPDX-License-Identifier: MIT
#include "sample.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace gpu_benchmark {
namespace {

/// The standard library's distributions differ between implementations; these do not.
class source {
 public:
  explicit source(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return double(bits_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return std::size_t(uniform() * double(n)); }

  /// Log-uniform from `least` to 32,768.
  std::int64_t length(std::int64_t least) {
    const double x = double(least) * std::pow(32768.0 / double(least), uniform());
    const bool round = uniform() < 0.9;
    if (!round || x < 64) return std::clamp(std::int64_t(x), least, std::int64_t(32768));
    return std::int64_t(std::round(x / 64)) * 64;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace

std::vector<problem> sample_problems(int count, std::uint64_t seed, const std::vector<element>& types) {
  source random(seed);
  std::vector<problem> problems;
  for (int i = 0; i < count; ++i) {
    problem p{};
    p.m = random.length(1);
    p.n = random.length(256);
    p.k = random.length(256);
    p.type = types[random.below(types.size())];
    p.a_col_major = random.uniform() < 0.5;
    p.b_col_major = random.uniform() < 0.5;
    if (p.type == element::e4m3) {
      p.a_col_major = false;
      p.b_col_major = true;
      p.n = (p.n + 15) / 16 * 16;
      p.k = (p.k + 15) / 16 * 16;
    }
    problems.push_back(p);
  }
  return problems;
}

const char* name_of(problem_class c) {
  constexpr const char* names[] = {"unaligned", "1-16 rows", "17-64 rows", "short k", "long k", "small", "large"};
  return names[int(c)];
}

problem_class class_of(const problem& p) {
  const auto bytes = std::int64_t(bytes_of(p.type));
  const std::int64_t a_row = p.a_col_major ? p.m : p.k, b_row = p.b_col_major ? p.k : p.n;
  if (a_row * bytes % 16 != 0 || b_row * bytes % 16 != 0 || p.n * 2 % 16 != 0) return problem_class::unaligned;
  if (p.m <= 16) return problem_class::small_m;
  if (p.m <= 64) return problem_class::some_rows;
  if (p.k <= 512 && p.m * p.n >= (std::int64_t(1) << 22)) return problem_class::short_k;
  if (double(p.k) >= 16 * std::sqrt(double(p.m) * double(p.n))) return problem_class::long_k;
  if (p.flops() < 0x1p34) return problem_class::small;
  return problem_class::large;
}

}  // namespace gpu_benchmark
