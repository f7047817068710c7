// SPDX-License-Identifier: MIT
// A program that uses the headers, and the CPU emulator where its build says so.
#include <tilewright/core.hpp>
#include <tilewright/version.hpp>

#include <cstdio>

static_assert(__cplusplus >= 202002L, "the library asks for C++20");

#ifdef CONSUMER_HAS_HOST
int sum_on_the_cpu_emulator();
#else
int sum_on_the_cpu_emulator() { return 64 * 63 / 2; }
#endif

int main() {
  const int sum = sum_on_the_cpu_emulator();
  std::printf("tilewright %d.%d.%d: %d\n", TILEWRIGHT_VERSION_MAJOR, TILEWRIGHT_VERSION_MINOR, TILEWRIGHT_VERSION_PATCH,
              sum);
  return sum == 64 * 63 / 2 ? 0 : 1;
}
