// SPDX-License-Identifier: MIT
// A matrix product through LDS and matrix instructions, for each input_type type.
#include "../max_error.hpp"

#include <cmath>

#include "emulated_kernels.hpp"

namespace {
enum class input_type { f16, bf16, fp8, i8 };

input_type element_of(const std::string& name) {
  if (name.find("bf16") != name.npos) return input_type::bf16;
  if (name.find("fp8") != name.npos) return input_type::fp8;
  return name.find("i8") != name.npos || name == "product_big3" ? input_type::i8 : input_type::f16;
}

// Elements along k are contiguous, in A and in B.
class product {
 public:
  product(input_type type, bool fnuz, int m, int n, int k)
      : type_(type), format_(fnuz ? emu::fp8_fnuz : emu::fp8_ocp), m_(m), n_(n), k_(k), c_(m * n * 4, 0xff) {
    fill(a_, a_values_, m * k), fill(b_, b_values_, n * k);
  }
  emu::result launch(emu::module& code, unsigned block, const emu::options& options) {
    allow(code, a_), allow(code, b_), allow(code, c_);
    const auto arguments = emu::kernarg().add(a_.data()).add(b_.data()).add(c_.data()).add(m_).add(n_).add(k_);
    return code.launch("gemm", {unsigned(n_ / 64), unsigned(m_ / 64)}, {block}, 0, arguments, options);
  }
  double largest_error() const {
    double worst = 0;
    for (int i = 0; i < m_; ++i)
      for (int j = 0; j < n_; ++j) {
        double want = 0;
        for (int k = 0; k < k_; ++k) want += a_values_[i * k_ + k] * b_values_[j * k_ + k];
        const double error = std::fabs(result(i * n_ + j) - want);
        worst = max_error(worst, error);
      }
    return worst;
  }
  double tolerance() const { return type_ == input_type::i8 ? 0 : 1e-4 * std::sqrt(k_); }

 private:
  std::size_t size() const { return type_ == input_type::f16 || type_ == input_type::bf16 ? 2 : 1; }
  std::uint32_t random_bits() const {
    const float value = float(int(random_numbers()() % 2001) - 1000) / 500;
    switch (type_) {
      case input_type::f16: return emu::f32_to_f16(value);
      case input_type::bf16: return emu::f32_to_bf16(value);
      case input_type::fp8: return emu::f32_to_small(value, format_, true);
      case input_type::i8: break;
    }
    return random_numbers()() & 255;
  }
  double value_of(std::uint32_t bits) const {
    switch (type_) {
      case input_type::f16: return emu::f16_to_f32(std::uint16_t(bits));
      case input_type::bf16: return emu::bf16_to_f32(std::uint16_t(bits));
      case input_type::fp8: return emu::small_to_f32(bits, format_);
      case input_type::i8: break;
    }
    return std::int8_t(bits);
  }
  void fill(std::vector<std::uint8_t>& bytes, std::vector<double>& values, int count) const {
    bytes.resize(count * size());
    for (int i = 0; i < count; ++i) {
      const std::uint32_t bits = random_bits();
      values.push_back(value_of(bits));
      std::memcpy(&bytes[i * size()], &bits, size());
    }
  }
  double result(int index) const {
    const auto read = [&](auto value) {
      std::memcpy(&value, &c_[4 * index], 4);
      return double(value);
    };
    return type_ == input_type::i8 ? read(std::int32_t{0}) : read(0.0f);
  }

  input_type type_;
  emu::small_float format_;
  int m_, n_, k_;
  std::vector<std::uint8_t> a_, b_, c_;
  std::vector<double> a_values_, b_values_;
};
}  // namespace

using Product = emulated_test;

TEST_P(Product, EqualsTheSumOfProducts) {
  struct shape {
    int m, n, k;
    bool random_order;
  };
  for (const shape& s : {shape{64, 64, 64, false}, shape{192, 128, 64, false}, shape{128, 64, 192, true}}) {
    product problem(element_of(GetParam().name), target() == "gfx942", s.m, s.n, s.k);
    emu::options options;
    if (s.random_order) options.order = emu::options::random, options.slice = 7;
    const auto result = problem.launch(code_, 4 * wave_size(target()), options);
    EXPECT_EQ(first_race(result), "");
    EXPECT_LE(problem.largest_error(), problem.tolerance()) << s.m << "x" << s.n << "x" << s.k;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Product,
                         testing::ValuesIn(objects_named({"product_f16", "product_bf16", "product_fp8", "product_i8",
                                                          "product_big0", "product_big3", "product_preload"})));
