// SPDX-License-Identifier: MIT
// JSON text, written in the order in which it is said.
#include "json.hpp"

#include <charconv>
#include <cmath>

#include "text.hpp"

namespace program {
namespace {

template <class Number>
std::string shortest(Number value) {
  if (!std::isfinite(value)) return "null";
  char digits[64];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string in_quotes(std::string_view text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result = "\"";
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    if (first == '"' || first == '\\')
      result += std::string("\\") + text[0];
    else if (first < 0x20 || first == 0x7f)
      result += std::string("\\u00") + digits[first >> 4] + digits[first & 15];
    else if (length = length_of_character(text); length == 0)
      result += "\xef\xbf\xbd";
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result + "\"";
}

}  // namespace

json::json(double value) : scalar_(shortest(value)) {}
json::json(float value) : scalar_(shortest(value)) {}
json::json(std::string_view value) : scalar_(in_quotes(value)) {}

json& json::add(std::string_view name, json value) {
  members_.emplace_back(in_quotes(name), std::move(value));
  return *this;
}

json& json::add(json value) {
  members_.emplace_back("", std::move(value));
  return *this;
}

std::string json::text(std::size_t depth) const {
  if (kind_ == kind::scalar) return scalar_;
  const bool is_object = kind_ == kind::object;
  if (members_.empty()) return is_object ? "{}" : "[]";
  const std::string line = "\n" + std::string(2 * depth + 2, ' ');
  std::string result;
  for (const auto& [name, value] : members_)
    result += (result.empty() ? "" : ",") + line + (is_object ? name + ": " : "") + value.text(depth + 1);
  return (is_object ? "{" : "[") + result + "\n" + std::string(2 * depth, ' ') + (is_object ? "}" : "]");
}

}  // namespace program
