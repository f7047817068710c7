// SPDX-License-Identifier: MIT
// A matrix product to time, and its operands in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpu_benchmark {

/// Element type of A and B. C has the same type, or bf16 where A and B have 8 bits.
enum class element { f16, bf16, e4m3 };

inline const char* name_of(element e) { return e == element::f16 ? "f16" : e == element::bf16 ? "bf16" : "e4m3"; }
inline std::size_t bytes_of(element e) { return e == element::e4m3 ? 1 : 2; }

/// C (m x n, row-major) = A (m x k) times B (k x n), each row- or column-major.
struct problem {
  std::int64_t m, n, k;
  element type;
  bool b_col_major;
  bool a_col_major = false;

  std::size_t a_bytes() const { return std::size_t(m * k) * bytes_of(type); }
  std::size_t b_bytes() const { return std::size_t(k * n) * bytes_of(type); }
  std::size_t c_bytes() const { return std::size_t(m * n) * 2; }
  element c_type() const { return type == element::e4m3 ? element::bf16 : type; }
  std::size_t bytes() const { return a_bytes() + b_bytes() + c_bytes(); }
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
  std::string name() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " + name_of(type) +
           (a_col_major ? " A col" : "") + (b_col_major ? " B col" : " B row");
  }
};

/// Device pointers of one set of operands.
struct operands {
  const void* a;
  const void* b;
  void* c;
};

}  // namespace gpu_benchmark
