// SPDX-License-Identifier: MIT
// Routing of tokens to experts: the k largest logits of each token, with softmax weights.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/kernels/routing/choose_experts_args.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

namespace detail {

/// What a kernel of choose_experts has room for, and where its logits are in LDS.
struct choose_experts_shape {
  index_t element_bytes, most_experts, vector, most_choices;

  TILEWRIGHT_HD constexpr index_t in_group() const { return most_experts <= 160 ? 8 : most_experts <= 512 ? 16 : 32; }
  TILEWRIGHT_HD constexpr index_t groups() const { return ceil_div(most_experts, in_group()); }
  TILEWRIGHT_HD constexpr index_t cols() const { return groups() * in_group(); }
  /// A token's logits take an odd number of vectors of 16 bytes, so that those of eight lanes are in all banks.
  TILEWRIGHT_HD constexpr index_t row_bytes() const { return (cols() * element_bytes / 16 | 1) * 16; }
  TILEWRIGHT_HD constexpr index_t token_bytes() const { return row_bytes() + most_choices * 8; }
  /// Tokens of a block: one for each lane, if LDS has room for four blocks, one for each scheduler.
  TILEWRIGHT_HD constexpr index_t block_tokens(const arch::target& on) const {
    return min(on.wave_size, 1 << log2_floor(max(on.lds_bytes / 4 / token_bytes(), 1)));
  }
};

}  // namespace detail

/// A block is one wave: each lane chooses for one token. LDS has room for the logits of MostExperts and for
/// MostChoices, up to 2048 each. `Vector`: elements of an access to the logits; 1 takes any. A logit that is NaN is
/// chosen last, as expert -1 with weight 0. Logits are compared; choose_experts_by_score compares scores.
template <class Arch, class T, index_t MostExperts, index_t Vector = 16 / sizeof(T), index_t MostChoices = 16>
struct choose_experts {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "choose_experts: logits have 2 or 4 bytes");
  static_assert(MostExperts >= 1 && MostExperts <= 2048 && MostChoices >= 1 && MostChoices <= 2048,
                "choose_experts: MostExperts and MostChoices are 1 to 2048");
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  static constexpr index_t block_size = Arch::value.wave_size;

 private:
  static constexpr detail::choose_experts_shape shape{sizeof(T), MostExperts, Vector, MostChoices};
  static constexpr index_t bytes = sizeof(T), in_group = shape.in_group(), groups = shape.groups(), cols = shape.cols(),
                           row_bytes = shape.row_bytes(), token_bytes = shape.token_bytes();

 public:
  /// Tokens of a block.
  static constexpr index_t block_tokens = shape.block_tokens(Arch::value);
  static constexpr index_t lds_bytes = block_tokens * token_bytes,
                           blocks_at_once = min(24, Arch::value.lds_bytes / lds_bytes);
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same of another shape, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const detail::choose_experts_shape& of = shape,
                                     index_t tokens = block_tokens) {
    if (const char* why = detail::check_choose_experts(args, of.most_experts, of.most_choices, of.vector, tokens))
      return why;
    return args.needs_scores() ? "the kernel compares logits; use choose_experts_by_score" : nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args, index_t tokens = block_tokens) {
    return {ceil_div(args.tokens, tokens), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>(), chosen = lds + block_tokens * row_bytes;
    const index_t first = exec::block_id().x * block_tokens, tokens = min(block_tokens, args.tokens - first),
                  lane = exec::lane_id();
    copy(args, lds, first, tokens);
    const index_t entries = args.choices + args.shared;
    if (lane < tokens) choose(args, lds + lane * row_bytes, chosen + lane * entries * 4);
    exec::wave_sync();
    const long_index_t to = long_index_t{first} * entries;
    for (index_t i = lane; i < tokens * entries; i += block_size) {
      exec::store_element(args.expert + (to + i), exec::lds_load<index_t>(chosen, i * 4));
      exec::store_element(args.weight + (to + i), exec::lds_load<float>(chosen, i * 4 + weights));
    }
  }

 private:
  static constexpr index_t weights = block_tokens * MostChoices * 4;  // after the experts

  /// Copies the rows of the block to LDS.
  TILEWRIGHT_HD static void copy(const args_type& args, exec::lds_pointer lds, index_t first, index_t tokens) {
    constexpr index_t size = Vector * bytes, of_row = ceil_div(MostExperts, Vector), all = block_tokens * of_row;
    using words = array<detail::unsigned_of<min(size, 4)>, max(size / 4, 1)>;
    const auto x =
        exec::make_global_buffer(args.x + first * args.x_stride, ((tokens - 1) * args.x_stride + args.experts) * bytes);
    TILEWRIGHT_UNROLL(8)
    for (index_t step = 0; step < all; step += block_size) {
      const auto access = unsigned(step + exec::lane_id());
      if (all % block_size != 0 && access >= unsigned(all)) continue;
      const auto row = index_t(access / unsigned(of_row)), col = index_t(access % unsigned(of_row)) * Vector;
      const index_t from = (row * index_t(args.x_stride) + col) * bytes, to = row * row_bytes + col * bytes;
      const bool exists = row < tokens && col < args.experts;
      if constexpr (is_amd(Arch::value)) {  // whose asynchronous copies cannot leave gaps between rows
        exec::lds_store(lds, to, exec::masked_load<words>(x, from, exists));
      } else {
        exec::masked_load_to_lds<size>(x, from, lds, to, exists);
      }
    }
    exec::async_wait();
    exec::wave_sync();
  }
  /// Replaces a logit by NaN.
  TILEWRIGHT_HD static void remove(exec::lds_pointer row, index_t col) {
    exec::lds_store(row, col * bytes, detail::unsigned_of<bytes>(~0u));
  }

  /// NaN only if all are.
  template <index_t N>
  TILEWRIGHT_HD static float largest_of(array<float, N> x) {
    unroll<detail::log2_floor(2 * N - 1)>([&](auto level) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t step = 1 << decltype(level)::value;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i + step < N; i += 2 * step) x[i] = exec::max(x[i], x[i + step]);
    });
    return x[0];
  }
  TILEWRIGHT_HD static array<float, in_group> load_group(exec::lds_pointer row, index_t group) {
    constexpr index_t at_once = 16 / bytes;
    array<float, in_group> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < in_group; i += at_once) {
      const auto vector = exec::lds_load<array<T, at_once>>(row, (group * in_group + i) * bytes);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < at_once; ++d) result[i + d] = type_convert<float>(vector[d]);
    }
    return result;
  }

  /// The choices of a token. Each is the first of the largest scores, in the first vector group that has one. Its logit
  /// becomes NaN, after which only the largest score of its vector group changes.
  TILEWRIGHT_HD static void choose(const args_type& args, exec::lds_pointer row, exec::lds_pointer chosen) {
    for (index_t col = args.experts; col < cols; ++col) remove(row, col);
    array<float, groups> largest;
    unroll<groups>([&](auto g) TILEWRIGHT_INLINE_LAMBDA { largest[g.value] = largest_of(load_group(row, g.value)); });
    const float first = largest_of(largest);
    float sum = args.is_normalised ? 0.0f : sum_of_row(row, first);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < args.choices; ++i) {
      const float best = largest_of(largest);
      index_t group = 0, expert = -1;  // of NaN
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = groups - 1; g >= 0; --g) group = largest[g] == best ? g : group;
      const auto logits = load_group(row, group);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = in_group - 1; d >= 0; --d) expert = logits[d] == best ? group * in_group + d : expert;
      const float weight = expert < 0 ? 0.0f : exponent(best - first);
      if (expert >= 0) remove(row, expert);
      const float next = largest_of(load_group(row, group));
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = 0; g < groups; ++g) largest[g] = g == group ? next : largest[g];
      sum += args.is_normalised ? weight : 0.0f;
      exec::lds_store(chosen, i * 4, expert);
      exec::lds_store(chosen, i * 4 + weights, weight);
    }
    const float share = args.scale * exec::rcp(sum);
    for (index_t i = weights; i < weights + args.choices * 4; i += 4) {
      const auto weight = exec::lds_load<float>(chosen, i);
      exec::lds_store(chosen, i, weight == 0 ? 0.0f : weight * share);
    }
    for (index_t i = 0; i < args.shared; ++i) {
      exec::lds_store(chosen, (args.choices + i) * 4, args.experts + i);
      exec::lds_store(chosen, (args.choices + i) * 4 + weights, 1.0f);
    }
  }
  TILEWRIGHT_HD static float exponent(float x) { return exec::exp2(x * detail::log2_e); }
  /// Of exp(x - largest), of numbers.
  TILEWRIGHT_HD static float sum_of_row(exec::lds_pointer row, float largest) {
    float sum = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t g = 0; g < groups; ++g) {
      for (const float x : load_group(row, g).elements) sum += x == x ? exponent(x - largest) : 0.0f;
    }
    return sum;
  }
};

}  // namespace tilewright
