// SPDX-License-Identifier: MIT
// The loop over k with stages in LDS that gfx1250's tensor data mover fills: rows with pads, without registers.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>
#include <tilewright/core/lds/layout_padding.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright {

namespace detail {

/// A wave's share of an operand's tiles (Rows x K), one after the other along k. Rows that are not in the tensor are
/// copies of its last one. WorkgroupMask: of tensor_tile.
template <class Window, index_t Rows, index_t K, index_t PadBytes, unsigned WorkgroupMask>
class tensor_stream {
  static constexpr index_t element_bytes = Window::element_bytes, row_bytes = K * element_bytes + PadBytes;
  arch::tensor_tile tile_;
  unsigned long long address_;
  exec::lds_pointer to_;

 public:
  TILEWRIGHT_HD tensor_stream(const Window& window, exec::lds_pointer lds, index_t waves)
      : tile_{}, address_{}, to_(lds) {
    const auto& tensor = window.view.descriptor;
    const index_t rows = Rows / waves, own = exec::wave_id() * rows;
    const index_t left = tensor.template get_length<0>() - window.origin[0], first = min(own, left - 1);
    const long_index_t stride = linear_stride<0>(tensor);
    tile_ = {unsigned(rows),
             unsigned(K),
             unsigned(left - first),
             unsigned(tensor.template get_length<1>() - window.origin[1]),
             stride,
             element_bytes,
             PadBytes,
             WorkgroupMask};
    address_ = (unsigned long long)(__UINTPTR_TYPE__)window.view.buffer.base +
               (unsigned long long)(first * stride * element_bytes);
    to_ = lds + own * row_bytes;
  }
  TILEWRIGHT_HD void issue(index_t lds_bytes) const {
    exec::load_tensor_tile(arch::pack_tensor_descriptor(tile_, address_), to_ + lds_bytes);
  }
  /// Goes on to the next tile; the last one is loaded again where there is none.
  TILEWRIGHT_HD void advance(bool more) {
    const unsigned step = more ? K : 0;
    tile_.tensor_row_elements -= step, address_ += step * unsigned(element_bytes);
  }
};

}  // namespace detail

/// Stages tiles in LDS: one is multiplied while up to Stages - 1 are in flight. Each wave loads its share of the rows
/// of both operands with one instruction each. One barrier for each tile:
///
///   matrix | all steps of t                          | all steps of t + 1
///   TDM    | t + Stages - 1 into the stage of t - 1  | ...
///   all    |                  wait for t + 1, barrier|
template <index_t Stages>
struct tensor_move_pipeline {
  static_assert(Stages >= 2, "tensor_move_pipeline: one tile is multiplied while another is in flight, so at least 2");
  static constexpr index_t num_stages = Stages;       ///< tiles of A and B in LDS
  static constexpr index_t barriers_per_tile = 1;     ///< of a k tile
  static constexpr bool last_tile_is_partial = true;  ///< along k, not the first one: the mover has no lower bound

  /// Estimated registers of a thread: operands of all steps along k.
  template <class Policy>
  static constexpr index_t registers() {
    return detail::estimated_registers<Policy>(Policy::tile.num_k_steps(), 0);
  }

  /// C (m, n) += A (m, k) B (n, k)^T over num_tiles tiles along k, at the first of which the windows are. All threads
  /// of the block call it; `lds` has num_stages stages.
  template <class Policy, class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    constexpr block_tile tile = Policy::tile;
    constexpr index_t stage_bytes = Policy::stage_bytes;
    const operand_windows<Policy> windows(lds, Policy::a_stage_bytes);
    detail::tensor_stream<AWindow, tile.m, tile.k, Policy::a_pad, 0> a(a_window, lds, tile.num_waves());
    constexpr unsigned workgroup_mask = Policy::tensor_cluster > 1 ? (1u << Policy::tensor_cluster) - 1 : 0;
    detail::tensor_stream<BWindow, tile.n, tile.k, Policy::b_pad, workgroup_mask> b(
        b_window, lds + Policy::a_stage_bytes, tile.num_waves());
    index_t next = 1;  // tile after those that were issued
    const auto issue = [&](index_t lds_bytes) TILEWRIGHT_INLINE_LAMBDA {
      a.issue(lds_bytes), b.issue(lds_bytes);
      a.advance(next < num_tiles), b.advance(next < num_tiles), ++next;
    };
    unroll<Stages - 1>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { issue(i.value * stage_bytes); });
    index_t current = 0, free = (Stages - 1) * stage_bytes;
    detail::operand_fragments<Policy> f;
    TILEWRIGHT_UNROLL(1)
    for (index_t left = num_tiles; left > 0; --left) {
      exec::wait_for_tensor_tiles<(Stages - 2) * 2>();
      exec::block_sync();
      issue(free);
      windows.load(f, current);
      block_gemm<tile>(c, f.a, f.b);
      free = current;
      current = current + stage_bytes == Stages * stage_bytes ? 0 : current + stage_bytes;
    }
    exec::wait_for_tensor_tiles<0>();
    exec::block_sync();
  }
};

/// A policy for gfx1250 whose operands, both contiguous along k, pass through the tensor data mover. Rows in LDS have
/// the pad that costs the fewest clocks. Cluster: blocks whose tiles of C are below each other, up to 16; their loads
/// of B say that the others load the same. The __global__ function of a kernel with clusters has the attribute
/// cluster_dims(Cluster, 1, 1); launch() refuses it, as it is not known how ROCm launches clusters.
template <class Arch, class T, index_t Vector, block_tile Tile, index_t Stages, index_t Cluster = 1>
struct tensor_move_policy
    : gemm_policy<Arch, T, operand_major::k, operand_major::k, Vector, Tile, tensor_move_pipeline<Stages>> {
 private:
  using base = gemm_policy<Arch, T, operand_major::k, operand_major::k, Vector, Tile, tensor_move_pipeline<Stages>>;
  static constexpr index_t row_bytes = Tile.k * index_t(sizeof(T));
  static_assert(Arch::value.has_tensor_mover, "tensor_move_policy: this target has no tensor data mover");
  static_assert(tilewright::arch::can_pad_rows(row_bytes),
                "tensor_move_policy: rows of the block tile must have 8 to 1024 bytes along k");
  static_assert(Tile.m % Tile.num_waves() == 0 && Tile.n % Tile.num_waves() == 0,
                "tensor_move_policy: each wave loads the same number of rows of both operands");
  static_assert(Cluster >= 1 && Cluster <= 16, "tensor_move_policy: a cluster has 1 to 16 blocks");

 public:
  static constexpr index_t tensor_cluster = Cluster;  ///< blocks of a cluster, which share B
  /// Blocks of a cluster follow each other in a row group.
  static constexpr grid_order order = Cluster > 1 ? grid_order{.group_rows = Cluster} : base::order;
  /// Bytes after each row of A's tile in LDS, and of B's.
  static constexpr index_t a_pad =
      number<choose_lds_padding<Arch>(lds_tile{Tile.m, Tile.k, sizeof(T)},
                                      lds_use{base::a_read, fragment_access(Tile.op, false)})
                 .pad_bytes>::value;
  /// The same of B's tile.
  static constexpr index_t b_pad =
      number<choose_lds_padding<Arch>(lds_tile{Tile.n, Tile.k, sizeof(T)},
                                      lds_use{base::b_read, fragment_access(Tile.op, false)})
                 .pad_bytes>::value;
  static constexpr index_t a_stage_bytes = Tile.m * (row_bytes + a_pad);                ///< of A's tile; B's follows
  static constexpr index_t stage_bytes = a_stage_bytes + Tile.n * (row_bytes + b_pad);  ///< of both
  static constexpr tensor_graph a_lds = number<padded_layout(lds_tile{Tile.m, Tile.k, sizeof(T)}, a_pad)>::value;
  static constexpr tensor_graph b_lds = number<padded_layout(lds_tile{Tile.n, Tile.k, sizeof(T)}, b_pad)>::value;
};

}  // namespace tilewright
