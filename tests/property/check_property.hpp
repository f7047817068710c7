// SPDX-License-Identifier: MIT
// Properties of generated inputs. An input is built from a tape of random numbers,
// so that a shorter tape with smaller numbers is a simpler input.
#pragma once

#include <tilewright/core/base/math.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::property {

/// Choices for a generator. After the end of the tape every choice is the first one.
class tape {
 public:
  explicit tape(std::vector<std::uint32_t> numbers) : numbers_(std::move(numbers)) {}

  /// One of 0, 1, ..., n - 1.
  index_t below(index_t n) { return next_ < numbers_.size() ? index_t(numbers_[next_++] % unsigned(n)) : 0; }
  index_t between(index_t first, index_t last) { return first + below(last - first + 1); }
  bool chance(index_t one_in) { return below(one_in) == one_in - 1; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[std::size_t(below(index_t(values.size())))];
  }

 private:
  std::vector<std::uint32_t> numbers_;
  std::size_t next_ = 0;
};

/// Reports a test failure for an input for which the property says what is wrong; an empty text means that it holds.
/// The inputs are the same in every run. TILEWRIGHT_PROPERTY_CASES=200000 and TILEWRIGHT_PROPERTY_SEED=7, say, make a
/// longer run over others: for the night. With rapidcheck, RC_PARAMS overrides both.
void check_property(const std::function<std::string(tape&)>& property);

}  // namespace tilewright::property
