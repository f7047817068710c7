// SPDX-License-Identifier: MIT
// The few functions of HIP's or CUDA's runtime that programs of this project need, under one name. Host code of any
// compiler may include it, where the runtime's target (tilewright_find_gpu_runtime) is linked.
#pragma once

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime_api.h>
#define TILEWRIGHT_GPU(name) hip##name
#else
#include <cuda_runtime_api.h>
#define TILEWRIGHT_GPU(name) cuda##name
#endif

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpu {

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
inline constexpr auto out_of_memory = hipErrorOutOfMemory;
#else
inline constexpr auto out_of_memory = cudaErrorMemoryAllocation;
#endif

/// There is no GPU, no code for it, or not enough memory on it.
struct unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(TILEWRIGHT_GPU(Error_t) error, const char* what) {
  if (error == TILEWRIGHT_GPU(Success)) return;
  const std::string message = std::string(what) + ": " + TILEWRIGHT_GPU(GetErrorString)(error);
  if (error == out_of_memory) throw unusable(message);
  throw std::runtime_error(message);
}

/// Facts of device 0: its name, its instruction set ("gfx942", "sm_90"), its SMs (compute units).
struct device_facts {
  std::string name, target;
  int SMs;
};

inline device_facts device() {
  int count = 0;
  const auto error = TILEWRIGHT_GPU(GetDeviceCount)(&count);
  if (error != TILEWRIGHT_GPU(Success))
    throw unusable(std::string("no GPU was found (") + TILEWRIGHT_GPU(GetErrorString)(error) + ")");
  if (count == 0) throw unusable("no GPU was found");
#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  std::string target = properties.gcnArchName;
  target = target.substr(0, target.find(':'));  // without features such as :sramecc+
#else
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const std::string target = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#endif
  return {properties.name, target, properties.multiProcessorCount};
}

/// Elements in the GPU's memory.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size) : size_(size) {
    void* p = nullptr;
    check(TILEWRIGHT_GPU(Malloc)(&p, size * sizeof(T)), "allocating memory on the GPU");
    p_ = static_cast<T*>(p);
  }
  /// A copy of `size` elements; of none if `from` is null.
  buffer(const T* from, std::size_t size) : buffer(from ? size : 0) { upload(from); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { (void)TILEWRIGHT_GPU(Free)(p_); }

  /// Null where there are no elements.
  T* data() const { return size_ > 0 ? p_ : nullptr; }
  /// Copies all elements from or to host memory of the same size.
  void upload(const T* from) {
    if (size_ > 0)
      check(TILEWRIGHT_GPU(Memcpy)(p_, from, size_ * sizeof(T), TILEWRIGHT_GPU(MemcpyHostToDevice)),
            "copying to the GPU");
  }
  void upload(const std::vector<T>& from) { upload(from.data()); }
  void download(T* to) const {
    if (size_ > 0)
      check(TILEWRIGHT_GPU(Memcpy)(to, p_, size_ * sizeof(T), TILEWRIGHT_GPU(MemcpyDeviceToHost)),
            "copying from the GPU");
  }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    download(to.data());
    return to;
  }

 private:
  T* p_ = nullptr;
  std::size_t size_;
};

/// A point in a stream of work.
class event {
 public:
  event() { check(TILEWRIGHT_GPU(EventCreate)(&e_), "creating an event"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { (void)TILEWRIGHT_GPU(EventDestroy)(e_); }

  void record(TILEWRIGHT_GPU(Stream_t) stream = nullptr) {
    check(TILEWRIGHT_GPU(EventRecord)(e_, stream), "recording an event");
  }
  double seconds_since(const event& begin) const {
    check(TILEWRIGHT_GPU(EventSynchronize)(e_), "waiting for the GPU");
    float milliseconds = 0;
    check(TILEWRIGHT_GPU(EventElapsedTime)(&milliseconds, begin.e_, e_), "reading a timer");
    return milliseconds * 1e-3;
  }

 private:
  TILEWRIGHT_GPU(Event_t) e_ = nullptr;
};

/// Queues blocks of `threads`, each with lds_bytes of LDS (HIP kernels bring their own).
inline void launch(const void* kernel, dim3 blocks, int threads, [[maybe_unused]] std::size_t lds_bytes,
                   void** arguments) {
#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
  lds_bytes = 0;
#else
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(lds_bytes)), "asking for LDS");
#endif
  check(TILEWRIGHT_GPU(LaunchKernel)(kernel, blocks, dim3(unsigned(threads)), arguments, lds_bytes, nullptr),
        "launching a kernel");
}

/// One block. Waits for the end.
inline void run_block(const void* kernel, int threads, std::size_t lds_bytes, void** arguments) {
  launch(kernel, dim3(1), threads, lds_bytes, arguments);
  check(TILEWRIGHT_GPU(DeviceSynchronize)(), "running a kernel");
}

}  // namespace gpu
