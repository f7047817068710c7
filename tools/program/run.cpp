// SPDX-License-Identifier: MIT
// What every program does around its work: exit codes, one sentence for an error, and JSON where that was asked for.
#include "run.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "json.hpp"
#include "text.hpp"

namespace program {
namespace {

const char* program_name = "";
bool wants_json = false, has_printed = false;

bool asks_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json" || word == "--format=json") return true;
    if (word == "--format" && i + 1 < argc && std::string_view(argv[i + 1]) == "json") return true;
  }
  return false;
}

/// A closed standard stream must not become the number of an output file. Writing to standard output fails then.
void open_standard_streams() {
  for (int stream = 0; stream < 3; ++stream)
    if (fcntl(stream, F_GETFD) < 0) open(stream == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR);
}

}  // namespace

void print(const std::string& text) {
  has_printed = true;
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 || std::ferror(stdout))
    throw refusal("standard output cannot be written");
}

int fail(exit_code code, const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", program_name, printable(sentence).c_str());
  if (!wants_json || has_printed) return code;
  json object = json::object();
  object.add("program", program_name).add("error", sentence).add("exit_code", int(code));
  std::fputs(object.text().c_str(), stdout);
  std::fflush(stdout);
  return code;
}

int run(const char* name, int argc, const char* const* argv, const std::function<int()>& work) {
  open_standard_streams();
  program_name = name;
  wants_json = asks_for_json(argc, argv);
  try {
    return work();
  } catch (const refusal& error) {
    return fail(refused, error.what());
  } catch (const std::bad_alloc&) {
    return fail(refused, "this machine does not have enough memory for the request");
  } catch (const std::exception& error) {
    return fail(wrong_result, error.what());
  }
}

}  // namespace program
