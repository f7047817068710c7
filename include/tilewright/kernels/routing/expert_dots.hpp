// SPDX-License-Identifier: MIT
// The two GEMMs of experts for one token: a wave multiplies a row of weights, at the rate of memory.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/element_functions.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

/// An entry is a choice of the token. Strides in elements. Rows of x and w start at multiples of 16 bytes.
template <class T>
struct expert_dots_args {
  const T* x = nullptr;                   ///< gate_up: (k), the token; down: (choices, k), what gate_up wrote
  const T* w = nullptr;                   ///< of all experts: gate_up: (n, k) of the gate and of `up`; down: (n, k)
  T* y = nullptr;                         ///< gate_up: (choices, n), rows of entries without an expert are not written
                                          ///< down: (n)
  const index_t* expert = nullptr;        ///< (choices): an expert's number; others than those of this GPU add nothing
  const float* weight = nullptr;          ///< down: (choices)
  index_t choices = 0;                    ///< at most 32
  index_t experts = 0, first_expert = 0;  ///< of this GPU, and the number of the first
  index_t capacity = 0;                   ///< an expert takes its first `capacity` entries; 0: all
  index_t n = 0, k = 0;                   ///< columns of y for each entry or token; elements of a row of x and w
  long_index_t row_stride = 0;            ///< from entry to entry, of gate_up's y, which is down's x
  index_t w_stride = 0;                   ///< from row to row of a matrix of w
  long_index_t expert_stride = 0, product_stride = 0;     ///< of w: from expert to expert; from the gate to `up`
  const T* bias = nullptr;                                ///< optional: (experts, n), of gate_up for each product
  long_index_t bias_stride = 0, bias_product_stride = 0;  ///< from expert to expert; from the gate to `up`
  index_t bias_step = 1;                                  ///< from a row's bias to the next one's
  clamped_swiglu_function function = {1, bit_cast<float>(0x7f800000u), 0};  ///< gate_up; its limit is positive
};

/// gate_up: y[e] = swiglu(W_gate x + bias, W_up x + bias) for each entry e.
/// down: y = sum of weight[e] (W x[e] + bias) over the entries e.
enum class expert_dots_kind : signed char { gate_up, down };

namespace detail {

/// What the lanes of a wave know of the entries: lane e of entry e.
template <class Args>
struct token_entries {
  static constexpr index_t most = 32;

  index_t expert;        ///< of the lane's entry, from 0 on
  exec::lane_mask kept;  ///< the lanes whose entries this GPU computes

  TILEWRIGHT_HD explicit token_entries(const Args& args) {
    const index_t lane = exec::lane_id();
    expert = lane < args.choices ? exec::load_element(args.expert + lane) - args.first_expert : -1;
    const bool exists = unsigned(expert) < unsigned(args.experts);
    const exec::lane_mask same = exec::equal_lanes<16>(exists ? expert : 0xffff);
    kept = exec::ballot(exists && (args.capacity == 0 || exec::count_lower_lanes(same) < args.capacity));
  }
  TILEWRIGHT_HD bool keeps(index_t entry) const { return (kept >> unsigned(entry) & 1) != 0; }
  TILEWRIGHT_HD index_t expert_of(index_t entry) const { return exec::shuffle(expert, entry); }
};

/// a . b + sum, of eight elements each.
template <class T>
TILEWRIGHT_HD float add_dot(const array<unsigned, 4>& a, const array<unsigned, 4>& b, float sum) {
  const auto low = [](unsigned word) TILEWRIGHT_INLINE_LAMBDA {
    if constexpr (__is_same(T, bfloat16_t)) return bit_cast<float>(word << 16);
    return float_from_half_bits(static_cast<unsigned short>(word));
  };
  const auto high = [](unsigned word) TILEWRIGHT_INLINE_LAMBDA {
    if constexpr (__is_same(T, bfloat16_t)) return bit_cast<float>(word & 0xffff0000u);
    return float_from_half_bits(static_cast<unsigned short>(word >> 16));
  };
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < 4; ++i) {
    sum += low(a[i]) * low(b[i]);
    sum += high(a[i]) * high(b[i]);
  }
  return sum;
}

}  // namespace detail

/// Sums are in the order of entries: the same bits in each run.
template <class Arch, class T, expert_dots_kind Kind>
struct expert_dots {
  using arch = Arch;
  using args_type = expert_dots_args<T>;
  static_assert(sizeof(T) == 2, "expert_dots: elements are half_t or bfloat16_t");
  static constexpr bool is_gate_up = Kind == expert_dots_kind::gate_up;  ///< Kind, as a condition
  static constexpr index_t products = is_gate_up ? 2 : 1;                ///< rows of weights of a wave
  static constexpr index_t waves = 4;                                    ///< of a block: each has a row
  static constexpr index_t block_size = waves * Arch::value.wave_size, lds_bytes = 0;
  static constexpr index_t at_once = 4,
                           blocks_at_once = 8;  ///< vectors of a row of weights in a batch; blocks of an SM
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// An error message for what this kernel cannot do with these arguments; nullptr: it can.
  static const char* check(const args_type& g) {
    if (g.choices < 1 || g.experts < 1 || g.n < 1 || g.k < 1) return "choices, experts, n and k must be positive";
    if (g.k > 1 << 29) return "rows have more than 2^29 elements";
    if (g.choices > entries_type::most) return "this kernel is for up to 32 choices of the token";
    if (g.experts > 32768) return "there are more than 32768 experts";
    if (!g.x || !g.w || !g.y || !g.expert || (!is_gate_up && !g.weight))
      return "a pointer is null: x, w, y, expert or weight";
    if (g.capacity < 0 || g.bias_step < 1 || !(g.function.limit > 0))
      return "capacity, bias_step or the limit of SwiGLU is wrong";
    const bool are_vectors =
        g.w_stride % 8 == 0 && g.expert_stride % 8 == 0 && g.product_stride % 8 == 0 && detail::is_aligned(g.w, 16);
    if (!are_vectors) return detail::needs_vectors;
    const long_index_t of_w = (g.experts - 1) * g.expert_stride + (g.n - 1) * long_index_t{g.w_stride} +
                              (is_gate_up ? g.product_stride : 0) + g.k;
    const detail::row_matrix y{g.y, is_gate_up ? g.choices : 1, g.n, is_gate_up ? g.row_stride : g.n, sizeof(T)},
        x{g.x, is_gate_up ? 1 : g.choices, g.k, is_gate_up ? detail::round_up(g.k, 8) : g.row_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(y, 1, 1)) return why;
    if (const char* why = detail::check_matrix(x, 8, 1)) return why;
    const detail::row_matrix matrices[] = {y, x, detail::row_array(g.w, of_w), detail::row_array(g.expert, g.choices),
                                           detail::row_array(g.weight, g.choices)};
    return detail::check_results(matrices, 1);
  }
  static constexpr exec::block_index grid(const args_type& g) {
    return {ceil_div(g.n, waves), is_gate_up ? g.choices : 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const index_t column = exec::block_id().x * waves + exec::wave_id();
    if (is_gate_up || column >= args.n) start();
    if (column >= args.n) return;
    if constexpr (is_gate_up)
      multiply_gate_up(args, column, exec::block_id().y);
    else
      multiply_down(args, column);
  }

 private:
  using entries_type = detail::token_entries<args_type>;
  using vector = array<unsigned, 4>;
  static constexpr index_t vector_bytes = 16, step = Arch::value.wave_size * vector_bytes;  // of a row, in bytes

  /// The next kernel may not start before: it reads `expert` before it waits for this one.
  TILEWRIGHT_HD static void start() {
    exec::grid_dependency_wait();
    exec::grid_dependency_launch();
  }
  TILEWRIGHT_HD static vector load(const T* row, index_t k, index_t offset) {
    return exec::masked_load<vector>(exec::make_global_buffer(row, long_index_t{k} * 2), offset, offset < 2 * k);
  }
  /// Of an offset beyond the end of a row, any of its vectors: no predicate lives until it is multiplied.
  TILEWRIGHT_HD static vector load_any(const T* row, index_t end, index_t offset) {
    return exec::masked_load<vector>(exec::make_global_buffer(row, end), min(offset, end - vector_bytes), true);
  }
  TILEWRIGHT_HD static const T* weights_of(const args_type& args, index_t expert, index_t column) {
    return args.w + expert * args.expert_stride + long_index_t{column} * args.w_stride;
  }
  /// The sum over lanes, in all of them.
  TILEWRIGHT_HD static float sum_of_lanes(float x) {
    return detail::combine_lanes<1, Arch::value.wave_size>(x, [](float a, float b) { return a + b; });
  }

  TILEWRIGHT_HD static void multiply_gate_up(const args_type& args, index_t column, index_t entry) {
    const entries_type entries(args);
    if (!entries.keeps(entry)) return;
    const index_t expert = entries.expert_of(entry);
    const T* const gate = weights_of(args, expert, column);
    float sum[2] = {};
    TILEWRIGHT_UNROLL(1)
    for (index_t first = 0; first < 2 * args.k; first += at_once * step) {
      const index_t own = first + exec::lane_id() * vector_bytes;
      array<vector, 2 * at_once> w;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) {
        w[2 * i] = load(gate, args.k, own + i * step);
        w[2 * i + 1] = load(gate + args.product_stride, args.k, own + i * step);
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) {
        const vector x = load(args.x, args.k, own + i * step);
        sum[0] = detail::add_dot<T>(w[2 * i], x, sum[0]);
        sum[1] = detail::add_dot<T>(w[2 * i + 1], x, sum[1]);
      }
    }
    float g = sum_of_lanes(sum[0]), u = sum_of_lanes(sum[1]);
    if (exec::lane_id() != 0) return;
    if (args.bias) {
      const T* const bias = args.bias + expert * args.bias_stride + long_index_t{column} * args.bias_step;
      g += type_convert<float>(exec::load_element(bias));
      u += type_convert<float>(exec::load_element(bias + args.bias_product_stride));
    }
    exec::store_element(args.y + entry * args.row_stride + column, type_convert<T>(args.function(g, u)));
  }

  /// Where a wave is in the rows of all entries, of which there is one; after the last, beyond the end of its row.
  struct cursor {
    exec::lane_mask left;        // entries
    index_t entry, offset, end;  // in its rows, in bytes

    TILEWRIGHT_HD cursor(exec::lane_mask all, index_t k) : left(all), entry(lowest(all)), offset(0), end(2 * k) {}
    TILEWRIGHT_HD void advance() {
      offset += step;
      if (offset < end || left == 0) return;
      left &= left - 1;
      if (left != 0) entry = lowest(left), offset = 0;
    }
    TILEWRIGHT_HD static index_t lowest(exec::lane_mask mask) { return exec::count_lanes((mask & (0 - mask)) - 1); }
  };
  struct batch {
    array<vector, at_once> w;
    array<index_t, at_once> entry, offset;
  };
  TILEWRIGHT_HD static batch load_batch(const args_type& args, const entries_type& entries, index_t column,
                                        cursor& at) {
    batch b;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < at_once; ++i, at.advance()) {
      b.entry[i] = at.entry, b.offset[i] = at.offset + exec::lane_id() * vector_bytes;
      b.w[i] = load_any(weights_of(args, entries.expert_of(at.entry), column), at.end, b.offset[i]);
    }
    return b;
  }
  /// The products of a batch, with the weights of their entries; x comes from a cache, in one round.
  TILEWRIGHT_HD static float add_batch(const args_type& args, const batch& b, index_t end, float weight, float sum) {
    array<vector, at_once> x;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < at_once; ++i) x[i] = load_any(args.x + b.entry[i] * args.row_stride, end, b.offset[i]);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < at_once; ++i) {
      const float product = detail::add_dot<T>(b.w[i], x[i], 0.0f);
      sum += exec::shuffle(weight, b.entry[i]) * (exec::opaque(b.offset[i]) < end ? product : 0.0f);
    }
    return sum;
  }

  /// The first weights are loaded before the previous kernel ends: it wrote neither these nor `expert`. The next batch
  /// is on its way while one is multiplied.
  TILEWRIGHT_HD static void multiply_down(const args_type& args, index_t column) {
    const entries_type entries(args);
    const index_t lane = exec::lane_id();
    const bool has_entry = entries.keeps(lane);
    float sum = 0;
    if (entries.kept == 0) {
      start();
    } else {
      cursor at(entries.kept, args.k);
      batch b = load_batch(args, entries, column, at);
      start();
      const float weight = has_entry ? exec::load_element(args.weight + lane) : 0.0f;
      TILEWRIGHT_UNROLL(1)
      while (at.left != 0) {
        const batch next = load_batch(args, entries, column, at);
        sum = add_batch(args, b, at.end, weight, sum);
        b = next;
      }
      sum = add_batch(args, b, at.end, weight, sum);
      if (args.bias && has_entry)
        sum += weight * type_convert<float>(exec::load_element(args.bias + entries.expert * args.bias_stride +
                                                               long_index_t{column} * args.bias_step));
    }
    const float y = sum_of_lanes(sum);
    if (lane == 0) exec::store_element(args.y + column, type_convert<T>(y));
  }
};

}  // namespace tilewright
