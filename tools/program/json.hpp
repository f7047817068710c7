// SPDX-License-Identifier: MIT
// JSON text, written in the order in which it is said.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace program {

/// A value: null, a truth value, a number, a text, an object or a list. Bytes that are no UTF-8 become U+FFFD; numbers
/// that are not finite become null, for JSON has none.
class json {
 public:
  json() : scalar_("null") {}
  json(bool value) : scalar_(value ? "true" : "false") {}
  json(double value);
  json(float value);
  json(std::integral auto value) : scalar_(std::to_string(value)) {}
  json(const char* value) : json(std::string_view(value)) {}
  json(const std::string& value) : json(std::string_view(value)) {}
  json(std::string_view value);
  template <class Value>
  json(const std::vector<Value>& values) : kind_(kind::list) {
    for (const Value& value : values) add(value);
  }

  static json object() { return json(kind::object); }
  static json list() { return json(kind::list); }

  /// A member of an object.
  json& add(std::string_view name, json value);
  /// An element of a list.
  json& add(json value);

  /// Two spaces for each level, and a newline at the end.
  std::string text() const { return text(0) + "\n"; }

 private:
  enum class kind { scalar, object, list };
  explicit json(kind k) : kind_(k) {}
  std::string text(std::size_t depth) const;

  kind kind_ = kind::scalar;
  std::string scalar_;
  std::vector<std::pair<std::string, json>> members_;  // without names in a list
};

}  // namespace program
