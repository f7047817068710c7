// SPDX-License-Identifier: MIT
// Arguments of the gradients of norms, and the kernel that adds up the sums of columns which blocks have.
#pragma once

#include <tilewright/rows/row_memory.hpp>

namespace tilewright {

/// Gradients of row_norm's y, where s is what was normalised. Strides in elements.
template <class T>
struct norm_gradient_args {
  const T* dy = nullptr;
  const T* s = nullptr;         // x, or `sum` where a residual was added
  const T* weight = nullptr;    // cols elements
  const float* mean = nullptr;  // for each row, from row_norm; LayerNorm only
  const float* rstd = nullptr;  // for each row, from row_norm
  const T* ds = nullptr;        // optional: the gradient that `sum` has from elsewhere; added to dx
  T* dx = nullptr;              // gradient of x, and of the residual; may be dy or ds
  T* dweight = nullptr;         // cols elements
  T* dbias = nullptr;           // cols elements; LayerNorm only, optional
  float* parts = nullptr;       // workspace: num_parts rows of parts_stride() floats, twice as many with dbias; 16-byte
                                // aligned
  index_t num_parts = 0;        // blocks that share the rows; about as many as the GPU runs at the same time
  index_t rows = 0, cols = 0;
  long_index_t dy_stride = 0, s_stride = 0, ds_stride = 0, dx_stride = 0;

  TILEWRIGHT_HD constexpr long_index_t parts_stride() const { return detail::round_up(cols, 8); }
};

namespace detail {

/// Adds up the rows of `parts`, four columns a thread, in an order that depends on nothing but num_parts and cols.
template <class Arch, class T>
struct sum_of_norm_parts {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  static constexpr index_t block_size = 256, lds_bytes = block_size * 16, in_flight = 4;

  static constexpr bool overlaps_previous = overlaps_previous_v<Arch>;

  static constexpr const char* check(const args_type&) { return nullptr; }
  static constexpr exec::block_index grid(const args_type& args) {
    return {ceil_div(args.cols, across(args) * 4), args.dbias ? 2 : 1, 1};
  }
  /// Threads that are neighbours along a row; fewer where columns are too few for all multiprocessors.
  TILEWRIGHT_HD static constexpr index_t across(const args_type& args) { return args.cols > 16384 ? 32 : 8; }
  TILEWRIGHT_HD void operator()(const args_type& args) const {
    overlap_kernels();
    using four = array<float, 4>;
    const bool is_bias = exec::block_id().y > 0;
    const index_t thread = exec::thread_id(), across = sum_of_norm_parts::across(args),
                  down = divide(block_size, across), first = divide(thread, across),
                  col = (exec::block_id().x * across + modulo(thread, across)) * 4;
    const long_index_t stride = args.parts_stride();
    const exec::global_buffer parts =
        exec::make_global_buffer(args.parts + (is_bias ? args.num_parts * stride : 0), args.num_parts * stride * 4);
    four sum{}, more[in_flight];
    for (index_t row = first; row < args.num_parts && col < args.cols; row += in_flight * down) {
      for (index_t i = 0; i < in_flight; ++i)  // zeros after the last one
        more[i] = exec::buffer_load<four>(parts, ((row + i * down) * stride + col) * 4);
      for (index_t i = 0; i < 4 * in_flight; ++i) sum[i % 4] += more[i / 4][i % 4];
    }
    const auto lds = exec::lds_allocate<lds_bytes>();
    exec::lds_store(lds, thread * 16, sum);
    exec::block_sync();
    if (first > 0) return;
    for (index_t other = 1; other < down; ++other) {
      const four more = exec::lds_load<four>(lds, (thread + other * across) * 16);
      for (index_t i = 0; i < 4; ++i) sum[i] += more[i];
    }
    T* const to = is_bias ? args.dbias : args.dweight;
    for (index_t i = 0; i < 4 && col + i < args.cols; ++i) to[col + i] = T(sum[i]);
  }
};

}  // namespace detail

}  // namespace tilewright
