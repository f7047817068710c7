// SPDX-License-Identifier: MIT
// A launch of warp_specialized_pipeline, prepared on the host: tensor maps, schedule, workspace.
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
  static constexpr index_t num_counters = detail::split_k_counters;  ///< at the beginning
  static constexpr long_index_t num_floats = 2 * 132 * 128 * 256;    ///< of partial sums
  /// at its begin; zero before the first launch, and after each
  static constexpr long_index_t counter_bytes = num_counters * long_index_t{4};
  static constexpr long_index_t bytes = counter_bytes + num_floats * 4;  ///< 35 MB
};

namespace detail {

/// The workspace as stream_k_fixup sees it: for each slot, block of a cluster and consumer 64 repeat_m x n floats, and
/// for each split tile a counter, which is 0 before and after a launch.
struct split_memory {
  float* partials = nullptr;
  unsigned* counters = nullptr;
  index_t max_slots = 0;

  split_memory() = default;
  /// The workspace's, if it suffices for `resident` clusters.
  split_memory(const gemm_args& g, const hopper_gemm_tile& tile, index_t resident) {
    using size = hopper_gemm_workspace;
    if (!g.workspace || resident * tile.cluster() * tile.consumers > size::num_counters) return;
    partials = static_cast<float*>(g.workspace) + size::num_counters;
    counters = static_cast<unsigned*>(g.workspace);
    max_slots = index_t(size::num_floats / (tile.m * tile.n * tile.cluster()));
  }
};

/// Adds up the splits of all tiles, where gemm_args::split_k is more than 1.
template <class Reduction>
struct sum_after_hopper_gemm : Reduction {
  static constexpr const char* check(const gemm_args&) { return nullptr; }
  static constexpr grid_size grid(const typename Reduction::args_type& args) {
    return args.split_k > 1 ? Reduction::grid(args) : grid_size{0, 1, 1};
  }
};

/// A batch of matrices that TMA reads or writes, `rows` x `cols` as they are in memory: with cols contiguous. Leading
/// dimension and stride count elements. Ragged: the last coordinate of a box is the row at which the matrix ends.
struct tma_matrices {
  const void* data;
  index_t rows, cols, ld;
  index_t batch = 1;
  long_index_t batch_stride = 0;
  bool ragged = false;
};

/// A request for their map, of boxes of box_rows x box_cols elements.
inline exec::tensor_map_request request_map(const tma_matrices& x, arch::matrix_element element, index_t box_rows,
                                            index_t box_cols) {
  const long_index_t bytes = arch::bytes_of(element);
  exec::tensor_map_request request{const_cast<void*>(x.data),
                                   element,
                                   {x.cols, x.rows, x.batch},
                                   {x.ld * bytes, x.batch > 1 ? x.batch_stride * bytes : 16},
                                   {box_cols, box_rows}};
  request.ragged = x.ragged;
  return request;
}

/// Makes the maps of a kernel's operands and results.
template <class MakeTensorMap>
struct hopper_gemm_maps {
  const hopper_gemm_facts& kernel;
  const MakeTensorMap& make_tensor_map;

  /// A is (m, k), or in memory (k, m) where it is contiguous along m; B is (n, k) or (k, n).
  void a(exec::tensor_map& map, const tma_matrices& x) const {
    operand(map, x, kernel.lds.a, kernel.tile().m / kernel.tile().cluster_n);
  }
  void b(exec::tensor_map& map, const tma_matrices& x) const {
    operand(map, x, kernel.lds.b, kernel.tile().result_n() / kernel.tile().b_loaders());
  }
  /// C (m, n), for boxes of `columns` columns (rows, with swap_ab); 0: box_n().
  void c(exec::tensor_map& map, const tma_matrices& x, index_t columns = 0) const {
    const hopper_gemm_tile& t = kernel.tile();
    if (columns == 0) columns = t.box_n();
    exec::tensor_map_request request =
        request_map(x, kernel.operands.result, t.swap_ab ? columns : 64, t.swap_ab ? 64 : columns);
    request.padded_row_bytes = (t.swap_ab ? 64 : t.box_n()) * kernel.lds.result_bytes;
    make_tensor_map(map, request);
  }

 private:
  void operand(exec::tensor_map& map, const tma_matrices& x, const wgmma_operand& in_lds, index_t rows) const {
    make_tensor_map(
        map, request_map(x, kernel.operands.element, in_lds.k_is_contiguous ? rows : in_lds.k(), in_lds.box_columns()));
  }
};

/// An operand (rows, k) as it is in memory.
constexpr tma_matrices operand_in_memory(const void* data, bool along_k, index_t rows, index_t k, index_t ld,
                                         index_t batch = 1, long_index_t batch_stride = 0) {
  return {data, along_k ? rows : k, along_k ? k : rows, ld, batch, batch_stride};
}

/// How a stage gets its scales, where there are any: A's by one TMA load if they are contiguous along the rows, else by
/// loads of each lane; B's by loads of each lane.
template <class Args>
struct scale_plan {};
template <>
struct scale_plan<block_scaled_args> {
  exec::tensor_map a_scales;
  bool loads_scales_by_tma;

  /// Lanes of role assist that arrive at a stage's barrier; b_scales: scales of B in a stage.
  TILEWRIGHT_HD index_t scale_arrivals(index_t b_scales) const { return loads_scales_by_tma ? b_scales : 32; }
};

/// Plans them for tiles of `rows` rows.
template <class MakeTensorMap>
void plan_scales(scale_plan<block_scaled_args>& plan, const block_scaled_args& g, index_t rows,
                 MakeTensorMap make_tensor_map) {
  constexpr vector_alignment whole_copies{4, 4};
  plan.loads_scales_by_tma =
      g.row_stride_a_scales == 1 && whole_copies.is_met_by(g.a_scales, 4, g.k_stride_a_scales, g.batch_stride_a_scales);
  if (plan.loads_scales_by_tma)
    make_tensor_map(plan.a_scales, request_map({g.a_scales, ceil_div(g.k, 128), g.m, g.k_stride_a_scales, g.batch,
                                                g.batch_stride_a_scales},
                                               arch::matrix_element::f32, 1, scale_rows(rows)));
}

/// The kernel's argument. Args is the policy's args_type.
template <class Args, index_t Products>
struct hopper_gemm_device_args : scale_plan<Args> {
  exec::tensor_map a, b[Products], c;
  exec::tensor_map narrow_c;  // C in the last boxes of rows, where they are narrower
  Args args;
  stream_k_schedule schedule;  // of clusters
  fast_tile_order order;       // the schedule's
  split_memory memory;
  index_t blocks;
  bool starts_alone;        // see starts_alone()
  index_t ordered_k_tiles;  // last ones of a tile, of which the second consumer issues MMAs after the first: see
                            // shared_tile_order
};

/// Why TMA, or an unaligned tile, cannot take these arguments, as an error message; nullptr: there is none.
constexpr const char* check_tma(const hopper_gemm_facts& kernel, const gemm_args& g) {
  const hopper_gemm_tile& tile = kernel.tile();
  const index_t bytes = kernel.operands.element_bytes(), result_bytes = kernel.lds.result_bytes;
  const bool unaligned = tile.unaligned;
  const vector_alignment operand_alignment{unaligned ? 1 : 16 / bytes, result_bytes},
      c_alignment{unaligned ? 1 : 16 / result_bytes, result_bytes};
  if (!operand_alignment.is_met_by(g.a, bytes, g.lda, g.batch_stride_a) ||
      !operand_alignment.is_met_by(g.b, bytes, g.ldb, g.batch_stride_b) ||
      !c_alignment.is_met_by(g.c, result_bytes, g.ldc, g.batch_stride_c) ||
      (tile.products > 1 && g.product_stride_b * bytes % 16 != 0)) {
    if (unaligned) return "a pointer is not aligned to its elements";
    return "TMA needs pointers, leading dimensions and strides of batches and products that are multiples of 16 "
           "bytes; use another pipeline";
  }
  if (g.n % c_alignment.vector != 0)
    return "TMA writes 16 bytes at once: n must be a multiple of 8 (of 16, for a C of 8 bits); use another "
           "pipeline";
  // What lanes store and epilogues read: boxes of 16 rows, with operands exchanged of 64.
  const index_t ld = max(unaligned || g.split_k > 1 ? g.ldc : 0, g.residual ? g.ld_residual : 0);
  if (ld > 0x7fffffff / result_bytes / (tile.swap_ab ? 64 : 16))
    return "a leading dimension is so large that a block would need offsets of 2 GiB or more";
  const long_index_t tiles = long_index_t(ceil_div(tile.swap_ab ? g.n : g.m, tile.m)) *
                             ceil_div(tile.swap_ab ? g.m : g.n, tile.result_n()) * g.batch;
  return tiles > 0x7fffffff / 64 ? "C has too many tiles; use several launches" : nullptr;
}

/// What forbids gemm_args::split_k.
constexpr const char* check_equal_parts(const hopper_gemm_facts& kernel, const gemm_args& g) {
  if (g.split_k == 1) return nullptr;
  if (!kernel.can_split_all_tiles) return "this kernel does not split k into equal parts: set split_k to 1";
  if (!g.workspace) return "split_k needs a hopper_gemm_workspace";
  if (g.batch > 65535) return "the batch has more than 65535 problems, for which k is not split into equal parts";
  if (g.split_k < 1 || g.split_k > ceil_div(g.k, kernel.lds.a.k()) || workspace_bytes(g) > hopper_gemm_workspace::bytes)
    return "split_k must be positive, not larger than the number of block tiles along k, and its parts must fit in a "
           "hopper_gemm_workspace";
  return nullptr;
}

/// What a kernel for plain products cannot do with these arguments, but for what its epilogue reads.
constexpr const char* check_hopper_gemm(const hopper_gemm_facts& kernel, const gemm_args& g) {
  if (const char* why = check_lengths(g, kernel.checked())) return why;
  if (!is_aligned(g.workspace)) return "the workspace is not aligned to 16 bytes";
  if (const char* why = check_result_memory(g, kernel.checked())) return why;
  if (const char* why = check_tma(kernel, g)) return why;
  return check_equal_parts(kernel, g);
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
constexpr index_t rows_cached_in_l2(const tile_order& order, const gemm_args& g, const hopper_gemm_tile& t,
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

/// Bytes that an H200's memory sends in a clock of an SM: 1.4 times an H100's, for which choices are as good.
inline constexpr double hopper_memory_rate = 2812;
/// Clocks that a launch takes longer if it does not overlap the previous kernel.
inline constexpr double hopper_launch_gap = 1330;

/// Whether a launch should wait for the previous kernel's end. One that overlaps it gets the SMs that are free first,
/// so its blocks crowd into some GPCs, each of which has its share of the memory's rate only. That matters where a
/// block streams rows that no other one reads, and the blocks fill more than half of the GPU, but not all of it.
constexpr bool starts_alone(const stream_k_schedule& s, const hopper_gemm_tile& t) {
  const bool is_one_wave = s.splits == 1 && s.split_workers == 0 && s.whole_tiles <= s.workers;
  const bool streams = s.order.rows == 1 || s.order.cols == 1;
  const bool is_partial = 2 * s.whole_tiles > s.workers &&
                          (t.cluster() > 1 ? 4 * s.whole_tiles <= 3 * s.workers : 8 * s.whole_tiles <= 7 * s.workers);
  if (!is_one_wave || !streams || !is_partial) return false;
  const double bytes = 128.0 * s.k_tiles * (s.order.cols == 1 ? t.m : t.n);  // that a block streams
  const auto clocks_of = [&](index_t clusters) { return bytes * clusters * t.cluster() / hopper_memory_rate; };
  const double products = s.k_tiles * (t.m * t.n / 27.0);
  return clocks_of(s.workers) > max(clocks_of(s.whole_tiles), products) + hopper_launch_gap;
}

/// Sets the origin of the tile of block `rank` of a cluster.
template <hopper_gemm_tile Tile, class Work>
TILEWRIGHT_HD void locate_block(Work& work, index_t rank) {
  work.m0 = work.first_row + (work.tile.row * Tile.cluster_m + Tile.row_in_cluster(rank)) * Tile.m;
  work.n0 = (work.tile.col * Tile.cluster_n + Tile.col_in_cluster(rank)) * Tile.result_n();
}

/// All but the tensor maps of the argument of a kernel, on a machine that runs `resident` clusters at once.
template <class DeviceArgs, class Args>
void plan_schedule(DeviceArgs& d, const hopper_gemm_facts& kernel, const Args& given, index_t resident,
                   const split_cost& cost) {
  const hopper_gemm_tile& tile = kernel.tile();
  const gemm_args g = in_order_of(tile, gemm_args(given));
  d.memory = {g, tile, resident};
  d.schedule = make_stream_k_schedule(hopper_tile_order(g, tile, resident), ceil_div(g.k, kernel.lds.a.k()), resident,
                                      g.split_k > 1 ? 0 : d.memory.max_slots, cost);
  d.schedule.splits = g.split_k;
  d.schedule.order.group = rows_cached_in_l2(d.schedule.order, g, tile, kernel.operands.element_bytes());
  d.order = fast_tile_order(d.schedule.order);
  d.blocks = min(d.schedule.num_work_tiles(), resident) * tile.cluster();
  d.args = given;
  // Epilogues read two columns: if n is odd, rows of C and of what they read have room for one more.
  d.args.n = round_up(given.n, tile.unaligned ? 1 : 2);
  // By time on an H100, here and for groups. With many, the stages are full of the tile's last k tiles, and the next
  // tile's come late.
  const index_t k_tiles = d.schedule.k_tiles;
  d.ordered_k_tiles = k_tiles <= 5 ? 1 : k_tiles <= 24 || kernel.lds.scale_bytes > 0 ? 2 : 4;
}

/// The argument of a kernel. make_tensor_map(tensor_map&, request) encodes.
template <index_t Products, class Args, class MakeTensorMap>
hopper_gemm_device_args<Args, Products> plan_hopper_gemm(const hopper_gemm_facts& kernel, const Args& given,
                                                         index_t resident, const MakeTensorMap& make_tensor_map) {
  const hopper_gemm_tile& tile = kernel.tile();
  hopper_gemm_device_args<Args, Products> d{};
  plan_schedule(d, kernel, given, resident, split_cost_of(tile));
  d.starts_alone = starts_alone(d.schedule, tile);
  if (tile.unaligned) return d;
  const Args g = in_order_of(tile, given);
  const hopper_gemm_maps<MakeTensorMap> maps{kernel, make_tensor_map};
  maps.a(d.a, operand_in_memory(g.a, kernel.lds.a.k_is_contiguous, g.m, g.k, g.lda, g.batch, g.batch_stride_a));
  for (index_t i = 0; i < Products; ++i) {
    const auto* const b = static_cast<const char*>(g.b) + i * g.product_stride_b * kernel.operands.element_bytes();
    maps.b(d.b[i], operand_in_memory(b, kernel.lds.b.k_is_contiguous, g.n, g.k, g.ldb, g.batch, g.batch_stride_b));
  }
  if constexpr (requires { d.a_scales; }) plan_scales(d, g, tile.m, make_tensor_map);
  const tma_matrices c{g.c, given.m, given.n, g.ldc, g.batch, g.batch_stride_c};
  maps.c(d.c, c);
  if (tile.has_narrow_box()) maps.c(d.narrow_c, c, tile.last_box_n());
  return d;
}

}  // namespace detail

}  // namespace tilewright
