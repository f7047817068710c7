// SPDX-License-Identifier: MIT
// The few functions of HIP's or CUDA's runtime that the programs which measure a GPU need, under one name.
#pragma once

#if defined(__HIP__)
#include <hip/hip_runtime_api.h>
#define TOOLS_GPU(name) hip##name
#else
#include <cuda_runtime_api.h>
#define TOOLS_GPU(name) cuda##name
#endif

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpu {

/// There is no GPU, or no code for it.
struct unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(TOOLS_GPU(Error_t) error, const char* what) {
  if (error != TOOLS_GPU(Success))
    throw std::runtime_error(std::string(what) + ": " + TOOLS_GPU(GetErrorString)(error));
}

/// Name and instruction set ("gfx942", "sm_90") of device 0.
struct device_facts {
  std::string name, target;
};

inline device_facts device() {
  int count = 0;
  const auto error = TOOLS_GPU(GetDeviceCount)(&count);
  if (error != TOOLS_GPU(Success) || count == 0) throw unusable("no GPU was found");
#if defined(__HIP__)
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  std::string target = properties.gcnArchName;
  target = target.substr(0, target.find(':'));  // without features such as :sramecc+
#else
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const std::string target = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#endif
  return {properties.name, target};
}

/// Elements in the GPU's memory.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size) : size_(size) {
    void* p = nullptr;
    check(TOOLS_GPU(Malloc)(&p, size * sizeof(T)), "allocating memory on the GPU");
    p_ = static_cast<T*>(p);
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { (void)TOOLS_GPU(Free)(p_); }

  T* data() const { return p_; }
  void upload(const std::vector<T>& from) {
    check(TOOLS_GPU(Memcpy)(p_, from.data(), from.size() * sizeof(T), TOOLS_GPU(MemcpyHostToDevice)),
          "copying to the GPU");
  }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    check(TOOLS_GPU(Memcpy)(to.data(), p_, size_ * sizeof(T), TOOLS_GPU(MemcpyDeviceToHost)), "copying from the GPU");
    return to;
  }

 private:
  T* p_;
  std::size_t size_;
};

/// One block of `threads`, with lds_bytes of LDS (HIP kernels bring their own). Waits for the end.
inline void run_block(const void* kernel, int threads, [[maybe_unused]] std::size_t lds_bytes, void** arguments) {
#if defined(__HIP__)
  lds_bytes = 0;
#else
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(lds_bytes)), "asking for LDS");
#endif
  check(TOOLS_GPU(LaunchKernel)(kernel, dim3(1), dim3(unsigned(threads)), arguments, lds_bytes, nullptr),
        "launching a kernel");
  check(TOOLS_GPU(DeviceSynchronize)(), "running a kernel");
}

}  // namespace gpu
