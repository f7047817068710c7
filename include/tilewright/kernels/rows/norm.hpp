// SPDX-License-Identifier: MIT
// RMSNorm and LayerNorm of rows of any length, with a residual, and with a result of 8 or 4 bits and scales.
#pragma once

#include <tilewright/kernels/rows/detail/row_moments.hpp>
#include <tilewright/kernels/rows/group_codes.hpp>
#include <tilewright/kernels/rows/row_scales.hpp>

namespace tilewright {

/// y = (s - mean) / sqrt(variance + epsilon) * weight + bias for each row of s = x + residual; RMSNorm has no mean and
/// no bias, and the mean of squares for the variance. Strides in elements.
template <class T, class Result = T>
struct norm_args {
  const T* x = nullptr;         ///< input
  const T* residual = nullptr;  ///< optional; then s is rounded to T, written to `sum`, and normalised as rounded
  T* sum = nullptr;             ///< with residual; may be x or residual
  const T* weight = nullptr;    ///< cols elements
  const T* bias = nullptr;      ///< cols elements; LayerNorm only, optional
  Result* y = nullptr;          ///< result
  float* scale = nullptr;       ///< with Scales; y times scale is the result
  long_index_t scale_row_stride = 1, scale_group_stride = 0;  ///< of scales per 128 both are needed
  float* mean = nullptr;       ///< for each row, optional; LayerNorm only. row_norm_gradient takes both
  float* rstd = nullptr;       ///< for each row, optional: 1 / sqrt(variance + epsilon)
  index_t rows = 0, cols = 0;  ///< cols: elements that are normalised together
  long_index_t x_stride = 0, residual_stride = 0, sum_stride = 0, y_stride = 0;  ///< from row to row
  float epsilon = 1e-5f;                                                         ///< added to the variance
};

/// norm_args of a norm whose result is written in a narrow format: y stays null.
template <class T>
struct norm_groups_args : norm_args<T> {
  group_codes result = {};  ///< codes and scales of y
};

enum class norm_kind : signed char { rms_norm, layer_norm };

namespace detail {

/// Whether a block of unaligned rows shifts weights once and keeps them in LDS for all of its iterations.
TILEWRIGHT_HD constexpr bool keeps_norm_weights(const row_tile& tile, scale_kind scales) {
  return tile.unaligned && access_of(tile, scales) > 1 && tile.lds_segments == 0 && tile.blocks == 1;
}

}  // namespace detail

/// Rows up to Tile.cols() elements are read once and stay in registers. Longer ones are read once more to be written,
/// from the last part back, and by LayerNorm with a Result of 8 bits a third time. With a Format y becomes
/// norm_groups_args::result, as quantise_groups writes it; Result is T.
template <class Arch, class T, row_tile Tile, norm_kind Kind = norm_kind::rms_norm, class Result = T,
          scale_kind Scales = sizeof(Result) == 1 ? scale_kind::per_row : scale_kind::none, class Format = void>
struct row_norm {
  using arch = Arch;
  static constexpr bool writes_groups = !__is_same(Format, void);  ///< y is written in Format
  using args_type = detail::conditional_t<writes_groups, norm_groups_args<T>, norm_args<T, Result>>;
  static_assert(!writes_groups || (__is_same(Result, T) && Scales == scale_kind::none),
                "row_norm: with a Format Result is T, and Scales none");
  using block = detail::row_block<Arch, Tile, detail::access_v<Tile, Scales>>;
  static constexpr bool is_layer_norm = Kind == norm_kind::layer_norm;                       ///< else RMSNorm
  static constexpr bool has_row_scales = Scales == scale_kind::per_row;                      ///< y is scaled row by row
  static constexpr index_t reductions = (is_layer_norm ? 3 : 1) + (has_row_scales ? 1 : 0);  ///< over a row
  using segment = typename block::template packed_segment<T>;
  static constexpr bool keeps_weights = detail::keeps_norm_weights(Tile, Scales);  ///< weights stay in LDS as floats
  using own_segment = detail::own_lds<Tile.threads, segment>;
  /// Row data of a thread: floats where weights are kept, converted once; else T.
  using cached = detail::conditional_t<keeps_weights, typename block::template segment<float>, segment>;
  /// LDS for weights, or for rows that do not fit in registers
  static constexpr index_t cached_bytes =
      keeps_weights ? (is_layer_norm ? 2 : 1) * own_segment::bytes : block::template cached_bytes<segment>;
  /// LDS to which the next iteration's row is copied while the block works on the last, where there is room.
  static constexpr index_t used_bytes = cached_bytes + reductions * block::lds_bytes,
                           row_bytes = Tile.cols() * Tile.rows() * index_t(sizeof(T)),
                           next_bytes =
                               keeps_weights && used_bytes + row_bytes <= Arch::value.lds_bytes ? row_bytes : 0;
  static constexpr index_t block_size = Tile.threads, lds_bytes = used_bytes + next_bytes;
  // launch_rows: results of 8 bits and LayerNorm need their registers.
  /// Limits of launch_rows: results of 8 bits and LayerNorm need their registers.
  static constexpr index_t most_threads = 256, most_vectors = is_layer_norm ? 5 : 6;
  static constexpr index_t cluster = Tile.blocks;
  static constexpr index_t blocks_at_once =  // fewer blocks than spill registers
      keeps_weights && Tile.vectors == 4 ? max(1, 640 / Tile.threads) : block::blocks_at_once;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    if (!args.residual != !args.sum) return "residual and sum must both be given, or neither";
    if (!is_layer_norm && (args.bias || args.mean)) return "RMSNorm has no bias and no mean";
    const detail::row_matrix x = detail::rows_of(args, args.x, args.x_stride),
                             y = writes_groups ? x : detail::rows_of(args, args.y, args.y_stride),
                             residual = detail::rows_of(args, args.residual, args.residual_stride),
                             sum = detail::rows_of(args, args.sum, args.sum_stride),
                             weight{args.weight, 1, args.cols, args.cols, sizeof(T)},
                             bias{args.bias, 1, args.cols, args.cols, sizeof(T)};
    if (const char* why =
            block::check(tile, x, y, weight, args.bias ? bias : weight, args.sum ? residual : x, args.sum ? sum : y))
      return why;
    if (detail::aliases_partially(y, x) ||
        (args.sum && (detail::aliases_partially(sum, x) || detail::aliases_partially(sum, residual) ||
                      detail::aliases_partially(y, residual))))
      return "the memory from a result's first element to its last overlaps an input's, but the result is not that "
             "input";
    if (args.sum && detail::overlap(y, sum))
      return "the memory from y's first element to its last overlaps sum's: they are two results";
    if (const char* why = detail::check_scales<Scales>(detail::scales_of(args), x, y)) return why;
    const auto mean = detail::row_array(args.mean, args.rows), rstd = detail::row_array(args.rstd, args.rows),
               scale = detail::memory_of<Scales>(detail::scales_of(args), x);
    const detail::row_matrix memory[] = {mean, rstd, scale, weight, bias, y, sum, x, residual};
    if (const char* why = detail::check_results(memory, 3)) return why;
    for (const detail::row_matrix& in : {weight, bias})
      if (in.data && (detail::overlap(y, in) || (args.sum && detail::overlap(sum, in))))
        return "the memory from a result's first element to its last overlaps weight or bias";
    if constexpr (writes_groups) {
      using writer = detail::group_writer<Format, Tile>;
      if (const char* why = writer::check(args.result, args.rows, args.cols)) return why;
      for (const detail::row_matrix& m : {x, residual, sum, weight, bias, mean, rstd})
        if (m.data && writer::overlaps(args.result, m, args.rows, args.cols))
          return "the memory of codes or scales overlaps that of an input or of another result";
    }
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    const bool keeps = detail::keeps_norm_weights(tile, Scales);
    return block::grid(tile, args.rows, keeps ? block::iterations_for(args.rows, tile.rows(), tile.threads) : 1,
                       detail::access_of(tile, Scales));
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    auto rows = [&] {
      if constexpr (writes_groups) return block::of_grid(args.rows, args.cols, args.x, args.x_stride);
      if constexpr (!writes_groups)
        return block::of_grid(args.rows, args.cols, args.y, args.y_stride, iterations(args));
    }();
    const auto row_cache = block::template allocate<lds_bytes>();
    if constexpr (keeps_weights) return normalise_one_by_one(args, rows, row_cache);
    const bool is_copied = !args.residual && rows.copy_segments(row_cache, args.x, args.x_stride);
    pass of_rows{args, rows, row_cache, is_copied};
    cached x = of_rows.load(0);
    detail::start_cluster<Tile.blocks>();
    of_rows.normalise_rows(x);
  }

 private:
  TILEWRIGHT_HD static constexpr index_t iterations(const args_type& args) {
    return keeps_weights ? block::iterations_for(args.rows) : 1;
  }
  /// Unaligned rows: copies the next row to LDS while the block works on this one, where there is room.
  TILEWRIGHT_HD static void normalise_one_by_one(const args_type& args, block rows, exec::lds_pointer row_cache) {
    const bool copies =
        next_bytes > 0 && !args.residual && rows.is_single() && rows.own_row(args.x, args.x_stride).is_aligned();
    const auto start_copy = [&](const block& of) TILEWRIGHT_INLINE_LAMBDA {
      if (!copies) return 0u;
      const auto row = of.own_row(args.x, args.x_stride);
      of.template copy<T>(row, row_cache + cached_bytes);
      return block::load_end(row, 0);
    };
    unsigned end = start_copy(rows);
    own_segment::store(row_cache, rows.load_cols(args.weight, 0));
    if constexpr (is_layer_norm) own_segment::store(row_cache + own_segment::bytes, rows.load_cols(args.bias, 0));
    for (index_t iteration = iterations(args);;) {
      if (copies) exec::async_wait();
      pass of_row{args, rows, row_cache, false};
      cached x = copies ? cache(block::template copied<T>(row_cache + cached_bytes, end)) : of_row.load(0);
      block next = rows;
      const bool is_last = --iteration == 0 || !next.next_rows();
      if (!is_last) end = start_copy(next);
      of_row.normalise_rows(x);
      if (is_last) return;
      if constexpr (block::waves_per_row > 1) exec::block_sync();  // all have read the last sums
      rows = next;
    }
  }
  TILEWRIGHT_HD static cached cache(const segment& x) {
    if constexpr (keeps_weights) return block::to_float(x);
    if constexpr (!keeps_weights) return x;
  }

  /// One pass of a block over its rows: y (rows, cols) = (x - mean) * rstd * weight + bias, of RMSNorm without mean and
  /// bias. Functions take the segment of the rows that begins at a column.
  struct pass {
    const args_type& args;
    const block& rows;
    exec::lds_pointer row_cache;
    bool is_copied;  // x is in LDS, or on its way there
    detail::row_moments<block> moments =
        {};  // RMSNorm: `squares` alone, of the distances from 0; then rstd, mean * rstd

    TILEWRIGHT_HD float& rstd() { return moments.squares; }
    TILEWRIGHT_HD exec::lds_pointer lds() const { return row_cache + (cached_bytes + next_bytes); }

    /// x; with a residual x + residual, which becomes the sum. Once for each segment.
    TILEWRIGHT_HD cached load(index_t first) const {
      return rows.template load_first<cached>(row_cache, is_copied, first, [&](index_t col) TILEWRIGHT_INLINE_LAMBDA {
        auto x = rows.load(args.x, args.x_stride, col);
        if (args.residual) {
          const auto residual = rows.load(args.residual, args.residual_stride, col);
          auto sum = block::to_float(x);
          detail::add_to(sum, block::to_float(residual));
          x = block::template round<T>(sum);
          rows.template store<false>(args.sum, args.sum_stride, col, x);
        }
        return cache(x);
      });
    }
    /// The same values again.
    TILEWRIGHT_HD cached reload(index_t first) const {
      const T* const values = args.residual ? args.sum : args.x;
      const long_index_t stride = args.residual ? args.sum_stride : args.x_stride;
      return rows.load_again(row_cache, first, [&](index_t col) TILEWRIGHT_INLINE_LAMBDA {
        return cache(rows.load(values, stride, col));
      });
    }
    /// Weights or biases as floats.
    TILEWRIGHT_HD auto load_cols(const T* values, index_t first, exec::lds_pointer from) const {
      return block::to_float(keeps_weights && first == 0 ? own_segment::load(from) : rows.load_cols(values, first));
    }

    TILEWRIGHT_HD void add_moments(const cached& x, index_t first) {
      const auto e = block::to_float(x);
      if constexpr (is_layer_norm) {
        moments.add(rows, e, first);
      } else {
        moments.squares += block::reduce_own(tile_elementwise_in([](float a) { return a * a; }, e), plus);
      }
    }
    /// rstd and mean * rstd, after the threads have combined their moments; stores what args ask for.
    TILEWRIGHT_HD void finish_moments() {
      rstd() = exec::rsqrt(rstd() * exec::rcp(float(args.cols)) + args.epsilon);
      if (is_layer_norm && args.mean) rows.store_row(args.mean, moments.mean);
      if (args.rstd) rows.store_row(args.rstd, rstd());
      moments.mean *= rstd();
    }

    /// LayerNorm: (x - mean) * rstd * weight + bias; RMSNorm: x * weight.
    TILEWRIGHT_HD auto weigh(const cached& x, index_t first) const {
      auto e = block::to_float(x);
      const auto weight = load_cols(args.weight, first, row_cache);
      if constexpr (is_layer_norm) {
        const auto bias = load_cols(args.bias, first, row_cache + own_segment::bytes);
        const float rstd = moments.squares, mean_rstd = moments.mean;
        tile_elementwise_inout([&](float& a, float w, float b) { a = (a * rstd - mean_rstd) * w + b; }, e, weight,
                               bias);
      } else {
        tile_elementwise_inout([](float& a, float w) { a *= w; }, e, weight);
      }
      return e;
    }
    TILEWRIGHT_HD auto normalise(const cached& x, index_t first) const {
      auto e = weigh(x, first);
      if (!is_layer_norm) detail::scale(e, moments.squares);
      return e;
    }

    /// `x`: the first segment.
    TILEWRIGHT_HD void normalise_rows(cached& x) {
      if constexpr (has_row_scales && !is_layer_norm) return store_with_rstd_in_scale(x);
      rows.forward(
          x, [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return load(first); },
          [&](const cached& own, index_t first) TILEWRIGHT_INLINE_LAMBDA { add_moments(own, first); });
      if constexpr (is_layer_norm) {
        moments.finish(lds());
      } else {
        block::reduce_threads(plus, lds(), rstd());
      }
      finish_moments();
      if constexpr (has_row_scales) {
        store_with_row_scales(x);
      } else if constexpr (writes_groups) {
        rows.backward(
            x, [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return reload(first); },
            [&](const cached& own, index_t first) TILEWRIGHT_INLINE_LAMBDA {
              auto e = normalise(own, first);
              detail::group_writer<Format, Tile>::store(args.result, rows, e, first);
            });
      } else {
        detail::store_segments<Scales, Tile>(
            rows, x, [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return reload(first); },
            [&](const cached& own, index_t first) TILEWRIGHT_INLINE_LAMBDA { return normalise(own, first); }, args.y,
            args.y_stride, detail::scales_of(args));
      }
    }
    /// y of 8 bits, scaled by the largest element of each row.
    TILEWRIGHT_HD void store_with_row_scales(cached& x) {
      const auto combine = [&](float& largest) TILEWRIGHT_INLINE_LAMBDA {
        block::reduce_threads(max, lds() + (reductions - 1) * block::lds_bytes, largest);
        return 1.0f;
      };
      detail::store_scaled_rows<true>(
          rows, x, [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return reload(first); },
          [&](const cached& own, index_t first) TILEWRIGHT_INLINE_LAMBDA { return weigh(own, first); }, combine,
          [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return weigh(reload(first), first); }, args.y, args.y_stride,
          detail::scales_of(args));
    }
    /// The same for RMSNorm in one pass: rstd is a factor of the scale, so the largest of x * weight is enough.
    TILEWRIGHT_HD void store_with_rstd_in_scale(cached& x) {
      const auto add_and_weigh = [&](const cached& own, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        add_moments(own, first);
        return weigh(own, first);
      };
      const auto combine = [&](float& largest) TILEWRIGHT_INLINE_LAMBDA {
        const auto both = [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
          rstd() = detail::combine_lanes<1, decltype(n)::value>(rstd(), plus);
          largest = detail::combine_lanes<1, decltype(n)::value>(largest, max);
        };
        block::reduce_levels(lds(), both, rstd(), largest);
        finish_moments();
        return rstd();
      };
      detail::store_scaled_rows<false>(
          rows, x, [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return load(first); }, add_and_weigh, combine,
          [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return weigh(reload(first), first); }, args.y, args.y_stride,
          detail::scales_of(args));
    }
  };
};

}  // namespace tilewright
