// SPDX-License-Identifier: MIT
// The dozen runtime functions that the program needs, under one name for HIP and CUDA.
#pragma once

#include "backend.hpp"

#if defined(__HIP__)
#include <hip/hip_runtime_api.h>
#define GEMM_GPU(name) hip##name
#else
#include <cuda_runtime_api.h>
#define GEMM_GPU(name) cuda##name
#endif

#include <string>

namespace gemm_example::gpu {

inline void check(GEMM_GPU(Error_t) error, const char* what) {
  if (error == GEMM_GPU(Success)) return;
  const std::string message = std::string(what) + ": " + GEMM_GPU(GetErrorString)(error);
#if defined(__HIP__)
  if (error == hipErrorOutOfMemory) throw refusal(message);
#else
  if (error == cudaErrorMemoryAllocation) throw refusal(message);
#endif
  throw std::runtime_error(message);
}

/// Name and instruction set ("gfx942", "sm_90") of device 0. Throws a refusal where there is no usable device.
struct device_facts {
  std::string name, target;
};

inline device_facts device() {
  int count = 0;
  const auto error = GEMM_GPU(GetDeviceCount)(&count);
  if (error != GEMM_GPU(Success) || count == 0) {
    std::string why = error != GEMM_GPU(Success) ? std::string(" (") + GEMM_GPU(GetErrorString)(error) + ")" : "";
    throw refusal("no GPU was found" + why + "; use --device host to run on the CPU");
  }
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

/// Memory on the GPU.
class buffer {
 public:
  explicit buffer(std::size_t bytes) : bytes_(bytes) {
    check(GEMM_GPU(Malloc)(&p_, bytes), "allocating memory on the GPU");
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { (void)GEMM_GPU(Free)(p_); }

  void* data() const { return p_; }
  void upload(const void* from) {
    check(GEMM_GPU(Memcpy)(p_, from, bytes_, GEMM_GPU(MemcpyHostToDevice)), "copying to the GPU");
  }
  void download(void* to) const {
    check(GEMM_GPU(Memcpy)(to, p_, bytes_, GEMM_GPU(MemcpyDeviceToHost)), "copying from the GPU");
  }

 private:
  void* p_ = nullptr;
  std::size_t bytes_;
};

/// A point in the GPU's stream of work.
class event {
 public:
  event() { check(GEMM_GPU(EventCreate)(&e_), "creating an event"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { (void)GEMM_GPU(EventDestroy)(e_); }

  void record() { check(GEMM_GPU(EventRecord)(e_, nullptr), "recording an event"); }
  double seconds_since(const event& begin) const {
    check(GEMM_GPU(EventSynchronize)(e_), "waiting for the GPU");
    float milliseconds = 0;
    check(GEMM_GPU(EventElapsedTime)(&milliseconds, begin.e_, e_), "reading a timer");
    return milliseconds * 1e-3;
  }

 private:
  GEMM_GPU(Event_t) e_ = nullptr;
};

}  // namespace gemm_example::gpu
