// SPDX-License-Identifier: MIT
// B of a policy that computes two products: include it where Policy::products is 2.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/tile/window/tensor_view.hpp>

namespace tilewright {

/// B of both products: the block tile's rows are those of the first product from column n0 of C on, then as many of
/// the second. Rows that C has not are padding.
template <class Policy, class E>
TILEWRIGHT_HD auto two_products_view(const E* data, index_t n0, const typename Policy::args_type& args) {
  constexpr auto global = address_space_enum::global;
  constexpr number<Policy::vector> vector{};
  constexpr index_t tile_n = Policy::tile.n / 2;
  constexpr number<tile_n> cols{};
  constexpr auto one_by_one = make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{});
  const index_t n = min(args.n - n0, tile_n), stride = index_t(args.product_stride_b);
  const auto lengths = make_tuple(number<2>{}, n, args.k);
  const auto merged = [&](const auto& view) TILEWRIGHT_INLINE_LAMBDA {
    const auto padded =
        transform_tensor_view(view,
                              make_tuple(make_pass_through_transform(number<2>{}),
                                         make_right_pad_transform(n, tile_n - n), make_pass_through_transform(args.k)),
                              one_by_one, one_by_one);
    return transform_tensor_view(
        padded, make_tuple(make_merge_transform(make_tuple(number<2>{}, cols)), make_pass_through_transform(args.k)),
        make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  };
  if constexpr (Policy::b_major == operand_major::k) {
    return merged(make_naive_tensor_view<global>(data + long_index_t(n0) * args.ldb, lengths,
                                                 make_tuple(stride, args.ldb, number<1>{}), vector));
  } else {
    return merged(
        make_naive_tensor_view<global>(data + n0, lengths, make_tuple(stride, number<1>{}, args.ldb), vector));
  }
}

}  // namespace tilewright
