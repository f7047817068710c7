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

/// A block is one wave: each lane chooses for one token. LDS has room for the logits of MostExperts, up to 2048, and
/// for MostChoices. `Vector`: elements of an access to the logits; 1 takes any. A logit that is NaN is chosen last, as
/// expert -1 with weight 0.
template <class Arch, class T, index_t MostExperts, index_t Vector = 16 / sizeof(T), index_t MostChoices = 16>
struct choose_experts {
  static_assert(MostExperts >= 1 && MostExperts <= 2048, "choose_experts: MostExperts is 1 to 2048");
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  static constexpr index_t block_size = Arch::value.wave_size;

 private:
  static constexpr index_t bytes = sizeof(T),
                           in_group = MostExperts <= 128   ? 8
                                      : MostExperts <= 512 ? 16
                                                           : 32,
                           groups = ceil_div(MostExperts, in_group), num_keys = detail::round_up(groups, 4);
  // LDS of a token: its logits, and a key for each group of them. An odd number of vectors of 16 bytes, so that those
  // of eight lanes are in all banks.
  static constexpr index_t keys = groups * in_group * bytes, row_bytes = ((keys + num_keys * 4) / 16 | 1) * 16,
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
    constexpr index_t size = Vector * bytes, of_row = ceil_div(MostExperts, Vector),
                      steps = ceil_div(block_tokens * of_row, block_size), at_once = 8;
    using words = array<detail::unsigned_of<min(size, 4)>, max(size / 4, 1)>;
    const auto x =
        exec::make_global_buffer(args.x + first * args.x_stride, ((tokens - 1) * args.x_stride + args.experts) * bytes);
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
        w = exec::masked_load<words>(x, (row * index_t(args.x_stride) + col) * bytes, exists);
      });
      each([&](const words& w, index_t row, index_t col, bool exists) TILEWRIGHT_INLINE_LAMBDA {
        if (exists) exec::lds_store(lds, row * row_bytes + col * bytes, w);
      });
    }
    for (index_t col = args.experts; col < groups * in_group && exec::lane_id() < tokens; ++col)
      remove(lds + exec::lane_id() * row_bytes, col);
  }

  /// Replaces a logit by NaN.
  TILEWRIGHT_HD static void remove(exec::lds_pointer row, index_t col) {
    exec::lds_store(row, col * bytes, detail::unsigned_of<bytes>(~0u));
  }

  /// The largest one; of floats NaN only if all are.
  template <class V, index_t N>
  TILEWRIGHT_HD static V largest_of(array<V, N> x) {
    unroll<detail::log2_floor(2 * N - 1)>([&](auto level) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t step = 1 << decltype(level)::value;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i + step < N; i += 2 * step) x[i] = exec::max(x[i], x[i + step]);
    });
    return x[0];
  }
  /// N values in LDS, 16 bytes at once.
  template <class To, class From, index_t N>
  TILEWRIGHT_HD static array<To, N> load(exec::lds_pointer row, index_t at) {
    constexpr index_t size = sizeof(From), n = 16 / size;
    array<To, N> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < N; i += n) {
      const auto vector = exec::lds_load<array<From, n>>(row, at + i * size);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = 0; d < n; ++d) result[i + d] = type_convert<To>(vector[d]);
    }
    return result;
  }
  TILEWRIGHT_HD static auto load_group(exec::lds_pointer row, index_t group) {
    return load<float, T, in_group>(row, group * in_group * bytes);
  }
  /// Writes the key of a group: an unsigned integer in the order of its largest logit. Logits of 16 bits leave room for
  /// the group, of which the first has the largest key.
  TILEWRIGHT_HD static void find_key(exec::lds_pointer row, index_t group) {
    const float largest = largest_of(load_group(row, group));
    const unsigned own = bits_of(type_convert<T>(largest)), sign = unsigned(int(own) >> 31);
    const unsigned ordered = largest == largest ? (own ^ (sign | 0x80000000u)) - sign : 0;  // -0 as 0, NaN below all
    exec::lds_store(row, keys + group * 4, bytes == 2 ? (ordered & ~0xffffu) | (0xffffu - unsigned(group)) : ordered);
  }
  /// The bits of a logit in the upper part of a word.
  TILEWRIGHT_HD static unsigned bits_of(T logit) {
    return unsigned(bit_cast<detail::unsigned_of<bytes>>(logit)) << unsigned(32 - 8 * bytes);
  }
  /// The largest logit of a key's group.
  TILEWRIGHT_HD static float logit_of(unsigned key) {
    const unsigned ordered = bytes == 2 ? key & ~0xffffu : key;
    const unsigned own = int(key) < 0 ? ordered ^ 0x80000000u : 0u - ordered;
    return type_convert<float>(bit_cast<T>(detail::unsigned_of<bytes>(own >> unsigned(32 - 8 * bytes))));
  }

  /// The choices of a token. Each is the first of the largest logits in the first group that has it.
  TILEWRIGHT_HD static void choose(const args_type& args, exec::lds_pointer row, exec::lds_pointer chosen) {
    TILEWRIGHT_UNROLL(4)
    for (index_t g = 0; g < groups; ++g) find_key(row, g);
    TILEWRIGHT_UNROLL_ALL
    for (index_t g = groups; g < num_keys; ++g) exec::lds_store(row, keys + g * 4, 0u);
    float largest = 0, sum = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < args.choices; ++i) {
      const auto all = load<unsigned, unsigned, num_keys>(row, keys);
      const unsigned key = largest_of(all);
      index_t group = bytes == 2 ? index_t(~key & 0xffffu) : 0, in_row = -1;
      if constexpr (bytes > 2) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t g = groups - 1; g >= 0; --g) group = all[g] == key ? g : group;
      }
      const auto logits = load_group(row, group);
      const float logit = logit_of(key);
      TILEWRIGHT_UNROLL_ALL
      for (index_t d = in_group - 1; d >= 0; --d) in_row = logits[d] == logit ? group * in_group + d : in_row;
      if (i == 0) {
        largest = logit;
        if (!args.is_normalised) sum = sum_of_row(row, largest);
      }
      if (in_row >= 0) remove(row, in_row);
      find_key(row, group);
      const float weight = in_row < 0 ? 0.0f : exponent(logit - largest);
      sum += args.is_normalised ? weight : 0.0f;
      exec::lds_store(chosen, i * 4, in_row);
      exec::lds_store(chosen, i * 4 + weights, weight);
    }
    const float share = exec::rcp(sum);
    for (index_t i = weights; i < weights + args.choices * 4; i += 4) {
      const auto weight = exec::lds_load<float>(chosen, i);
      exec::lds_store(chosen, i, weight == 0 ? 0.0f : weight * share);
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
