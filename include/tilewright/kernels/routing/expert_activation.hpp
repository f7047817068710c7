// SPDX-License-Identifier: MIT
// SwiGLU between the two GEMMs of experts, for GEMMs that do not apply it themselves, and its gradient.
#pragma once

#include <tilewright/block/rows/row_block.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

/// Rows that belong to entries (tokens x choices): that of entry e is row position[e], as order_by_expert gives it; -1:
/// none. A row of x is a gate of cols elements, and `up` of as many after it. Strides in elements.
template <class T>
struct expert_activation_args {
  const T* x = nullptr;                     ///< (rows, 2 cols): what the first GEMM makes
  T* y = nullptr;                           ///< (rows, cols): SwiGLU of x; gradient: times the entry's weight
  const index_t* position = nullptr;        ///< (entries)
  index_t entries = 0, cols = 0;            ///< cols: of y
  long_index_t x_stride = 0, y_stride = 0;  ///< from row to row
  const T* bias = nullptr;                  ///< optional: (experts, 2 cols), added to x
  const index_t* expert = nullptr;          ///< (entries), with a bias or factor: the expert of each
  long_index_t bias_stride = 0;             ///< from an expert's to the next one's
  const float* factor = nullptr;            ///< optional: (experts), of x before the bias
  clamped_swiglu_function function = {};    ///< SwiGLU with its limit, which must be positive

  // Of the gradient: rows as those of x and y.
  const T* dy = nullptr;          ///< (rows, cols): gradient of y, not yet times the weight
  T* dx = nullptr;                ///< (rows, 2 cols): gradient of x
  const float* weight = nullptr;  ///< (entries)
  float* dweight = nullptr;       ///< (entries): gradient of the weights: sum of dy y; 0 for entries without a row
  long_index_t dy_stride = 0, dx_stride = 0;  ///< from row to row
  const T* result_bias = nullptr;  ///< optional, goes with dresult: (experts, result_cols), the second GEMM's bias
  const T* dresult = nullptr;      ///< (rows, result_cols): gradient of its result, not yet times the weight
  index_t result_cols = 0;         ///< >= 1, with result_bias
  long_index_t result_bias_stride = 0, dresult_stride = 0;  ///< from row to row
};

/// A block takes the row of an entry, or a segment of it where entries are few.
template <class Arch, class T, row_tile Tile, bool IsGradient>
struct expert_activation {
  using arch = Arch;
  using args_type = expert_activation_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(Tile.rows() == 1 && !Tile.unaligned && Tile.blocks == 1,
                "expert_activation: all threads of a block share a row, of vectors or elements");
  static constexpr index_t block_size = Tile.threads, lds_bytes = IsGradient ? block::lds_bytes : 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static const char* check(const args_type& args, const row_tile& tile = Tile) {
    if (args.entries < 1 || args.cols < 1) return "entries and cols must be positive";
    if (args.cols > (0x7fffffff - 65536) / 2) return "cols is too close to 2^30";
    if (!(args.function.limit > 0)) return "the limit of SwiGLU must be positive; infinity is no limit";
    if (!args.position) return "a pointer is null: position";
    if (args.bias && (!args.expert || args.bias_stride < 2 * long_index_t{args.cols}))
      return "a bias needs expert, and a stride of 2 cols or more";
    if (args.factor && !args.expert) return "a factor needs expert";
    if (IsGradient && (!args.weight || !args.dweight)) return "a pointer is null: weight or dweight";
    if (args.cols % tile.vector != 0) return detail::needs_vectors;
    if (args.result_bias) {
      if (!args.expert) return "a bias needs expert";
      const detail::row_matrix bias{args.result_bias, 1, args.result_cols, args.result_bias_stride, sizeof(T)},
          dresult{args.dresult, args.entries, args.result_cols, args.dresult_stride, sizeof(T)};
      for (const detail::row_matrix& m : {bias, dresult})
        if (const char* why = detail::check_matrix(m, tile.vector, 1)) return why;
      if (args.result_cols % tile.vector != 0 || args.result_bias_stride % tile.vector != 0)
        return detail::needs_vectors;
    }
    const index_t rows = args.entries, wide = 2 * args.cols;
    const detail::row_matrix y{args.y, rows, args.cols, args.y_stride, sizeof(T)},
        x{args.x, rows, wide, args.x_stride, sizeof(T)}, dy{args.dy, rows, args.cols, args.dy_stride, sizeof(T)},
        dx{args.dx, rows, wide, args.dx_stride, sizeof(T)};
    for (const detail::row_matrix& m : {y, x, IsGradient ? dy : y, IsGradient ? dx : x})
      if (const char* why = detail::check_matrix(m, tile.vector, 1)) return why;
    if (args.bias &&
        (!detail::is_aligned(args.bias, tile.vector * index_t(sizeof(T))) || args.bias_stride % tile.vector != 0))
      return detail::needs_vectors;
    const detail::row_matrix none = detail::row_array(static_cast<const T*>(nullptr), 0);
    const detail::row_matrix matrices[] = {y,
                                           IsGradient ? dx : none,
                                           detail::row_array(args.dweight, rows),
                                           x,
                                           IsGradient ? dy : none,
                                           detail::row_array(args.position, rows),
                                           detail::row_array(args.weight, rows)};
    return detail::check_results(matrices, 3);
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return {args.entries, segments_of_row(args, tile), 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const index_t entry = exec::block_id().x, row = exec::load_element(args.position + entry);
    const auto lds = block::template allocate<lds_bytes>();
    float dot = 0;
    const index_t step = segments_of_row(args, Tile) * block::segment_cols;
    for (index_t first = exec::block_id().y * block::segment_cols; row >= 0 && first < args.cols; first += step) {
      if constexpr (IsGradient)
        dot += differentiate(args, entry, row, first);
      else
        apply(args, entry, row, first);
    }
    if constexpr (IsGradient) {
      if (args.result_bias && row >= 0) dot += dot_of_bias(args, entry, row);
      block::reduce_threads([](float a, float b) { return a + b; }, lds, dot);
      if (exec::thread_id() == 0) exec::store_element(args.dweight + entry, dot);
    }
  }

 private:
  using tile_type = typename block::template segment<float>;
  /// The gradient adds up a whole row.
  TILEWRIGHT_HD static constexpr index_t segments_of_row(const args_type& args, const row_tile& tile) {
    return IsGradient || args.entries > 512 ? 1 : ceil_div(args.cols, tile.cols());
  }
  TILEWRIGHT_HD static tile_type load(const T* row, index_t cols, index_t first) {
    return block::to_float(block(0, 1, cols).load(row, cols, first));
  }
  TILEWRIGHT_HD static void store(T* row, index_t cols, index_t first, const tile_type& tile) {
    block(0, 1, cols).store(row, cols, first, tile);
  }
  struct halves {
    tile_type gate, up;
  };
  TILEWRIGHT_HD static halves load_halves(const args_type& args, index_t entry, index_t row, index_t first) {
    const T* const x = args.x + row * args.x_stride;
    halves h{load(x, args.cols, first), load(x + args.cols, args.cols, first)};
    if (args.factor) {
      const float factor = exec::load_element(args.factor + exec::load_element(args.expert + entry));
      tile_elementwise_inout([&](float& g, float& u) { g *= factor, u *= factor; }, h.gate, h.up);
    }
    if (args.bias) {
      const T* const bias = args.bias + exec::load_element(args.expert + entry) * args.bias_stride;
      detail::add_to(h.gate, load(bias, args.cols, first));
      detail::add_to(h.up, load(bias + args.cols, args.cols, first));
    }
    return h;
  }
  TILEWRIGHT_HD static void apply(const args_type& args, index_t entry, index_t row, index_t first) {
    halves h = load_halves(args, entry, row, first);
    tile_elementwise_inout([&](float& x, float y) { x = args.function(x, y); }, h.gate, h.up);
    store(args.y + row * args.y_stride, args.cols, first, h.gate);
  }
  /// This thread's sum of products of the second GEMM's bias and the gradient of its result.
  TILEWRIGHT_HD static float dot_of_bias(const args_type& args, index_t entry, index_t row) {
    const T* const bias = args.result_bias + exec::load_element(args.expert + entry) * args.result_bias_stride;
    float dot = 0;
    for (index_t first = 0; first < args.result_cols; first += block::segment_cols) {
      const tile_type b = load(bias, args.result_cols, first),
                      dy = load(args.dresult + row * args.dresult_stride, args.result_cols, first);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < block::elements; ++i) dot += b.thread_buffer[i] * dy.thread_buffer[i];
    }
    return dot;
  }
  /// Returns this thread's sum of dy y.
  TILEWRIGHT_HD static float differentiate(const args_type& args, index_t entry, index_t row, index_t first) {
    halves h = load_halves(args, entry, row, first);
    const float weight = exec::load_element(args.weight + entry);
    tile_type y = load(args.dy + row * args.dy_stride, args.cols, first);  // dy before
    float dot = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < block::elements; ++i) {
      const float dy = y.thread_buffer[i],
                  value = args.function.differentiate(h.gate.thread_buffer[i], h.up.thread_buffer[i]);
      dot += dy * value;
      y.thread_buffer[i] = weight * value;
      h.gate.thread_buffer[i] *= weight * dy, h.up.thread_buffer[i] *= weight * dy;
    }
    store(args.y + row * args.y_stride, args.cols, first, y);
    T* const dx = args.dx + row * args.dx_stride;
    store(dx, args.cols, first, h.gate);
    store(dx + args.cols, args.cols, first, h.up);
    return dot;
  }
};

}  // namespace tilewright
