// SPDX-License-Identifier: MIT
// How much memory a problem takes, and whether this machine has it.
#include "memory.hpp"

#include <cstdio>
#include <string>

#include <unistd.h>

namespace gemm_example {
namespace {

std::string sizes_of(const problem& p) {
  return "m = " + std::to_string(p.m) + ", n = " + std::to_string(p.n) + ", k = " + std::to_string(p.k);
}

std::string gibibytes(std::int64_t bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f GiB", double(bytes) * 0x1p-30);
  return text;
}

}  // namespace

std::int64_t memory_bytes(const problem& p, bool keeps_initial_c) {
  std::int64_t a = 0, b = 0, c = 0, sum = 0;
  const bool overflows = __builtin_mul_overflow(p.m, p.k, &a) || __builtin_mul_overflow(p.k, p.n, &b) ||
                         __builtin_mul_overflow(p.m, p.n, &c) ||
                         __builtin_mul_overflow(c, keeps_initial_c ? 2 : 1, &c) || __builtin_add_overflow(a, b, &sum) ||
                         __builtin_add_overflow(sum, c, &sum) || __builtin_mul_overflow(sum, 2, &sum);
  if (overflows) throw refusal("matrices of " + sizes_of(p) + " take more bytes than 64 bits can count");
  return sum;
}

void require_memory(const problem& p, bool keeps_initial_c) {
  const std::int64_t needed = memory_bytes(p, keeps_initial_c);
  const std::int64_t present = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (present > 0 && needed > present)
    throw refusal("matrices of " + sizes_of(p) + " take " + gibibytes(needed) + ", and this machine has " +
                  gibibytes(present) + " of memory");
}

}  // namespace gemm_example
