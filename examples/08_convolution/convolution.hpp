// SPDX-License-Identifier: MIT
// The kernel: a convolution (NHWC, forward) as a matrix product, of which A exists only as transforms of the image.
#pragma once

#include <tilewright/kernels/gemm.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/tilewright.hpp>

namespace convolution_example {

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::make_tuple, tw::number, tw::sequence;
using enum tw::address_space_enum;
using enum tw::operand_major;

/// y(i, oh, ow, f) = sum over r, s, c of x(i, oh stride + r dilation - pad, ow stride + s dilation - pad, c) w(f, r, s,
/// c). x is images x height x width x channels, w filters x filter_height x filter_width x (channels / groups), and y
/// images x out_height x out_width x filters. Filters of a group see the channels of that group.
struct convolution_args {
  const half_t* x = nullptr;
  const half_t* w = nullptr;
  half_t* y = nullptr;
  index_t images = 1, height = 0, width = 0, channels = 0, filters = 0, filter_height = 3, filter_width = 3;
  index_t stride = 1, pad = 0, dilation = 1, groups = 1;

  TILEWRIGHT_HD constexpr index_t out(index_t in, index_t filter) const {
    return (in + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
  }
  TILEWRIGHT_HD constexpr index_t out_height() const { return out(height, filter_height); }
  TILEWRIGHT_HD constexpr index_t out_width() const { return out(width, filter_width); }
};

/// What it refuses, as a sentence.
constexpr const char* check(const convolution_args& a) {
  if (a.images < 1 || a.channels < 1 || a.filters < 1 || a.filter_height < 1 || a.filter_width < 1 || a.stride < 1 ||
      a.dilation < 1 || a.groups < 1 || a.pad < 0)
    return "lengths, stride, dilation and groups must be positive, and pad must not be negative";
  if (a.height + 2 * a.pad < a.dilation * (a.filter_height - 1) + 1 ||
      a.width + 2 * a.pad < a.dilation * (a.filter_width - 1) + 1)
    return "the filter is larger than the padded image";
  if (a.channels % (8 * a.groups) || a.filters % (8 * a.groups))
    return "channels and filters of a group: multiples of 8";
  if (double(a.images) * a.height * a.width * a.channels >= 0x1p30) return "the image has 2 GiB or more: use parts";
  return nullptr;
}

template <index_t... Is>
constexpr auto each = make_tuple(sequence<Is>{}...);

/// A: row (i, oh, ow) is what the filter sees there of the first group's channels, column (r, s, c) one of its
/// elements.
constexpr auto patches(const convolution_args& a) {
  const index_t n = a.images, h = a.height, w = a.width, c = a.channels / a.groups;
  const index_t oh = a.out_height(), ow = a.out_width(), r = a.filter_height, s = a.filter_width;
  const auto same = [](index_t length) { return tw::make_pass_through_transform(length); };
  const auto image = tw::make_naive_tensor_descriptor(
      make_tuple(n, h, w, c), make_tuple(h * w * a.channels, w * a.channels, a.channels, number<1>{}), number<8>{});
  const auto padded = tw::transform_tensor_descriptor(
      image,
      make_tuple(same(n), tw::make_pad_transform(h, a.pad, a.pad), tw::make_pad_transform(w, a.pad, a.pad), same(c)),
      each<0, 1, 2, 3>, each<0, 1, 2, 3>);
  const auto windows = tw::transform_tensor_descriptor(
      padded,
      make_tuple(same(n), tw::make_embed_transform(make_tuple(oh, r), make_tuple(a.stride, a.dilation)),
                 tw::make_embed_transform(make_tuple(ow, s), make_tuple(a.stride, a.dilation)), same(c)),
      each<0, 1, 2, 3>, make_tuple(sequence<0>{}, sequence<1, 3>{}, sequence<2, 4>{}, sequence<5>{}));
  return tw::transform_tensor_descriptor(
      windows,
      make_tuple(tw::make_merge_transform(make_tuple(n, oh, ow)), tw::make_merge_transform(make_tuple(r, s, c))),
      make_tuple(sequence<0, 1, 2>{}, sequence<3, 4, 5>{}), each<0, 1>);
}

/// The arguments with the descriptor, which is made on the host: it has the multipliers of its divisions.
struct prepared_args {
  convolution_args args;
  decltype(patches({})) a;
};

template <class Arch>
struct policy : tw::gemm_policy<Arch, half_t, k, k, 8> {};

template <class Arch>
struct kernel {
  using arch = Arch;
  using gemm = tw::gemm_kernel<policy<Arch>>;
  using args_type = convolution_args;
  using device_args = prepared_args;
  static constexpr index_t block_size = gemm::block_size, lds_bytes = gemm::lds_bytes;
  static_assert(tw::require_conflict_free_gemm<policy<Arch>>());

  static constexpr const char* check(const convolution_args& args) { return convolution_example::check(args); }
  static prepared_args prepare(const convolution_args& args, const tw::launch_facts&) { return {args, patches(args)}; }
  static constexpr tw::grid_size grid(const prepared_args& p) {
    const index_t rows = p.a.template get_length<0>(), filters = p.args.filters / p.args.groups;
    return {tw::ceil_div(rows, gemm::tile.m), tw::ceil_div(filters, gemm::tile.n), p.args.groups};
  }

  /// One block tile of a group's product: of the rows of A and the filters.
  TILEWRIGHT_HD void operator()(const prepared_args& p) const {
    constexpr tw::block_tile tile = policy<Arch>::tile;
    const auto [block_m, block_n, group] = tw::exec::block_id();
    const index_t rows = p.a.template get_length<0>(), depth = p.a.template get_length<1>();
    const index_t filters = p.args.filters / p.args.groups, channels = p.args.channels / p.args.groups;
    const tw::k_tiles tiles = tw::tiles_along_k(depth, tile.k);
    const auto a = tw::make_a_window<policy<Arch>>(tw::make_tensor_view<global>(p.args.x + group * channels, p.a),
                                                   block_m * tile.m, tiles.first_origin);
    const auto b = tw::make_b_window<policy<Arch>>(
        tw::make_naive_tensor_view<global>(p.args.w + tw::long_index_t(group) * filters * depth,
                                           make_tuple(filters, depth), make_tuple(depth, number<1>{}), number<8>{}),
        block_n * tile.n, tiles.first_origin);
    tw::require_vector<policy<Arch>::copy_vector>(a);
    const auto lds = tw::exec::lds_allocate<lds_bytes>();
    tw::static_distributed_tensor<float, tw::c_distribution<tile>> sums{};
    policy<Arch>::pipeline::template run<policy<Arch>>(sums, a, b, tiles.count, lds);
    const tw::gemm_args c{.c = p.args.y + group * filters, .m = rows, .n = filters, .ldc = p.args.filters};
    tw::write_result<policy<Arch>>(sums, c, {block_m * tile.m, block_n * tile.n}, 0, lds);
  }
};

}  // namespace convolution_example
