// SPDX-License-Identifier: MIT
#include "ptx.hpp"

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "files.hpp"
#include "process.hpp"

namespace tilewright::jit {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }
bool is_in_name(char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)); }

/// Calls `use` with every name in `text`.
template <class Use>
void for_each_name(std::string_view text, Use use) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i++;
    if (!is_in_name(text[start])) continue;
    while (i < text.size() && is_in_name(text[i])) ++i;
    if (is_letter(text[start])) use(text.substr(start, i - start));
  }
}

/// The name of the variable of C++, or of the string, that a line defines and that no other file can name; empty for
/// other lines.
std::string_view private_variable(std::string_view line) {
  if (line.substr(0, 8) != ".global " || line.back() != ';') return {};
  std::string_view variable;
  for_each_name(line.substr(0, line.find('=')), [&](std::string_view name) { variable = name; });
  return variable.substr(0, 2) == "_Z" || variable.substr(0, 1) == "$" ? variable : std::string_view();
}

template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    use(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

std::string without_unused_variables(std::string ptx) {
  for (bool is_done = false; !is_done;) {  // a variable may hold the address of another one
    std::unordered_set<std::string_view> used;
    for_each_line(ptx, [&](std::string_view line) {
      const std::string_view own = private_variable(line);
      for_each_name(line, [&](std::string_view name) {
        if (name != own) used.insert(name);
      });
    });
    std::string rest;
    for_each_line(ptx, [&](std::string_view line) {
      const std::string_view own = private_variable(line);
      if (own.empty() || used.count(own) > 0) (rest += line) += '\n';
    });
    is_done = rest.size() == ptx.size();
    ptx = std::move(rest);
  }
  return ptx;
}

std::string find_ptxas(int major, int minor) {
  std::vector<std::string> programs = {"ptxas"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable)) programs.push_back(std::string(folder) + "/bin/ptxas");
  programs.push_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& program : programs) {
    if (!is_program(program)) continue;
    const std::string text = run_command({program, "--version"}).output;
    const std::size_t at = text.find("release ");
    int own_major = 0, own_minor = 0;
    if (at != text.npos && std::sscanf(text.c_str() + at, "release %d.%d", &own_major, &own_minor) == 2 &&
        own_major == major && own_minor >= minor)
      return program;
  }
  return {};
}

std::optional<std::string> assemble(const std::string& ptxas, const std::string& ptx, const std::string& target) try {
  const temporary_folder folder;
  const std::string source = folder.path() / "kernel.ptx", cubin = folder.path() / "kernel.cubin";
  if (!replace_file(source, ptx).empty() || run_command({ptxas, "-arch=" + target, source, "-o", cubin}).exit_code != 0)
    return std::nullopt;
  return read_file(cubin);
} catch (const error&) {
  return std::nullopt;  // no folder for its files
}

}  // namespace tilewright::jit
