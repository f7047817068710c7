// SPDX-License-Identifier: MIT
// Tensors on the GPU in any order of dimensions, with gaps, between bytes that no kernel may change.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <tilewright/core/base/math.hpp>

#include "on_gpu.hpp"

namespace ops_test {

using indices = std::vector<tilewright::long_index_t>;

/// One element; fp8 is that of gfx942.
inline double read_element(tw::element type, const unsigned char* from) {
  const auto as = [&]<class T>(T x) {
    std::memcpy(&x, from, sizeof x);
    return double(float(x));
  };
  switch (type) {
    case tw::element::f16: return as(tilewright::half_t{});
    case tw::element::bf16: return as(tilewright::bfloat16_t{});
    case tw::element::fp8: return as(tilewright::fp8_fnuz_t{});
    case tw::element::i8: return as(tilewright::int8_t{});
    default: return as(0.0f);
  }
}
inline void write_element(tw::element type, unsigned char* to, float value) {
  const auto as = [&]<class T>(T) {
    const T x = tilewright::type_convert<T>(value);
    std::memcpy(to, &x, sizeof x);
  };
  switch (type) {
    case tw::element::f16: return as(tilewright::half_t{});
    case tw::element::bf16: return as(tilewright::bfloat16_t{});
    case tw::element::fp8: return as(tilewright::fp8_fnuz_t{});
    case tw::element::i8: return as(tilewright::int8_t{});
    default: std::memcpy(to, &value, 4);
  }
}

class guarded_tensor {
 public:
  tw::tensor view;  ///< null before create()

  /// The last `contiguous` dimensions are in order and without gaps, the others in any order with gaps of some vectors
  /// of `vector` elements. All bytes are no numbers.
  void create(tw::element type, const indices& lengths, int contiguous, int vector, std::mt19937& random) {
    type_ = type;
    bytes_of_element_ = type == tw::element::fp8 || type == tw::element::i8     ? 1
                        : type == tw::element::f16 || type == tw::element::bf16 ? 2
                                                                                : 4;
    view = {.type = type, .rank = int(lengths.size())};
    std::vector<int> order(lengths.size());  // in memory, the innermost first
    std::iota(order.rbegin(), order.rend(), 0);
    std::shuffle(order.begin() + contiguous, order.end(), random);
    tilewright::long_index_t stride = 1;
    for (int i = 0; i < view.rank; ++i) {
      const int d = order[std::size_t(i)];
      if (i >= contiguous && random() % 3 == 0) stride += 1 + index_of(random() % 2);
      if (i >= contiguous) stride = (stride + vector - 1) / vector * vector;
      view.lengths[d] = lengths[std::size_t(d)], view.strides[d] = stride;
      stride *= lengths[std::size_t(d)];
    }
    bytes_.assign(std::size_t((stride + 2 * guard) * bytes_of_element_), type == tw::element::fp8 ? 0x80 : 0xff);
    is_written_.assign(bytes_.size(), false);
    memory_.clear();
    memory_.push_back(gpu().allocate(bytes_.size()));
    view.data = static_cast<unsigned char*>(memory_[0].data()) + guard * bytes_of_element_;
  }

  double get(const indices& at) const { return read_element(type_, bytes_.data() + offset(at)); }
  void set(const indices& at, double value) { write_element(type_, bytes_.data() + offset(at), float(value)); }
  void set_word(const indices& at, int value) { std::memcpy(bytes_.data() + offset(at), &value, 4); }
  /// A kernel is to write this element.
  void set_result(const indices& at) {
    for (int i = 0; i < bytes_of_element_; ++i) is_written_[offset(at) + std::size_t(i)] = true;
  }

  void upload() const {
    if (view.data) memory_[0].upload(bytes_.data());
  }
  /// Downloads results; other bytes must be as they were.
  void download(const char* name) {
    if (!view.data) return;
    const std::vector<unsigned char> before = bytes_;
    memory_[0].download(bytes_.data());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i) changed += !is_written_[i] && bytes_[i] != before[i];
    EXPECT_EQ(changed, 0u) << "bytes of " << name << " that are no results";
  }

 private:
  static constexpr int guard = 256;  // elements before and after
  static tilewright::long_index_t index_of(unsigned long x) { return tilewright::long_index_t(x); }

  std::size_t offset(const indices& at) const {
    tilewright::long_index_t elements = guard;
    for (std::size_t i = 0; i < at.size(); ++i) elements += at[i] * view.strides[i];
    return std::size_t(elements * bytes_of_element_);
  }

  tw::element type_{};
  int bytes_of_element_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<bool> is_written_;
  std::vector<tilewright::jit::buffer> memory_;
};

}  // namespace ops_test
