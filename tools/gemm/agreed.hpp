// SPDX-License-Identifier: MIT
// A property that several sources may state and on which they must agree.
#pragma once

#include <optional>
#include <string>

#include "backend.hpp"

namespace gemm_program {

template <class T>
class agreed {
 public:
  /// `what` begins a sentence, for instance "k"; text_of(value) names a value in it.
  template <class TextOf>
  agreed(std::string what, TextOf text_of) : what_(std::move(what)), text_of_(text_of) {}

  /// Throws refusal if another source stated another value. `source` follows "in", for instance "A.npy".
  void state(T value, const std::string& source) {
    if (value_ && *value_ != value)
      throw refusal(what_ + " is " + text_of_(*value_) + " in " + source_ + " but " + text_of_(value) + " in " +
                    source);
    if (value_) return;
    value_ = value;
    source_ = source;
  }
  void state(const std::optional<T>& value, const std::string& source) {
    if (value) state(*value, source);
  }

  T value_or(T otherwise) const { return value_.value_or(otherwise); }

 private:
  std::string what_;
  std::string (*text_of_)(T);
  std::optional<T> value_;
  std::string source_;
};

}  // namespace gemm_program
