// SPDX-License-Identifier: MIT
// A program's options as a table, and how arguments are read with it.
#include "command_line.hpp"

#include <algorithm>

#include <tilewright/version.hpp>

#include "completion.hpp"
#include "help.hpp"

namespace program {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

/// How many characters must change for one word to become the other.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j)
      diagonal =
          std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (one[i] == other[j] ? 0u : 1u)}));
  }
  return row.back();
}

std::string version_text(const std::string& name) {
  return name + " " + std::to_string(TILEWRIGHT_VERSION_MAJOR) + "." + std::to_string(TILEWRIGHT_VERSION_MINOR) + "." +
         std::to_string(TILEWRIGHT_VERSION_PATCH) + "\n";
}

}  // namespace

command_line::command_line(std::string name, std::string purpose)
    : name_(std::move(name)), purpose_(std::move(purpose)) {
  heading("About the program");
  flag("--help", "Print this text", [this] { asked_ = [this] { return help_text(*this); }; }).letter = "-h";
  heading("");
}

option& command_line::add(option o) {
  o.heading = heading_;
  return options_.emplace_back(std::move(o));
}

option& command_line::flag(std::string name, std::string help, std::function<void()> take) {
  option o{.name = std::move(name), .help = std::move(help)};
  o.take = [take = std::move(take)](const std::string&) { take(); };
  return add(std::move(o));
}

option& command_line::flag(std::string name, std::string help, bool& value) {
  return flag(std::move(name), std::move(help), [&value] { value = true; });
}

option& command_line::text(std::string name, std::string value, std::string help, text_function take) {
  option o{.name = std::move(name), .value = std::move(value), .help = std::move(help)};
  o.take = std::move(take);
  return add(std::move(o));
}

option& command_line::list(std::string name, std::string value, std::string help, std::vector<std::string>& values) {
  option& o = text(std::move(name), std::move(value), std::move(help),
                   [&values](const std::string& given) { values.push_back(given); });
  o.repeats = true;
  return o;
}

option& command_line::file(std::string name, std::string value, std::string help, text_function take) {
  const std::string shown = name;
  option& o = text(std::move(name), std::move(value), std::move(help),
                   [shown, take = std::move(take)](const std::string& path) {
                     if (path.empty()) throw refusal(shown + " needs the name of a file, not ''");
                     take(path);
                   });
  o.is_file = true;
  return o;
}

option& command_line::file(std::string name, std::string value, std::string help, std::optional<std::string>& path) {
  return file(std::move(name), std::move(value), std::move(help), [&path](const std::string& given) { path = given; });
}

option& command_line::choice(std::string name, std::string help, std::vector<std::string> choices,
                             std::function<void(std::size_t)> take) {
  const std::string shown = name, all = joined(choices, "|");
  option& o = text(std::move(name), all, std::move(help), [=, take = std::move(take)](const std::string& given) {
    const auto found = std::find(choices.begin(), choices.end(), given);
    if (found == choices.end()) throw refusal(shown + " must be one of " + all + ", not '" + given + "'");
    take(static_cast<std::size_t>(found - choices.begin()));
  });
  o.choices = choices;
  return o;
}

command_line& command_line::command(std::string name, std::string purpose) {
  return commands_.emplace_back(name_ + " " + name, std::move(purpose));
}

option* command_line::find(std::string_view name) {
  for (option& o : options_)
    if (o.name == name || (!o.letter.empty() && o.letter == name)) return &o;
  return nullptr;
}

/// The option at given[at], and its value, which may be the next argument.
void command_line::take_option(const arguments& given, std::size_t& at) {
  const std::string& word = given[at];
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  option* const o = find(name);
  if (!o) {
    const auto closest = std::min_element(options_.begin(), options_.end(), [&](const option& x, const option& y) {
      return distance(name, x.name) < distance(name, y.name);
    });
    const bool is_close = name.size() > 4 && distance(name, closest->name) <= 2;
    throw refusal("there is no option " + name + (is_close ? "; did you mean " + closest->name + "?" : ";") + " " +
                  name_ + " --help lists the options");
  }
  if (o->count++ > 0 && !o->repeats) throw refusal(name + " is given twice");
  if (o->value.empty()) {
    if (equals != word.npos) throw refusal(name + " takes no value, as in '" + word + "'");
    return o->take("");
  }
  if (equals != word.npos) return o->take(word.substr(equals + 1));
  const bool is_missing = at + 1 == given.size() || (given[at + 1].starts_with("-") && find(given[at + 1]) != nullptr);
  if (is_missing) throw refusal(name + " needs a value: " + name + " " + o->value);
  o->take(given[++at]);
}

std::optional<std::string> command_line::parse(const arguments& given, std::size_t first) {
  bool options_end = false;
  for (std::size_t at = first; at < given.size() && !asked_; ++at) {
    const std::string& word = given[at];
    if (!options_end && word == "--") {
      options_end = true;
    } else if (!options_end && word.size() > 1 && word[0] == '-') {
      take_option(given, at);
    } else {
      for (command_line& c : commands_) {
        if (c.name_ != name_ + " " + word) continue;
        used_command_ = word;
        return c.parse(given, at + 1);
      }
      const auto place = std::find_if(options_.begin(), options_.end(),
                                      [](const option& o) { return o.is_positional() && (o.count == 0 || o.repeats); });
      if (place == options_.end())
        throw refusal("'" + word + "' is neither an option nor " + (commands_.empty() ? "its value" : "a command") +
                      "; " + name_ + " --help lists the options");
      ++place->count;
      place->take(word);
    }
  }
  return asked_ ? std::optional(asked_()) : std::nullopt;
}

std::optional<std::string> command_line::parse(int argc, const char* const* argv) {
  heading("About the program");
  flag("--version", "Print the version", [this] { asked_ = [this] { return version_text(name_); }; });
  choice("--completion", "Print a completion script for this shell", {"bash", "zsh", "fish"},
         [this](std::size_t shell) {
           asked_ = [this, shell] { return completion_script(*this, static_cast<enum shell>(shell)); };
         });
  flag("--man", "Print the manual page", [this] { asked_ = [this] { return manual_page(*this); }; });
  // --help comes with them, at the end.
  std::rotate(options_.begin(), options_.begin() + 1, options_.end());
  return parse(arguments(argv + (argc > 0 ? 1 : 0), argv + argc), 0);
}

bool command_line::has(std::string_view name) const {
  return std::any_of(options_.begin(), options_.end(), [&](const option& o) { return o.name == name && o.count > 0; });
}

void command_line::refuse_both(std::string_view one, std::string_view other) const {
  if (has(one) && has(other)) throw refusal(std::string(one) + " and " + std::string(other) + " exclude each other");
}

}  // namespace program
