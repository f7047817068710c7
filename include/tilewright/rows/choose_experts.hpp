// SPDX-License-Identifier: MIT
// Routing of tokens to experts: the k largest logits of each token, with softmax weights.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/types.hpp>
#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/util/array.hpp>
#include <tilewright/util/sequence.hpp>

namespace tilewright {

/// For each token the `choices` experts with the largest logits, in descending order, the first of equal ones first.
template <class T>
struct choose_experts_args {
  const T* x = nullptr;       // logits: tokens rows of experts elements
  index_t* expert = nullptr;  // tokens x choices
  float* weight = nullptr;    // tokens x choices
  index_t tokens = 0, experts = 0, choices = 0;
  long_index_t x_stride = 0;  // in elements
  bool is_normalised = true;  // weights of a token add up to 1: softmax of the chosen logits; else of all logits
};

/// A block is one wave. LDS has the logits of its tokens, sized for MostExperts, and their choices, sized for
/// MostChoices. `Vector`: elements of an access to the logits; 1 takes any. A logit that is NaN is chosen last, as
/// expert -1 with weight 0.
template <class Arch, class T, index_t MostExperts, index_t Vector = 16 / sizeof(T), index_t MostChoices = 16>
struct choose_experts {
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  static constexpr index_t block_size = Arch::value.wave_size;

 private:
  // A lane reads 16 bytes of its row at once. Groups of them have 8 or 16 logits.
  static constexpr index_t in_vector = 16 / sizeof(T), in_group = MostExperts > 160 ? 16 : 8,
                           groups = ceil_div(MostExperts, in_group);
  // An odd number of vectors, so that the rows of eight lanes are in all banks.
  static constexpr index_t row_bytes = (groups * in_group / in_vector | 1) * 16,
                           token_bytes = row_bytes + MostChoices * 8;

 public:
  /// Tokens of a block: one for each lane, if LDS has room for two blocks of them.
  static constexpr index_t block_tokens =
      min(block_size, 1 << detail::log2_floor(Arch::value.lds_bytes / 2 / token_bytes));
  static constexpr index_t lds_bytes = block_tokens * token_bytes,
                           blocks_at_once = min(24, Arch::value.lds_bytes / lds_bytes);
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Vector, block_tokens)) return why;
    if (args.experts > MostExperts) return "there are more experts than the kernel's MostExperts";
    if (args.choices < 1 || args.choices > args.experts) return "choices must be positive, and at most the experts";
    if (args.choices > MostChoices) return "there are more choices than the kernel's MostChoices";
    if (!args.expert || !args.weight) return "a pointer is null: expert or weight";
    const long_index_t n = long_index_t{args.tokens} * args.choices;
    if (n > 0x7fffffff / 4) return "there are more than 2^29 choices";
    const detail::row_matrix matrices[] = {detail::row_array(args.expert, n), detail::row_array(args.weight, n), x};
    return detail::check_results(matrices, 2);
  }
  static constexpr exec::block_index grid(const args_type& args) { return {ceil_div(args.tokens, block_tokens), 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>(), chosen = lds + block_tokens * row_bytes;
    const index_t first = exec::block_id().x * block_tokens, tokens = min(block_tokens, args.tokens - first),
                  lane = exec::lane_id();
    copy(args, lds, first, tokens);
    exec::wave_sync();
    if (lane < tokens) choose(args, lds + lane * row_bytes, chosen + lane * args.choices * 4);
    exec::wave_sync();
    const long_index_t to = long_index_t{first} * args.choices;
    for (index_t i = lane; i < tokens * args.choices; i += block_size) {
      args.expert[to + i] = exec::lds_load<index_t>(chosen, i * 4);
      args.weight[to + i] = exec::lds_load<float>(chosen, i * 4 + weights);
    }
  }

 private:
  static constexpr index_t weights = block_tokens * MostChoices * 4;  // after the experts

  /// Copies the rows to LDS, eight accesses at once.
  TILEWRIGHT_HD static void copy(const args_type& args, exec::lds_pointer lds, index_t first, index_t tokens) {
    constexpr index_t bytes = Vector * sizeof(T), of_row = ceil_div(MostExperts, Vector),
                      steps = ceil_div(block_tokens * of_row, block_size), at_once = 8;
    using words = array<detail::unsigned_of<min(bytes, 4)>, max(bytes / 4, 1)>;
    const auto x = exec::make_global_buffer(args.x + first * args.x_stride,
                                            ((tokens - 1) * args.x_stride + args.experts) * long_index_t(sizeof(T)));
    TILEWRIGHT_UNROLL(1)
    for (index_t step = 0; step < steps; step += at_once) {
      array<words, at_once> found;
      const auto each = [&](auto f) TILEWRIGHT_INLINE_LAMBDA {
        TILEWRIGHT_UNROLL_ALL
        for (index_t i = 0; i < at_once; ++i) {
          const auto access = unsigned((step + i) * block_size + exec::lane_id());
          const auto row = index_t(access / unsigned(of_row)), col = index_t(access % unsigned(of_row)) * Vector;
          f(found[i], row, col, row < tokens && col < args.experts);
        }
      };
      each([&](words& w, index_t row, index_t col, bool exists) TILEWRIGHT_INLINE_LAMBDA {
        w = exec::masked_load<words>(x, (row * index_t(args.x_stride) + col) * index_t(sizeof(T)), exists);
      });
      each([&](const words& w, index_t row, index_t col, bool exists) TILEWRIGHT_INLINE_LAMBDA {
        if (exists) exec::lds_store(lds, row * row_bytes + col * index_t(sizeof(T)), w);
      });
    }
    for (index_t col = args.experts; col < groups * in_group && exec::lane_id() < tokens; ++col)
      remove(lds + exec::lane_id() * row_bytes, col);
  }

  TILEWRIGHT_HD static void remove(exec::lds_pointer row, index_t col) {
    using bits = detail::unsigned_of<sizeof(T)>;
    exec::lds_store(row, col * index_t(sizeof(T)), bits(~bits{0}));
  }

  /// Logits of a group.
  TILEWRIGHT_HD static array<float, in_group> load_group(exec::lds_pointer row, index_t group) {
    array<float, in_group> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < in_group; i += in_vector) {
      const auto vector = exec::lds_load<array<T, in_vector>>(row, (group * in_group + i) * index_t(sizeof(T)));
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < in_vector; ++d) result[i + d] = type_convert<float>(vector[d]);
    }
    return result;
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

  /// The choices of a token. Each replaces its logit by NaN, and its group's largest by that of the others.
  TILEWRIGHT_HD static void choose(const args_type& args, exec::lds_pointer row, exec::lds_pointer chosen) {
    array<float, groups> largest;
    unroll<groups>([&](auto g) TILEWRIGHT_INLINE_LAMBDA { largest[g.value] = largest_of(load_group(row, g.value)); });
    const float first = largest_of(largest);
    float sum = 0;
    if (!args.is_normalised) {
      TILEWRIGHT_UNROLL(1)
      for (index_t g = 0; g < groups; ++g) {
        for (const float x : load_group(row, g).elements) sum += x == x ? exponent(x - first) : 0.0f;
      }
    }
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < args.choices; ++i) {
      const float x = largest_of(largest);
      index_t group = 0, in = -1;
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = groups - 1; g >= 0; --g) group = largest[g] == x ? g : group;
      const auto logits = load_group(row, group);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = in_group - 1; d >= 0; --d) in = logits[d] == x ? d : in;
      const index_t expert = in < 0 ? -1 : group * in_group + in;
      if (in >= 0) remove(row, expert);
      const float next = largest_of(load_group(row, group));
      TILEWRIGHT_UNROLL_ALL
      for (index_t g = 0; g < groups; ++g) largest[g] = g == group ? next : largest[g];
      const float weight = in < 0 ? 0.0f : exponent(x - first);
      sum += args.is_normalised ? weight : 0.0f;
      exec::lds_store(chosen, i * 4, expert);
      exec::lds_store(chosen, i * 4 + weights, weight);
    }
    const float share = exec::rcp(sum);
    for (index_t i = weights; i < weights + args.choices * 4; i += 4) {
      const auto weight = exec::lds_load<float>(chosen, i);
      exec::lds_store(chosen, i, weight == 0 ? 0.0f : weight * share);
    }
  }
  TILEWRIGHT_HD static float exponent(float x) { return exec::exp2(x * detail::log2_e); }
};

}  // namespace tilewright
