// SPDX-License-Identifier: MIT
// A copy of a std::vector in the memory that kernels use: the GPU's, or the CPU's own on the CPU emulator.
#pragma once

#include <tilewright/launch/launch_error.hpp>

#include <string>
#include <vector>

#if defined(__HIP__)
#include <hip/hip_runtime_api.h>
#define GPU(name) hip##name
#elif defined(__CUDACC__)
#include <cuda_runtime_api.h>
#define GPU(name) cuda##name
#endif

namespace gemm_example {

#if defined(GPU)

inline void require_success(GPU(Error_t) error, const char* otherwise) {
  if (error != GPU(Success)) throw tilewright::launch_error(std::string(otherwise) + ": " + GPU(GetErrorString)(error));
}

template <class T>
class device_vector {
 public:
  explicit device_vector(const std::vector<T>& values) : size_(values.size()) {
    require_success(GPU(Malloc)(reinterpret_cast<void**>(&data_), size_ * sizeof(T)), "no memory on a GPU");
    require_success(GPU(Memcpy)(data_, values.data(), size_ * sizeof(T), GPU(MemcpyHostToDevice)),
                    "no copy to the GPU");
  }
  device_vector(const device_vector&) = delete;
  ~device_vector() { (void)GPU(Free)(data_); }

  T* data() { return data_; }
  /// Waits for the kernels that were queued before.
  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    require_success(GPU(Memcpy)(values.data(), data_, size_ * sizeof(T), GPU(MemcpyDeviceToHost)), "the kernel failed");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

#else

template <class T>
class device_vector : std::vector<T> {
 public:
  explicit device_vector(const std::vector<T>& values) : std::vector<T>(values) {}
  using std::vector<T>::data;
  std::vector<T> to_host() const { return *this; }
};

#endif

}  // namespace gemm_example
