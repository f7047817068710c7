// SPDX-License-Identifier: MIT
// Gradients of RMSNorm and LayerNorm: of the input, and, added up in a fixed order, of weight and bias.
#pragma once

#include <tilewright/rows/norm.hpp>
#include <tilewright/rows/norm_gradient_parts.hpp>

namespace tilewright {

/// dx = rstd (g - mean of g - x' mean of (g x')) + ds for g = dy weight and x' = (s - mean) rstd; RMSNorm has no mean
/// of g. dweight = sum of dy x' and dbias = sum of dy over all rows. A block takes one row after another: it writes the
/// dx of one while the sums of the next are exchanged, and asynchronous copies bring `Stages` rows to LDS. Weights and
/// sums of columns stay in registers. Of rows longer than Tile.cols() the sums stay in `parts`, and all is read twice.
template <class Arch, class T, row_tile Tile, norm_kind Kind = norm_kind::rms_norm,
          index_t Stages = Tile.any_start ? 4 : 3>
struct row_norm_gradient {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  using block = detail::row_block<Arch, Tile>;
  using followed_by = detail::sum_of_parts<Arch, T>;
  static_assert(Tile.rows() == 1, "row_norm_gradient: all threads of a block share a row: threads == threads_per_row");
  static_assert(Tile.vector * sizeof(T) >= 4,
                "row_norm_gradient: vectors have at least 4 bytes; any_start takes any row");
  static constexpr bool is_layer_norm = Kind == norm_kind::layer_norm;
  static constexpr index_t waves = Tile.threads / Arch::value.wave_size, posts = waves * Tile.blocks;
  static constexpr index_t bytes_of_stage = 2 * Tile.cols() * sizeof(T), bytes_of_posts = 2 * 4 * posts;
  static constexpr index_t block_size = Tile.threads, lds_bytes = Stages * bytes_of_stage + 2 * bytes_of_posts;
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = max(1, 512 / Tile.threads);

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const auto matrix = [&](const auto* data, long_index_t stride) {
      return detail::row_matrix{data, args.rows, args.cols, stride, sizeof(*data)};
    };
    const detail::row_matrix dy = matrix(args.dy, args.dy_stride), s = matrix(args.s, args.s_stride),
                             ds = matrix(args.ds, args.ds_stride), dx = matrix(args.dx, args.dx_stride),
                             weight{args.weight, 1, args.cols, args.cols, sizeof(T)};
    if (const char* why = block::check(dy, s, dx)) return why;
    if (const char* why = block::check_cols(weight)) return why;
    if (const char* why = args.ds ? block::check(ds) : nullptr) return why;
    if (!args.rstd || (is_layer_norm && !args.mean)) return "a pointer is null: rstd, or mean";
    if (!args.dweight || !args.parts) return "a pointer is null: dweight, or parts";
    if (args.num_parts < 1 || args.num_parts > args.rows) return "num_parts must be positive, and at most rows";
    if (!is_layer_norm && args.dbias) return "RMSNorm has no bias";
    if (reinterpret_cast<unsigned long long>(args.parts) % 16 != 0) return "parts must be aligned to 16 bytes";
    const auto clash = [&](const detail::row_matrix& in) {
      return detail::overlap(dx, in) && !detail::is_in_place(dx, in);
    };
    if (clash(dy) || (args.ds && clash(ds))) return "dx overlaps dy or ds, but is not that input";
    if (detail::overlap(dx, s) || detail::overlap(dx, weight)) return "dx overlaps s or weight";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) { return {args.num_parts * Tile.blocks, 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto lds = exec::lds_allocate<lds_bytes>(), lds_of_posts = lds + Stages * bytes_of_stage;
    const index_t number = index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks));
    const block all(0, args.rows, args.cols);
    if (all.share() > block::part_cols - (Tile.any_start ? Tile.vector : 0)) {
      detail::start_cluster<Tile.blocks>();
      return long_rows(args, all, number, lds_of_posts);
    }
    const part weight = load_weight(args, all, 0);
    for (index_t stage = 0; stage < Stages; ++stage)
      copy_row(args, number + stage * long_index_t{args.num_parts}, lds + stage * bytes_of_stage);
    exec::async_wait<(Stages - 1) * copies>();
    detail::sync_blocks<Tile.blocks>();
    column_sums sums{};
    row_state before(args, number), now = before;
    index_t stage_before = 0, stage = 0, turn = 0;
    TILEWRIGHT_UNROLL(1)
    for (long_index_t row = number;; row += args.num_parts) {
      const row_state next(args, row + args.num_parts);
      const auto from_before = lds + stage_before * bytes_of_stage;
      const auto refill = [&] { copy_row(args, row + (Stages - 1) * long_index_t{args.num_parts}, from_before); };
      if (row > number) {
        before.finish(lds_of_posts + (turn ^ 1) * bytes_of_posts, args.cols);
        second_pass(args, before, before.copied(args.dy, args.dy_stride, from_before),
                    before.copied(args.s, args.s_stride, from_before + bytes_of_stage / 2), weight, 0);
        if (!Tile.any_start) refill();
      }
      if (row >= args.rows) break;
      const auto from = lds + stage * bytes_of_stage;
      now.first_pass(now.copied(args.dy, args.dy_stride, from),
                     now.copied(args.s, args.s_stride, from + bytes_of_stage / 2), weight, sums);
      now.post(lds_of_posts + turn * bytes_of_posts);
      exec::async_wait<(Stages - (Tile.any_start ? 3 : 2)) * copies>();
      detail::sync_blocks<Tile.blocks>();
      if (Tile.any_start && row > number) refill();  // neighbours have read what they share
      before = now, now = next;
      stage_before = stage, stage = stage + 1 == Stages ? 0 : stage + 1, turn ^= 1;
    }
    move_sums(args, all, number, 0, sums, store_function{});
  }

 private:
  using part = typename block::template part<T>;
  static constexpr index_t elements = Tile.vectors * Tile.vector, copies = 2 * Tile.vectors;
  struct column_sums {
    float weight[elements], bias[elements];
  };

  /// A row, what row_norm saved of it, and its sums of g and of g x'.
  struct row_state {
    block rows;
    float mean = 0, rstd, sum = 0, products = 0;

    TILEWRIGHT_HD row_state(const args_type& args, long_index_t row)
        : rows(index_t(min(row, long_index_t{args.rows})), args.rows, args.cols) {
      rstd = rows.load_rows(args.rstd).thread_buffer[0];
      if constexpr (is_layer_norm) mean = rows.load_rows(args.mean).thread_buffer[0];
    }
    TILEWRIGHT_HD part copied(const T* matrix, long_index_t row_stride, exec::lds_pointer from) const {
      return bit_cast<part>(rows.own_row(matrix, row_stride).load_copied(from, rows.col_of(0, 0)));
    }
    TILEWRIGHT_HD void first_pass(const part& dy, const part& s, const part& weight, column_sums& sums) {
      float of_thread[2][4] = {};
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < elements; ++d) {
        const float g = float(dy.thread_buffer[d]), w = float(weight.thread_buffer[d]);
        const float product = g * ((float(s.thread_buffer[d]) - mean) * rstd);
        sums.weight[d] += product;
        of_thread[1][d % 4] += product * w;
        if constexpr (is_layer_norm) sums.bias[d] += g, of_thread[0][d % 4] += g * w;
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < 4; ++i) sum += of_thread[0][i], products += of_thread[1][i];
    }
    /// Tells all waves of all blocks the wave's sums. Known after the next barrier.
    TILEWRIGHT_HD void post(exec::lds_pointer to) const {
      const index_t place = (detail::block_of_row<Tile.blocks>() * waves + exec::wave_id()) * 4;
      detail::store_in_blocks<Tile.blocks>(to, place, combine_lanes<1, Arch::value.wave_size>(products, plus));
      if constexpr (is_layer_norm)
        detail::store_in_blocks<Tile.blocks>(to + posts * 4, place, combine_lanes<1, Arch::value.wave_size>(sum, plus));
    }
    /// Adds up what the waves have posted, and multiplies it with rstd / cols.
    TILEWRIGHT_HD void finish(exec::lds_pointer from, index_t cols) {
      const auto total = [&](exec::lds_pointer values) TILEWRIGHT_INLINE_LAMBDA {
        constexpr index_t lanes = min(posts, Arch::value.wave_size);
        float t = 0;
        for (index_t p = modulo(exec::lane_id(), lanes); p < posts; p += lanes)
          t += exec::lds_load<float>(values, p * 4);
        return combine_lanes<1, lanes>(t, plus) * (rstd * (1.0f / float(cols)));
      };
      products = total(from);
      if constexpr (is_layer_norm) sum = total(from + posts * 4);
    }
  };

  /// dx from the sums of the whole row.
  TILEWRIGHT_HD static void second_pass(const args_type& args, const row_state& of, const part& dy, const part& s,
                                        const part& weight, index_t first) {
    typename block::template part<float> dx;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < elements; ++d) {
      const float g = float(dy.thread_buffer[d]) * float(weight.thread_buffer[d]);
      const float e = (float(s.thread_buffer[d]) - of.mean) * of.rstd;
      dx.thread_buffer[d] = g * of.rstd - of.sum - e * of.products;
    }
    if (args.ds)
      tile_elementwise_inout([](float& g, T d) { g += float(d); }, dx, of.rows.load(args.ds, args.ds_stride, first));
    of.rows.store(args.dx, args.dx_stride, first, cast_tile<T>(dx));
  }

  TILEWRIGHT_HD static void long_rows(const args_type& args, const block& all, index_t number,
                                      exec::lds_pointer lds_of_posts) {
    index_t turn = 0;
    for (long_index_t row = number; row < args.rows; row += args.num_parts, turn ^= 1) {
      row_state own(args, row);
      const auto load = [&](const T* matrix, long_index_t row_stride, index_t first)
                            TILEWRIGHT_INLINE_LAMBDA { return own.rows.load(matrix, row_stride, first); };
      TILEWRIGHT_UNROLL(1)
      for (index_t first = 0; first < all.cols; first += block::part_cols) {
        column_sums sums{};
        if (row > number) move_sums(args, all, number, first, sums, load_function{});
        own.first_pass(load(args.dy, args.dy_stride, first), load(args.s, args.s_stride, first),
                       load_weight(args, all, first), sums);
        move_sums(args, all, number, first, sums, store_function{});
      }
      own.post(lds_of_posts + turn * bytes_of_posts);
      detail::sync_blocks<Tile.blocks>();
      own.finish(lds_of_posts + turn * bytes_of_posts, args.cols);
      TILEWRIGHT_UNROLL(1)
      for (index_t first = 0; first < all.cols; first += block::part_cols)
        second_pass(args, own, load(args.dy, args.dy_stride, first), load(args.s, args.s_stride, first),
                    load_weight(args, all, first), first);
    }
  }

  /// Starts to copy a row, or zeros after the last row.
  TILEWRIGHT_HD static void copy_row(const args_type& args, long_index_t row, exec::lds_pointer stage) {
    const block rows(index_t(min(row, long_index_t{args.rows})), args.rows, args.cols);
    rows.own_row(args.dy, args.dy_stride).copy(stage, rows.col_of(0, 0));
    rows.own_row(args.s, args.s_stride).copy(stage + bytes_of_stage / 2, rows.col_of(0, 0));
  }
  TILEWRIGHT_HD static part load_weight(const args_type& args, const block& all, index_t first) {
    return bit_cast<part>(all.load_cols(args.weight, first));
  }

  struct load_function {
    TILEWRIGHT_HD void operator()(const exec::global_buffer& memory, long_index_t at, auto& own) const {
      own = exec::buffer_load<detail::remove_cvref_t<decltype(own)>>(memory, at);
    }
  };
  struct store_function {
    TILEWRIGHT_HD void operator()(const exec::global_buffer& memory, long_index_t at, const auto& own) const {
      exec::buffer_store(memory, at, own);
    }
  };
  /// Moves the sums of the part that begins at column `first` from or to the rows number and number + num_parts of
  /// `parts`.
  template <class Move>
  TILEWRIGHT_HD static void move_sums(const args_type& args, const block& all, index_t number, index_t first,
                                      column_sums& sums, Move move) {
    constexpr index_t n = min(4, Tile.vector);
    const long_index_t row_bytes = args.parts_stride() * 4;
    const auto memory = exec::make_global_buffer(args.parts, 2 * args.num_parts * row_bytes);
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < elements; d += n) {
      const index_t col = all.col_of(first, d);
      const long_index_t at = number * row_bytes + (all.base_col + col) * 4ll;
      array<float, n> weight, bias;
      for (index_t i = 0; i < n; ++i) weight[i] = sums.weight[d + i], bias[i] = sums.bias[d + i];
      move(memory, col < all.cols ? at : -1, weight);
      if (is_layer_norm && args.dbias) move(memory, col < all.cols ? at + args.num_parts * row_bytes : -1, bias);
      for (index_t i = 0; i < n; ++i) sums.weight[d + i] = weight[i], sums.bias[d + i] = bias[i];
    }
  }
};

}  // namespace tilewright
