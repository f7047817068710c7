// SPDX-License-Identifier: MIT
// The calls to HIP's or CUDA's runtime that launch() makes, with their errors as launch_error.
#pragma once

#include <tilewright/launch/launch_error.hpp>
#include <tilewright/launch/ready_kernel.hpp>

#if !defined(__HIP__) && !defined(__CUDACC__)
#error "launch/detail/gpu_runtime.hpp launches on GPUs: compile this file as HIP or CUDA, or include launch/launch.hpp"
#elif defined(__HIP__)
#include <hip/hip_runtime_api.h>
#define TILEWRIGHT_RUNTIME(name) hip##name
#else
#include <cuda_runtime_api.h>
#include <tilewright/machine/exec/nvptx/make_tensor_map.hpp>
#define TILEWRIGHT_RUNTIME(name) cuda##name
#endif

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace tilewright::detail {

using gpu_stream = TILEWRIGHT_RUNTIME(Stream_t);

/// Throws launch_error with the runtime's message; `what` says what failed.
inline void require_success(TILEWRIGHT_RUNTIME(Error_t) error, const char* what) {
  if (error == TILEWRIGHT_RUNTIME(Success)) return;
  (void)TILEWRIGHT_RUNTIME(GetLastError)();  // the next call must not report it again
  throw launch_error(std::string("launch: ") + what + ": " + TILEWRIGHT_RUNTIME(GetErrorString)(error));
}

/// The result of find() for a function on the current device; find() is called once for each of them.
template <class Find>
auto remembered(const void* function, Find find) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, decltype(find())> results;
  int device = 0;
  require_success(TILEWRIGHT_RUNTIME(GetDevice)(&device), "looking for a GPU");
  const std::lock_guard lock(mutex);
  const auto known = results.find({function, device});
  if (known != results.end()) return known->second;
  return results[{function, device}] = find();
}

/// A __global__ function and the shape of its launches.
struct gpu_launch {
  const void* function = nullptr;  // null: nothing is launched
  dim3 grid{1, 1, 1};
  index_t block_size = 0, lds_bytes = 0, cluster = 1;
  bool overlaps_previous = false;
};

/// How many blocks of a kernel without clusters run at the same time.
inline index_t resident_blocks(const gpu_launch& launch) {
#if defined(__HIP__)
  constexpr auto count = hipDeviceAttributeMultiprocessorCount;
  constexpr std::size_t lds_bytes = 0;  // kernels for AMD GPUs declare their LDS themselves
#else
  constexpr auto count = cudaDevAttrMultiProcessorCount;
  const auto lds_bytes = std::size_t(launch.lds_bytes);
#endif
  int device = 0, blocks = 0, SMs = 0;
  require_success(TILEWRIGHT_RUNTIME(GetDevice)(&device), "looking for a GPU");
  require_success(TILEWRIGHT_RUNTIME(DeviceGetAttribute)(&SMs, count, device), "asking for the number of SMs");
  require_success(TILEWRIGHT_RUNTIME(OccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, launch.function,
                                                                                launch.block_size, lds_bytes),
                  "asking how many blocks fit on an SM");
  return blocks * SMs;
}

#if defined(__HIP__)

inline void queue(const gpu_launch& launch, const void* args, gpu_stream stream) {
  void* parameter = const_cast<void*>(args);
  // Kernels for AMD GPUs declare their LDS themselves.
  require_success(
      hipLaunchKernel(launch.function, launch.grid, dim3(unsigned(launch.block_size)), &parameter, 0, stream),
      "queueing the kernel");
}

/// The target whose code the current GPU runs.
inline std::string target_of(const void*) {
  return remembered(nullptr, [] {
    int device = 0;
    hipDeviceProp_t properties;
    require_success(hipGetDevice(&device), "looking for a GPU");
    require_success(hipGetDeviceProperties(&properties, device), "asking for the GPU's properties");
    const std::string name = properties.gcnArchName;
    return name.substr(0, name.find(':'));  // without features such as :sramecc+
  });
}

inline void allow_lds(const gpu_launch&) {}

inline launch_facts facts_of(const gpu_launch& launch) { return {.resident_clusters = resident_blocks(launch)}; }

#else

/// The form in which CUDA takes a launch.
struct cuda_launch {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};

  explicit cuda_launch(const gpu_launch& launch, gpu_stream stream = nullptr) {
    config.gridDim = launch.grid;
    config.blockDim = dim3(unsigned(launch.block_size));
    config.dynamicSmemBytes = std::size_t(launch.lds_bytes);
    config.stream = stream;
    config.attrs = attributes;
    if (launch.cluster > 1) {
      cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {unsigned(launch.cluster), 1, 1};
    }
    if (launch.overlaps_previous) {
      cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
  }
  cuda_launch(const cuda_launch&) = delete;
};

inline void queue(const gpu_launch& launch, const void* args, gpu_stream stream) {
  void* parameter = const_cast<void*>(args);
  const cuda_launch how(launch, stream);
  require_success(cudaLaunchKernelExC(&how.config, launch.function, &parameter), "queueing the kernel");
}

/// The target for which the code was compiled that the current GPU runs.
inline std::string target_of(const void* function) {
  return remembered(function, [&] {
    cudaFuncAttributes attributes;
    require_success(cudaFuncGetAttributes(&attributes, function), "looking for a GPU and the kernel's code for it");
    return std::string(attributes.ptxVersion >= 90 ? "sm_90" : "sm_80");
  });
}

/// Dynamic LDS of more than 48 KiB must be allowed.
inline void allow_lds(const gpu_launch& launch) {
  if (launch.lds_bytes <= 48 * 1024) return;
  require_success(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.lds_bytes),
                  "asking for the kernel's shared memory");
}

/// How many clusters of a kernel run at the same time. CUDA's count of clusters is 0 for kernels without any.
inline index_t resident_clusters(const gpu_launch& launch) {
  int result = 0;
  if (launch.cluster > 1) {
    gpu_launch one = launch;
    one.grid = dim3(unsigned(launch.cluster));
    const cuda_launch how(one);
    require_success(cudaOccupancyMaxActiveClusters(&result, launch.function, &how.config),
                    "asking how many clusters run at the same time");
  } else {
    result = resident_blocks(launch);
  }
  if (result == 0) throw launch_error("launch: the GPU cannot run one cluster of this kernel");
  return result;
}

inline launch_facts facts_of(const gpu_launch& launch) {
  const index_t clusters = remembered(launch.function, [&] { return resident_clusters(launch); });
  return {.resident_clusters = clusters,
          .make_tensor_map = [](exec::tensor_map& map, const exec::tensor_map_request& request) {
            require_success(exec::make_tensor_map(map, request), "encoding a tensor map");
          }};
}

#endif

}  // namespace tilewright::detail
#undef TILEWRIGHT_RUNTIME
