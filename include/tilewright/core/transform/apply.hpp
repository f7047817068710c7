// SPDX-License-Identifier: MIT
// Includes all coordinate transforms, and finds the rules of one whose kind is known only at run time.
#pragma once

#include <tilewright/core/transform/embed.hpp>
#include <tilewright/core/transform/functor.hpp>
#include <tilewright/core/transform/indexing.hpp>
#include <tilewright/core/transform/merge.hpp>
#include <tilewright/core/transform/modulo.hpp>
#include <tilewright/core/transform/offset.hpp>
#include <tilewright/core/transform/replicate.hpp>
#include <tilewright/core/transform/xor.hpp>

namespace tilewright::detail {

/// The rules of a transform: an object, because a functor's rules know its function.
template <transform_kind Kind>
TILEWRIGHT_HD constexpr transform_rules<Kind> make_rules(index_function function = nullptr) {
  if constexpr (Kind == transform_kind::functor) {
    return {{}, function};
  } else {
    return {};
  }
}

/// What rules say of all transforms of a kind, by kind.
using every_kind = make_sequence<index_t(transform_kind::functor) + 1>;
template <index_t... Kinds>
TILEWRIGHT_HD constexpr linear_rule linear_rule_of(transform_kind kind, sequence<Kinds...>) {
  constexpr linear_rule rules[] = {transform_rules<transform_kind(Kinds)>::linear...};
  return rules[index_t(kind)];
}
template <index_t... Kinds>
TILEWRIGHT_HD constexpr bool may_be_invalid_kind(transform_kind kind, sequence<Kinds...>) {
  constexpr bool may_be_invalid[] = {transform_rules<transform_kind(Kinds)>::may_be_invalid...};
  return may_be_invalid[index_t(kind)];
}

/// rules.lower, but such that moves may start at indices that do not exist: a merge rounds downwards there.
template <class Rules>
TILEWRIGHT_HD constexpr void lower_anywhere(const Rules& rules, const index_t* p, index_t n, const index_t* up,
                                            index_t* low) {
  if constexpr (requires { rules.lower_anywhere(p, n, up, low); }) {
    rules.lower_anywhere(p, n, up, low);
  } else {
    rules.lower(p, n, up, low);
  }
}

/// How far the lower index moves when the upper index has moved by up_step to up. low is where the lower index was;
/// low_step holds zeros. There are num_lower and num_upper dimensions; the arrays have room for one more.
template <class Rules>
TILEWRIGHT_HD constexpr void move_lower(const Rules& rules, const index_t* p, index_t num_lower, index_t num_upper,
                                        const index_t* up, const index_t* up_step, const index_t* low,
                                        index_t* low_step) {
  const index_t n = max(num_lower, num_upper);
  if constexpr (Rules::linear != linear_rule::none) {
    const index_t zero[transform_spec::max_dims] = {};
    index_t at_zero[transform_spec::max_dims] = {};
    rules.lower(p, n, up_step, low_step);
    rules.lower(p, n, zero, at_zero);
    for (index_t i = 0; i < num_lower; ++i) low_step[i] -= at_zero[i];
  } else if constexpr (requires { rules.lower_anywhere(p, n, up_step, low_step); }) {
    if (up_step[0] == 0)
      return;  // a merge splits the step and carries: of a step that the compiler knows, nothing is divided
    rules.lower_anywhere(p, n, up_step, low_step);
    carry_over(p, n, low, low_step);
  } else {
    bool moves = false;
    for (index_t i = 0; i < num_upper; ++i) moves = moves || up_step[i] != 0;
    if (!moves) return;
    lower_anywhere(rules, p, n, up, low_step);
    for (index_t i = 0; i < num_lower; ++i) low_step[i] -= low[i];
  }
}

/// f(rules) with the rules of a transform.
TILEWRIGHT_CALLS_ANYTHING
template <class F>
TILEWRIGHT_HD constexpr auto with_rules(const transform_spec& spec, F&& f) {
  using enum transform_kind;
  switch (spec.kind) {
    case pad: return f(make_rules<pad>());
    case embed: return f(make_rules<embed>());
    case merge: return f(make_rules<merge>());
    case merge_magic: return f(make_rules<merge_magic>());
    case unmerge: return f(make_rules<unmerge>());
    case xor_modulo: return f(make_rules<xor_modulo>());
    case swizzle: return f(make_rules<swizzle>());
    case cyclic_shift: return f(make_rules<cyclic_shift>());
    case offset: return f(make_rules<offset>());
    case slice: return f(make_rules<slice>());
    case modulo: return f(make_rules<modulo>());
    case freeze: return f(make_rules<freeze>());
    case replicate: return f(make_rules<replicate>());
    case indexing: return f(make_rules<indexing>());
    case functor: return f(make_rules<functor>(*spec.function));
    case pass_through: break;
  }
  return f(make_rules<pass_through>());
}

}  // namespace tilewright::detail
