// SPDX-License-Identifier: MIT
// Tests of compiled kernels on the emulator, which takes the place of HIP's runtime.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/error.hpp>

namespace jit = tilewright::jit;
using tilewright::bfloat16_t;
using tilewright::half_t;
using tilewright::index_t;
using tilewright::long_index_t;

/// Memory of the emulated GPU, with its elements here.
template <class T>
struct emulated_array {
  std::vector<T> host;
  jit::buffer memory;

  T* data() const { return static_cast<T*>(memory.data()); }
  void download() { memory.download(host.data()); }
  T& operator[](index_t i) { return host[std::size_t(i)]; }
  double value(index_t i) const { return double(float(host[std::size_t(i)])); }
};

class Emulated : public testing::Test {
 protected:
  void SetUp() override { compiler.emplace(); }
  template <class T>
  jit::buffer on_gpu(const std::vector<T>& data) {
    jit::buffer b = compiler->allocate(data.size() * sizeof(T));
    b.upload(data.data());
    return b;
  }
  template <class T = half_t>
  static std::vector<T> numbers(index_t count, int seed) {
    std::vector<T> list(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = T(float((int(i) * seed) % 13 - 6) / 4);
    return list;
  }
  /// Numbers of a seed; zeros for 0.
  template <class T = half_t>
  emulated_array<T> array(index_t count, int seed = 0) {
    std::vector<T> host = seed != 0 ? numbers<T>(count, seed) : std::vector<T>(std::size_t(count));
    jit::buffer memory = on_gpu(host);
    return {std::move(host), std::move(memory)};
  }
  template <class T>
  emulated_array<T> array_of(std::vector<T> host) {
    jit::buffer memory = on_gpu(host);
    return {std::move(host), std::move(memory)};
  }
  template <class Work>
  static std::string sentence_of(Work work) {
    try {
      work();
    } catch (const jit::error& e) {
      return e.what();
    }
    return {};
  }
  std::optional<jit::compiler> compiler;
};
