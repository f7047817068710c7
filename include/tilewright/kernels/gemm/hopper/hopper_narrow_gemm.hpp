// SPDX-License-Identifier: MIT
// GEMM with narrow weights on Hopper: consumers decode them in registers as wgmma's operand A. For 17 rows and more.
#pragma once

#include <tilewright/kernels/gemm/hopper/detail/narrow_mainloop.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>

namespace tilewright {

/// The policy of hopper_narrow_gemm: T: element of A and of the decoded weights. Tile has swap_ab: its m counts columns
/// of C.
template <class T, operand_major AMajor, class Format, hopper_gemm_tile Tile, index_t TileK, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct hopper_narrow_policy : detail::gemm_choices<arch::sm90, T>,
                              detail::operand_choices<arch::sm90, T, AMajor, operand_major::k, 8,
                                                      wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers_per_tile())> {
  static_assert(sizeof(T) == 2, "hopper_narrow_policy: weights are decoded to half_t or bfloat16_t");
  static_assert(Tile.swap_ab && Tile.cluster_n == 1 && Tile.products == 1 && !Tile.ping_pong && !Tile.unaligned,
                "hopper_narrow_policy: the tile has swap_ab, and no cluster_n, products, ping_pong or unaligned");
  using pipeline = warp_specialized_pipeline<Tile>;
  using result_type = Result;
  using epilogue = Epilogue;
  using args_type = narrow_args;
  using b_format = Format;
  static constexpr index_t tile_k = TileK;  ///< elements along k of a stage, a multiple of 64
};

namespace detail {

struct narrow_device_args : hopper_gemm_device_args<narrow_args, 1> {
  index_t groups;      // of a row of W
  bool copies_pieces;  // scales and zero points are aligned to pieces of a stage
};

/// A hopper_gemm_block whose wgmma reads A from registers.
template <class Policy>
struct narrow_block : hopper_gemm_block<Policy> {
  using base = hopper_gemm_block<Policy>;
  using base::operands, base::tile, base::tiles;
  using b_format = typename Policy::b_format;
  using device_args = narrow_device_args;
  struct roles : hopper_gemm_roles<narrow_block> {
    using pipeline = narrow_operand_pipeline<narrow_block>;
    using assistant = conditional_t<narrow_block::weights.groups() == 0, no_assistant<narrow_block>,
                                    narrow_scale_loader<narrow_block>>;
    using mainloop = narrow_mainloop<narrow_block>;
  };
  static constexpr index_t tile_k = Policy::tile_k;
  static constexpr bool can_split_all_tiles = false;
  static constexpr narrow_operand weights{
      tile.m,
      tile_k,
      b_format::bits,
      b_format::group,
      index_t(sizeof(typename b_format::scale_type)),
      b_format::has_zero_points ? index_t(sizeof(typename b_format::zero_type)) : 0};
  static constexpr hopper_gemm_lds lds{
      .tile = tile,
      .a = {tile.m, operands.element_bytes(), true, tile_k},
      .b = {tile.n, operands.element_bytes(), Policy::a_major == operand_major::k, tile_k},
      .result_bytes = operands.result_bytes(),
      .narrow_bytes = weights.bytes()};
  static constexpr hopper_gemm_lds::regions regions = lds.plan();
  static constexpr index_t num_stages = lds.num_stages();
  static_assert(lds.b.is_sound() && num_stages >= 2 && regions.bytes <= arch::sm90::value.lds_bytes,
                "hopper_narrow_gemm: the block tile needs more LDS than the GPU has; use a smaller one");
  static constexpr hopper_gemm_facts facts{lds, operands, false};
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

}  // namespace detail

/// The kernel for narrow weights, ready for launch(). The workspace is a hopper_gemm_workspace; without one k is not
/// split.
template <class Policy>
struct hopper_narrow_gemm : detail::hopper_gemm_launch<Policy, detail::narrow_block<Policy>> {
  using base = detail::hopper_gemm_launch<Policy, detail::narrow_block<Policy>>;
  using args_type = narrow_args;
  using block = typename base::block;

  static const char* check(const args_type& g) {
    using format = typename Policy::b_format;
    if (const char* why = check_product<Policy>(g, base::alignment)) return why;
    if (const char* why = detail::check_narrow_b<format>(g)) return why;
    if (g.split_k != 1) return "hopper_narrow_gemm does not split k into equal parts: set split_k to 1";
    // The same memory as elements of A's size.
    constexpr index_t a_bits = 8 * block::operands.element_bytes();
    gemm_args words = g;
    words.ldb = index_t(long_index_t(g.ldb) * format::bits / a_bits);
    words.batch_stride_b = g.batch_stride_b * format::bits / a_bits;
    return detail::check_tma(block::facts, words);
  }
  static typename base::device_args prepare(args_type g, const launch_facts& facts) {
    constexpr detail::narrow_operand w = block::weights;
    const index_t groups = detail::scales_of_column<typename Policy::b_format>(g.k);
    if (g.ld_b_scales == 0) g.ld_b_scales = groups;
    typename base::device_args d{};
    detail::plan_schedule(d, block::facts, g, facts.resident_clusters, detail::split_cost_of(block::tile, w));
    const detail::hopper_gemm_maps maps{block::facts, facts.make_tensor_map};
    const auto bytes = [&](long_index_t elements) { return ceil_div(elements * w.bits, long_index_t(8)); };
    exec::tensor_map_request words =
        detail::request_map({g.b, g.n, index_t(bytes(g.k)), index_t(bytes(g.ldb)), g.batch, bytes(g.batch_stride_b)},
                            tilewright::arch::matrix_element::i8, w.rows, w.row_bytes());
    words.padded_row_bytes = w.pitch();
    facts.make_tensor_map(d.a, words);
    d.groups = groups;
    d.copies_pieces = detail::are_aligned(w.scales(), g.b_scales, g) &&
                      (w.zero_bytes == 0 || detail::are_aligned(w.zeros(), g.b_zeros, g));
    maps.b(d.b[0],
           detail::operand_in_memory(g.a, block::lds.b.k_is_contiguous, g.m, g.k, g.lda, g.batch, g.batch_stride_a));
    const detail::tma_matrices c{g.c, g.m, g.n, g.ldc, g.batch, g.batch_stride_c};
    maps.c(d.c, c);
    if (block::tile.has_narrow_box()) maps.c(d.narrow_c, c, block::tile.last_box_n());
    return d;
  }
};

}  // namespace tilewright
