// SPDX-License-Identifier: MIT
// GEMM with one or both operands in narrow formats.
#pragma once

#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/scaled/dequantising_pipeline.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright {

namespace detail {

/// The matrix of a problem that begins `elements` elements and `groups` scales after m, whose ld_scales may be 0: no
/// gaps.
template <class Format>
TILEWRIGHT_HD narrow_matrix matrix_of_problem(narrow_matrix m, long_index_t elements, long_index_t groups) {
  m.words = static_cast<const char*>(m.words) + elements * Format::bits / 8;
  m.scales = static_cast<const typename Format::scale_type*>(m.scales) + groups;
  if constexpr (Format::has_zero_points) m.zeros = static_cast<const typename Format::zero_type*>(m.zeros) + groups;
  if (m.ld_scales == 0) m.ld_scales = scales_of_column<Format>(m.k);
  return m;
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

/// What the kernel of a policy with b_format cannot do with operands; nullptr: nothing.
template <class Policy>
constexpr const char* check_narrow(const typename Policy::args_type& g) {
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

/// Adds the product of some tiles along k, from 0 on, to c (tile.m, tile.n), the block tile at `origin`.
template <class Policy, class C>
TILEWRIGHT_HD void add_narrow_tiles(C& c, const typename Policy::args_type& g, const multi_index<2>& origin,
                                    const k_tiles& k, long_index_t batch, exec::lds_pointer lds) {
  using a_format = typename Policy::a_format;
  using b_format = typename Policy::b_format;
  narrow_matrix a{.words = g.a, .rows = g.m, .k = g.k, .ld = g.lda},
      b{g.b, g.b_scales, g.b_zeros, g.n, g.k, g.ldb, g.ld_b_scales};
  long_index_t a_groups = 0;
  if constexpr (!detail::is_plain<a_format>)
    a.scales = g.a_scales, a.ld_scales = g.ld_a_scales, a_groups = batch * g.batch_stride_a_scales;
  a = detail::matrix_of_problem<a_format>(a, batch * g.batch_stride_a, a_groups);
  b = detail::matrix_of_problem<b_format>(b, batch * g.batch_stride_b, batch * g.batch_stride_b_scales);
  const index_t first = divide(k.first_origin, Policy::tile.k);
  Policy::pipeline::template run<Policy>(c, a, b, origin, first, k.count, lds);
  detail::scale_lines<a_format, 0>(c, a, origin[0]);
  detail::scale_lines<b_format, 1>(c, b, origin[1]);
}

/// C = epilogue(A B), with B and maybe A in narrow formats, for launch(): the kernel of a dequantising_policy or a
/// scaled_mfma_policy. Rows of A and columns of B have lda and ldb elements of memory each, also the last ones.
template <class Policy>
using narrow_gemm = gemm_kernel<Policy>;

}  // namespace tilewright
