// SPDX-License-Identifier: MIT
// Matrices with gaps between rows, filled at random, for tests of kernels on rows.
#pragma once

#include "../../max_error.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace rows_test {

using namespace tilewright;

/// rows x cols elements of T, 16-byte aligned rows where the stride is a multiple. With an odd gap an element is ahead.
template <class T>
struct matrix {
  index_t rows, cols, stride, ahead;
  std::vector<T> values;

  matrix(index_t num_rows, index_t num_cols, index_t gap, T fill)
      : rows(num_rows),
        cols(num_cols),
        stride(num_cols + gap),
        ahead(gap % 2),
        values(std::size_t(ahead) + std::size_t(num_rows) * std::size_t(stride), fill) {}
  matrix(index_t num_rows, index_t num_cols, index_t gap, std::mt19937& random, float scale = 1)
      : matrix(num_rows, num_cols, gap, T(0.0f)) {
    std::normal_distribution<float> gaussian;
    for (T& x : values) x = type_convert<T>(gaussian(random) * scale);
  }
  T* data() { return values.data() + ahead; }
  T& at(index_t r, index_t c) { return data()[std::size_t(r) * std::size_t(stride) + std::size_t(c)]; }
  double operator()(index_t r, index_t c) const {
    return double(float(values[std::size_t(r) * std::size_t(stride) + std::size_t(ahead + c)]));
  }
  /// Whether the elements between the rows are still `fill`.
  bool has_clean_gaps(T fill) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t from = i + std::size_t(stride - ahead);
      if (index_t(from % std::size_t(stride)) >= cols && std::memcmp(&values[i], &fill, sizeof(T)) != 0) return false;
    }
    return true;
  }
};

/// Zeros that take no memory until they are written: for tensors of more than 2^31 elements.
template <class T>
struct far_memory {
  T* data;
  std::size_t bytes;

  explicit far_memory(long_index_t elements) : bytes(std::size_t(elements) * sizeof(T)) {
    data = static_cast<T*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (data == MAP_FAILED) throw std::bad_alloc();
  }
  far_memory(const far_memory&) = delete;
  ~far_memory() { munmap(data, bytes); }
};

/// 1 to about `most`, short ones as likely as long ones; a multiple of `multiple`.
inline index_t random_length(std::mt19937& random, index_t most, index_t multiple) {
  const index_t bits = index_t(random() % unsigned(32 - __builtin_clz(unsigned(most))));
  const index_t n = std::min(most, (1 << bits) + index_t(random() % (1u << bits)));
  return ceil_div(n, multiple) * multiple;
}

/// Kernel::check refuses, with a sentence that contains `words`.
template <class Kernel>
void expect_refusal(const typename Kernel::args_type& args, const char* words) {
  const char* const why = Kernel::check(args);
  ASSERT_NE(why, nullptr) << "expected: " << words;
  EXPECT_NE(std::string(why).find(words), std::string::npos) << why;
}

}  // namespace rows_test
