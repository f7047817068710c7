// SPDX-License-Identifier: MIT
// Completion scripts for shells, made from a program's table of options.
#include "completion.hpp"

#include <algorithm>

namespace program {
namespace {

/// A shell's word in single quotes; `also`: characters that get a backslash.
std::string quoted(const std::string& text, const std::string& also = "") {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (also.find(c) != also.npos)
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result + "'";
}

std::string words_of(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string word_of(const command_line& command) { return command.name().substr(command.name().rfind(' ') + 1); }

/// A name for functions: "tilewright-layout curve" -> "tilewright_layout_curve".
std::string identifier(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == ' '; }, '_');
  return name;
}

/// What completes the value after an option, and else the options' names.
std::string bash_cases(const command_line& line) {
  std::string text = "  case $previous in\n", names;
  for (const option& o : line.options()) {
    if (o.is_positional()) continue;
    names += o.name + " " + (o.letter.empty() ? "" : o.letter + " ");
    if (o.value.empty()) continue;
    text += "    " + o.name + (o.letter.empty() ? "" : "|" + o.letter) + ") ";
    if (o.is_file)
      text += "COMPREPLY=($(compgen -f -- \"$current\")); ";
    else if (!o.choices.empty())
      text += "COMPREPLY=($(compgen -W " + quoted(words_of(o.choices)) + " -- \"$current\")); ";
    text += "return ;;\n";
  }
  for (const command_line& c : line.commands()) names += word_of(c) + " ";
  return text + "  esac\n  COMPREPLY=($(compgen -W " + program::quoted(names) + " -- \"$current\"))\n";
}

std::string bash_script(const command_line& line) {
  const std::string function = "_" + identifier(line.name());
  std::string text = "# Completion of " + line.name() + " for bash.\n" + function + "() {\n" +
                     "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n" +
                     "  COMPREPLY=()\n";
  for (const command_line& c : line.commands())
    text += "  if [[ \" ${COMP_WORDS[*]:1:COMP_CWORD-1} \" == *\" " + word_of(c) + " \"* ]]; then\n" + bash_cases(c) +
            "  return\n  fi\n";
  return text + bash_cases(line) + "}\ncomplete -o filenames -F " + function + " " + line.name() + "\n";
}

std::string zsh_arguments(const command_line& line) {
  std::string text = "_arguments";
  for (const option& o : line.options()) {
    const std::string action = o.is_file ? "_files" : !o.choices.empty() ? "(" + words_of(o.choices) + ")" : " ";
    const std::string value = o.value.empty() ? "" : ":" + (o.choices.empty() ? o.value : "value") + ":" + action;
    if (o.is_positional()) {
      text += " \\\n    " + quoted(std::string(o.repeats ? "*" : "") + ":" + o.value + ":" + action);
      continue;
    }
    for (const std::string& name : {o.name, o.letter})
      if (!name.empty())
        text +=
            " \\\n    " + quoted((o.repeats ? "*" : "") + name + "[", "") + quoted(o.help, "[]:") + quoted("]" + value);
  }
  return text + "\n";
}

std::string zsh_script(const command_line& line) {
  std::string text = "#compdef " + line.name() + "\n# Completion of " + line.name() + " for zsh.\n";
  std::string words;
  for (const command_line& c : line.commands()) {
    text += "if (( ${words[(I)" + word_of(c) + "]} )); then\n  " + zsh_arguments(c) + "  return\nfi\n";
    words += word_of(c) + " ";
  }
  if (!words.empty()) text += "[[ $PREFIX == -* ]] || compadd " + words + "\n";
  return text + zsh_arguments(line);
}

std::string fish_lines(const command_line& line, const std::string& program, const std::string& condition) {
  std::string text;
  for (const option& o : line.options()) {
    if (o.is_positional()) continue;
    text += "complete -c " + program + condition + " -l " + o.name.substr(2);
    if (!o.letter.empty()) text += " -s " + o.letter.substr(1);
    if (!o.value.empty()) text += o.is_file ? " -r -F" : " -x";
    if (!o.choices.empty()) text += " -a " + quoted(words_of(o.choices), "\\");
    text += " -d " + quoted(o.help, "\\") + "\n";
  }
  return text;
}

std::string fish_script(const command_line& line) {
  std::string text = "# Completion of " + line.name() + " for fish.\n";
  for (const command_line& c : line.commands()) {
    text += "complete -c " + line.name() + " -n __fish_use_subcommand -a " + word_of(c) + " -d " +
            quoted(c.purpose(), "\\") + "\n" +
            fish_lines(c, line.name(), " -n '__fish_seen_subcommand_from " + word_of(c) + "'");
  }
  return text + fish_lines(line, line.name(), line.commands().empty() ? "" : " -n __fish_use_subcommand");
}

}  // namespace

std::string completion_script(const command_line& line, shell which) {
  switch (which) {
    case shell::bash: return bash_script(line);
    case shell::zsh: return zsh_script(line);
    case shell::fish: break;
  }
  return fish_script(line);
}

}  // namespace program
