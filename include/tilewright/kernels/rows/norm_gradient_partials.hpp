// SPDX-License-Identifier: MIT
// Arguments of the gradients of norms, and the kernel that adds up the sums of columns which blocks have.
#pragma once

#include <tilewright/block/rows/row_memory.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

/// Gradients of row_norm's y, where s is what was normalised. Strides in elements.
template <class T>
struct norm_gradient_args {
  const T* dy = nullptr;        ///< gradient of y
  const T* s = nullptr;         ///< x, or `sum` where a residual was added
  const T* weight = nullptr;    ///< cols elements
  const float* mean = nullptr;  ///< for each row, from row_norm; LayerNorm only
  const float* rstd = nullptr;  ///< for each row, from row_norm
  const T* ds = nullptr;        ///< optional: the gradient that `sum` has from elsewhere; added to dx
  T* dx = nullptr;              ///< gradient of x, and of the residual; may be dy or ds
  T* dweight = nullptr;         ///< cols elements
  T* dbias = nullptr;           ///< cols elements; LayerNorm only, optional
  float* partials =
      nullptr;  ///< workspace: num_partials rows of partials_stride() floats, twice as many with dbias; 16-byte
                // aligned
  index_t num_partials = 0;    ///< blocks that share the rows; about as many as the GPU runs at the same time
  index_t rows = 0, cols = 0;  ///< cols: elements that were normalised together
  long_index_t dy_stride = 0, s_stride = 0, ds_stride = 0, dx_stride = 0;  ///< from row to row

  /// Floats from one row of `parts` to the next.
  TILEWRIGHT_HD constexpr long_index_t partials_stride() const { return detail::round_up(cols, 8); }
};

namespace detail {

/// Rows first, first + step, ... before `end`, which a block takes. If rows are aligned, it takes no others,
/// and steps and the end are arguments, which need no registers.
template <bool AnyStart>
struct norm_rows {
  index_t number;  // of the block, or cluster
  long_index_t first = 0, last = 0, between = 0;
  bool adds = false;  // sums of columns to those of the rows before

  TILEWRIGHT_HD long_index_t step(const auto& args) const { return AnyStart ? between : args.num_partials; }
  TILEWRIGHT_HD long_index_t end(const auto& args) const { return AnyStart ? last : args.rows; }
};

/// A thread's sums of columns.
template <class Block, bool HasBias>
struct norm_column_sums {
  float weight[Block::elements], bias[Block::elements];
  static constexpr bool uses_lds = Block::has_ends && HasBias;

  /// Loads or stores those of the part that begins at column `first`: rows number and number + num_partials of `parts`.
  /// Where rows are unaligned, LDS, which no thread uses meanwhile, lets neighbouring threads move neighbours.
  template <bool IsStore>
  TILEWRIGHT_HD void move(const auto& args, const Block& all, index_t number, index_t first, exec::lds_pointer lds) {
    const long_index_t row_bytes = args.partials_stride() * 4;
    const auto memory = exec::make_global_buffer(args.partials, 2 * args.num_partials * row_bytes);
    if constexpr (!uses_lds) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < Block::elements; d += vector) {
        const long_index_t at = number * row_bytes + all.position(first, d) * 4ll;
        const bool exists = all.exists(first, d);
        move_vector<IsStore>(memory, weight + d, exists ? at : -1);
        if (HasBias && args.dbias)
          move_vector<IsStore>(memory, bias + d, exists ? at + args.num_partials * row_bytes : -1);
      }
    } else {
      move_shifted<IsStore>(memory, all, weight, number * row_bytes, first, lds);
      if (HasBias && args.dbias)
        move_shifted<IsStore>(memory, all, bias, (number + args.num_partials) * row_bytes, first, lds);
    }
  }

 private:
  static constexpr index_t vector = Block::has_ends && !uses_lds ? 1 : min(4, Block::access);
  using floats = array<float, vector>;

  template <bool IsStore>
  TILEWRIGHT_HD static void move_vector(const exec::global_buffer& memory, float* own, long_index_t at) {
    floats values;
    if constexpr (IsStore) {
      for (index_t i = 0; i < vector; ++i) values[i] = own[i];
      exec::buffer_store(memory, at, values);
    } else {
      values = exec::buffer_load<floats>(memory, at);
      for (index_t i = 0; i < vector; ++i) own[i] = values[i];
    }
  }
  template <bool IsStore>
  TILEWRIGHT_HD static void move_shifted(const exec::global_buffer& memory, const Block& all, float* own,
                                         long_index_t at, index_t first, exec::lds_pointer lds) {
    const auto move_own = [&]() TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < Block::in_vectors; d += vector) {
        const index_t place =
            (Block::template row_of<char>::column(all.col, d / Block::access) + d % Block::access) * 4;
        floats values;
        for (index_t i = 0; i < vector; ++i) values[i] = own[d + i];
        if constexpr (IsStore) exec::lds_store(lds, place, values);
        if constexpr (!IsStore) values = exec::lds_load<floats>(lds, place);
        for (index_t i = 0; i < vector; ++i) own[d + i] = values[i];
      }
    };
    const index_t cols = min(all.cols - first, Block::segment_cols);
    const long_index_t start = at + (all.lead + all.base_col + first) * 4ll;
    exec::block_sync();
    if (IsStore) move_own(), exec::block_sync();
    for (index_t c = exec::thread_id(); c < cols; c += Block::lanes * Block::waves_per_row) {
      if constexpr (IsStore) exec::buffer_store(memory, start + c * 4ll, exec::lds_load<float>(lds, c * 4));
      if constexpr (!IsStore) exec::lds_store(lds, c * 4, exec::buffer_load<float>(memory, start + c * 4ll));
    }
    if (!IsStore) exec::block_sync(), move_own(), exec::block_sync();
    constexpr index_t last = Block::elements - 1;
    const long_index_t end = all.exists(first, last) ? at + all.position(first, last) * 4ll : -1;
    if constexpr (IsStore) exec::buffer_store(memory, end, own[last]);
    if constexpr (!IsStore) own[last] = exec::buffer_load<float>(memory, end);
  }
};

/// The number of threads of sum_of_norm_partials that are neighbours along a row, after a kernel with this tile.
TILEWRIGHT_HD constexpr index_t norm_partials_across(const row_tile& tile) {
  return 1 << log2_floor(max(2, min(32, tile.cols() * tile.blocks / 1024)));
}
constexpr exec::block_index grid_of_norm_partials(const auto& args, index_t across) {
  return {ceil_div(args.cols, across * 4), args.dbias ? 2 : 1, 1};
}

/// Adds up the rows of `parts`, four columns a thread, in an order that depends on nothing but num_partials. `Across`
/// threads are neighbours along a row: few where rows are short, so that all SMs have work.
template <class Arch, class T, index_t Across>
struct sum_of_norm_partials {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  static constexpr index_t block_size = 256, waves = block_size / Arch::value.wave_size,
                           lds_bytes = waves * Across * 16;

  static constexpr bool overlaps_previous = overlaps_previous_v<Arch>;

  static constexpr const char* check(const args_type&) { return nullptr; }
  static constexpr exec::block_index grid(const args_type& args) { return grid_of_norm_partials(args, Across); }
  TILEWRIGHT_HD void operator()(const args_type& args) const {
    overlap_kernels();
    using four = array<float, 4>;
    constexpr index_t down = block_size / Across, in_flight = 4;
    const bool is_bias = exec::block_id().y > 0;
    const unsigned thread = unsigned(exec::thread_id()), lane = unsigned(exec::lane_id());
    const index_t col = (exec::block_id().x * Across + index_t(thread % Across)) * 4;
    const long_index_t stride = args.partials_stride();
    const exec::global_buffer partials = exec::make_global_buffer(
        args.partials + (is_bias ? args.num_partials * stride : 0), args.num_partials * stride * 4);
    four sum{}, more[in_flight];
    for (index_t row = index_t(thread / Across); row < args.num_partials && col < args.cols; row += in_flight * down) {
      for (index_t i = 0; i < in_flight; ++i)  // zeros after the last row
        more[i] = exec::buffer_load<four>(partials, ((row + i * down) * stride + col) * 4);
      for (index_t i = 0; i < 4 * in_flight; ++i) sum[i % 4] += more[i / 4][i % 4];
    }
    for (float& s : sum) s = combine_lanes<Across, Arch::value.wave_size / Across>(s, plus);
    const auto lds = exec::lds_allocate<lds_bytes>();
    if (lane < unsigned(Across)) exec::lds_store(lds, index_t(unsigned(exec::wave_id()) * Across + lane) * 16, sum);
    exec::block_sync();
    if (thread >= unsigned(Across)) return;
    for (index_t wave = 1; wave < waves; ++wave) {
      const four other = exec::lds_load<four>(lds, (wave * Across + index_t(thread)) * 16);
      for (index_t i = 0; i < 4; ++i) sum[i] += other[i];
    }
    T* const to = is_bias ? args.dbias : args.dweight;
    for (index_t i = 0; i < 4 && col + i < args.cols; ++i) exec::store_element(to + (col + i), T(sum[i]));
  }
};

}  // namespace detail

}  // namespace tilewright
