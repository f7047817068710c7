// SPDX-License-Identifier: MIT
// How much memory a problem takes, and whether this process can have it.
#include "memory.hpp"

#include "../program/available_memory.hpp"
#include "formatted.hpp"

namespace gemm_program {
namespace {

std::string sizes_of(const problem& p) {
  return "m = " + std::to_string(p.m) + ", n = " + std::to_string(p.n) + ", k = " + std::to_string(p.k);
}

std::string gibibytes(std::int64_t bytes) { return formatted("%.1f GiB", double(bytes) * 0x1p-30); }

}  // namespace

std::int64_t memory_bytes(const problem& p, int copies_of_c) {
  bool overflows = false;
  const auto times = [&](std::int64_t x, std::int64_t y) {
    overflows = __builtin_mul_overflow(x, y, &x) || overflows;
    return x;
  };
  const std::int64_t operand = times(p.batch, bytes_of(p.type)), result = times(p.batch, bytes_of(p.result));
  const std::int64_t results = 1 + copies_of_c + (p.epilogue.residual ? 1 : 0);
  std::int64_t sum = 0;
  const auto places = [&](std::int64_t rows, std::int64_t cols, order storage) {
    const std::int64_t length = storage == order::row_major ? cols : rows,
                       lines = storage == order::row_major ? rows : cols;
    std::int64_t stride = 0;
    overflows = __builtin_add_overflow(length, p.gap, &stride) || overflows;
    return times(lines, stride);
  };
  for (const std::int64_t bytes :
       {times(places(p.m, p.k, p.a_order), operand), times(places(p.k, p.n, p.b_order), operand),
        times(times(places(p.m, p.n, p.c_order), result), results)})
    overflows = __builtin_add_overflow(sum, bytes, &sum) || overflows;
  if (overflows) throw refusal("matrices of " + sizes_of(p) + " take more bytes than 64 bits can count");
  return sum;
}

void require_memory(const problem& p, int copies_of_c) {
  const std::int64_t needed = memory_bytes(p, copies_of_c);
  const std::int64_t available = program::available_memory();
  if (needed > available)
    throw refusal("matrices of " + sizes_of(p) + " take " + gibibytes(needed) + ", and this process can have " +
                  gibibytes(available) + " of memory");
}

}  // namespace gemm_program
