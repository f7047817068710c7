// SPDX-License-Identifier: MIT
// Random matrices that are the same on every machine, in every order of the loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "matrix.hpp"
#include "parallel.hpp"

namespace gemm_program {

/// A well-mixed 64-bit number for each counter (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t counter) {
  counter += 0x9e3779b97f4a7c15u;
  counter = (counter ^ counter >> 30) * 0xbf58476d1ce4e5b9u;
  counter = (counter ^ counter >> 27) * 0x94d049bb133111ebu;
  return counter ^ counter >> 31;
}

/// Uniform in [-1, 1), a multiple of 2^-23.
constexpr float uniform(std::uint64_t random_bits) { return float(random_bits >> 40) * 0x1p-23f - 1.0f; }

/// Fills matrices without gaps with uniform values in [-1, 1), rounded to their element type; integers lie in [-128,
/// 128). Element (row, col) of matrix z depends on the seed, the stream and its logical position alone.
inline void fill_random(matrix& target, std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t key = mix(mix(seed) ^ stream);
  const bool by_rows = target.storage == order::row_major;
  const std::int64_t lines = by_rows ? target.rows : target.cols, length = by_rows ? target.cols : target.rows;
  const std::int64_t step = by_rows ? 1 : target.cols, each = lines * length;
  const bool integers = is_integer(target.type);

  constexpr std::int64_t chunk = 1 << 16;  // elements
  const std::int64_t count = target.count();
  parallel_for((count + chunk - 1) / chunk, [&](std::int64_t i) {
    const std::int64_t end = std::min(count, (i + 1) * chunk);
    for (std::int64_t position = i * chunk; position < end; ++position) {
      const std::int64_t z = position / each, line = position % each / length, place = position % length;
      const std::int64_t logical = z * each + (by_rows ? line * target.cols : line) + place * step;
      const float value = uniform(mix(key + static_cast<std::uint64_t>(logical)));
      target.set_bits_at(position, bits_of(target.type, integers ? double(std::floor(value * 128.0f)) : double(value)));
    }
  });
}

/// Scales: uniform in [0.5, 1.5).
inline std::vector<float> random_scales(std::int64_t count, std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t key = mix(mix(seed) ^ stream);
  std::vector<float> scales(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = 1.0f + 0.5f * uniform(mix(key + i));
  return scales;
}

}  // namespace gemm_program
