// SPDX-License-Identifier: MIT
// tilewright-layout: bank conflicts of layouts in LDS, and pictures of layouts, distributions and curves.
#include "../program/output_file.hpp"
#include "../program/run.hpp"
#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace tilewright_layout;
  return program::run("tilewright-layout", argc, argv, [&]() -> int {
    const parsed_line line = parse_command_line(argc, argv);
    if (line.help) {
      program::print(line.text);
      return program::success;
    }
    const std::string& file = line.asked.out_file;
    if (!file.empty()) program::require_writable(file);
    const answer result = answer_to(line.asked);
    if (file.empty())
      program::print(result.text);
    else
      program::write_file(file, result.text);
    return result.exit_code;
  });
}
