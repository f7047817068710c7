// SPDX-License-Identifier: MIT
// Cross-entropy of logits over a vocabulary of any size, and its gradient; probabilities are not stored.
#pragma once

#include <tilewright/kernels/rows/detail/row_column.hpp>
#include <tilewright/kernels/rows/detail/row_exponents.hpp>

namespace tilewright {

/// loss = log(sum of exp(x)) - x[target] for each row of x. Rows whose target is not in 0 to cols - 1 are ignored:
/// their loss and gradient are 0. Strides in elements.
template <class T, class Target = index_t>
struct cross_entropy_args {
  const T* x = nullptr;            ///< logits
  const Target* target = nullptr;  ///< for each row; int or long_index_t
  float* loss = nullptr;           ///< for each row
  float* log_sum = nullptr;        ///< for each row, optional: log(sum of exp(x)), which cross_entropy_gradient takes
  T* gradient = nullptr;           ///< (softmax(x) - [c == target]) times the row's factor; may be x
  const float* factor = nullptr;   ///< for each row: the gradient that comes from above; null: 1 for all
  float scale = 1;                 ///< of all factors: 1 / number of rows, for instance
  index_t rows = 0, cols = 0;      ///< cols: size of the vocabulary
  long_index_t x_stride = 0, gradient_stride = 0;  ///< from row to row
};

/// loss: reads x once. loss_and_gradient: and writes the gradient; rows that do not fit in registers are read again.
/// gradient: of the loss that was computed before, from log_sum.
enum class cross_entropy_kind : signed char { loss, loss_and_gradient, gradient };

template <class Arch, class T, row_tile Tile, cross_entropy_kind Kind = cross_entropy_kind::loss,
          class Target = index_t>
struct cross_entropy {
  using arch = Arch;
  using args_type = cross_entropy_args<T, Target>;
  using block = detail::row_block<Arch, Tile>;
  static constexpr bool has_loss = Kind != cross_entropy_kind::gradient;  ///< writes args.loss
  static constexpr bool has_gradient = Kind != cross_entropy_kind::loss;  ///< writes args.gradient
  /// Threads and LDS of a block; bytes of LDS that keep rows which do not fit in registers.
  static constexpr index_t block_size = Tile.threads,
                           cached_bytes = has_loss && has_gradient
                                              ? block::template cached_bytes<typename block::template packed_segment<T>>
                                              : 0,
                           lds_bytes = has_loss ? cached_bytes + 2 * block::lds_bytes : 0;
  static constexpr index_t most_threads = 256;  ///< launch_rows
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = block::blocks_at_once;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    const auto x = detail::rows_of(args, args.x, args.x_stride);
    const detail::row_matrix gradient{has_gradient ? args.gradient : nullptr, args.rows, args.cols,
                                      args.gradient_stride, sizeof(T)};
    if (const char* why = block::check(tile, x)) return why;
    if (!args.target) return "a pointer is null: target";
    if (has_loss && !args.loss) return "a pointer is null: loss";
    if (!has_loss && !args.log_sum) return "the gradient alone needs log_sum, which the loss's kernel writes";
    if (has_gradient) {
      if (const char* why = block::check(tile, gradient)) return why;
      if (detail::aliases_partially(gradient, x))
        return "the memory from the gradient's first element to its last overlaps x's, but the gradient is not x";
    }
    const auto log_sum = detail::row_array(args.log_sum, args.rows), target = detail::row_array(args.target, args.rows),
               factor = detail::row_array(has_gradient ? args.factor : nullptr, args.rows),
               loss = detail::row_array(has_loss ? args.loss : nullptr, args.rows);
    const detail::row_matrix of_loss[] = {loss, log_sum, gradient, x, target, factor};
    const detail::row_matrix of_gradient[] = {gradient, log_sum, target, factor};
    const char* const why = has_loss ? detail::check_results(of_loss, 2) : nullptr;
    return why ? why : detail::check_results(of_gradient, 1);
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return block::grid(tile, args.rows);
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto rows = has_gradient ? block::of_grid(args.rows, args.cols, args.gradient, args.gradient_stride)
                                   : block::of_grid(args.rows, args.cols, args.x, args.x_stride);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, first); };
    const auto row_cache = block::template allocate<lds_bytes>();
    using own_segment = typename block::template packed_segment<T>;
    const auto first_load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      return has_gradient ? rows.template load_first<own_segment>(row_cache, false, first, load) : load(first);
    };
    own_segment segment = has_loss ? first_load(0) : load(rows.last_segment());
    const Target wanted = rows.load_row(args.target);
    const index_t target = wanted >= 0 && wanted < args.cols ? index_t(wanted) : -1;
    detail::start_cluster<Tile.blocks>();
    typename block::template segment<float> e;  // exp(x - base) of the last part
    detail::row_exponents<block> exponents;     // its `largest` is the base
    float ratio = 1;                            // the row's probabilities are exp(x - base) times ratio
    const auto expand = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto x = block::to_float(has_loss ? rows.load_again(row_cache, first, load) : load(first));
      exponents.to_exponents(x);
      return x;
    };
    if constexpr (has_loss) {
      const T of_target = detail::load_column(rows, args.x, args.x_stride, target);
      rows.forward(segment, first_load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        e = block::to_float(x);
        exponents.add(rows, e, first);
      });
      auto all = exponents;
      all.finish(row_cache + cached_bytes);
      const float log_sum = all.largest + exec::log2(all.sum) * detail::ln_2;
      if (args.log_sum) rows.store_row(args.log_sum, log_sum);
      rows.store_row(args.loss, target < 0 ? 0.0f : log_sum - float(of_target));
      ratio = all.factor(exponents.largest, all.largest) * exec::rcp(all.sum);
    } else {
      exponents.largest = rows.load_row(args.log_sum);
      e = block::to_float(segment);
      exponents.to_exponents(e);
    }
    if constexpr (has_gradient) {
      const float factor = target < 0 ? 0 : args.factor ? rows.load_row(args.factor) * args.scale : args.scale;
      rows.backward(e, expand, [&](auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        detail::scale(x, ratio * factor);
        detail::change_at(rows, x, first, target, [&](float p) { return p - factor; });
        rows.store(args.gradient, args.gradient_stride, first, x);
      });
    }
  }
};

}  // namespace tilewright
