// SPDX-License-Identifier: MIT
// Prepares and starts Hopper GEMM kernels, from host code that nvcc compiles.
#pragma once

#include <tilewright/exec/nvptx/make_tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_choice.hpp>
#include <tilewright/gemm/hopper/hopper_kernel.hpp>

namespace tilewright {

template <class Policy>
__global__ void __launch_bounds__(Policy::tile.block_size(), 1)
    hopper_gemm_kernel([[maybe_unused]] const __grid_constant__ hopper_args args) {
#if TILEWRIGHT_NVPTX_PASS && defined(__CUDA_ARCH_FEAT_SM90_ALL)
  const exec::lds_pointer lds = exec::lds_allocate<Policy::lds.bytes()>();
  hopper_gemm<Policy>{args, lds, {exec::lds_address(lds), Policy::tile.cluster() > 1 ? exec::block_of_cluster() : 0}}();
#endif
}

/// What a kernel of this policy cannot do with these arguments, as a sentence; nullptr when it can.
template <class Policy>
const char* hopper_check(const gemm_args& g) {
  using T = typename Policy::element_type;
  if (g.m < 1 || g.n < 1 || g.k < 1 || g.batch < 1) return "m, n, k and the batch count must be positive";
  const bool a_along_k = Policy::a_major == operand_major::k, b_along_k = Policy::b_major == operand_major::k;
  if (g.lda < (a_along_k ? g.k : g.m)) return "lda is smaller than a row of A (a column, if A is column-major)";
  if (g.ldb < (b_along_k ? g.k : g.n)) return "ldb is smaller than a row of B (a column, if B is column-major)";
  if (g.ldc < g.n) return "ldc is smaller than a row of C";
  const auto aligned = [](const void* p, index_t ld, long_index_t batch_stride, index_t bytes) {
    return reinterpret_cast<unsigned long long>(p) % 16 == 0 && long_index_t(ld) * bytes % 16 == 0 &&
           batch_stride * bytes % 16 == 0;
  };
  if (!aligned(g.a, g.lda, g.batch_stride_a, sizeof(T)) || !aligned(g.b, g.ldb, g.batch_stride_b, sizeof(T)) ||
      !aligned(g.c, g.ldc, g.batch_stride_c, sizeof(typename Policy::result_type))) {
    return "bulk copies need pointers, leading dimensions and batch strides that are multiples of 16 bytes; use the "
           "portable kernel";
  }
  if (long_index_t(g.n) * sizeof(typename Policy::result_type) % 16 != 0)
    return "bulk copies write 16 bytes at once: n must be a multiple of 8 (of 16, for a C of 8 bits); use the portable "
           "kernel";
  if (g.m > 0x7fffffff - 1024 || g.n > 0x7fffffff - 1024 || g.k > 0x7fffffff - 1024)
    return "m, n or k is too close to 2^31";
  constexpr epilogue_options e = Policy::epilogue;
  if ((e.scale && !g.scale) || (e.row_scale && !g.row_scale) || (e.column_scale && !g.column_scale) ||
      (e.bias && !g.bias) || (e.residual && !g.residual)) {
    return "the epilogue needs a pointer that is null: scale, row_scale, column_scale, bias or residual";
  }
  if ((e.residual || (e.from_args && g.residual)) && g.ld_residual < g.n)
    return "ld_residual is smaller than a row of the residual";
  const long_index_t pair = 2 * sizeof(typename Policy::result_type);
  const auto in_pairs = [](const void* p, long_index_t bytes) {
    return reinterpret_cast<unsigned long long>(p) % bytes == 0;
  };
  if (!e.is_plain() && (!in_pairs(g.column_scale, 8) || !in_pairs(g.bias, pair) || !in_pairs(g.residual, pair) ||
                        (g.residual && (g.ld_residual % 2 != 0 || g.batch_stride_residual % 2 != 0)))) {
    return "the epilogue reads two elements at once: column_scale, bias and residual must be aligned to two of theirs, "
           "ld_residual and batch_stride_residual even; use the portable kernel";
  }
  const long_index_t tiles = long_index_t(ceil_div(g.m, Policy::tile.m)) * ceil_div(g.n, Policy::tile.n) * g.batch;
  if (tiles > 0x7fffffff / 64) return "C has too many tiles";
  return nullptr;
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
  using T = typename Policy::element_type;
  using Result = typename Policy::result_type;
  static constexpr hopper_tile tile = Policy::tile;

  hopper_args args{};
  index_t blocks = 0;

  /// Call hopper_check first. Launches that share a workspace must not run at the same time.
  cudaError_t prepare(const gemm_args& g, const hopper_workspace& workspace) {
    constexpr bool a_along_k = Policy::a_major == operand_major::k, b_along_k = Policy::b_major == operand_major::k;
    constexpr index_t k = Policy::tile_k;
    index_t resident = 0;
    cudaError_t error = resident_clusters(resident);
    if (error != cudaSuccess) return error;
    args.gemm = g;
    args.parts = workspace.parts();
    args.counters = workspace.counters();
    const tile_order order = hopper_order(g, tile, resident);
    const index_t max_parts = index_t(hopper_workspace::num_floats / (tile.m * tile.n * tile.cluster()));
    const bool counters = resident * tile.cluster() * tile.consumers <= hopper_workspace::num_counters;
    args.schedule = make_work_schedule(order, ceil_div(g.k, k), resident, counters ? max_parts : 0);
    blocks = min(args.schedule.num_units(), resident) * tile.cluster();

    error = make_map(args.a, g.a, {a_along_k ? g.k : g.m, a_along_k ? g.m : g.k}, g.lda, g.batch, g.batch_stride_a,
                     {k, a_along_k ? tile.m / tile.share_a : k}, T{});
    if (error != cudaSuccess) return error;
    error = make_map(args.b, g.b, {b_along_k ? g.k : g.n, b_along_k ? g.n : g.k}, g.ldb, g.batch, g.batch_stride_b,
                     {k, b_along_k ? tile.n / tile.share_b : k}, T{});
    if (error != cudaSuccess) return error;
    return make_map(args.c, g.c, {g.n, g.m}, g.ldc, g.batch, g.batch_stride_c, {tile.store_n(), 64}, Result{});
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

  struct extent {
    index_t x, y;  // x is contiguous
  };
  template <class Element>
  static cudaError_t make_map(exec::tensor_map& result, const void* data, extent lengths, index_t leading_dimension,
                              index_t batch, long_index_t batch_stride, extent box, Element) {
    constexpr long_index_t bytes = sizeof(Element);
    const CUtensorMapDataType type = bytes == 1                   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : __is_same(Element, half_t) ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const long_index_t matrix_bytes = batch > 1 ? batch_stride * bytes : 16;
    return exec::make_tensor_map(result, {const_cast<void*>(data),
                                          type,
                                          index_t(bytes),
                                          {lengths.x, lengths.y, batch},
                                          {leading_dimension * bytes, matrix_bytes},
                                          {box.x, box.y}});
  }
};

}  // namespace tilewright
