// SPDX-License-Identifier: MIT
// Gradients of RMSNorm and LayerNorm: of the input, and, added up in a fixed order, of weight and bias.
#pragma once

#include <tilewright/rows/norm.hpp>
#include <tilewright/rows/norm_gradient_parts.hpp>

namespace tilewright {

/// dx = rstd (g - mean of g - x' mean of (g x')) + ds for g = dy weight and x' = (s - mean) rstd; RMSNorm has no mean
/// of g. dweight = sum of dy x' and dbias = sum of dy over all rows. A block takes one row after another, while the
/// next `Stages` rows are copied to LDS, and keeps weights and sums of columns in registers. Of rows longer than
/// Tile.cols() it keeps the sums in `parts`, and reads all but the first part and the last one twice.
template <class Arch, class T, row_tile Tile, norm_kind Kind = norm_kind::rms_norm, index_t Stages = 3>
struct row_norm_gradient {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  using block = detail::row_block<Arch, Tile>;
  using followed_by = detail::sum_of_parts<Arch, T>;
  static_assert(Tile.rows() == 1, "row_norm_gradient: all threads of a block share a row: threads == threads_per_row");
  static constexpr bool is_layer_norm = Kind == norm_kind::layer_norm;
  static_assert(!Tile.any_start, "row_norm_gradient: rows are aligned to vectors, which may be of 1 element");
  using copied = detail::own_lds<Tile.threads, typename block::template part<T>, Tile.vector * sizeof(T)>;
  static constexpr index_t reductions = is_layer_norm ? 2 : 1, bytes_of_stage = 2 * copied::bytes;
  static constexpr index_t block_size = Tile.threads,
                           lds_bytes = Stages * bytes_of_stage + 2 * reductions * block::lds_bytes;
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = max(1, 512 / Tile.threads);

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const auto matrix = [&](const auto* data, long_index_t stride) {
      return detail::row_matrix{data, args.rows, args.cols, stride, sizeof(*data)};
    };
    const detail::row_matrix dy = matrix(args.dy, args.dy_stride), s = matrix(args.s, args.s_stride),
                             ds = matrix(args.ds, args.ds_stride), dx = matrix(args.dx, args.dx_stride),
                             weight{args.weight, 1, args.cols, args.cols, sizeof(T)};
    const char* whys[] = {detail::check_matrix(dy, Tile.vector, 1), detail::check_matrix(s, Tile.vector, 1),
                          args.ds ? detail::check_matrix(ds, Tile.vector, 1) : nullptr,
                          detail::check_matrix(dx, Tile.vector, 1), detail::check_matrix(weight, Tile.vector, 1)};
    for (const char* why : whys) {
      if (why) return why;
    }
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
    const auto lds = exec::lds_allocate<lds_bytes>(), of_reductions = lds + Stages * bytes_of_stage;
    const index_t number = index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks));
    const block all(0, args.rows, args.cols);
    const bool is_single = all.is_single();
    column_sums sums{};
    for (index_t stage = 0; stage < Stages; ++stage)
      copy_row(args, number + stage * args.num_parts, lds + stage * bytes_of_stage);
    detail::start_cluster<Tile.blocks>();
    const auto weight = cast_tile<float>(all.load_cols(args.weight, 0));
    statistics next = load_statistics(args, number);
    index_t stage = 0, turn = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t row = number; row < args.rows; row += args.num_parts) {
      one_row own{args, block(row, args.rows, args.cols), next, weight, lds + stage * bytes_of_stage};
      const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return own.load(first); };
      next = load_statistics(args, row + args.num_parts);
      exec::async_wait<(Stages - 1) * copies>();
      values part = own.load(0);
      own.rows.forward(part, load, [&](values& v, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        if (!is_single) sums = row == number ? column_sums{} : load_sums(args, all, number, first);
        own.add(v, first, sums);
        if (!is_single) store_sums(args, all, number, first, sums);
      });
      own.finish(of_reductions + turn * reductions * block::lds_bytes);
      turn ^= 1;  // others may still read what this row has exchanged
      const auto load_weighted = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return own.load_weighted(first); };
      own.rows.backward(part, load_weighted,
                        [&](values& v, index_t first) TILEWRIGHT_INLINE_LAMBDA { own.write(v, first); });
      copy_row(args, row + Stages * args.num_parts, own.copied_row);
      stage = stage + 1 == Stages ? 0 : stage + 1;
    }
    if (is_single) store_sums(args, all, number, 0, sums);
  }

 private:
  using col_values = static_distributed_tensor<float, typename block::of_cols>;
  struct column_sums {
    col_values weight, bias;
  };
  /// dy, or g once it is weighted, and x'.
  struct values {
    typename block::template part<float> dy, e;
  };
  /// What row_norm saved of a row.
  struct statistics {
    typename block::row_values mean{}, rstd{};
  };
  /// A row that the block has at hand, with its sums of g and of g x'.
  struct one_row {
    const args_type& args;
    const block rows;
    const statistics of;
    const col_values& first_weight;
    const exec::lds_pointer copied_row;
    typename block::row_values sum{}, products{};

    TILEWRIGHT_HD values load(index_t first) const {
      using raw = typename block::template part<T>;
      const raw dy = first == 0 ? copied::load(copied_row) : rows.load(args.dy, args.dy_stride, first);
      const raw s = first == 0 ? copied::load(copied_row + copied::bytes) : rows.load(args.s, args.s_stride, first);
      values v{cast_tile<float>(dy), cast_tile<float>(s)};
      tile_elementwise_inout([](float& e, float m, float r) { e = (e - m) * r; }, v.e, along<0>(of.mean),
                             along<0>(of.rstd));
      return v;
    }
    TILEWRIGHT_HD col_values load_weight(index_t first) const {
      col_values weight = first_weight;
      if (first > 0) weight = cast_tile<float>(rows.load_cols(args.weight, first));
      return weight;
    }
    TILEWRIGHT_HD values load_weighted(index_t first) const {
      values v = load(first);
      tile_elementwise_inout([](float& dy, float w) { dy *= w; }, v.dy, along<1>(load_weight(first)));
      return v;
    }
    /// Adds to all sums; weighs dy.
    TILEWRIGHT_HD void add(values& v, index_t first, column_sums& sums) {
      auto product = v.dy;
      const col_values weight = load_weight(first);
      tile_elementwise_inout(
          [](float& p, float& dy, float e, float w, float& of_weight, float& of_bias) {
            p *= e;
            of_weight += p;
            if constexpr (is_layer_norm) of_bias += dy;
            p *= w;
            dy *= w;
          },
          product, v.dy, v.e, along<1>(weight), along<1>(sums.weight), along<1>(sums.bias));
      detail::add_to(products, block::reduce_own(product, plus));
      if constexpr (is_layer_norm) detail::add_to(sum, block::reduce_own(v.dy, plus));
    }
    /// Combines the sums of the threads, and divides them by the number of columns.
    TILEWRIGHT_HD void finish(exec::lds_pointer lds) {
      if constexpr (is_layer_norm) {
        block::reduce_threads(plus, lds, sum, products);
      } else {
        block::reduce_threads(plus, lds, products);
      }
      const float share = 1.0f / float(args.cols);
      tile_elementwise_inout([&](float& a, float& b, float r) { a *= r * share, b *= r * share; }, sum, products,
                             of.rstd);
    }
    /// dx from g and x'.
    TILEWRIGHT_HD void write(values& v, index_t first) const {
      tile_elementwise_inout([](float& g, float e, float all, float with_e, float r) { g = r * g - all - e * with_e; },
                             v.dy, v.e, along<0>(sum), along<0>(products), along<0>(of.rstd));
      if (args.ds)
        tile_elementwise_inout([](float& g, T d) { g += float(d); }, v.dy, rows.load(args.ds, args.ds_stride, first));
      rows.store(args.dx, args.dx_stride, first, cast_tile<T>(v.dy));
    }
  };
  TILEWRIGHT_HD static statistics load_statistics(const args_type& args, index_t row) {
    const block rows(min(row, args.rows), args.rows, args.cols);
    statistics result{.rstd = rows.load_rows(args.rstd)};
    if constexpr (is_layer_norm) result.mean = rows.load_rows(args.mean);
    return result;
  }

  static constexpr index_t copies = 2 * copied::accesses;
  /// Starts to copy the first part of a row, or zeros after the last row.
  TILEWRIGHT_HD static void copy_row(const args_type& args, index_t row, exec::lds_pointer stage) {
    const block rows(min(row, args.rows), args.rows, args.cols);
    const auto copy = [&](const T* matrix, long_index_t row_stride, exec::lds_pointer to) TILEWRIGHT_INLINE_LAMBDA {
      const auto memory = exec::make_global_buffer(matrix + rows.first_row * row_stride + rows.base_col,
                                                   rows.rows > 0 ? rows.cols * long_index_t(sizeof(T)) : 0);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < copied::accesses; ++i)
        exec::async_load_to_lds<Tile.vector * sizeof(T)>(memory, rows.col_of(0, i * Tile.vector) * index_t(sizeof(T)),
                                                         to, copied::place(i));
    };
    copy(args.dy, args.dy_stride, stage);
    copy(args.s, args.s_stride, stage + copied::bytes);
  }

  /// The sums of the block with this number in `parts`.
  TILEWRIGHT_HD static float* sums_of(const args_type& args, index_t number, bool is_bias) {
    return args.parts + (long_index_t(number) + (is_bias ? args.num_parts : 0)) * detail::round_up(args.cols, 4);
  }
  TILEWRIGHT_HD static column_sums load_sums(const args_type& args, const block& rows, index_t number, index_t first) {
    column_sums sums{rows.load_cols(sums_of(args, number, false), first), {}};
    if (args.dbias) sums.bias = rows.load_cols(sums_of(args, number, true), first);
    return sums;
  }
  TILEWRIGHT_HD static void store_sums(const args_type& args, const block& rows, index_t number, index_t first,
                                       const column_sums& sums) {
    rows.store_cols(sums_of(args, number, false), first, sums.weight);
    if (is_layer_norm && args.dbias) rows.store_cols(sums_of(args, number, true), first, sums.bias);
  }
};

}  // namespace tilewright
