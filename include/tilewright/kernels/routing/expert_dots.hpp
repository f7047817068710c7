// SPDX-License-Identifier: MIT
// The two GEMMs of experts for up to four tokens: a wave multiplies a row of weights, at the rate of memory.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/element_functions.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

/// Entry e is choice e % choices of token e / choices. Strides in elements. Rows of x and w start at multiples of 16
/// bytes.
template <class T>
struct expert_dots_args {
  const T* x = nullptr;                   ///< gate_up: (tokens, k); down: (entries, k), what gate_up wrote
  const T* w = nullptr;                   ///< of all experts: gate_up: (n, k) of the gate and of `up`; down: (n, k)
  T* y = nullptr;                         ///< gate_up: (entries, n), rows of entries without an expert are not written
                                          ///< down: (tokens, n)
  const index_t* expert = nullptr;        ///< (entries): an expert's number; others than those of this GPU add nothing
  const float* weight = nullptr;          ///< down: (entries)
  index_t tokens = 0, choices = 0;        ///< choices: entries of a token; tokens * choices <= 32
  index_t experts = 0, first_expert = 0;  ///< of this GPU, and the number of the first
  index_t capacity = 0;                   ///< an expert takes its first `capacity` entries; 0: all
  index_t n = 0, k = 0;                   ///< columns of y for each entry or token; elements of a row of x and w
  long_index_t x_stride = 0, y_stride = 0;                ///< from row to row
  index_t w_stride = 0;                                   ///< from row to row of a matrix of w
  long_index_t expert_stride = 0, product_stride = 0;     ///< of w: from expert to expert; from the gate to `up`
  const T* bias = nullptr;                                ///< optional: (experts, n), of gate_up for each product
  long_index_t bias_stride = 0, bias_product_stride = 0;  ///< from expert to expert; from the gate to `up`
  index_t bias_step = 1;                                  ///< from a row's bias to the next one's
  clamped_swiglu_function function = {1, bit_cast<float>(0x7f800000u), 0};  ///< gate_up; its limit is positive
};

/// gate_up: y[e] = swiglu(W_gate x[t] + bias, W_up x[t] + bias) for each entry e of token t.
/// down: y[t] = sum of weight[e] (W x[e] + bias) over the entries e of t.
enum class expert_dots_kind : signed char { gate_up, down };

namespace detail {

/// What the lanes of a wave know of the entries. Those of an expert are computed together; should a token have an
/// expert twice, the second time is a group of its own.
template <class Args>
struct entry_groups {
  static constexpr index_t most = 32;  ///< entries

  const Args& args;
  index_t expert, key;    ///< of the lane's entry: the expert from 0 on; what the entries of a group share, or -1
  exec::lane_mask first;  ///< which lanes' entries are the first of their group

  TILEWRIGHT_HD explicit entry_groups(const Args& a) : args(a) {
    const index_t lane = exec::lane_id();
    expert = lane < args.tokens * args.choices ? exec::load_element(args.expert + lane) - args.first_expert : -1;
    const bool exists = unsigned(expert) < unsigned(args.experts);
    const exec::lane_mask same = exec::equal_lanes<16>(exists ? expert : 0xffff);
    const index_t before = exec::count_lower_lanes(same & of_token(divide(lane, args.choices)));
    const bool is_kept = exists && (args.capacity == 0 || exec::count_lower_lanes(same) < args.capacity);
    key = is_kept ? expert * most + before : -1;
    const exec::lane_mask group = exec::equal_lanes<21>(key);
    first = exec::ballot(is_kept && exec::count_lower_lanes(group) == 0);
  }
  /// The lanes that have a token's entries.
  TILEWRIGHT_HD exec::lane_mask of_token(index_t token) const {
    const unsigned lanes = args.choices == most ? 0xffffffffu : (1u << unsigned(args.choices)) - 1;
    return exec::lane_mask(lanes) << unsigned(token * args.choices) % 32u;
  }
  /// The lanes of a group, which has entry `slot`.
  TILEWRIGHT_HD exec::lane_mask members(index_t slot) const { return exec::ballot(key == exec::shuffle(key, slot)); }
  TILEWRIGHT_HD index_t expert_of(index_t slot) const { return exec::shuffle(expert, slot); }
  TILEWRIGHT_HD static index_t lowest(exec::lane_mask mask) { return exec::count_lanes((mask & (0 - mask)) - 1); }
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

/// MostTokens: 1 to 4, tokens that a row of weights is multiplied by in one pass. Sums are in the order of entries
/// whose expert comes first: the same bits in each run.
template <class Arch, class T, expert_dots_kind Kind, index_t MostTokens>
struct expert_dots {
  using arch = Arch;
  using args_type = expert_dots_args<T>;
  static_assert(sizeof(T) == 2 && 1 <= MostTokens && MostTokens <= 4);
  static constexpr bool is_gate_up = Kind == expert_dots_kind::gate_up;  ///< Kind, as a condition
  static constexpr index_t products = is_gate_up ? 2 : 1;                ///< rows of weights of a wave
  static constexpr index_t waves = 4;                                    ///< of a block: each has a row
  static constexpr index_t block_size = waves * Arch::value.wave_size, lds_bytes = 0;
  static constexpr index_t blocks_at_once = MostTokens == 1 ? 8 : 4;  ///< with at_once loads in flight in each thread
  static constexpr index_t at_once = 8 / products;                    ///< vectors of a row of weights
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// An error message for what this kernel cannot do with these arguments; nullptr: it can.
  static const char* check(const args_type& g) {
    const long_index_t entries = long_index_t{g.tokens} * g.choices;
    if (g.tokens < 1 || g.choices < 1 || g.experts < 1 || g.n < 1 || g.k < 1)
      return "tokens, choices, experts, n and k must be positive";
    if (g.k > 1 << 29) return "rows have more than 2^29 elements";
    if (g.tokens > MostTokens || entries > groups::most) return "this kernel is for fewer tokens, and up to 32 entries";
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
    const detail::row_matrix y{g.y, is_gate_up ? entries : g.tokens, g.n, g.y_stride, sizeof(T)},
        x{g.x, is_gate_up ? g.tokens : entries, g.k, g.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(y, 1, 1)) return why;
    if (const char* why = detail::check_matrix(x, 8, 1)) return why;
    const detail::row_matrix matrices[] = {y, x, detail::row_array(g.w, of_w), detail::row_array(g.expert, entries),
                                           detail::row_array(g.weight, entries)};
    return detail::check_results(matrices, 1);
  }
  static constexpr exec::block_index grid(const args_type& g) {
    return {ceil_div(g.n, waves), is_gate_up ? g.tokens * g.choices : 1, 1};
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
  using groups = detail::entry_groups<args_type>;
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

  TILEWRIGHT_HD static void multiply_gate_up(const args_type& args, index_t column, index_t slot) {
    const groups entries(args);
    if ((entries.first >> unsigned(slot) & 1) == 0) return;
    const index_t expert = entries.expert_of(slot);
    array<index_t, MostTokens> entry;
    exec::lane_mask rest = entries.members(slot);
    for (index_t& e : entry.elements) {
      e = rest ? groups::lowest(rest) : -1;
      rest &= rest - 1;
    }
    const T* const gate = weights_of(args, expert, column);
    array<float, 2 * MostTokens> sum{};
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
      for (index_t i = 0; i < at_once; ++i)
        for (index_t t = 0; t < MostTokens; ++t) {
          if (entry[t] < 0) continue;
          const vector x = load(args.x + divide(entry[t], args.choices) * args.x_stride, args.k, own + i * step);
          sum[2 * t] = detail::add_dot<T>(w[2 * i], x, sum[2 * t]);
          sum[2 * t + 1] = detail::add_dot<T>(w[2 * i + 1], x, sum[2 * t + 1]);
        }
    }
    for (index_t t = 0; t < MostTokens; ++t) {
      float g = sum_of_lanes(sum[2 * t]), u = sum_of_lanes(sum[2 * t + 1]);
      if (entry[t] < 0 || exec::lane_id() != 0) continue;
      if (args.bias) {
        const T* const bias = args.bias + expert * args.bias_stride + long_index_t{column} * args.bias_step;
        g += type_convert<float>(exec::load_element(bias));
        u += type_convert<float>(exec::load_element(bias + args.bias_product_stride));
      }
      exec::store_element(args.y + entry[t] * args.y_stride + column, type_convert<T>(args.function(g, u)));
    }
  }

  /// Where a wave is in the rows of all groups, of which there is one; after the last, beyond the end of its row.
  struct cursor {
    exec::lane_mask left;       // groups, by their first entry
    index_t slot, offset, end;  // of the group; in its rows, in bytes

    TILEWRIGHT_HD cursor(exec::lane_mask all, index_t k)
        : left(all), slot(groups::lowest(all)), offset(0), end(2 * k) {}
    TILEWRIGHT_HD void advance() {
      offset += step;
      if (offset < end || left == 0) return;
      left &= left - 1;
      if (left != 0) slot = groups::lowest(left), offset = 0;
    }
  };
  struct batch {
    array<vector, at_once> w;
    array<index_t, at_once> slot, offset;
  };
  TILEWRIGHT_HD static batch load_batch(const args_type& args, const groups& entries, index_t column, cursor& at) {
    batch b;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < at_once; ++i, at.advance()) {
      b.slot[i] = at.slot, b.offset[i] = at.offset + exec::lane_id() * vector_bytes;
      b.w[i] = load_any(weights_of(args, entries.expert_of(at.slot), column), at.end, b.offset[i]);
    }
    return b;
  }

  /// Adds the biases of the lane's entry.
  TILEWRIGHT_HD static void add_bias(const args_type& args, const groups& entries, index_t column, float weight,
                                     array<float, MostTokens>& sum) {
    if (!args.bias || entries.key < 0) return;
    const T bias =
        exec::load_element(args.bias + entries.expert * args.bias_stride + long_index_t{column} * args.bias_step);
    const index_t token = divide(exec::lane_id(), args.choices);
    for (index_t t = 0; t < MostTokens; ++t) sum[t] += token == t ? weight * type_convert<float>(bias) : 0.0f;
  }

  /// The first weights are loaded before the previous kernel ends: it wrote neither these nor `expert`.
  TILEWRIGHT_HD static void multiply_down(const args_type& args, index_t column) {
    const groups entries(args);
    const index_t lane = exec::lane_id();
    cursor at(entries.first, args.k);
    array<float, MostTokens> sum{};
    float weight = 0;  // of the lane's entry
    for (bool is_first = true; at.left != 0; is_first = false) {
      const batch b = load_batch(args, entries, column, at);
      if (is_first) {
        start();
        weight = entries.key >= 0 ? exec::load_element(args.weight + lane) : 0.0f;
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) {
        const exec::lane_mask members = MostTokens == 1 ? 1 : entries.members(b.slot[i]);
        for (index_t t = 0; t < MostTokens; ++t) {
          const exec::lane_mask own = MostTokens == 1 ? 1 : members & entries.of_token(t);
          if (t >= args.tokens || own == 0) continue;
          const index_t entry = MostTokens == 1 ? b.slot[i] : groups::lowest(own);
          const vector x = load_any(args.x + entry * args.x_stride, at.end, b.offset[i]);
          const float product = detail::add_dot<T>(b.w[i], x, 0.0f);
          sum[t] += exec::shuffle(weight, entry) * (exec::opaque(b.offset[i]) < at.end ? product : 0.0f);
        }
      }
    }
    if (entries.first == 0) start();
    add_bias(args, entries, column, weight, sum);
    for (index_t t = 0; t < MostTokens; ++t) {
      const float y = sum_of_lanes(sum[t]);
      if (t < args.tokens && lane == 0) exec::store_element(args.y + t * args.y_stride + column, type_convert<T>(y));
    }
  }
};

}  // namespace tilewright
