// SPDX-License-Identifier: MIT
// Online softmax of a block's rows: mask, running maximum and sum, rescaled output.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>
#include <tilewright/kernels/attention/detail/attention_steps.hpp>
#include <tilewright/tile/copy/load_store.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

namespace tilewright::detail {

/// f(register d, column of its element less that of the thread's first, register of its row), for each element that a
/// thread holds.
template <class Distribution, class Rows, class F>
TILEWRIGHT_HD void for_each_score(F f) {
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Distribution::num_elements; ++d)
    f(d, position_in_tile<Distribution>({}, d)[1], register_along<Distribution, Rows, 0>(d));
}

/// What the exponentials of a row are relative to, an exponent of 2, and their sum.
struct exponential_sum {
  float top, sum = 0;

  /// Adds another sum; returns what all terms before are multiplied by.
  TILEWRIGHT_HD float join(const exponential_sum& other) {
    const float before = top;
    top = exec::max(before, other.top);
    const float factor = exec::exp2(before - top);
    sum = sum * factor + other.sum * exec::exp2(other.top - top);
    return factor;
  }
  /// The same for 2^exponent alone, which may be zero.
  TILEWRIGHT_HD float add(float exponent) { return join({exponent, 1}); }
  TILEWRIGHT_HD float inverse() const { return sum == 0.0f ? 0.0f : 1.0f / sum; }
  TILEWRIGHT_HD float log_sum_exp() const { return sum == 0.0f ? minus_infinity() : (top + exec::log2(sum)) * ln_2; }
};

/// What a step's exponentials are multiplied by once their sums are known. Others have float exponent, log2 of the
/// largest weight, so that products are at most 2^8, and multiply(d, x) of the exponentials x[0] and x[1], registers d
/// and d + 1.
struct no_weights {};

/// The online softmax of attention: O belongs to it, and exponentials refer to an offset that follows the row's maximum
/// m lazily, so that few steps rescale O. (tile/registers/online_softmax.hpp rescales in every step.) A thread keeps
/// for its rows the offset, the sum l of the exponentials, and O before the division by l.
template <class Policy>
class attention_softmax {
  using scores = typename attention_registers<Policy>::scores;
  using distribution = typename scores::distribution_type;
  using args_type = typename Policy::args_type;
  using values_of_rows = decltype(row_reduce(scores{}, max));
  using rows = typename values_of_rows::distribution_type;
  static constexpr float lowest_offset = -1e30f;  // finite: exponents of keys that are not seen stay -infinity

  // Whether neighbouring registers hold scores of one row: their exponentials are added in pairs then.
  static constexpr bool adds_pairs =
      detail::register_along<distribution, rows, 0>(0) == detail::register_along<distribution, rows, 0>(1);
  using T = typename Policy::element_type;
  static constexpr bool is_fp8 = sizeof(T) == 1;
  // The exponent of a row's largest exponential when its offset is set, and that to which others may grow before O and
  // the sums are brought to a larger offset. 8-bit floats use their whole range: 2^8.75 < 448, 2^7.75 < 240. On Hopper
  // offsets change more rarely: less range for small exponentials is measured to cost less than changing them.
  static constexpr float first_exponent = !is_fp8                      ? 0
                                          : arch::is_wgmma(Policy::op) ? 4
                                          : __is_same(T, fp8_ocp_t)    ? 8
                                                                       : 7;
  static constexpr float largest_exponent = is_fp8 && !arch::is_wgmma(Policy::op) ? first_exponent + 0.75f : 8;

  values_of_rows offset_;  // what is subtracted from a row's exponents: its largest so far, or a bit less
  array<array<float, adds_pairs ? 2 : 1>, rows::num_elements> sums_{};

  static constexpr bool is_amd_decode = is_amd_v<typename Policy::arch> && requires { Policy::waves; };

  /// f of the position in the tile of each of a thread's rows, as a tile.
  template <class F>
  TILEWRIGHT_HD static auto of_rows(F f) {
    static_distributed_tensor<index_t, rows> result;
    index_t own = rows::calculate_index(get_partition_index<rows>())[0];
    // Few steps of decoding are masked: what a row needs for that occupies no registers elsewhere.
    if constexpr (is_amd_decode) own = exec::opaque(own);
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      result.thread_buffer[r] = f(own + constant(detail::position_of_register<rows, r.value>[0]));
    });
    return result;
  }

  /// Scores of keys that the row does not see become -infinity; the tile's first key is `key`.
  template <class Problem>
  TILEWRIGHT_HD static void mask(scores& s, const args_type& args, const Problem& p, index_t key) {
    const index_t before = key + distribution::calculate_index(get_partition_index<distribution>())[1];
    const auto first = of_rows(
        [&](index_t row) TILEWRIGHT_INLINE_LAMBDA { return p.first_key(args.window, p.query_of(row)) - before; });
    const auto count = of_rows([&](index_t row) TILEWRIGHT_INLINE_LAMBDA {
      const index_t query = p.query_of(row);
      return tilewright::max(0, p.last_key(args.window, query) - p.first_key(args.window, query));
    });
    detail::for_each_score<distribution, rows>([&](index_t d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      if (unsigned(column - first.thread_buffer[row]) >= unsigned(count.thread_buffer[row]))
        s.thread_buffer[d] = minus_infinity();
      if (d % 8 == 7) exec::schedule_fence();  // conditions in flight occupy scalar registers
    });
  }

  /// Scores in tiles that the row's block mask hides become -infinity.
  TILEWRIGHT_HD static void mask_tiles(scores& s, const args_type& args, const attention_problem& p, index_t key) {
    const head_block_mask mask(args, p);
    const index_t tile = key >> mask.key_shift;
    const index_t before =
        key - (tile << mask.key_shift) + distribution::calculate_index(get_partition_index<distribution>())[1];
    const auto tiles = of_rows([&](index_t row) TILEWRIGHT_INLINE_LAMBDA {
      return index_t(mask.tiles_of_query(tilewright::min(p.query_of(row), p.queries - 1), tile));
    });
    detail::for_each_score<distribution, rows>([&](index_t d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      if ((tiles.thread_buffer[row] >> ((before + column) >> mask.key_shift) & 1) == 0)
        s.thread_buffer[d] = minus_infinity();
      if (d % 8 == 7) exec::schedule_fence();
    });
  }

  /// The user's function of the scaled scores.
  template <class Problem>
  TILEWRIGHT_HD static void apply_score_function(scores& s, const args_type& args, const Problem& p, index_t key) {
    const auto own = distribution::calculate_index(get_partition_index<distribution>());
    const typename Policy::score_function f{};
    unroll<distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      constexpr auto at = detail::position_of_register<distribution, d.value>;
      const index_t row = own[0] + constant(at[0]);
      const score_position position{p.batch, p.head_of(row), p.query_of(row), key + own[1] + constant(at[1])};
      s.thread_buffer[d] = f(s.thread_buffer[d] * scale_of(args, p), position, args);
    });
  }

  /// What products of Q and K are multiplied by.
  TILEWRIGHT_HD static float scale_of(const args_type& args, const attention_problem& p) {
    return is_fp8 ? args.scale * p.score_scale : args.scale;
  }

  /// The largest scores become the offsets, and the sums are brought to them; the result is the factors.
  template <class Exponent>
  TILEWRIGHT_HD values_of_rows raise_offsets(values_of_rows top, Exponent exponent_of) {
    detail::reduce_lanes<distribution::encoding.r.size()>(top, max);
    tile_elementwise_inout([&](float& x) TILEWRIGHT_INLINE_LAMBDA { x = exponent_of(x) - first_exponent; }, top);
    return raise_offsets_to(top);
  }

 public:
  /// A value for each row of a block: offsets, sums, factors of O.
  using row_values = values_of_rows;
  typename attention_registers<Policy>::outputs o{};

  TILEWRIGHT_HD attention_softmax() { set_tile(offset_, lowest_offset); }

  TILEWRIGHT_HD void scale_outputs(const values_of_rows& factor) {
    [&]<index_t... Chunks>(sequence<Chunks...>) TILEWRIGHT_INLINE_LAMBDA {
      (tile_elementwise_inout([](float& x, float f) TILEWRIGHT_INLINE_LAMBDA { x *= f; }, o.template get<Chunks>(),
                              along<0>(factor)),
       ...);
    }(make_sequence<decltype(o)::size()>{});
  }

  /// Offsets become at least these, and the sums are brought to them; the result is the factors, also of O.
  TILEWRIGHT_HD values_of_rows raise_offsets_to(const values_of_rows& least) {
    const values_of_rows before = offset_;
    tile_elementwise_inout([](float& to, float x) TILEWRIGHT_INLINE_LAMBDA { to = exec::max(to, x); }, offset_, least);
    const auto factor = tile_elementwise_in(
        [&](float from, float to) TILEWRIGHT_INLINE_LAMBDA { return exec::exp2(from - to); }, before, offset_);
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      for (float& sum : sums_[r]) sum *= factor.thread_buffer[r];
    });
    return factor;
  }

  /// One step of the online softmax: m' = max(m, s); p = exp2(s - m'); l = l a + sum p; O *= a, with a = exp2(m - m').
  /// Turns the scores of the keys from `key` on into exponentials of their distance to the row's offset, and adds them
  /// up. A thread looks at its own scores alone; only if one of the wave is far above the offset do lanes exchange the
  /// largest, and rescale(factors) must have scale_outputs(factors) called before the step is added to O.
  template <class Problem, class Rescale, class Weights = no_weights>
  TILEWRIGHT_HD void update(scores& s, const args_type& args, const Problem& p, index_t key, bool is_masked,
                            Rescale rescale, [[maybe_unused]] Weights weights = {}) {
    if constexpr (has_score_function<Policy>) apply_score_function(s, args, p, key);
    if (is_masked) [[unlikely]] {
      mask(s, args, p, key);
      if constexpr (Policy::has_block_mask) mask_tiles(s, args, p, key);
    }
    const float scale = has_score_function<Policy> ? log2_e : scale_of(args, p) * log2_e;  // of an exponent of 2
    const auto exponent_of = [&](float score) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (!__is_same(Weights, no_weights)) return score * scale + weights.exponent;
      return score * scale;
    };
    auto top = detail::reduce_registers<float>(s, max, sequence<1>{});
    bool is_far = false;
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      float largest = top.thread_buffer[r];
      // Else LLVM computes all exponents of a step of decoding here, for which gfx11 has no registers.
      if constexpr (is_amd_decode) largest = bit_cast<float>(exec::opaque(bit_cast<index_t>(largest)));
      is_far |= exponent_of(largest) - offset_.thread_buffer[r] > largest_exponent;
    });
    if (exec::any(is_far)) [[unlikely]]
      rescale(raise_offsets(top, exponent_of));
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < distribution::num_elements; d += 2) {
      float* const x = s.thread_buffer.data() + d;
      const index_t row = detail::register_along<distribution, rows, 0>(d);
      const index_t next_row = detail::register_along<distribution, rows, 0>(d + 1);
      if constexpr (adds_pairs) {
        exec::multiply_add_pair(x, scale, -offset_.thread_buffer[row]);
      } else {
        x[0] = x[0] * scale - offset_.thread_buffer[row];
        x[1] = x[1] * scale - offset_.thread_buffer[next_row];
      }
      x[0] = exec::exp2(x[0]);
      x[1] = exec::exp2(x[1]);
      if constexpr (adds_pairs) {
        exec::add_pair(sums_[row].data(), x);
      } else {
        sums_[row][0] += x[0];
        sums_[next_row][0] += x[1];
      }
      if constexpr (!__is_same(Weights, no_weights)) weights.multiply(d, x);
    }
  }

  /// What was subtracted from each row's exponents, and its sum of exponentials over all lanes.
  TILEWRIGHT_HD const values_of_rows& row_offsets() const { return offset_; }
  TILEWRIGHT_HD values_of_rows row_sums() const {
    values_of_rows sum;
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      sum.thread_buffer[r] = sums_[r][0];
      if constexpr (adds_pairs) sum.thread_buffer[r] += sums_[r][1];
    });
    detail::reduce_lanes<distribution::encoding.r.size()>(sum, plus);
    return sum;
  }

  /// What O is to be multiplied by in the end, and the natural logarithm of each row's sum of exponentials, which is
  /// -infinity where no key was seen and there is no sink.
  struct row_results {
    values_of_rows factor, log_sum_exp;
  };
  /// The results of rows whose steps have been added, with the exponent of their head's sink; offsets and sums start
  /// anew, O does not.
  TILEWRIGHT_HD row_results finish_rows(float sink) {
    const values_of_rows sums = row_sums();
    row_results results;
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      exponential_sum row{offset_.thread_buffer[r], sums.thread_buffer[r]};
      const float factor = row.add(sink);
      results.factor.thread_buffer[r] = factor * row.inverse();
      results.log_sum_exp.thread_buffer[r] = row.log_sum_exp();
    });
    set_tile(offset_, lowest_offset);
    sums_ = {};
    return results;
  }

  /// Writes log_sum_exp to args.lse.
  TILEWRIGHT_HD static void store_log_sum_exp(const values_of_rows& values, const args_type& args,
                                              const attention_problem& p) {
    float* const lse = args.lse + offset_of_head(args.lse_strides, p.query_start, p.head);
    const auto view = make_naive_tensor_view<address_space_enum::global>(lse, make_tuple(p.queries),
                                                                         make_tuple(args.lse_strides.row));
    if (is_first_replica<rows>())
      store_tile(make_tile_window(view, make_tuple(number<Policy::tile.queries>{}), {p.first_query}, rows{}), values);
  }
};

}  // namespace tilewright::detail
