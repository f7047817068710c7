// SPDX-License-Identifier: MIT
// Owners of device memory and events, and errors of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpu_benchmark {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

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

/// A point in a stream of work.
class event {
 public:
  event() { check(cudaEventCreate(&e_), "creating an event"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { (void)cudaEventDestroy(e_); }

  void record(cudaStream_t stream = nullptr) { check(cudaEventRecord(e_, stream), "recording an event"); }
  double seconds_since(const event& begin) const {
    check(cudaEventSynchronize(e_), "waiting for the GPU");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.e_, e_), "reading a timer");
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t e_ = nullptr;
};

}  // namespace gpu_benchmark
