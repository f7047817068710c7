// SPDX-License-Identifier: MIT
// GEMM with one or both operands in narrow formats.
#pragma once

#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/scaled/dequantising_pipeline.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright {

namespace detail {

/// A as a narrow_matrix of one problem.
template <class Policy>
TILEWRIGHT_HD narrow_matrix a_matrix(const typename Policy::args_type& g, long_index_t batch) {
  using format = typename Policy::a_format;
  const auto at = [&](const void* p, long_index_t bits) { return static_cast<const char*>(p) + bits / 8; };
  narrow_matrix a{.words = at(g.a, batch * g.batch_stride_a * format::bits), .rows = g.m, .k = g.k, .ld = g.lda};
  if constexpr (!is_plain<format>) {
    a.scales = at(g.a_scales, batch * g.batch_stride_a_scales * 8 * index_t(sizeof(typename format::scale_type)));
    a.ld_scales = g.ld_a_scales == 0 ? scales_of_column<format>(g.k) : g.ld_a_scales;
  }
  return a;
}
/// B likewise.
template <class Policy>
TILEWRIGHT_HD narrow_matrix b_matrix(const typename Policy::args_type& g, long_index_t batch) {
  using format = typename Policy::b_format;
  const auto at = [&](const void* p, long_index_t bits) { return static_cast<const char*>(p) + bits / 8; };
  const long_index_t groups = batch * g.batch_stride_b_scales * 8;
  narrow_matrix b{.words = at(g.b, batch * g.batch_stride_b * format::bits), .rows = g.n, .k = g.k, .ld = g.ldb};
  if constexpr (!is_plain<format>) {
    b.scales = at(g.b_scales, groups * index_t(sizeof(typename format::scale_type)));
    b.ld_scales = g.ld_b_scales == 0 ? scales_of_column<format>(g.k) : g.ld_b_scales;
  }
  if constexpr (format::has_zero_points) b.zeros = at(g.b_zeros, groups * index_t(sizeof(typename format::zero_type)));
  return b;
}

/// Multiplies a tile of C by the scales of whole rows of A (Dim 0) or columns of B (1), if the format has them.
template <class Format, index_t Dim, class C>
TILEWRIGHT_HD void scale_lines(static_distributed_tensor<float, C>& c, const narrow_matrix& matrix, index_t first) {
  if constexpr (!is_plain<Format> && Format::group == 0) {
    using lines = tile_distribution<number<reduce(C::encoding, array<index_t, 1>{{1 - Dim}})>::value>;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        static_cast<const typename Format::scale_type*>(matrix.scales), make_tuple(matrix.rows),
        make_tuple(matrix.ld_scales));
    const auto scales = tile_elementwise_in(
        [](auto s) { return Format::scale(s); },
        load_tile(make_tile_window(view, make_tuple(number<lines::x_lengths[0]>{}), {first}, lines{})));
    tile_elementwise_inout([](float& sum, float s) { sum *= s; }, c, along<Dim>(scales));
  }
}

}  // namespace detail

/// C = epilogue(A B), with B and maybe A in narrow formats, for launch(). Rows of A and columns of B have lda and ldb
/// elements of memory each, also the last ones.
template <class Policy>
struct narrow_gemm : gemm_kernel<Policy> {
  using base = gemm_kernel<Policy>;
  using args_type = typename Policy::args_type;
  static constexpr block_tile tile = Policy::tile;  ///< of C and k, of a block

  static constexpr const char* check(const args_type& g) {
    if (const char* why = base::check_launch(g)) return why;
    if (const char* why = detail::check_narrow_b<typename Policy::b_format>(g)) return why;
    if (const char* why = detail::check_narrow_a<typename Policy::a_format>(g)) return why;
    if (const char* why = Policy::pipeline::check(g)) return why;
    checked_gemm kernel = detail::checked_gemm_v<Policy>;
    kernel.vector = 1;  // those of A and B are checked
    if (const char* why = detail::check_offsets(g, kernel)) return why;
    constexpr vector_alignment c{Policy::vector, sizeof(typename Policy::result_type)};
    return g.n % Policy::vector == 0 && c.is_met_by(g.c, c.result_bytes, g.ldc, g.batch_stride_c)
               ? nullptr
               : "this kernel moves whole vectors of C: n, ldc and addresses must be multiples; use the kernel with "
                 "vector 1";
  }

  TILEWRIGHT_HD void operator()(const args_type& g) const {
    const exec::block_index block = exec::block_id();
    constexpr grid_order order = Policy::order;
    const multi_index<2> at = order.tile_along<order.curve>(block.x, ceil_div(g.m, tile.m), ceil_div(g.n, tile.n));
    const multi_index<2> origin{{at[0] * tile.m, at[1] * tile.n}};
    const k_tiles all = tiles_along_k(g.k, tile.k), own = base::split_of(g, all, block.y);
    const index_t first = divide(own.first_origin - all.first_origin, tile.k);
    multiply(g, origin, {own.count, first}, block.y, block.z, block.z, exec::lds_allocate<base::lds_bytes>());
  }

  /// Computes the tile of C at `origin`, of k tiles from number `first_origin` on. of_b: which B of the batch.
  TILEWRIGHT_HD static void multiply(const args_type& g, const multi_index<2>& origin, const k_tiles& k, index_t split,
                                     long_index_t batch, long_index_t of_b, exec::lds_pointer lds) {
    static_distributed_tensor<float, c_distribution<tile>> c{};  // (tile.m, tile.n)
    const narrow_matrix a = detail::a_matrix<Policy>(g, batch), b = detail::b_matrix<Policy>(g, of_b);
    Policy::pipeline::template run<Policy>(c, a, b, origin, k.first_origin, k.count, lds);
    detail::scale_lines<typename Policy::a_format, 0>(c, a, origin[0]);
    detail::scale_lines<typename Policy::b_format, 1>(c, b, origin[1]);
    base::write(c, g, origin, split, batch, lds);
  }
};

}  // namespace tilewright
