// SPDX-License-Identifier: MIT
// What a launch of a Hopper kernel is made of: whether it can do a product, how blocks share it, which tensors are
// copied by which boxes.
#pragma once

#include <tilewright/arch/matrix_element.hpp>
#include <tilewright/arch/tensor_map.hpp>
#include <tilewright/gemm/hopper/hopper_choice.hpp>

namespace tilewright {

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
  if (g.n * long_index_t(sizeof(typename Policy::result_type)) % 16 != 0)
    return "bulk copies write 16 bytes at once: n must be a multiple of 8 (of 16, for a C of 8 bits); use the portable "
           "kernel";
  if (g.m > 0x7fffffff - 1024 || g.n > 0x7fffffff - 1024 || g.k > 0x7fffffff - 1024)
    return "m, n or k is too close to 2^31";
  if (const char* why = epilogue::detail::check<epilogue_of<Policy>>(
          g, epilogue_promise{2, sizeof(typename Policy::result_type), true})) {
    return why;
  }
  const long_index_t tiles = long_index_t(ceil_div(g.m, Policy::tile.m)) * ceil_div(g.n, Policy::tile.n) * g.batch;
  if (tiles > 0x7fffffff / 64) return "C has too many tiles";
  return nullptr;
}

/// How much memory there is where parts of tiles meet.
struct hopper_workspace_size {
  long_index_t floats = 0;
  index_t counters = 0;
};

/// A launch, but for memory addresses of the machine: tensor maps are made of the requests a, b and c.
struct hopper_plan {
  work_schedule schedule;
  index_t blocks;
  exec::tensor_map_request a, b, c;
};

namespace detail {

/// A batch of matrices, x contiguous, and the box of one copy.
struct extent {
  index_t x, y;
};
template <class T>
exec::tensor_map_request request_map(const void* data, extent lengths, index_t leading_dimension, index_t batch,
                                     long_index_t batch_stride, extent box) {
  constexpr long_index_t bytes = sizeof(T);
  return {const_cast<void*>(data),
          matrix_element_v<T>,
          {lengths.x, lengths.y, batch},
          {leading_dimension * bytes, batch > 1 ? batch_stride * bytes : 16},
          {box.x, box.y}};
}

}  // namespace detail

/// For a machine that runs `resident` clusters at the same time. Call hopper_check first.
template <class Policy>
hopper_plan plan_hopper(const gemm_args& g, index_t resident, const hopper_workspace_size& workspace) {
  using T = typename Policy::element_type;
  constexpr bool a_along_k = Policy::a_major == operand_major::k, b_along_k = Policy::b_major == operand_major::k;
  constexpr index_t k = Policy::tile_k;
  constexpr hopper_tile tile = Policy::tile;
  const index_t max_parts = index_t(workspace.floats / (tile.m * tile.n * tile.cluster()));
  const bool counters = resident * tile.cluster() * tile.consumers <= workspace.counters;
  const work_schedule schedule =
      make_work_schedule(hopper_order(g, tile, resident), ceil_div(g.k, k), resident, counters ? max_parts : 0);
  return {schedule, min(schedule.num_units(), resident) * tile.cluster(),
          detail::request_map<T>(g.a, {a_along_k ? g.k : g.m, a_along_k ? g.m : g.k}, g.lda, g.batch, g.batch_stride_a,
                                 {k, a_along_k ? tile.m / tile.share_a : k}),
          detail::request_map<T>(g.b, {b_along_k ? g.k : g.n, b_along_k ? g.n : g.k}, g.ldb, g.batch, g.batch_stride_b,
                                 {k, b_along_k ? tile.n / tile.share_b : k}),
          detail::request_map<typename Policy::result_type>(g.c, {g.n, g.m}, g.ldc, g.batch, g.batch_stride_c,
                                                            {tile.store_n(), 64})};
}

}  // namespace tilewright
