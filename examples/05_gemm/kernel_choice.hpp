// SPDX-License-Identifier: MIT
// Which kernel computes a problem: element type, contiguous dimensions of the operands, and whether memory allows whole vectors.
#pragma once

#include "backend.hpp"

#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/gemm/operand_copy.hpp>
#include <tilewright/numeric/types.hpp>

#include <type_traits>

namespace gemm_example {

namespace tw = tilewright;

template <class T, tw::operand_major AMajor, tw::operand_major BMajor, tw::index_t Vector>
struct kernel_choice {
  using element_type = T;
  static constexpr tw::operand_major a_major = AMajor;
  static constexpr tw::operand_major b_major = BMajor;
  static constexpr tw::index_t vector = Vector;

  static std::string name() {
    std::string s = std::is_same_v<T, tw::half_t> ? "gemm_f16_a" : "gemm_bf16_a";
    s += a_major == tw::operand_major::k ? "k_b" : "m_b";
    s += b_major == tw::operand_major::k ? "k_v" : "n_v";
    return s + std::to_string(vector);
  }
};

/// A problem as the kernels see it. They write row-major matrices; a column-major C is the row-major product of the transposed
/// operands in reverse order.
struct kernel_problem {
  tw::gemm_args args;
  element type;
  tw::operand_major a_major, b_major;
};

inline kernel_problem kernel_problem_of(const problem& p, const void* a, const void* b, void* c) {
  const auto fits = [](std::int64_t n) { return n > 0 && n <= 0x7fffffff; };
  if (!fits(p.m) || !fits(p.n) || !fits(p.k)) throw refusal("m, n and k must lie between 1 and 2147483647");
  using tw::operand_major;
  const bool a_row = p.a_order == order::row_major, b_row = p.b_order == order::row_major;
  const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
  const tw::index_t lda = a_row ? k : m, ldb = b_row ? n : k;
  const operand_major a_major = a_row ? operand_major::k : operand_major::mn;
  const operand_major b_major = b_row ? operand_major::mn : operand_major::k;
  kernel_problem r{{}, p.type, a_major, b_major};
  if (p.c_order == order::row_major) {
    r.args = {.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = n};
  } else {
    r.args = {.a = b, .b = a, .c = c, .m = n, .n = m, .k = k, .lda = ldb, .ldb = lda, .ldc = m};
    r.a_major = b_major;
    r.b_major = a_major;
  }
  r.args.alpha = p.alpha;
  r.args.beta = p.beta;
  return r;
}

namespace detail {

template <class T, tw::operand_major AMajor, tw::operand_major BMajor, class F>
auto with_vector(const tw::gemm_args& args, F&& f) {
  constexpr tw::index_t v = 8;
  const tw::index_t a_row = AMajor == tw::operand_major::k ? args.k : args.m;
  const tw::index_t b_row = BMajor == tw::operand_major::k ? args.k : args.n;
  if (a_row % v == 0 && b_row % v == 0 && args.n % v == 0) return f(kernel_choice<T, AMajor, BMajor, v>{});
  return f(kernel_choice<T, AMajor, BMajor, 1>{});
}

template <class T, class F>
auto with_majors(const kernel_problem& p, F&& f) {
  using enum tw::operand_major;
  if (p.a_major == k && p.b_major == k) return with_vector<T, k, k>(p.args, f);
  if (p.a_major == k) return with_vector<T, k, mn>(p.args, f);
  if (p.b_major == k) return with_vector<T, mn, k>(p.args, f);
  return with_vector<T, mn, mn>(p.args, f);
}

}  // namespace detail

/// f(kernel_choice) with the choice for a problem.
template <class F>
auto with_kernel_choice(const kernel_problem& p, F&& f) {
  return p.type == element::f16 ? detail::with_majors<tw::half_t>(p, f) : detail::with_majors<tw::bfloat16_t>(p, f);
}

}  // namespace gemm_example
