// SPDX-License-Identifier: MIT
// Owners of device memory and of events; errors of the CUDA runtime as exceptions.
#pragma once

#include <cstddef>
#include <utility>

#include "../../tools/gpu/runtime.hpp"

namespace gpu_benchmark {

using gpu::check, gpu::event;

/// Device memory.
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t bytes) { check(cudaMalloc(&p_, bytes), "allocating device memory"); }
  buffer(buffer&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~buffer() { (void)cudaFree(p_); }
  void* data() const { return p_; }

 private:
  void* p_ = nullptr;
};

}  // namespace gpu_benchmark
