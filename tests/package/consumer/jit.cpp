// SPDX-License-Identifier: MIT
// Uses tilewright::jit and no header for kernels. Without a GPU or a compiler it gets a sentence for each.
#include <tilewright/jit/compiler.hpp>

#include <cstdio>
#include <cstring>

namespace jit = tilewright::jit;

template <class Work>
bool fails(const char* wanted, Work work) {
  try {
    work();
  } catch (const jit::error& e) {
    std::printf("%s\n", e.what());
    return std::strstr(e.what(), wanted) != nullptr;
  }
  return wanted == nullptr;
}

int main() {
  const jit::kernel_source source{.name = "scale", .code = "struct scale {};", .kernel = "scale"};
  const bool refuses_cpu = fails("the CPU emulator runs kernels", [] { jit::compiler({.target = "cpu"}); });
  const bool names_compiler = fails("no-such-compiler cannot be run", [&] {
    (void)jit::compiler({.target = "gfx942", .compiler = "no-such-compiler"}).code_object(source);
  });
  bool finds_gpu = true;
  try {
    jit::compiler here;
  } catch (const jit::error& e) {
    std::printf("%s\n", e.what());
    finds_gpu = std::strstr(e.what(), "name a target to compile without one") != nullptr;
  }
  return refuses_cpu && names_compiler && finds_gpu ? 0 : 1;
}
