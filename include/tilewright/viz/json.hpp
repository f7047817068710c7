// SPDX-License-Identifier: MIT
// A small JSON writer, so that the headers depend on nothing: keys and values in the order in which they come.
#pragma once

#include <tilewright/util/index.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::viz {

/// Objects and arrays stand on lines of their own, lists of numbers on one. Text is UTF-8 or ASCII.
class json_writer {
 public:
  void begin_object(std::string_view key = {}) { begin(key, '{'); }
  void end_object() { end('}'); }
  void begin_array(std::string_view key = {}) { begin(key, '['); }
  void end_array() { end(']'); }

  void value(std::string_view key, std::string_view text) { put(key, quoted(text)); }
  void value(std::string_view key, const char* text) { put(key, quoted(text)); }
  void value(std::string_view key, long_index_t number) { put(key, std::to_string(number)); }
  void value(std::string_view key, index_t number) { put(key, std::to_string(number)); }
  void value(std::string_view key, bool truth) { put(key, truth ? "true" : "false"); }

  template <class Numbers>
  void numbers(std::string_view key, const Numbers& list) {
    std::string text;
    for (const auto n : list) text += (text.empty() ? "[" : ", ") + std::to_string(n);
    put(key, text.empty() ? "[]" : text + "]");
  }

  /// The document; every object and array must have ended.
  std::string str() const { return text_ + "\n"; }

 private:
  void begin(std::string_view key, char bracket) {
    put(key, std::string(1, bracket));
    is_first_.push_back(true);
  }
  void end(char bracket) {
    const bool empty = is_first_.back();
    is_first_.pop_back();
    if (!empty) new_line();
    text_ += bracket;
  }
  void put(std::string_view key, const std::string& value) {
    if (!is_first_.empty()) {
      if (!is_first_.back()) text_ += ',';
      is_first_.back() = false;
      new_line();
    }
    if (!key.empty()) text_ += quoted(key) + ": ";
    text_ += value;
  }
  void new_line() { text_ += '\n' + std::string(2 * is_first_.size(), ' '); }

  static std::string quoted(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result = "\"";
    for (const char c : text) {
      const auto code = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        result += '\\';
        result += c;
      } else if (code < 0x20) {
        result += "\\u00";
        result += digits[code / 16];
        result += digits[code % 16];
      } else {
        result += c;
      }
    }
    return result + '"';
  }

  std::string text_;
  std::vector<bool> is_first_;  // of each open object or array: nothing stands in it yet
};

}  // namespace tilewright::viz
