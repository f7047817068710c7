// SPDX-License-Identifier: MIT
// Prepares and starts Hopper GEMM kernels, from host code that nvcc compiles.
#pragma once

#include <tilewright/exec/nvptx/make_tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_kernel.hpp>
#include <tilewright/gemm/hopper/hopper_plan.hpp>

namespace tilewright {

template <class Policy>
__global__ void __launch_bounds__(Policy::tile.block_size(), 1)
    hopper_gemm_kernel([[maybe_unused]] const __grid_constant__ hopper_args args) {
#if TILEWRIGHT_NVPTX_PASS && defined(__CUDA_ARCH_FEAT_SM90_ALL)
  const exec::lds_pointer lds = exec::lds_allocate<Policy::lds.bytes()>();
  hopper_gemm<Policy>{args, lds, {exec::lds_address(lds), Policy::tile.cluster() > 1 ? exec::block_of_cluster() : 0}}();
#endif
}

/// Memory on the GPU where parts of tiles meet: 35 MB.
class hopper_workspace {
 public:
  static constexpr long_index_t num_floats = 2 * 132 * 128 * 256, num_counters = 1024;

  hopper_workspace() = default;
  hopper_workspace(const hopper_workspace&) = delete;
  ~hopper_workspace() { (void)cudaFree(memory_); }
  cudaError_t allocate() {
    const cudaError_t error = cudaMalloc(&memory_, num_counters * sizeof(unsigned) + num_floats * sizeof(float));
    return error != cudaSuccess ? error : cudaMemset(memory_, 0, num_counters * sizeof(unsigned));
  }
  unsigned* counters() const { return static_cast<unsigned*>(memory_); }
  float* parts() const { return static_cast<float*>(memory_) + num_counters; }

 private:
  void* memory_ = nullptr;
};

/// A launch, ready to be repeated: tensor maps are made and the grid is chosen.
template <class Policy>
struct hopper_launch {
  static constexpr hopper_tile tile = Policy::tile;

  hopper_args args{};
  index_t blocks = 0;

  /// Call hopper_check first. Launches that share a workspace must not run at the same time.
  cudaError_t prepare(const gemm_args& g, const hopper_workspace& workspace) {
    index_t resident = 0;
    cudaError_t error = resident_clusters(resident);
    if (error != cudaSuccess) return error;
    const hopper_plan plan =
        plan_hopper<Policy>(g, resident, {hopper_workspace::num_floats, hopper_workspace::num_counters});
    args.gemm = g;
    args.schedule = plan.schedule;
    args.parts = workspace.parts();
    args.counters = workspace.counters();
    blocks = plan.blocks;
    error = exec::make_tensor_map(args.a, plan.a);
    if (error == cudaSuccess) error = exec::make_tensor_map(args.b, plan.b);
    if (error == cudaSuccess) error = exec::make_tensor_map(args.c, plan.c);
    return error;
  }

  /// Queues the product.
  cudaError_t operator()(cudaStream_t stream) const {
    launch_config config(blocks, stream);
    return cudaLaunchKernelEx(&config.value, &hopper_gemm_kernel<Policy>, args);
  }

 private:
  struct launch_config {
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t value = {};

    launch_config(index_t blocks, cudaStream_t stream) {
      attributes[0].id = cudaLaunchAttributeClusterDimension;
      attributes[0].val.clusterDim = {unsigned(tile.cluster()), 1, 1};
      attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[1].val.programmaticStreamSerializationAllowed = 1;
      value.gridDim = dim3(unsigned(blocks));
      value.blockDim = dim3(unsigned(tile.block_size()));
      value.dynamicSmemBytes = Policy::lds.bytes();
      value.stream = stream;
      value.attrs = attributes;
      value.numAttrs = 2;
    }
  };

  /// How many clusters the GPU runs at the same time; not all multiprocessors may find a place in one.
  static cudaError_t resident_clusters(index_t& result) {
    static index_t clusters = 0;
    if (clusters == 0) {
      const void* const kernel = reinterpret_cast<const void*>(&hopper_gemm_kernel<Policy>);
      cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Policy::lds.bytes());
      if (error != cudaSuccess) return error;
      const launch_config config(tile.cluster(), nullptr);
      error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config.value);
      if (error != cudaSuccess) return error;
      if (clusters == 0) return cudaErrorInvalidConfiguration;
    }
    result = clusters;
    return cudaSuccess;
  }
};

}  // namespace tilewright
