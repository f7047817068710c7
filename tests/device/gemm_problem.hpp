// SPDX-License-Identifier: MIT
// A small matrix product with operands in memory and the result that a kernel must find, bit for bit.
#pragma once

#include <amdgcn_emulator.hpp>

#include <limits>
#include <random>

#include "gemm_kernels.hpp"

struct gemm_shape {
  tilewright::index_t m, n, k, batch = 1;
  float alpha = 1, beta = 0;
  tilewright::index_t padding = 0;  // elements between rows and, seven times as many, between batches

  friend std::ostream& operator<<(std::ostream& out, const gemm_shape& s) {
    return out << s.m << "x" << s.n << "x" << s.k << ", batch " << s.batch << ", alpha " << s.alpha << ", beta "
               << s.beta << ", padding " << s.padding;
  }
};

/// Rows of `length` elements, of which only these, not what is between them, belong to the matrix.
struct padded_matrix {
  using index_t = tilewright::index_t;
  index_t rows, length, ld, batch, batch_stride;
  std::vector<std::uint16_t> elements;

  padded_matrix(index_t rows, index_t length, index_t batch, index_t padding)
      : rows(rows),
        length(length),
        ld(length + padding),
        batch(batch),
        batch_stride(rows * ld + 7 * padding),
        elements(batch * batch_stride) {}

  std::uint16_t& at(index_t b, index_t row, index_t i) { return elements[b * batch_stride + row * ld + i]; }
  template <class F>
  void for_each(F f) {
    for (index_t b = 0; b < batch; ++b)
      for (index_t row = 0; row < rows; ++row)
        for (index_t i = 0; i < length; ++i) f(b, row, i);
  }
  /// Lets kernels touch the rows, each on its own: an access that runs from one into the next is a fault, too.
  void allow(emu::module& code) {
    for (index_t b = 0; b < batch; ++b)
      for (index_t row = 0; row < rows; ++row) code.allow(&at(b, row, 0), length * sizeof(std::uint16_t));
  }
};

/// All values are multiples of 1/4 and so small that float sums are exact in any order: results are rounded once.
class gemm_problem {
 public:
  using index_t = tilewright::index_t;

  gemm_problem(const gemm_kernel_facts& kernel, const gemm_shape& shape, unsigned seed)
      : kernel_(kernel),
        shape_(shape),
        a_(operand(kernel.a_major, shape.m)),
        b_(operand(kernel.b_major, shape.n)),
        c_(shape.m, shape.n, shape.batch, shape.padding) {
    std::mt19937 random(seed);
    const auto small = [&] { return kernel.bits_of((int(random() % 13) - 6) * 0.25); };
    for (padded_matrix* matrix : {&a_, &b_}) {
      std::fill(matrix->elements.begin(), matrix->elements.end(), nan());
      matrix->for_each([&](index_t b, index_t row, index_t i) { matrix->at(b, row, i) = small(); });
    }
    std::fill(c_.elements.begin(), c_.elements.end(), nan());
    if (shape.beta != 0) c_.for_each([&](index_t b, index_t row, index_t i) { c_.at(b, row, i) = small(); });
    compute_expected();
  }

  tilewright::gemm_args args() {
    return {.a = a_.elements.data(),
            .b = b_.elements.data(),
            .c = c_.elements.data(),
            .m = shape_.m,
            .n = shape_.n,
            .k = shape_.k,
            .lda = a_.ld,
            .ldb = b_.ld,
            .ldc = c_.ld,
            .alpha = shape_.alpha,
            .beta = shape_.beta,
            .batch = shape_.batch,
            .batch_stride_a = a_.batch_stride,
            .batch_stride_b = b_.batch_stride,
            .batch_stride_c = c_.batch_stride};
  }

  padded_matrix& a() { return a_; }
  padded_matrix& b() { return b_; }
  padded_matrix& c() { return c_; }

  /// The first element of C, padding included, that is not what it should be; empty if there is none.
  std::string first_difference() {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (c_.elements[i] == expected_[i]) continue;
      const index_t batch = i / c_.batch_stride, row = i % c_.batch_stride / c_.ld, col = i % c_.batch_stride % c_.ld;
      return "C(" + std::to_string(row) + ", " + std::to_string(col) + ") of batch " + std::to_string(batch) + " is " +
             std::to_string(kernel_.value_of(c_.elements[i])) + ", expected " +
             std::to_string(kernel_.value_of(expected_[i]));
    }
    return {};
  }

 private:
  padded_matrix operand(tilewright::operand_major major, index_t rows) const {
    const bool along_k = major == tilewright::operand_major::k;
    return {along_k ? rows : shape_.k, along_k ? shape_.k : rows, shape_.batch, shape_.padding};
  }
  std::uint16_t nan() const { return kernel_.bits_of(std::numeric_limits<double>::quiet_NaN()); }

  double element(padded_matrix& matrix, tilewright::operand_major major, index_t batch, index_t row, index_t k) const {
    return kernel_.value_of(major == tilewright::operand_major::k ? matrix.at(batch, row, k)
                                                                  : matrix.at(batch, k, row));
  }
  void compute_expected() {
    expected_ = c_.elements;
    c_.for_each([&](index_t batch, index_t m, index_t n) {
      double sum = 0;
      for (index_t k = 0; k < shape_.k; ++k)
        sum += element(a_, kernel_.a_major, batch, m, k) * element(b_, kernel_.b_major, batch, n, k);
      double result = shape_.alpha * sum;
      if (shape_.beta != 0) result += shape_.beta * kernel_.value_of(c_.at(batch, m, n));
      expected_[batch * c_.batch_stride + m * c_.ld + n] = kernel_.bits_of(result);
    });
  }

  const gemm_kernel_facts& kernel_;
  gemm_shape shape_;
  padded_matrix a_, b_, c_;
  std::vector<std::uint16_t> expected_;
};
