// SPDX-License-Identifier: MIT
// A program's options as a table: it reads the arguments, and help, manual pages and completion are made from it.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "refusal.hpp"

namespace program {

/// An option with a value, a flag, or, if its name has no dashes, a positional argument.
struct option {
  std::string name = {}, letter = {};     // "--out" and, if there is one, "-o"
  std::string value = {};                 // what help shows for the value, "SIZE"; empty: a flag
  std::string help = {};                  // begins with a capital, without a full stop
  std::vector<std::string> choices = {};  // of the value, if it has a few
  bool is_file = false, repeats = false;
  std::string heading = {};
  std::function<void(const std::string&)> take = {};
  int count = 0;  // how often it was given

  bool is_positional() const { return name[0] != '-'; }
};

/// A section of the help after the options; its lines are kept.
struct section {
  std::string title, text;
};

/// A command line with options, and perhaps commands that have options of their own.
class command_line {
 public:
  using text_function = std::function<void(const std::string&)>;

  /// `purpose`: a sentence.
  command_line(std::string name, std::string purpose);
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// The options that follow stand under this heading of the help.
  void heading(std::string text) { heading_ = std::move(text); }
  option& flag(std::string name, std::string help, std::function<void()> take);
  option& flag(std::string name, std::string help, bool& value);
  option& text(std::string name, std::string value, std::string help, text_function take);
  /// Each use adds a value.
  option& list(std::string name, std::string value, std::string help, std::vector<std::string>& values);
  option& file(std::string name, std::string value, std::string help, text_function take);
  option& file(std::string name, std::string value, std::string help, std::optional<std::string>& path);
  /// One of a few words.
  option& choice(std::string name, std::string help, std::vector<std::string> choices,
                 std::function<void(std::size_t)> take);
  /// A number of type Number that passes `fits`; `wanted` says which ones do: "a whole number from 1 to 9".
  template <class Number>
  option& number(const std::string& name, std::string value, std::string help, const std::string& wanted,
                 bool (*fits)(Number), std::function<void(Number)> take);
  command_line& command(std::string name, std::string purpose);
  void section_of_help(std::string title, std::string lines) {
    sections_.push_back({std::move(title), std::move(lines)});
  }
  void example(std::string line, std::string says) { examples_.emplace_back(std::move(line), std::move(says)); }

  /// Calls the options' functions. Returns what is to be printed if only that was asked for: help, the version, the
  /// manual page, a completion script. Throws refusal.
  std::optional<std::string> parse(int argc, const char* const* argv);
  /// After parse(): whether an option was given; refuses two that exclude each other; the command's name, or "".
  bool has(std::string_view name) const;
  void refuse_both(std::string_view one, std::string_view other) const;
  const std::string& used_command() const { return used_command_; }

  const std::string& name() const { return name_; }
  const std::string& purpose() const { return purpose_; }
  const std::vector<option>& options() const { return options_; }
  const std::list<command_line>& commands() const { return commands_; }
  const std::vector<section>& sections() const { return sections_; }
  const std::vector<std::pair<std::string, std::string>>& examples() const { return examples_; }

 private:
  using arguments = std::vector<std::string>;

  option& add(option o);
  option* find(std::string_view name);
  void take_option(const arguments& given, std::size_t& at);
  std::optional<std::string> parse(const arguments& given, std::size_t first);

  std::string name_, purpose_, heading_, used_command_;
  std::vector<option> options_;
  std::list<command_line> commands_;
  std::vector<section> sections_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::function<std::string()> asked_;  // makes what is printed instead of a run
};

/// A whole text as a number, in decimal; nothing else is a number.
template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return {};
  return value;
}

template <class Number>
option& command_line::number(const std::string& name, std::string value, std::string help, const std::string& wanted,
                             bool (*fits)(Number), std::function<void(Number)> take) {
  return text(name, std::move(value), std::move(help), [=](const std::string& given) {
    const std::optional<Number> found = number_of<Number>(given);
    if (!found || !fits(*found)) throw refusal(name + " must be " + wanted + ", not '" + given + "'");
    take(*found);
  });
}

}  // namespace program
