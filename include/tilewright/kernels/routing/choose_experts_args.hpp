// SPDX-License-Identifier: MIT
// What choosing experts takes and gives, and what it refuses.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/launch/check_rows.hpp>

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

namespace detail {

/// What a kernel with room for `most_experts` and `most_choices`, and accesses of `vector` logits, cannot do, as an
/// error message; nullptr: it can. `tokens`: of a block.
template <class T>
constexpr const char* check_choose_experts(const choose_experts_args<T>& args, index_t most_experts,
                                           index_t most_choices, index_t vector, index_t tokens) {
  const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
  if (const char* why = detail::check_matrix(x, vector, tokens)) return why;
  if (args.experts > most_experts) return "there are more experts than the kernel's MostExperts";
  if (args.choices < 1 || args.choices > args.experts) return "choices must be positive, and at most the experts";
  if (args.shared < 0 || args.choices > most_choices - args.shared)
    return "there are more choices and shared experts than the kernel's MostChoices";
  if (args.score != expert_score::softmax && args.score != expert_score::sigmoid) return "score is no expert_score";
  if (args.groups < 1 || args.experts % args.groups != 0) return "groups must divide the experts";
  if (args.kept_groups < 1 || args.kept_groups > args.groups) return "kept_groups must be 1 to groups";
  if (args.groups > 1 && args.choices > args.kept_groups * (args.experts / args.groups))
    return "the groups that are kept have fewer experts than choices";
  if (args.groups > most_choices) return "there are more groups than the kernel's MostChoices";
  if (!args.expert || !args.weight) return "a pointer is null: expert or weight";
  const long_index_t n = long_index_t{args.tokens} * (args.choices + args.shared);
  if (n > 0x7fffffff / 4) return "there are more than 2^29 choices";
  const detail::row_matrix matrices[] = {detail::row_array(args.expert, n), detail::row_array(args.weight, n), x,
                                         detail::row_array(args.bias, args.experts)};
  return detail::check_results(matrices, 2);
}

}  // namespace detail

}  // namespace tilewright
