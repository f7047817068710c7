// SPDX-License-Identifier: MIT
// The product that a result is compared with, epilogue included, in double precision from the same inputs.
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel.hpp"

// The inner loop is compiled once per vector width; the fastest that the CPU has is chosen when the program starts.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define GEMM_EVERY_VECTOR_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GEMM_EVERY_VECTOR_WIDTH
#endif

namespace gemm_program {
namespace {

// A tile of C and the parts of A and B for one step along k fit the caches of one core, in doubles.
constexpr std::int64_t tile_rows = 128, tile_cols = 128, step_length = 256;
// What the inner loop keeps in registers.
constexpr std::int64_t block_rows = 4, block_cols = 8;

/// Elements of an operand as doubles: those of at most 16 bits by table.
template <class Bits>
struct by_table {
  const Bits* bits;
  const float* value;
  double operator[](std::int64_t place) const { return value[bits[place]]; }
};

/// f with the elements of a matrix, from one on.
template <class F>
void with_elements(const matrix& source, std::int64_t first, const float* table, F f) {
  switch (bytes_of(source.type)) {
    case 1: return f(by_table<unsigned char>{source.bytes.data() + first, table});
    case 2:
      return f(by_table<std::uint16_t>{reinterpret_cast<const std::uint16_t*>(source.bytes.data()) + first, table});
    default: return f(reinterpret_cast<const float*>(source.bytes.data()) + first);
  }
}

/// Rows of A, or columns of B, in groups of Width: group, then position along k, then the place in the group.
/// Places beyond `lanes` stay as they are; what is computed from them is never used.
template <std::int64_t Width, class Elements>
void pack(Elements source, std::int64_t lane_stride, std::int64_t k_stride, std::int64_t lanes, std::int64_t steps,
          double* packed) {
  const auto copy = [&](std::int64_t lane, std::int64_t k) {
    packed[(lane / Width * step_length + k) * Width + lane % Width] = double(source[lane * lane_stride + k * k_stride]);
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

void multiply_tile(const inputs& data, const reference_tile& tile, const float* value, workspace& work) {
  const problem& p = data.what;
  const matrix &a = data.a, &b = data.b;
  std::fill(work.sum.begin(), work.sum.end(), 0.0);
  for (std::int64_t k = 0; k < p.k; k += step_length) {
    const std::int64_t steps = std::min(step_length, p.k - k);
    with_elements(a, a.place(tile.row, k, tile.batch), value, [&](auto elements) {
      pack<block_rows>(elements, a.row_stride(), a.col_stride(), tile.rows, steps, work.a.data());
    });
    with_elements(b, b.place(k, tile.col, tile.batch), value, [&](auto elements) {
      pack<block_cols>(elements, b.col_stride(), b.row_stride(), tile.cols, steps, work.b.data());
    });
    for (std::int64_t row = 0; row < tile.rows; row += block_rows)
      for (std::int64_t col = 0; col < tile.cols; col += block_cols)
        multiply_block(&work.a[static_cast<std::size_t>(row * step_length)],
                       &work.b[static_cast<std::size_t>(col * step_length)], steps,
                       &work.sum[static_cast<std::size_t>(row * tile_cols + col)]);
  }
}

double activated(tw::activation kind, double x) {
  switch (kind) {
    case tw::activation::relu: return x < 0 ? 0 : x;
    case tw::activation::gelu:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    case tw::activation::silu: return x / (1 + std::exp(-x));
    case tw::activation::none: break;
  }
  return x;
}

/// What becomes of a sum, but for the old C.
double finished(const inputs& data, double sum, std::int64_t row, std::int64_t col, std::int64_t batch) {
  const epilogue_request& wanted = data.what.epilogue;
  const epilogue_data& e = data.epilogue;
  double x = double(data.what.alpha) * sum;
  if (wanted.scale) x *= double(e.scale);
  if (wanted.row_scale) x *= double(e.row_scale[static_cast<std::size_t>(row)]);
  if (wanted.column_scale) x *= double(e.column_scale[static_cast<std::size_t>(col)]);
  if (wanted.bias) x += e.bias.value(0, col);
  x = activated(wanted.activation, x);
  if (wanted.residual) x += e.residual.value(row, col, batch);
  return x;
}

std::int64_t tiles_across(const problem& p) { return (p.n - 1) / tile_cols + 1; }
std::int64_t tiles_down(const problem& p) { return (p.m - 1) / tile_rows + 1; }

}  // namespace

std::int64_t reference_tile_count(const problem& p) { return p.batch * tiles_down(p) * tiles_across(p); }

void compute_reference(const inputs& data, const matrix& initial_c,
                       const std::function<void(const reference_tile&)>& visit,
                       const std::function<void(double)>& progress) {
  const problem& p = data.what;
  const std::vector<float> value = bytes_of(p.type) <= 2 ? value_table(p.type) : std::vector<float>{};
  const auto compute = [&](std::int64_t index) {
    static thread_local workspace work;
    const std::int64_t each = tiles_down(p) * tiles_across(p), in_matrix = index % each;
    reference_tile tile;
    tile.index = index;
    tile.batch = index / each;
    tile.row = in_matrix / tiles_across(p) * tile_rows;
    tile.col = in_matrix % tiles_across(p) * tile_cols;
    tile.rows = std::min(tile_rows, p.m - tile.row);
    tile.cols = std::min(tile_cols, p.n - tile.col);
    tile.values = work.sum.data();
    tile.stride = tile_cols;
    multiply_tile(data, tile, value.data(), work);
    for (std::int64_t row = 0; row < tile.rows; ++row)
      for (std::int64_t col = 0; col < tile.cols; ++col) {
        double& element = work.sum[static_cast<std::size_t>(row * tile_cols + col)];
        element = finished(data, element, tile.row + row, tile.col + col, tile.batch);
        if (p.beta != 0) element += double(p.beta) * initial_c.value(tile.row + row, tile.col + col, tile.batch);
      }
    visit(tile);
  };
  parallel_for(reference_tile_count(p), compute, progress);
}

}  // namespace gemm_program
