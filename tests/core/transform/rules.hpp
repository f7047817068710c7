// SPDX-License-Identifier: MIT
// Calls a transform's rules with parameters in braces.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
// g++ 12 unrolls loops beyond their end, which the parameters hold, and then warns of its own accesses.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif

#include <tilewright/core/transform/apply.hpp>

#include <vector>

namespace tilewright {

using indices = std::vector<index_t>;

/// The rules of one kind, with the given parameters and widths.
template <transform_kind Kind>
struct rules_of {
  indices parameters;
  index_t num_lower, num_upper;

  using rules = detail::transform_rules<Kind>;
  index_t width() const { return max(num_lower, num_upper); }

  indices lower(const indices& up) const {
    indices low(std::size_t(num_lower), -1);
    rules::lower(parameters.data(), width(), up.data(), low.data());
    return low;
  }
  indices upper_lengths() const {
    indices lengths;
    for (index_t i = 0; i < num_upper; ++i) lengths.push_back(rules::upper_length(parameters.data(), width(), i));
    return lengths;
  }
  indices lower_lengths() const {
    indices lengths;
    for (index_t i = 0; i < num_lower; ++i) lengths.push_back(rules::lower_length(parameters.data(), width(), i));
    return lengths;
  }
  bool is_valid(const indices& up) const { return rules::is_valid(parameters.data(), width(), up.data()); }
  long_index_t least_lower_length() const { return rules::least_lower_length(parameters.data(), width(), 0); }
  bool fits() const { return rules::fits(parameters.data(), width()); }
  bool has_constant_term() const { return rules::has_constant_term(parameters.data(), width()); }
  indices run(const indices& low_run) const {
    indices up_run(std::size_t(num_upper), -1);
    rules::run(parameters.data(), width(), low_run.data(), up_run.data());
    return up_run;
  }
  bool f2_linear() const { return rules::f2_linear(parameters.data(), width()); }
};

/// What a made transform says about itself: kind, parameters (`dynamic` where they
/// are known only at run time) and values.
template <transform_spec Spec>
bool is_made_of(const detail::coordinate_transform<Spec>& transform, transform_kind kind, index_t num_lower,
                index_t num_upper, const indices& parameters, const indices& values) {
  return Spec.kind == kind && Spec.num_lower == num_lower && Spec.num_upper == num_upper &&
         indices(Spec.parameters.begin(), Spec.parameters.end()) == parameters &&
         indices(transform.values.begin(), transform.values.end()) == values;
}

}  // namespace tilewright
