// SPDX-License-Identifier: MIT
// Routing of tokens to experts: the k largest logits of each token, with softmax weights.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// What is compared when experts are chosen, and what weights are made of.
enum class expert_score : signed char { softmax, sigmoid };

/// For each token the `choices` experts with the largest scores, in descending order, the first of equal ones first;
/// then `shared` experts that every token gets.
template <class T>
struct choose_experts_args {
  const T* x = nullptr;                          ///< logits: tokens rows of experts elements
  index_t* expert = nullptr;                     ///< tokens x (choices + shared)
  float* weight = nullptr;                       ///< tokens x (choices + shared)
  index_t tokens = 0, experts = 0, choices = 0;  ///< rows of x, its columns, and how many of these a token gets
  long_index_t x_stride = 0;                     ///< in elements
  bool is_normalised = true;                     ///< weights of a token are divided by their sum
  expert_score score = expert_score::softmax;    ///< of a token's logits
  const float* bias = nullptr;                   ///< optional: experts; added to scores when experts are chosen
  index_t groups = 1;       ///< experts form groups of equal length; >= 1. A group's score: the sum of its two best
  index_t kept_groups = 1;  ///< experts are chosen from these best groups; 1 to groups
  index_t shared = 0;       ///< experts of every token, numbered from `experts` on, with weight 1; >= 0
  float scale = 1;          ///< factor of the weights of the chosen experts

  /// Whether the order of scores is not that of logits alone.
  TILEWRIGHT_HD constexpr bool needs_scores() const {
    return score != expert_score::softmax || bias != nullptr || kept_groups < groups;
  }
};

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

/// MostExperts of the kernel that suits a number of experts: few kernels, and little LDS that is unused. Vector: 8, 4,
/// 2 or 1 elements of an access.
constexpr index_t choose_most_experts(index_t experts, index_t vector) {
  index_t most = 32;
  while (most < experts && most < 2048) {
    const index_t finer = most < 64 ? 16 : most < 256 ? 32 : most < 512 ? 64 : 512;
    most += vector > 2 ? finer : most;
  }
  return most;
}

/// A block is one wave: each lane chooses for one token. LDS has room for the logits of MostExperts and for
/// MostChoices, up to 2048 each. `Vector`: elements of an access to the logits; 1 takes any. A logit that is NaN is
/// chosen last, as expert -1 with weight 0. HasScores: see choose_experts_args::needs_scores; else logits are compared.
template <class Arch, class T, index_t MostExperts, index_t Vector = 16 / sizeof(T), index_t MostChoices = 16,
          bool HasScores = false>
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
    const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, of.vector, tokens)) return why;
    if (args.experts > of.most_experts) return "there are more experts than the kernel's MostExperts";
    if (args.choices < 1 || args.choices > args.experts) return "choices must be positive, and at most the experts";
    if (args.shared < 0 || args.choices > of.most_choices - args.shared)
      return "there are more choices and shared experts than the kernel's MostChoices";
    if (args.score != expert_score::softmax && args.score != expert_score::sigmoid) return "score is no expert_score";
    if (args.groups < 1 || args.experts % args.groups != 0) return "groups must divide the experts";
    if (args.kept_groups < 1 || args.kept_groups > args.groups) return "kept_groups must be 1 to groups";
    if (args.groups > 1 && args.choices > args.kept_groups * (args.experts / args.groups))
      return "the groups that are kept have fewer experts than choices";
    if (args.groups > of.most_choices) return "there are more groups than the kernel's MostChoices";
    if (args.needs_scores() && !HasScores) return "the kernel compares logits; use the one that HasScores";
    if (!args.expert || !args.weight) return "a pointer is null: expert or weight";
    const long_index_t n = long_index_t{args.tokens} * (args.choices + args.shared);
    if (n > 0x7fffffff / 4) return "there are more than 2^29 choices";
    const detail::row_matrix matrices[] = {detail::row_array(args.expert, n), detail::row_array(args.weight, n), x,
                                           detail::row_array(args.bias, args.experts)};
    return detail::check_results(matrices, 2);
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
    if constexpr (HasScores) {
      if (lane < tokens) remove_groups(args, lds + lane * row_bytes, chosen + lane * MostChoices * 4);
      exec::wave_sync();
    }
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

  /// Logits of a token as they are compared.
  struct token_scores {
    const args_type& args;
    float log_sum = 0;  // of the softmax: of exponentials of all logits

    TILEWRIGHT_HD token_scores(const args_type& a, exec::lds_pointer row) : args(a) {
      if constexpr (!HasScores) return;
      if (args.score == expert_score::sigmoid) return;
      float x = bit_cast<float>(0xff800000u);
      for (index_t g = 0; g < groups; ++g) x = exec::max(x, largest_of(load_group(row, g)));
      log_sum = x + exec::log2(sum_of_row(row, x)) * 0.693147181f;
    }
    /// What the weight of a logit is made of.
    TILEWRIGHT_HD float share(float logit) const {
      if (args.score == expert_score::sigmoid) return exec::sigmoid(logit);
      return exponent(logit - log_sum);  // no sum of a product: it has the same bits wherever it is inlined
    }
    TILEWRIGHT_HD float operator()(float logit, index_t col) const {
      if constexpr (!HasScores) return logit;
      if (!(logit == logit)) return logit;  // as are columns without an expert
      return share(logit) + (args.bias ? exec::load_element(args.bias + col) : 0.0f);
    }
    TILEWRIGHT_HD array<float, in_group> operator()(exec::lds_pointer row, index_t group) const {
      auto x = load_group(row, group);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < in_group; ++d) x[d] = (*this)(x[d], group * in_group + d);
      return x;
    }
  };

  /// Makes the logits of all groups but the best ones NaN. `best` has room for a score of each.
  TILEWRIGHT_HD static void remove_groups(const args_type& args, exec::lds_pointer row, exec::lds_pointer best) {
    if (args.kept_groups == args.groups) return;
    const token_scores score(args, row);
    const index_t length = divide(args.experts, args.groups);
    for (index_t g = 0; g < args.groups; ++g) {
      float first = bit_cast<float>(0xff800000u), second = first;
      for (index_t col = g * length; col < (g + 1) * length; ++col) {
        const float x = score(type_convert<float>(exec::lds_load<T>(row, col * bytes)), col);
        second = x > first ? first : x > second ? x : second;
        first = x > first ? x : first;
      }
      exec::lds_store(best, g * 4, length > 1 ? first + second : first);
    }
    for (index_t g = 0; g < args.groups; ++g) {
      const auto own = exec::lds_load<float>(best, g * 4);
      index_t before = 0;  // groups that are better, or as good and earlier
      for (index_t o = 0; o < args.groups; ++o) {
        const auto other = exec::lds_load<float>(best, o * 4);
        before += other > own || (other == own && o < g);
      }
      if (before < args.kept_groups) continue;
      for (index_t col = g * length; col < (g + 1) * length; ++col) remove(row, col);
    }
  }

  /// The choices of a token. Each is the first of the largest scores, in the first vector group that has one. Its logit
  /// becomes NaN, after which only the largest score of its vector group changes.
  TILEWRIGHT_HD static void choose(const args_type& args, exec::lds_pointer row, exec::lds_pointer chosen) {
    for (index_t col = args.experts; col < cols; ++col) remove(row, col);
    const token_scores score(args, row);
    array<float, groups> largest;
    unroll<groups>([&](auto g) TILEWRIGHT_INLINE_LAMBDA { largest[g.value] = largest_of(score(row, g.value)); });
    const float first = largest_of(largest);
    float sum = args.is_normalised || HasScores ? 0.0f : sum_of_row(row, first);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < args.choices; ++i) {
      const float best = largest_of(largest);
      index_t group = 0, expert = -1;  // of NaN
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = groups - 1; g >= 0; --g) group = largest[g] == best ? g : group;
      const auto scores = score(row, group);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = in_group - 1; d >= 0; --d) expert = scores[d] == best ? group * in_group + d : expert;
      float share = exponent(best - first);
      if constexpr (HasScores) share = score.share(type_convert<float>(exec::lds_load<T>(row, max(expert, 0) * bytes)));
      const float weight = expert < 0 ? 0.0f : share;
      if (expert >= 0) remove(row, expert);
      const float next = largest_of(score(row, group));
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = 0; g < groups; ++g) largest[g] = g == group ? next : largest[g];
      sum += args.is_normalised ? weight : 0.0f;
      exec::lds_store(chosen, i * 4, expert);
      exec::lds_store(chosen, i * 4 + weights, weight);
    }
    const float share = args.scale * (HasScores && !args.is_normalised ? 1.0f : exec::rcp(sum));
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
