// SPDX-License-Identifier: MIT
// tilewright-layout: bank conflicts of layouts in LDS, and pictures of layouts, distributions and curves.
#include "commands.hpp"
#include "refusal.hpp"

#include <cstdio>
#include <exception>

namespace {

using namespace tilewright_layout;

void write(const std::string& text, const std::string& file) {
  std::FILE* const out = file.empty() ? stdout : std::fopen(file.c_str(), "wb");
  const bool written =
      out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0;
  const bool closed = out == nullptr || out == stdout || std::fclose(out) == 0;
  if (!written || !closed)
    throw refusal("the output cannot be written to " + (file.empty() ? "standard output" : "'" + file + "'"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const parsed_line line = parse_command_line(argc, argv);
    if (line.help) {
      write(line.text, "");
      return 0;
    }
    const answer result = answer_to(line.asked);
    write(result.text, line.asked.out_file);
    return result.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewright-layout: %s\n", error.what());
    return 2;
  }
}
