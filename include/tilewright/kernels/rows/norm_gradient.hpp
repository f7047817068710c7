// SPDX-License-Identifier: MIT
// Gradients of RMSNorm and LayerNorm: of the input, and, added up in a fixed order, of weight and bias.
#pragma once

#include <tilewright/block/rows/row_mailboxes.hpp>
#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/norm_gradient_partials.hpp>

namespace tilewright {

/// dx = rstd (g - mean of g - x' mean of (g x')) + ds for g = dy weight and x' = (s - mean) rstd; RMSNorm has no mean
/// of g. dweight = sum of dy x' and dbias = sum of dy over all rows. A block takes one row after another: it writes the
/// dx of one while the sums of the next are exchanged, and asynchronous copies load `Stages` rows to LDS, where
/// weights stay. Of rows longer than Tile.cols() the sums of columns stay in `parts`, and all is read twice.
template <class Arch, class T, row_tile Tile, norm_kind Kind = norm_kind::rms_norm, index_t Stages = 3>
struct row_norm_gradient {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  using block = detail::row_block<Arch, Tile>;
  using followed_by = detail::sum_of_norm_partials<Arch, T, detail::norm_partials_across(Tile)>;
  static_assert(Tile.rows() == 1, "row_norm_gradient: all threads of a block share a row: threads == threads_per_row");
  static_assert(Tile.vector * sizeof(T) >= 4,
                "row_norm_gradient: vectors have at least 4 bytes; unaligned takes any row");
  static constexpr bool is_layer_norm = Kind == norm_kind::layer_norm;  ///< else RMSNorm
  using row_mailboxes =
      detail::row_mailboxes<Arch, Tile.blocks, Tile.threads / Arch::value.wave_size, is_layer_norm ? 2 : 1>;
  /// LDS of rows of dy and s that are in flight
  static constexpr index_t bytes_of_stage = 2 * Tile.cols() * sizeof(T);
  using segment = typename block::template packed_segment<T>;
  using floats = typename block::template segment<float>;
  using row_of = typename block::template row_of<T>;
  static constexpr index_t blocks_at_once = max(1, (Tile.vectors == 1 ? 1024 : 512) / Tile.threads);
  /// Whether LDS has room for weights as floats.
  static constexpr bool floats_fit =
      Stages * bytes_of_stage + Tile.threads * block::in_vectors * 4 + row_mailboxes::lds_bytes <=
      Arch::value.lds_bytes / blocks_at_once - (blocks_at_once > 1 ? 1024 : 0);
  using row_cache = detail::conditional_t<floats_fit, array<float, block::in_vectors>, typename row_of::vectors>;
  using weights = detail::own_lds<Tile.threads, row_cache>;
  static constexpr index_t block_size = Tile.threads,
                           lds_bytes = Stages * bytes_of_stage + weights::bytes + row_mailboxes::lds_bytes;
  static constexpr index_t cluster = Tile.blocks;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    const detail::row_matrix dy = detail::rows_of(args, args.dy, args.dy_stride),
                             s = detail::rows_of(args, args.s, args.s_stride),
                             ds = detail::rows_of(args, args.ds, args.ds_stride),
                             dx = detail::rows_of(args, args.dx, args.dx_stride),
                             weight{args.weight, 1, args.cols, args.cols, sizeof(T)};
    if (const char* why = block::check(tile, dy, s, dx, weight, args.ds ? ds : dx)) return why;
    if (!args.rstd || (is_layer_norm && !args.mean)) return "a pointer is null: rstd, or mean";
    if (!args.dweight || !args.partials) return "a pointer is null: dweight, or parts";
    if (args.num_partials < 1 || args.num_partials > args.rows)
      return "num_partials must be positive, and at most rows";
    if (!is_layer_norm && args.dbias) return "RMSNorm has no bias";
    if (!detail::is_aligned(args.partials)) return "parts must be aligned to 16 bytes";
    if (detail::aliases_partially(dx, dy) || (args.ds && detail::aliases_partially(dx, ds)))
      return "the memory from dx's first element to its last overlaps that of dy or ds, but dx is not that input";
    const auto dweight = detail::row_array(args.dweight, args.cols), dbias = detail::row_array(args.dbias, args.cols),
               rstd = detail::row_array(args.rstd, args.rows), mean = detail::row_array(args.mean, args.rows),
               partials =
                   detail::row_array(args.partials, args.num_partials * args.partials_stride() * (args.dbias ? 2 : 1));
    const detail::row_matrix memory[] = {dweight, dbias, partials, dx, s, weight, rstd, mean, dy, ds};
    if (const char* why = detail::check_results(memory, 3)) return why;
    for (index_t i = 4; i < 8; ++i)
      if (memory[i].data && detail::overlap(dx, memory[i]))
        return "the memory from dx's first element to its last overlaps that of s, weight, rstd or mean";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return {args.num_partials * tile.blocks, 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    row_mailboxes mailboxes{lds + (lds_bytes - row_mailboxes::lds_bytes)};
    mailboxes.start();
    const index_t number = index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks));
    // Rows are taken class by class: those whose numbers differ by multiples of `step`, so that they start at the same
    // element of a vector. All rows of a block are one class if num_partials allows that.
    const bool is_one = modulo(args.num_partials, Tile.vector) == 0;
    const index_t step = is_one ? args.num_partials : Tile.vector;
    index_t begin = is_one ? 0 : index_t(long_index_t{number} * args.rows / args.num_partials),
            end = is_one ? args.rows : index_t((number + 1ll) * args.rows / args.num_partials);
    if constexpr (!Tile.unaligned) return take_rows(args, {number, number}, lds, mailboxes);
    row_range range{number};
    TILEWRIGHT_UNROLL(1)
    for (index_t row_class = is_one ? number : 0; end > 0; ++row_class) {
      const index_t of_class = divide(args.rows + step - 1 - row_class, step);
      if (begin < of_class) {
        range.adds = range.last > 0;
        if (range.adds) Tile.blocks > 1 ? exec::cluster_sync_lds() : exec::block_sync();  // others have a column's sum
        range.first = max(begin, 0) * long_index_t{step} + row_class;
        range.last = min(end, of_class) * long_index_t{step} + row_class, range.between = step;
        take_rows(args, range, lds, mailboxes);
      }
      if (is_one) return;
      begin -= of_class, end -= of_class;
    }
  }

 private:
  static constexpr index_t elements = block::elements, copies = 2 * Tile.vectors, half = bytes_of_stage / 2;
  using column_sums = detail::norm_column_sums<block, is_layer_norm>;
  using row_range = detail::norm_rows<Tile.unaligned>;

  /// Rows that start at the same element of a vector.
  TILEWRIGHT_HD static void take_rows(const args_type& args, const row_range& range, exec::lds_pointer lds,
                                      row_mailboxes& mailboxes) {
    const auto lds_of_weights = lds + Stages * bytes_of_stage;
    const block all(index_t(range.first), args.rows, args.cols, args.dx, args.dx_stride);
    const bool is_aligned =
        all.own_row(args.dy, args.dy_stride).is_aligned() && all.own_row(args.s, args.s_stride).is_aligned();
    if (!all.is_single() || !is_aligned) return long_rows(args, all, range, lds, mailboxes);
    const segment weight = all.load_cols(args.weight, 0);
    const floats wide = block::to_float(weight);
    if constexpr (floats_fit) weights::store(lds_of_weights, block::template as<row_cache>(wide));
    if constexpr (!floats_fit) weights::store(lds_of_weights, block::template as<row_cache>(weight));
    const float end = wide.thread_buffer[elements - 1];  // of the weights
    column_sums sums{};
    if (range.adds) sums.template move<false>(args, all, range.number, 0, lds);
    for (index_t stage = 0; stage < Stages; ++stage)
      copy_row(args, all, range, range.first + stage * range.step(args), lds + stage * bytes_of_stage);
    const bool is_busy = !Tile.unaligned || Tile.blocks < 8 || all.count_of_wave(0) > 0;  // a quarter may have nothing
    row_state before(args, all, range, range.first), now = before;
    index_t stage_before = 0, stage = 0;
    TILEWRIGHT_UNROLL(1)
    for (long_index_t row = range.first;; row += range.step(args)) {
      const row_state next(args, all, range, row + range.step(args));
      if (row < range.end(args)) {
        exec::async_wait<(Stages - 2) * copies>();
        const auto from = lds + stage * bytes_of_stage;
        if (is_busy) now.first_pass(now.copied_dy(from), now.copied_s(from), load_weights(lds_of_weights, end), sums);
      }
      if (row > range.first) before.finish(mailboxes, args.cols);
      if (row < range.end(args)) now.post(mailboxes);
      if (row > range.first) {
        const auto from = lds + stage_before * bytes_of_stage;
        if (is_busy)
          second_pass(args, before, before.copied_dy(from), before.copied_s(from), load_weights(lds_of_weights, end),
                      0);
        if (row >= range.end(args)) break;
        if (is_busy) copy_row(args, all, range, row + (Stages - 1) * range.step(args), from);
      }
      before = now, now = next;
      stage_before = stage, stage = stage + 1 == Stages ? 0 : stage + 1;
    }
    exec::async_wait();
    sums.template move<true>(args, all, range.number, 0, lds);
  }
  /// Weights stay in LDS, but for the element at an end.
  TILEWRIGHT_HD static floats load_weights(exec::lds_pointer lds, float end) {
    floats result =
        block::to_float(block::template as<detail::conditional_t<floats_fit, floats, segment>>(weights::load(lds)));
    if constexpr (block::has_ends) result.thread_buffer[elements - 1] = end;
    return result;
  }
  /// A row of the range; no row after its end.
  TILEWRIGHT_HD static block take(const args_type& args, const block& all, const row_range& range, long_index_t row) {
    block rows = all;
    rows.first_row = index_t(min(row, range.end(args)));
    rows.rows = index_t(range.end(args)) - rows.first_row;
    return rows;
  }

  /// A row, what row_norm saved of it, and its sums of g and of g (s - mean); later the numbers by which dx = g rstd -
  /// (s products + sum).
  struct row_state {
    block rows;
    float mean = 0, rstd, sum = 0, products = 0;
    unsigned end_of_dy = 0, end_of_s = 0;

    TILEWRIGHT_HD row_state(const args_type& args, const block& all, const row_range& range, long_index_t row)
        : rows(take(args, all, range, row)) {
      rstd = row < range.end(args) ? exec::load_element(args.rstd + row) : 0;
      if (is_layer_norm && row < range.end(args)) mean = exec::load_element(args.mean + row);
      end_of_dy = block::load_end(rows.own_row(args.dy, args.dy_stride), 0);
      end_of_s = block::load_end(rows.own_row(args.s, args.s_stride), 0);
    }
    TILEWRIGHT_HD segment copied_dy(exec::lds_pointer from) const { return block::template copied<T>(from, end_of_dy); }
    TILEWRIGHT_HD segment copied_s(exec::lds_pointer from) const {
      return block::template copied<T>(from + half, end_of_s);
    }
    TILEWRIGHT_HD void first_pass(const segment& dy, const segment& s, const floats& weight, column_sums& sums) {
      float of_thread[2][4] = {};
      const floats gs = block::to_float(dy), values = block::to_float(s);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) {
        const float g = gs.thread_buffer[d], w = weight.thread_buffer[d];
        const float product = g * (values.thread_buffer[d] - mean);
        sums.weight[d] += product * rstd;
        of_thread[1][d % 4] += product * w;
        if constexpr (is_layer_norm) sums.bias[d] += g, of_thread[0][d % 4] += g * w;
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < 4; ++i) sum += of_thread[0][i], products += of_thread[1][i];
    }
    /// Tells all waves of all blocks the wave's sums.
    TILEWRIGHT_HD void post(row_mailboxes& mailboxes) const {
      array<float, is_layer_norm ? 2 : 1> values{combine_lanes<1, Arch::value.wave_size>(products, plus)};
      if constexpr (is_layer_norm) values[1] = combine_lanes<1, Arch::value.wave_size>(sum, plus);
      mailboxes.post(values);
    }
    TILEWRIGHT_HD void finish(const row_mailboxes& mailboxes, index_t cols) {
      const auto totals = mailboxes.template sums<Arch::value.wave_size>();
      const float factor = rstd * exec::rcp(float(cols));
      products = totals[0] * factor * (rstd * rstd);
      if constexpr (is_layer_norm) sum = totals[1] * factor - mean * products;
    }
  };
  /// dx from the sums of the whole row.
  TILEWRIGHT_HD static void second_pass(const args_type& args, const row_state& of, const segment& dy, const segment& s,
                                        const floats& weight, index_t first) {
    floats dx = block::to_float(dy);
    const floats values = block::to_float(s);
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < elements; ++d) {
      const float g = dx.thread_buffer[d] * weight.thread_buffer[d];
      dx.thread_buffer[d] = g * of.rstd - (values.thread_buffer[d] * of.products + of.sum);
    }
    if (args.ds) detail::add_to(dx, block::to_float(of.rows.load(args.ds, args.ds_stride, first)));
    of.rows.store(args.dx, args.dx_stride, first, dx);
  }
  TILEWRIGHT_HD static void long_rows(const args_type& args, const block& all, const row_range& range,
                                      exec::lds_pointer lds, row_mailboxes& mailboxes) {
    for (long_index_t row = range.first; row < range.end(args); row += range.step(args)) {
      row_state own(args, all, range, row);
      const auto& rows = own.rows;
      TILEWRIGHT_UNROLL(1)
      for (index_t first = 0; first < max(all.cols, 1); first += block::segment_cols) {
        column_sums sums{};
        if (range.adds || row > range.first) sums.template move<false>(args, all, range.number, first, lds);
        own.first_pass(rows.load(args.dy, args.dy_stride, first), rows.load(args.s, args.s_stride, first),
                       block::to_float(all.load_cols(args.weight, first)), sums);
        sums.template move<true>(args, all, range.number, first, lds);
      }
      own.post(mailboxes);
      own.finish(mailboxes, args.cols);
      TILEWRIGHT_UNROLL(1)
      for (index_t first = 0; first < max(all.cols, 1); first += block::segment_cols)
        second_pass(args, own, rows.load(args.dy, args.dy_stride, first), rows.load(args.s, args.s_stride, first),
                    block::to_float(all.load_cols(args.weight, first)), first);
    }
  }
  /// Starts to copy a row, or zeros after the last row.
  TILEWRIGHT_HD static void copy_row(const args_type& args, const block& all, const row_range& range, long_index_t row,
                                     exec::lds_pointer stage) {
    const block rows = take(args, all, range, row);
    rows.template copy<T>(rows.own_row(args.dy, args.dy_stride), stage);
    rows.template copy<T>(rows.own_row(args.s, args.s_stride), stage + half);
  }
};

}  // namespace tilewright
