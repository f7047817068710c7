// SPDX-License-Identifier: MIT
// Gradients of RMSNorm and LayerNorm: of the input, and, added up in a fixed order, of weight and bias.
#pragma once

#include <tilewright/rows/norm.hpp>

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
  float* parts = nullptr;       // workspace: num_parts rows of cols floats, twice as many with dbias; 16-byte aligned
  index_t num_parts = 0;        // blocks that share the rows; about as many as the GPU runs at the same time
  index_t rows = 0, cols = 0;
  long_index_t dy_stride = 0, s_stride = 0, ds_stride = 0, dx_stride = 0;
};

namespace detail {

/// Adds up the rows of `parts`, four columns a thread, in an order that depends on nothing but num_parts.
template <class Arch, class T>
struct sum_of_parts {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  static constexpr index_t block_size = 256, across = 32, down = block_size / across, lds_bytes = block_size * 16;

  static constexpr const char* check(const args_type&) { return nullptr; }
  static constexpr exec::block_index grid(const args_type& args) {
    return {ceil_div(args.cols, across * 4), args.dbias ? 2 : 1, 1};
  }
  TILEWRIGHT_HD void operator()(const args_type& args) const {
    using four = array<float, 4>;
    const bool is_bias = exec::block_id().y > 0;
    const unsigned thread = unsigned(exec::thread_id());
    const index_t first = index_t(thread / across),
                  col = exec::block_id().x * across * 4 + index_t(thread % across) * 4;
    const index_t padded = detail::round_up(args.cols, 4);
    const exec::global_buffer parts = exec::make_global_buffer(
        args.parts + (is_bias ? long_index_t(args.num_parts) * padded : 0), long_index_t(args.num_parts) * padded * 4);
    four sum{};
    for (index_t row = first; row < args.num_parts && col < args.cols; row += down) {
      const four more = exec::buffer_load<four>(parts, (long_index_t(row) * padded + col) * 4);
      for (index_t i = 0; i < 4; ++i) sum[i] += more[i];
    }
    const auto lds = exec::lds_allocate<lds_bytes>();
    exec::lds_store(lds, index_t(thread * 16), sum);
    exec::block_sync();
    if (first > 0) return;
    for (index_t other = 1; other < down; ++other) {
      const four more = exec::lds_load<four>(lds, index_t(thread + unsigned(other * across)) * 16);
      for (index_t i = 0; i < 4; ++i) sum[i] += more[i];
    }
    T* const to = is_bias ? args.dbias : args.dweight;
    for (index_t i = 0; i < 4 && col + i < args.cols; ++i) to[col + i] = T(sum[i]);
  }
};

}  // namespace detail

/// dx = rstd (g - mean of g - x' mean of (g x')) + ds for g = dy weight and x' = (s - mean) rstd; RMSNorm has no mean
/// of g. dweight = sum of dy x' and dbias = sum of dy over all rows. A block takes one row after another and keeps sums
/// of columns in registers; of rows longer than Tile.cols() in `parts`, and reads them twice.
template <class Arch, class T, row_tile Tile, norm_kind Kind = norm_kind::rms_norm>
struct row_norm_gradient {
  using arch = Arch;
  using args_type = norm_gradient_args<T>;
  using block = detail::row_block<Arch, Tile>;
  using followed_by = detail::sum_of_parts<Arch, T>;
  static_assert(Tile.rows() == 1, "row_norm_gradient: all threads of a block share a row: threads == threads_per_row");
  static constexpr bool is_layer_norm = Kind == norm_kind::layer_norm;
  static constexpr index_t block_size = Tile.threads, reductions = 2, lds_bytes = 2 * reductions * block::lds_bytes;
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
    const auto all_lds = block::template allocate<2 * reductions>();
    const index_t number = index_t(unsigned(exec::block_id().x) / unsigned(Tile.blocks));
    const bool is_single = block(0, 1, args.cols).is_single();
    float* const of_weight = args.parts + long_index_t(number) * detail::round_up(args.cols, 4);
    float* const of_bias = of_weight + long_index_t(args.num_parts) * detail::round_up(args.cols, 4);
    const float share = 1.0f / float(args.cols);
    col_values weight_sum{}, bias_sum{};
    index_t turn = 0;
    input next = load_row(args, number);
    for (index_t row = number; row < args.rows; row += args.num_parts, turn ^= 1) {
      const auto lds = all_lds + turn * reductions * block::lds_bytes;  // others may still read that of the last row
      const block rows(row, args.rows, args.cols);
      const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
        return pair<T>{rows.load(args.dy, args.dy_stride, first), rows.load(args.s, args.s_stride, first)};
      };
      const auto mean = next.mean, rstd = next.rstd;
      auto part = next.part;
      typename block::row_values sum{}, products{};
      const auto expand = [&](const pair<T>& x) TILEWRIGHT_INLINE_LAMBDA { return normalise(x, mean, rstd); };
      const auto weigh = [&](auto& dy, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        tile_elementwise_inout([](float& g, T w) { g *= float(w); }, dy, along<1>(rows.load_cols(args.weight, first)));
      };
      rows.forward(part, load, [&](const pair<T>& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        pair<float> v = expand(x);
        weigh(v.dy, first);
        if constexpr (is_layer_norm) detail::add_to(sum, block::reduce_own(v.dy, plus));
        tile_elementwise_inout([](float& e, float g) { e *= g; }, v.s, v.dy);
        detail::add_to(products, block::reduce_own(v.s, plus));
      });
      next = load_row(args, row + args.num_parts);  // in flight while this row is reduced and written
      if constexpr (is_layer_norm) {
        block::reduce_threads(plus, lds, sum, products);
      } else {
        block::reduce_threads(plus, lds, products);
      }
      rows.backward(part, load, [&](const pair<T>& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        pair<float> v = expand(x);
        if (!is_single && row > number) {
          weight_sum = rows.load_cols(of_weight, first);
          if (is_layer_norm && args.dbias) bias_sum = rows.load_cols(of_bias, first);
        }
        tile_elementwise_inout(
            [&](float g, float e, float& w, float& b) {
              w = (is_single || row > number ? w : 0) + g * e;
              b = (is_single || row > number ? b : 0) + g;
            },
            v.dy, v.s, along<1>(weight_sum), along<1>(bias_sum));
        if (!is_single) store_sums(args, rows, first, of_weight, weight_sum, of_bias, bias_sum);
        weigh(v.dy, first);
        tile_elementwise_inout(
            [&](float& g, float e, float all, float with_e, float r) { g = r * (g - (all + e * with_e) * share); },
            v.dy, v.s, along<0>(sum), along<0>(products), along<0>(rstd));
        if (args.ds)
          tile_elementwise_inout([](float& g, T d) { g += float(d); }, v.dy, rows.load(args.ds, args.ds_stride, first));
        rows.store(args.dx, args.dx_stride, first, cast_tile<T>(v.dy));
      });
    }
    if (is_single) store_sums(args, block(0, 1, args.cols), 0, of_weight, weight_sum, of_bias, bias_sum);
  }

 private:
  using col_values = static_distributed_tensor<float, typename block::of_cols>;
  template <class Element>
  struct pair {
    typename block::template part<Element> dy, s;
  };
  /// The first part of a row, and what row_norm saved of it.
  struct input {
    pair<T> part;
    typename block::row_values mean{}, rstd{};
  };
  TILEWRIGHT_HD static input load_row(const args_type& args, index_t row) {
    const block rows(min(row, args.rows), args.rows, args.cols);
    input result{{rows.load(args.dy, args.dy_stride, 0), rows.load(args.s, args.s_stride, 0)}};
    result.rstd = rows.load_rows(args.rstd);
    if constexpr (is_layer_norm) result.mean = rows.load_rows(args.mean);
    return result;
  }
  /// dy and x'.
  template <class Rows>
  TILEWRIGHT_HD static pair<float> normalise(const pair<T>& x, const Rows& mean, const Rows& rstd) {
    pair<float> v{cast_tile<float>(x.dy), cast_tile<float>(x.s)};
    tile_elementwise_inout([](float& e, float m, float r) { e = (e - m) * r; }, v.s, along<0>(mean), along<0>(rstd));
    return v;
  }
  TILEWRIGHT_HD static void store_sums(const args_type& args, const block& rows, index_t first, float* of_weight,
                                       const col_values& weight_sum, float* of_bias, const col_values& bias_sum) {
    rows.store_cols(of_weight, first, weight_sum);
    if (is_layer_norm && args.dbias) rows.store_cols(of_bias, first, bias_sum);
  }
};

}  // namespace tilewright
