// SPDX-License-Identifier: MIT
// The product that a result is compared with: alpha A B + beta C in double precision, from the same 16-bit inputs.
#include "reference.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"

// The inner loop is compiled once per vector width; the fastest that the CPU has is chosen when the program starts.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define GEMM_EVERY_VECTOR_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GEMM_EVERY_VECTOR_WIDTH
#endif

namespace gemm_example {
namespace {

// A tile of C and the parts of A and B for one step along k fit the caches of one core, in doubles.
constexpr std::int64_t tile_rows = 128, tile_cols = 128, step_length = 256;
// What the inner loop keeps in registers.
constexpr std::int64_t block_rows = 4, block_cols = 8;

/// Rows of A, or columns of B, in groups of Width: group, then position along k, then the place in the group.
/// Places beyond `lanes` stay as they are; what is computed from them is never used.
template <std::int64_t Width>
void pack(const std::uint16_t* source, std::int64_t lane_stride, std::int64_t k_stride, std::int64_t lanes,
          std::int64_t steps, const float* value, double* packed) {
  const auto copy = [&](std::int64_t lane, std::int64_t k) {
    packed[(lane / Width * step_length + k) * Width + lane % Width] = value[source[lane * lane_stride + k * k_stride]];
  };
  if (lane_stride == 1) {
    for (std::int64_t k = 0; k < steps; ++k)
      for (std::int64_t lane = 0; lane < lanes; ++lane) copy(lane, k);
  } else {
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (std::int64_t k = 0; k < steps; ++k) copy(lane, k);
  }
}

/// sum (block_rows x block_cols, inside a tile) += a b over `steps` positions of k.
GEMM_EVERY_VECTOR_WIDTH void multiply_block(const double* a, const double* b, std::int64_t steps, double* sum) {
  double block[block_rows][block_cols] = {};
  for (std::int64_t k = 0; k < steps; ++k)
    for (std::int64_t i = 0; i < block_rows; ++i)
      for (std::int64_t j = 0; j < block_cols; ++j) block[i][j] += a[k * block_rows + i] * b[k * block_cols + j];
  for (std::int64_t i = 0; i < block_rows; ++i)
    for (std::int64_t j = 0; j < block_cols; ++j) sum[i * tile_cols + j] += block[i][j];
}

struct workspace {
  std::vector<double> a = std::vector<double>(tile_rows * step_length);
  std::vector<double> b = std::vector<double>(tile_cols * step_length);
  std::vector<double> sum = std::vector<double>(tile_rows * tile_cols);
};

void multiply_tile(const problem& p, const matrix& a, const matrix& b, const reference_tile& tile, const float* value,
                   workspace& work) {
  std::fill(work.sum.begin(), work.sum.end(), 0.0);
  for (std::int64_t k = 0; k < p.k; k += step_length) {
    const std::int64_t steps = std::min(step_length, p.k - k);
    pack<block_rows>(a.elements.data() + tile.row * a.row_stride() + k * a.col_stride(), a.row_stride(), a.col_stride(),
                     tile.rows, steps, value, work.a.data());
    pack<block_cols>(b.elements.data() + k * b.row_stride() + tile.col * b.col_stride(), b.col_stride(), b.row_stride(),
                     tile.cols, steps, value, work.b.data());
    for (std::int64_t row = 0; row < tile.rows; row += block_rows)
      for (std::int64_t col = 0; col < tile.cols; col += block_cols)
        multiply_block(&work.a[static_cast<std::size_t>(row * step_length)],
                       &work.b[static_cast<std::size_t>(col * step_length)], steps,
                       &work.sum[static_cast<std::size_t>(row * tile_cols + col)]);
  }
}

std::int64_t tiles_across(const problem& p) { return (p.n - 1) / tile_cols + 1; }

}  // namespace

std::int64_t reference_tile_count(const problem& p) { return ((p.m - 1) / tile_rows + 1) * tiles_across(p); }

void compute_reference(const problem& p, const matrix& a, const matrix& b, const matrix& c,
                       const std::function<void(const reference_tile&)>& visit,
                       const std::function<void(double)>& progress) {
  const std::vector<float> value = value_table(p.type);
  const auto compute = [&](std::int64_t index) {
    static thread_local workspace work;
    reference_tile tile;
    tile.index = index;
    tile.row = index / tiles_across(p) * tile_rows;
    tile.col = index % tiles_across(p) * tile_cols;
    tile.rows = std::min(tile_rows, p.m - tile.row);
    tile.cols = std::min(tile_cols, p.n - tile.col);
    tile.values = work.sum.data();
    tile.stride = tile_cols;
    multiply_tile(p, a, b, tile, value.data(), work);
    for (std::int64_t row = 0; row < tile.rows; ++row)
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        double& element = work.sum[static_cast<std::size_t>(row * tile_cols + col)];
        element *= double(p.alpha);
        if (p.beta != 0) element += double(p.beta) * double(value[c.bits(tile.row + row, tile.col + col)]);
      }
    visit(tile);
  };
  parallel_for(reference_tile_count(p), compute, progress);
}

}  // namespace gemm_example
