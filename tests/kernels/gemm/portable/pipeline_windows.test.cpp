// SPDX-License-Identifier: MIT
// Every pipeline multiplies a matrix that exists only as transforms of an image: k is merge(r, s, c), with pads.
#include "../../../tile/on_cpu.hpp"

#include <tilewright/kernels/gemm/portable/double_buffered_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/single_buffered_pipeline.hpp>
#include <tilewright/tile/copy/async_load.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using enum arch::matrix_op;

using namespace testing_tiles;

constexpr index_t height = 9, width = 7, channels = 24, filter = 3;
constexpr index_t rows = height * width, depth = filter * filter * channels;  // 216: no multiple of the tiles' lengths

/// Row (y, x) of the matrix is the 3 x 3 pixels around (y, x), column (r, s, c) one channel of one of them.
auto patches(const half_t* image) {
  constexpr number<channels / 8> groups{};
  constexpr number<8> group{};
  constexpr number<filter> f{};
  const auto pixels = make_naive_tensor_descriptor_packed(make_tuple(height, width, groups, group));
  const auto same = [](auto... dims) { return make_tuple(sequence<dims.value>{}...); };
  const auto padded =
      transform_tensor_descriptor(pixels,
                                  make_tuple(make_pad_transform(height, 1, 1), make_pad_transform(width, 1, 1),
                                             make_pass_through_transform(groups), make_pass_through_transform(group)),
                                  same(number<0>{}, number<1>{}, number<2>{}, number<3>{}),
                                  same(number<0>{}, number<1>{}, number<2>{}, number<3>{}));
  const auto windows = transform_tensor_descriptor(
      padded,
      make_tuple(make_embed_transform(make_tuple(height, f), make_tuple(number<1>{}, number<1>{})),
                 make_embed_transform(make_tuple(width, f), make_tuple(number<1>{}, number<1>{})),
                 make_pass_through_transform(groups), make_pass_through_transform(group)),
      same(number<0>{}, number<1>{}, number<2>{}, number<3>{}),
      make_tuple(sequence<0, 1>{}, sequence<2, 3>{}, sequence<4>{}, sequence<5>{}));
  const auto matrix = transform_tensor_descriptor(windows,
                                                  make_tuple(make_merge_transform(make_tuple(height, width)),
                                                             make_merge_transform(make_tuple(f, f, groups, group))),
                                                  make_tuple(sequence<0, 2>{}, sequence<1, 3, 4, 5>{}),
                                                  make_tuple(sequence<0>{}, sequence<1>{}));
  return make_tensor_view<address_space_enum::global>(image, matrix);
}

// Pads of rows leave the stride along k; those along k decide anew for each tile what exists.
template <bool PadsRows>
constexpr bool depends_on_k_if_padded() {
  constexpr auto both = make_tuple(sequence<0>{}, sequence<1>{});
  constexpr number<8> length{};
  constexpr auto matrix = make_naive_tensor_descriptor_packed(make_tuple(length, length));
  constexpr auto pad = make_right_pad_transform(length, length);
  constexpr auto pass = make_pass_through_transform(length);
  if constexpr (PadsRows) {
    return detail::may_be_invalid_along(
        decltype(transform_tensor_descriptor(matrix, make_tuple(pad, pass), both, both))::graph, 1);
  } else {
    return detail::may_be_invalid_along(
        decltype(transform_tensor_descriptor(matrix, make_tuple(pass, pad), both, both))::graph, 1);
  }
}
static_assert(!depends_on_k_if_padded<true>() && depends_on_k_if_padded<false>());

template <class Arch, block_tile Tile, class Pipeline>
struct policy : gemm_policy<Arch, half_t, operand_major::k, operand_major::k, 8, Tile, Pipeline> {};

/// One block tile of the product of the patches and of B (n x k), by the policy's pipeline.
template <class Policy>
void expect_product() {
  SCOPED_TRACE(Policy::arch::value.name);
  constexpr block_tile tile = Policy::tile;
  std::vector<half_t> image(height * width * channels), b(std::size_t(tile.n * depth));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = half_t(float(i * 5 % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = half_t(float(i * 11 % 5) - 2);
  const auto where = positions<c_distribution<tile>>();
  std::vector<float> result(where.size());
  const index_t lds_bytes = Policy::pipeline::num_stages * detail::lds_stage_bytes<Policy>();
  run<c_distribution<tile>>(
      Policy::arch::value,
      [&] {
        const k_tiles tiles = tiles_along_k(depth, tile.k);
        const auto window = [&](const auto& view, auto m, auto distribution, [[maybe_unused]] auto layout) {
          const auto lengths = make_tuple(m, number<tile.k>{});
          if constexpr (Policy::copies_by_wave) {
            return make_async_tile_window(view, lengths, {0, tiles.first_origin}, distribution, layout);
          } else {
            return make_tile_window(view, lengths, {0, tiles.first_origin}, distribution);
          }
        };
        const auto a = window(patches(image.data()), number<tile.m>{}, tile_distribution<Policy::a_copy>{},
                              tensor_descriptor<Policy::a_lds>{{}, tile.m * tile.k});
        const auto b_view = make_naive_tensor_view<address_space_enum::global>(
            static_cast<const half_t*>(b.data()), make_tuple(index_t(tile.n), index_t(depth)),
            make_tuple(index_t(depth), number<1>{}), number<8>{});
        const auto b_window = window(b_view, number<tile.n>{}, tile_distribution<Policy::b_copy>{},
                                     tensor_descriptor<Policy::b_lds>{{}, tile.n * tile.k});
        static_assert(!has_k_stride<std::remove_const_t<decltype(a)>>);
        static_assert(has_k_stride<std::remove_const_t<decltype(b_window)>>);
        static_distributed_tensor<float, c_distribution<tile>> c{};
        const exec::lds_pointer lds =
            exec::lds_allocate<Policy::pipeline::num_stages * detail::lds_stage_bytes<Policy>()>();
        Policy::pipeline::template run<Policy>(c, a, b_window, tiles.count, lds);
        for (index_t d = 0; d < c.size(); ++d)
          result[std::size_t(exec::thread_id() * c.size() + d)] = c.thread_buffer[d];
      },
      lds_bytes);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const index_t row = where[i][0], n = where[i][1];
    float expected = 0;
    for (index_t l = 0; row < rows && l < depth; ++l) {
      const index_t y = row / width + l / (filter * channels) - 1, x = row % width + l / channels % filter - 1;
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      expected +=
          float(image[std::size_t((y * width + x) * channels + l % channels)]) * float(b[std::size_t(n * depth + l)]);
    }
    ASSERT_EQ(result[i], expected) << row << ", " << n;
  }
}

TEST(PipelineWindows, MergeAlongK) {
  expect_product<policy<arch::gfx942, block_tile{64, 64, 64, 2, 2, mfma_32x32x8_x2}, single_buffered_pipeline>>();
  expect_product<policy<arch::gfx1201, block_tile{64, 32, 32, 2, 1, wmma_16x16x16_gfx12}, double_buffered_pipeline>>();
  expect_product<policy<arch::gfx942, block_tile{64, 64, 64, 2, 2, mfma_32x32x8_x2}, one_wave_per_simd_pipeline>>();
  expect_product<policy<arch::gfx950, block_tile{128, 64, 64, 4, 2, mfma_32x32x16}, ping_pong_pipeline>>();
  expect_product<policy<arch::sm80, block_tile{64, 32, 32, 2, 1, mma_m16n8k16_x2}, multi_stage_pipeline<3>>>();
  expect_product<policy<arch::gfx950, block_tile{64, 64, 64, 2, 2, mfma_32x32x16}, multi_stage_pipeline<3>>>();
}

}  // namespace
}  // namespace tilewright
