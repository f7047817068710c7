// SPDX-License-Identifier: MIT
// What WebAssembly lacks: exceptions that are caught, and files to write.
#include "../program/output_file.hpp"
#include "../program/refusal.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

extern "C" {
void* __cxa_allocate_exception(std::size_t bytes) noexcept { return std::malloc(bytes); }
void __cxa_free_exception(void* memory) noexcept { std::free(memory); }

/// Everything that the programs throw derives from std::exception first. Nothing catches it: the program ends.
[[noreturn]] void __cxa_throw(void* thrown, void*, void* (*)(void*)) {
  std::fprintf(stderr, "%s\n", static_cast<std::exception*>(thrown)->what());
  std::exit(2);
}
}

namespace program {

void require_writable(const std::string&) { throw refusal("--out needs a file system"); }
void write_file(const std::string& name, std::string_view) { require_writable(name); }

}  // namespace program
