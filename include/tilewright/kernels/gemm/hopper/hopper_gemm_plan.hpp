// SPDX-License-Identifier: MIT
// A launch of warp_specialized_pipeline, made on the host: tensor maps, the schedule, memory where parts of tiles meet.
#pragma once

#include <tilewright/block/schedule/stream_k_schedule.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_block.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

namespace tilewright {

/// gemm_args::workspace of these kernels: without it no tile is split along k, which takes longer where the last round
/// of tiles is not full. The counters must be 0 before the first launch, and are 0 after each. Launches that share a
/// workspace must not run at the same time.
struct hopper_gemm_workspace {
  static constexpr index_t num_counters = detail::split_k_counters;  // at the beginning
  static constexpr long_index_t num_floats = 2 * 132 * 128 * 256;
  static constexpr long_index_t counter_bytes = num_counters * long_index_t{4};
  static constexpr long_index_t bytes = counter_bytes + num_floats * 4;  // 35 MB
};

namespace detail {

/// Where parts of tiles meet: for each of them, block of a cluster and consumer 64 x n floats, and a counter,
/// 0 before and after.
struct split_memory {
  float* parts = nullptr;
  unsigned* counters = nullptr;
  index_t max_slots = 0;

  split_memory() = default;
  /// The workspace's, if it suffices for `resident` clusters.
  split_memory(const gemm_args& g, const hopper_gemm_tile& tile, index_t resident) {
    using size = hopper_gemm_workspace;
    if (!g.workspace || resident * tile.cluster() * tile.consumers > size::num_counters) return;
    parts = static_cast<float*>(g.workspace) + size::num_counters;
    counters = static_cast<unsigned*>(g.workspace);
    max_slots = index_t(size::num_floats / (tile.m * tile.n * tile.cluster()));
  }
};

/// Adds up the parts of all tiles, where gemm_args::split_k is more than 1.
template <class Reduction>
struct sum_after_hopper_gemm : Reduction {
  static constexpr const char* check(const gemm_args&) { return nullptr; }
  static constexpr grid_size grid(const typename Reduction::args_type& args) {
    return args.split_k > 1 ? Reduction::grid(args) : grid_size{0, 1, 1};
  }
};

/// The tensor map of a batch of matrices with rows of x elements, and of the box that one copy moves.
struct extent {
  index_t x, y;
};
template <class T>
exec::tensor_map_request request_map(const void* data, extent lengths, index_t leading_dimension, index_t batch,
                                     long_index_t batch_stride, extent box) {
  constexpr long_index_t bytes = sizeof(T);
  return {const_cast<void*>(data),
          arch::matrix_element_v<T>,
          {lengths.x, lengths.y, batch},
          {leading_dimension * bytes, batch > 1 ? batch_stride * bytes : 16},
          {box.x, box.y}};
}

/// How the scales of a stage come, where there are any: those of A's rows by one bulk copy, if they lie one after
/// another in memory; the others by copies of a lane each.
template <class Args>
struct scale_plan {};
template <>
struct scale_plan<block_scaled_args> {
  exec::tensor_map a_scales;
  bool copies_scales_at_once;

  /// Lanes of the copying wave that tell a stage's barrier that theirs have come; b_scales: those of B in a stage.
  TILEWRIGHT_HD index_t scale_arrivals(index_t b_scales) const { return copies_scales_at_once ? b_scales : 32; }
};

/// Plans them for tiles of `rows` rows.
template <class MakeTensorMap>
void plan_scales(scale_plan<block_scaled_args>& plan, const block_scaled_args& g, index_t rows,
                 MakeTensorMap make_tensor_map) {
  constexpr vector_alignment whole_copies{4, 4};
  plan.copies_scales_at_once =
      g.row_stride_a_scales == 1 && whole_copies.is_met_by(g.a_scales, 4, g.k_stride_a_scales, g.batch_stride_a_scales);
  if (plan.copies_scales_at_once)
    make_tensor_map(plan.a_scales, request_map<float>(g.a_scales, {g.m, ceil_div(g.k, 128)}, g.k_stride_a_scales,
                                                      g.batch, g.batch_stride_a_scales, {scale_rows(rows), 1}));
}

/// What crosses to the device. Args is the policy's args_type.
template <class Args, index_t Products>
struct hopper_gemm_device_args : scale_plan<Args> {
  exec::tensor_map a, b[Products], c;  // boxes of a stage and of C
  exec::tensor_map narrow_c;           // the last boxes of rows, where they are narrower
  Args args;
  stream_k_schedule schedule;  // of clusters
  fast_tile_order order;       // the schedule's
  split_memory memory;
  index_t blocks;
  index_t turn;  // k tiles for which two consumers take turns at the end of a tile
};

/// What bulk copies cannot do with these arguments, or tiles with unaligned, as a sentence; nullptr when there is
/// nothing.
template <class Policy>
constexpr const char* check_tma(const typename Policy::args_type& g) {
  constexpr index_t bytes = sizeof(typename Policy::element_type), result_bytes = sizeof(typename Policy::result_type);
  constexpr hopper_gemm_tile tile = hopper_gemm_block<Policy>::tile;
  constexpr bool unaligned = tile.unaligned;
  constexpr vector_alignment operand_alignment{unaligned ? 1 : 16 / bytes, result_bytes},
      c_alignment{unaligned ? 1 : 16 / result_bytes, result_bytes};
  if (!operand_alignment.is_met_by(g.a, bytes, g.lda, g.batch_stride_a) ||
      !operand_alignment.is_met_by(g.b, bytes, g.ldb, g.batch_stride_b) ||
      !c_alignment.is_met_by(g.c, result_bytes, g.ldc, g.batch_stride_c) ||
      (Policy::products > 1 && g.product_stride_b * bytes % 16 != 0)) {
    if (unaligned) return "a pointer is not aligned to its elements";
    return "bulk copies need pointers, leading dimensions and strides of batches and products that are multiples of 16 "
           "bytes; use another pipeline";
  }
  if (g.n % c_alignment.vector != 0)
    return "bulk copies write 16 bytes at once: n must be a multiple of 8 (of 16, for a C of 8 bits); use another "
           "pipeline";
  // What lanes store and epilogues read: boxes of 16 rows, with operands exchanged of 64.
  const index_t ld = max(unaligned || g.split_k > 1 ? g.ldc : 0, g.residual ? g.ld_residual : 0);
  if (ld > 0x7fffffff / result_bytes / (tile.swap_ab ? 64 : 16))
    return "a leading dimension is so large that a block would need offsets of 2 GiB or more";
  const long_index_t tiles = long_index_t(ceil_div(tile.swap_ab ? g.n : g.m, tile.m)) *
                             ceil_div(tile.swap_ab ? g.m : g.n, tile.result_n()) * g.batch;
  return tiles > 0x7fffffff / 64 ? "C has too many tiles; use several launches" : nullptr;
}

/// Whether gemm_args::split_k may be more than 1: all tiles are split into equal parts, which another kernel adds up.
template <class Block>
inline constexpr bool splits_all_tiles =
    Block::groups == group_kind::none && Block::tile.products == 1 && !Block::is_block_scaled &&
    !Block::tile.ping_pong && !Block::receives_operands && !Block::sends_tiles && !Block::has_sender;

/// What forbids gemm_args::split_k.
template <class Policy>
constexpr const char* check_equal_parts(const gemm_args& g) {
  if (g.split_k == 1) return nullptr;
  if (!splits_all_tiles<hopper_gemm_block<Policy>>)
    return "this kernel does not split k into equal parts: set split_k to 1";
  if (!g.workspace) return "split_k needs a hopper_gemm_workspace";
  if (g.batch > 65535) return "the batch has more than 65535 problems, for which k is not split into equal parts";
  if (g.split_k < 1 || g.split_k > ceil_div(g.k, Policy::tile.k) || workspace_bytes(g) > hopper_gemm_workspace::bytes)
    return "split_k must be positive, not larger than the number of block tiles along k, and its parts must fit in a "
           "hopper_gemm_workspace";
  return nullptr;
}

/// The operands that a tile calls A and B.
template <class Args>
TILEWRIGHT_HD constexpr Args in_order_of(const hopper_gemm_tile& t, Args g) {
  if (!t.swap_ab) return g;
  const gemm_args given = g;
  g.a = given.b, g.lda = given.ldb, g.batch_stride_a = given.batch_stride_b, g.m = given.n;
  g.b = given.a, g.ldb = given.lda, g.batch_stride_b = given.batch_stride_a, g.n = given.m;
  return g;
}

/// The order of tiles for clusters of which `resident` run at the same time: together they cover about a square of C.
TILEWRIGHT_HD constexpr tile_order hopper_tile_order(const gemm_args& g, const hopper_gemm_tile& t, index_t resident) {
  const index_t rows = t.m * t.cluster_m, cols = t.result_n() * t.cluster_n;
  index_t group = 1;
  while ((group + 1) * (group + 1) * rows <= resident * cols) ++group;
  return {ceil_div(g.m, rows), ceil_div(g.n, cols), g.batch, group};
}

/// Rows of a group of tiles: as many as `order` has; more if L2 does not keep B for the next group, but their rows of
/// A.
constexpr index_t rows_kept_in_l2(const tile_order& order, const gemm_args& g, const hopper_gemm_tile& t,
                                  index_t element_bytes) {
  constexpr long_index_t mib = 1 << 20;
  const long_index_t row_bytes = long_index_t(g.k) * element_bytes, tile_bytes = t.m * t.cluster_m * row_bytes;
  if (g.n * row_bytes < 12 * mib) return order.group;
  return max(order.group, index_t(min(long_index_t(order.rows), 8 * mib / tile_bytes)));
}

/// In clocks: reading and writing LDS takes as long as wgmma, or longer.
TILEWRIGHT_HD constexpr split_cost split_cost_of(const hopper_gemm_tile& t) {
  return {max(t.m * t.n / 32, 2 * t.m + t.n + t.m / 64 * t.n), 4096, t.m * t.n / 16, 3 * t.m * t.n / 16};
}

/// Prepares a launch on a machine that runs `resident` clusters at the same time.
/// make_tensor_map(tensor_map&, request) encodes.
template <class Policy, class MakeTensorMap>
auto plan_hopper_gemm(const typename Policy::args_type& given, index_t resident, MakeTensorMap make_tensor_map) {
  using T = typename Policy::element_type;
  using block = hopper_gemm_block<Policy>;
  constexpr bool a_along_k = block::lds.a.k_is_contiguous, b_along_k = block::lds.b.k_is_contiguous;
  constexpr index_t k = block::tile_k;
  constexpr hopper_gemm_tile tile = block::tile;
  typename block::device_args d{};
  const auto g = in_order_of(tile, given);
  d.memory = {g, tile, resident};
  d.schedule = make_stream_k_schedule(hopper_tile_order(g, tile, resident), ceil_div(g.k, k), resident,
                                      g.split_k > 1 ? 0 : d.memory.max_slots, split_cost_of(tile));
  d.schedule.parts = g.split_k;
  d.schedule.order.group = rows_kept_in_l2(d.schedule.order, g, tile, sizeof(T));
  d.order = fast_tile_order(d.schedule.order);
  d.blocks = min(d.schedule.num_work_tiles(), resident) * tile.cluster();
  d.args = given;
  // Epilogues read two columns: if n is odd, rows of C and of what they read have room for one more.
  d.args.n = round_up(given.n, tile.unaligned ? 1 : 2);
  // By time on an H100, here and for groups. With a long turn the ring of stages is full of the tile's last ones, and
  // the next tile's come late.
  const index_t k_tiles = d.schedule.k_tiles;
  d.turn = k_tiles <= 5 ? 1 : k_tiles <= 24 || Policy::is_block_scaled ? 2 : 4;
  if (tile.unaligned) return d;
  make_tensor_map(d.a, detail::request_map<T>(g.a, {a_along_k ? g.k : g.m, a_along_k ? g.m : g.k}, g.lda, g.batch,
                                              g.batch_stride_a, {k, a_along_k ? tile.m / tile.cluster_n : k}));
  for (index_t i = 0; i < Policy::products; ++i) {
    const T* const b = static_cast<const T*>(g.b) + i * g.product_stride_b;
    make_tensor_map(d.b[i],
                    detail::request_map<T>(b, {b_along_k ? g.k : g.n, b_along_k ? g.n : g.k}, g.ldb, g.batch,
                                           g.batch_stride_b, {k, b_along_k ? tile.result_n() / tile.b_loaders() : k}));
  }
  if constexpr (Policy::is_block_scaled) plan_scales(d, g, tile.m, make_tensor_map);
  const auto map_c = [&](exec::tensor_map& to, index_t columns) {
    using R = typename Policy::result_type;
    exec::tensor_map_request request =
        detail::request_map<R>(g.c, {given.n, given.m}, g.ldc, g.batch, g.batch_stride_c,
                               {tile.swap_ab ? 64 : columns, tile.swap_ab ? columns : 64});
    request.padded_row_bytes = (tile.swap_ab ? 64 : tile.box_n()) * index_t(sizeof(R));
    make_tensor_map(to, request);
  };
  map_c(d.c, tile.box_n());
  if (tile.has_narrow_box()) map_c(d.narrow_c, tile.last_box_n());
  return d;
}

}  // namespace detail

}  // namespace tilewright
