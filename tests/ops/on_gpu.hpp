// SPDX-License-Identifier: MIT
// Tensors in the memory of the emulated GPU, for tests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <tilewright/jit/compiler.hpp>
#include <tilewright/ops.hpp>

namespace ops_test {

namespace tw = tilewright::ops;

/// Allocates; nothing of it is compiled.
inline tilewright::jit::compiler& gpu() {
  static tilewright::jit::compiler only({.cache = {.enabled = false}});
  return only;
}

template <class T>
constexpr tw::element element_for() {
  if constexpr (__is_same(T, tilewright::half_t)) return tw::element::f16;
  if constexpr (__is_same(T, tilewright::bfloat16_t)) return tw::element::bf16;
  if constexpr (__is_same(T, tilewright::int8_t)) return tw::element::i8;
  if constexpr (__is_same(T, int)) return tw::element::i32;
  return tw::element::f32;
}

/// A packed tensor of random numbers between -1 and 1 (integers: -8 to 8), here and on the GPU.
template <class T>
class on_gpu {
 public:
  explicit on_gpu(std::initializer_list<tilewright::long_index_t> lengths, unsigned seed = 1)
      : view(tw::packed(nullptr, element_for<T>(), lengths)),
        data(count(lengths)),
        memory_(gpu().allocate(data.size() * sizeof(T))) {
    std::mt19937 random(seed);
    for (T& x : data) {
      const int number = int(random() % 17) - 8;
      x = std::is_integral_v<T> ? T(number) : T(float(number) / 8);
    }
    view.data = memory_.data();
    upload();
  }
  void upload() const { memory_.upload(data.data()); }
  const std::vector<T>& download() {
    memory_.download(data.data());
    return data;
  }
  operator const tw::tensor&() const { return view; }

  tw::tensor view;
  std::vector<T> data;

 private:
  static std::size_t count(std::initializer_list<tilewright::long_index_t> lengths) {
    std::size_t n = 1;
    for (const tilewright::long_index_t l : lengths) n *= std::size_t(l);
    return n;
  }
  tilewright::jit::buffer memory_;
};

/// The error message of a call; empty if it throws nothing.
template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const tw::operation_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace ops_test
