// SPDX-License-Identifier: MIT
// GEMM with narrow weights on Hopper: consumers decode them in registers as wgmma's operand A. For 17 rows and more.
#pragma once

#include <tilewright/kernels/gemm/hopper/detail/narrow_mainloop.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>

namespace tilewright {

/// The policy of hopper_narrow_gemm: T: element of A and of the decoded weights. Tile has swap_ab: its m counts columns
/// of C. fp8_ocp_t takes formats of e2m1 with e8m0 scales (MXFP4), and Result is named: elements times scales are exact
/// where a scale is at least 2^-14 of its column's largest, others are off by at most 2^-18 of six times that one.
template <class T, operand_major AMajor, class Format, hopper_gemm_tile Tile, index_t TileK, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct hopper_narrow_policy : detail::gemm_choices<arch::sm90, T>,
                              detail::operand_choices<arch::sm90, T, AMajor, operand_major::k, 8,
                                                      wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers_per_tile())> {
  static_assert(sizeof(T) == 2 || (__is_same(T, fp8_ocp_t) && detail::is_e2m1_with_powers<Format>),
                "hopper_narrow_policy: weights are decoded to half_t or bfloat16_t; with A of fp8_ocp_t they are e2m1 "
                "with scales of e8m0_t");
  static_assert(
      Tile.swap_ab && Tile.cluster_n == 1 && Tile.products == 1 && Tile.blocks == 1 && !Tile.ping_pong &&
          !Tile.unaligned,
      "hopper_narrow_policy: the tile has swap_ab, and no cluster_n, products, blocks, ping_pong or unaligned");
  using pipeline = warp_specialized_pipeline<Tile>;
  using result_type = Result;
  using epilogue = Epilogue;
  using args_type = narrow_args;
  using b_format = Format;
  static constexpr index_t tile_k = TileK;  ///< elements along k of a stage, a multiple of 64
};

namespace detail {

/// A kernel of a tile and a format, for check() and prepare() of any.
struct narrow_gemm_facts {
  hopper_gemm_facts kernel;
  narrow_operand weights;

  TILEWRIGHT_HD constexpr bool fits() const {
    const hopper_gemm_lds& lds = kernel.lds;
    return weights.is_sound() && lds.b.is_sound() && lds.num_stages() >= 2 &&
           lds.plan().bytes <= arch::sm90::value.lds_bytes;
  }
};
TILEWRIGHT_HD constexpr narrow_gemm_facts narrow_facts_of(const hopper_gemm_tile& t, const hopper_gemm_operands& o,
                                                          const narrow_operand& weights) {
  const hopper_gemm_lds lds{.tile = t,
                            .a = {t.m, o.element_bytes(), true, weights.k},
                            .b = {t.n, o.element_bytes(), o.a_along_k, weights.k},
                            .result_bytes = o.result_bytes(),
                            .narrow_bytes = weights.bytes()};
  return {{lds, o, false}, weights};
}

/// How a stage gets scales.
template <>
struct scale_plan<narrow_args> {
  index_t scales_of_column;
  bool copies_pieces;  // scales and zero points are aligned to pieces of a stage
};

template <class Block>
struct narrow_roles : hopper_gemm_roles<Block> {
  using pipeline = narrow_operand_pipeline<Block>;
  using assistant = conditional_t<Block::weights.groups() == 0, no_assistant<Block>, narrow_scale_loader<Block>>;
  using mainloop = narrow_mainloop<Block>;
};

/// A hopper_gemm_block whose wgmma reads A from registers.
template <class Policy>
struct narrow_block : hopper_gemm_block<Policy> {
  using base = hopper_gemm_block<Policy>;
  using base::operands, base::tile, base::tiles;
  using b_format = typename Policy::b_format;
  using roles = narrow_roles<narrow_block>;
  static constexpr index_t tile_k = Policy::tile_k;
  static constexpr bool can_split_all_tiles = false;
  static constexpr narrow_operand weights{
      tile.m,
      tile_k,
      b_format::bits,
      b_format::group,
      index_t(sizeof(typename b_format::scale_type)),
      b_format::has_zero_points ? index_t(sizeof(typename b_format::zero_type)) : 0};
  static constexpr narrow_gemm_facts narrow_facts = narrow_facts_of(tile, operands, weights);
  static constexpr hopper_gemm_facts facts = narrow_facts.kernel;
  static constexpr hopper_gemm_lds lds = facts.lds;
  static constexpr hopper_gemm_lds::regions regions = lds.plan();
  static constexpr index_t num_stages = lds.num_stages();
  static_assert(narrow_facts.fits(),
                "hopper_narrow_gemm: the block tile needs more LDS than the GPU has; use a smaller one");
};

/// In clocks: until the weights of a k tile are there, or multiplied.
TILEWRIGHT_HD constexpr split_cost split_cost_of(const hopper_gemm_tile& t, const narrow_operand& w) {
  split_cost cost = split_cost_of(t);
  cost.k_tile = max(t.m * t.n / 2048 * w.k, w.bytes() / 12);
  return cost;
}

/// Whether pieces of scales or zero points begin at multiples of their bytes.
constexpr bool are_aligned(const group_pieces& p, const void* data, const narrow_args& g) {
  const index_t vector = p.groups == 0 ? 1 : p.piece_bytes() / p.element_bytes;
  return vector_alignment{vector, p.element_bytes}.is_met_by(data, p.element_bytes, g.ld_b_scales,
                                                             g.batch_stride_b_scales);
}

/// Makes the map of W, of which there are `matrices`, and plans the loads of scales.
template <class DeviceArgs>
void plan_narrow_operands(const narrow_gemm_facts& kernel, DeviceArgs& d, const narrow_args& g, index_t matrices,
                          const launch_facts& facts) {
  const narrow_operand& w = kernel.weights;
  const auto bytes = [&](long_index_t elements) { return ceil_div(elements * w.bits, long_index_t(8)); };
  exec::tensor_map_request words =
      request_map({g.b, g.n, index_t(bytes(g.k)), index_t(bytes(g.ldb)), matrices, bytes(g.batch_stride_b)},
                  arch::matrix_element::i8, w.rows, w.row_bytes());
  words.padded_row_bytes = w.pitch();
  facts.make_tensor_map(d.a, words);
  d.args = g;
  d.scales_of_column = w.group == 0 ? 1 : ceil_div(g.k, w.group);
  if (g.ld_b_scales == 0) d.args.ld_b_scales = d.scales_of_column;
  d.copies_pieces =
      are_aligned(w.scales(), g.b_scales, d.args) && (w.zero_bytes == 0 || are_aligned(w.zeros(), g.b_zeros, d.args));
}

/// What TMA cannot take of these arguments, or is missing, as an error message; nullptr: nothing.
constexpr const char* check_narrow_operands(const narrow_gemm_facts& kernel, const narrow_args& g) {
  const narrow_operand& w = kernel.weights;
  if (const char* why = check_narrow_b(g, w.bits, w.group, w.zero_bytes > 0)) return why;
  if (g.split_k != 1) return "hopper_narrow_gemm does not split k into equal parts: set split_k to 1";
  // The same memory as elements of A's size.
  const index_t a_bits = 8 * kernel.kernel.operands.element_bytes();
  gemm_args words = g;
  words.ldb = index_t(long_index_t(g.ldb) * w.bits / a_bits);
  words.batch_stride_b = g.batch_stride_b * w.bits / a_bits;
  return check_tma(kernel.kernel, words);
}

/// What the kernel gets from the host.
inline hopper_gemm_device_args<narrow_args, 1> plan_narrow_gemm(const narrow_gemm_facts& kernel, const narrow_args& g,
                                                                const launch_facts& facts) {
  hopper_gemm_device_args<narrow_args, 1> d{};
  const hopper_gemm_tile& tile = kernel.kernel.tile();
  plan_schedule(d, kernel.kernel, g, facts.resident_clusters, split_cost_of(tile, kernel.weights));
  plan_narrow_operands(kernel, d, g, g.batch, facts);
  const hopper_gemm_maps maps{kernel.kernel, facts.make_tensor_map};
  maps.b(d.b[0], operand_in_memory(g.a, kernel.kernel.operands.a_along_k, g.m, g.k, g.lda, g.batch, g.batch_stride_a));
  const tma_matrices c{g.c, g.m, g.n, g.ldc, g.batch, g.batch_stride_c};
  maps.c(d.c, c);
  if (tile.has_narrow_box()) maps.c(d.narrow_c, c, tile.last_box_n());
  return d;
}

}  // namespace detail

/// The kernel for narrow weights, ready for launch(). The workspace is a hopper_gemm_workspace; without one k is not
/// split.
template <class Policy>
struct hopper_narrow_gemm : detail::hopper_gemm_launch<Policy, detail::narrow_block<Policy>> {
  using base = detail::hopper_gemm_launch<Policy, detail::narrow_block<Policy>>;
  using args_type = narrow_args;
  using block = typename base::block;

  static constexpr const char* check(const args_type& g) {
    const char* const why = check_product<Policy>(g, base::alignment);
    return why ? why : detail::check_narrow_operands(block::narrow_facts, g);
  }
  static typename base::device_args prepare(const args_type& g, const launch_facts& facts) {
    return detail::plan_narrow_gemm(block::narrow_facts, g, facts);
  }
};

}  // namespace tilewright
