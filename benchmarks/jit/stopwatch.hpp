// SPDX-License-Identifier: MIT
// Times of the host, and memory of the GPU filled with Gaussian numbers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <tilewright/core/base/types.hpp>

inline void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class device_array {
 public:
  explicit device_array(std::size_t bytes) : bytes_(bytes) {
    require(cudaMalloc(&data_, std::max<std::size_t>(bytes, 16)));
  }
  device_array(const device_array&) = delete;
  ~device_array() { (void)cudaFree(data_); }
  void* at(std::size_t byte) const { return static_cast<char*>(data_) + byte; }
  void upload(const void* from) const { require(cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice)); }
  void download(void* to) const { require(cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost)); }
  /// Halves, which repeat after a million.
  void fill(unsigned seed) const {
    std::vector<tilewright::half_t> some(1 << 20);
    std::mt19937 random(seed);
    std::normal_distribution<float> gaussian;
    for (tilewright::half_t& x : some) x = tilewright::half_t(gaussian(random));
    for (std::size_t at = 0; at < bytes_; at += some.size() * 2)
      require(cudaMemcpy(this->at(at), some.data(), std::min(some.size() * 2, bytes_ - at), cudaMemcpyHostToDevice));
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};
