// SPDX-License-Identifier: MIT
// What every program does around its work: exit codes, one sentence for an error, and JSON where that was asked for.
#pragma once

#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "refusal.hpp"

namespace program {

enum exit_code { success = 0, wrong_result = 1, refused = 2 };

/// Prints a report. Throws refusal if standard output does not take it.
void print(const std::string& text);

/// Prints the sentence to standard error, and returns the code.
int fail(exit_code code, const std::string& sentence);

/// Runs `work`, whose result is the exit code, and turns exceptions into an error message: refusal and a lack of memory
/// give 2, others 1. With --json or --format json, standard output gets a JSON object with the sentence if nothing was
/// printed.
int run(const char* name, int argc, const char* const* argv, const std::function<int()>& work);

/// launch(). What it throws becomes "the kernel failed: ...", but refusals and a lack of memory stay what they are.
template <class Launch>
auto run_kernel(Launch launch) try {
  return launch();
} catch (const refusal&) {
  throw;
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& error) {
  throw std::runtime_error(std::string("the kernel failed: ") + error.what());
}

}  // namespace program
