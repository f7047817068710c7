// SPDX-License-Identifier: MIT
// tilewright-layout: bank conflicts of layouts in LDS, and pictures of layouts, distributions and curves.
#include "commands.hpp"
#include "output_file.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace tilewright_layout;
  try {
    const parsed_line line = parse_command_line(argc, argv);
    if (line.help) {
      write_output(line.text, "");
      return 0;
    }
    const answer result = answer_to(line.asked);
    write_output(result.text, line.asked.out_file);
    return result.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewright-layout: %s\n", readable(error.what()).c_str());
    return 2;
  }
}
