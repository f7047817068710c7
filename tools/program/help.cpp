// SPDX-License-Identifier: MIT
// Help and the manual page of a program, made from its table of options.
#include "help.hpp"

#include <algorithm>

#include <tilewright/version.hpp>

#include "text.hpp"

namespace program {
namespace {

constexpr std::size_t columns = 100, help_column = 28;

/// The headings in the order of their first option.
std::vector<std::string> headings_of(const command_line& line) {
  std::vector<std::string> all;
  for (const option& o : line.options())
    if (all.empty() || all.back() != o.heading) all.push_back(o.heading);
  return all;
}

/// "-o, --out FILE"
std::string spelling(const option& o) {
  std::string text = o.letter.empty() ? o.name : o.letter + ", " + o.name;
  if (!o.is_positional() && !o.value.empty()) text += " " + o.value;
  return o.is_positional() ? o.value : text;
}

std::string usage(const command_line& line) {
  std::string text = line.name() + " [options]";
  for (const option& o : line.options())
    if (o.is_positional()) text += " [" + o.value + "]" + (o.repeats ? "..." : "");
  return text;
}

std::string with_note(const option& o) { return o.help + (o.repeats ? "; may be given several times" : ""); }

/// The lines of a section; one that is too long goes on below its second column, if it has one.
std::string section_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string line = "  " + std::string(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() - 1));
    const std::size_t gap = line.find("  ", 2);
    const std::size_t column = gap == line.npos ? 4 : line.find_first_not_of(' ', gap);
    result += wrapped(line, columns, column == line.npos || column > 50 ? 4 : column) + "\n";
  }
  return result;
}

std::string row(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  text += text.size() + 2 > help_column ? "\n" + std::string(help_column, ' ')
                                        : std::string(help_column - text.size(), ' ');
  return wrapped(text + right, columns, help_column) + "\n";
}

/// Text of a manual page: hyphens that can be copied, and no line that looks like a request.
std::string roff(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\')
      result += "\\e";
    else if (text[i] == '-')
      result += "\\-";
    else if (text[i] == '|')
      result += "|\\:";  // where a long list of choices may be broken
    else
      result += text[i];
  }
  return result;
}

std::string manual_options(const command_line& line) {
  std::string text;
  for (const std::string& heading : headings_of(line)) {
    if (!heading.empty()) text += ".SS " + roff(heading) + "\n";
    for (const option& o : line.options())
      if (o.heading == heading) text += ".TP\n.B " + roff(spelling(o)) + "\n" + roff(with_note(o)) + ".\n";
  }
  return text;
}

}  // namespace

std::string help_text(const command_line& line) {
  std::string text = "usage: " + usage(line) + "\n";
  if (!line.commands().empty()) text += "       " + line.name() + " COMMAND [options]\n";
  text += "\n" + wrapped(line.purpose(), columns, 0) + "\n";
  for (const std::string& heading : headings_of(line)) {
    text += "\n" + (heading.empty() ? "Options" : heading) + "\n";
    for (const option& o : line.options())
      if (o.heading == heading) text += row(spelling(o), with_note(o));
  }
  if (!line.commands().empty()) {
    text += "\nCommands (" + line.name() + " COMMAND --help lists their options)\n";
    for (const command_line& c : line.commands()) text += row(c.name().substr(line.name().size() + 1), c.purpose());
  }
  for (const section& s : line.sections()) text += "\n" + s.title + "\n" + section_lines(s.text);
  if (!line.examples().empty()) text += "\nExamples\n";
  for (const auto& [command, says] : line.examples())
    text += "  " + command + "\n" + wrapped("      " + says, columns, 6) + "\n";
  return text;
}

std::string manual_page(const command_line& line) {
  const std::string version = std::to_string(TILEWRIGHT_VERSION_MAJOR) + "." +
                              std::to_string(TILEWRIGHT_VERSION_MINOR) + "." + std::to_string(TILEWRIGHT_VERSION_PATCH);
  std::string text = ".TH " + roff(line.name()) + " 1 \"\" \"tilewright " + version + "\" \"User Commands\"\n";
  text += ".SH NAME\n" + roff(line.name()) + " \\- " + roff(line.purpose()) + "\n";
  text += ".SH SYNOPSIS\n" + roff(usage(line)) + "\n";
  for (const command_line& c : line.commands()) text += ".br\n" + roff(usage(c)) + "\n";
  text += ".SH OPTIONS\n" + manual_options(line);
  for (const command_line& c : line.commands())
    text += ".SH \"OPTIONS OF " + roff(c.name()) + "\"\n" + roff(c.purpose()) + ".\n" + manual_options(c);
  for (const section& s : line.sections()) text += ".SH \"" + roff(s.title) + "\"\n.nf\n" + roff(s.text) + "\n.fi\n";
  if (!line.examples().empty()) text += ".SH EXAMPLES\n";
  for (const auto& [command, says] : line.examples()) text += ".TP\n.B " + roff(command) + "\n" + roff(says) + "\n";
  return text;
}

}  // namespace program
