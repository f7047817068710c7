// SPDX-License-Identifier: MIT
// What docs/mma.md shows: two products in a row, of which the second multiplies what the first leaves in registers.
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tilewright.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::make_tuple, tw::number;
using enum tw::address_space_enum;

namespace {

// S (64 queries x 64 keys) = Q K^T, and O (64 x 32) = S V, by two waves, which divide the queries.
constexpr auto op = tw::arch::matrix_op::mfma_32x32x16;
constexpr tw::block_tile qk{.m = 64, .n = 64, .k = 32, .waves_m = 2, .waves_n = 1, .op = op};
constexpr tw::block_tile pv =
    tw::chained<qk, tw::block_tile{.m = 64, .n = 32, .k = 64, .waves_m = 2, .waves_n = 1, .op = op}>;

// Each lane keeps its elements of S, so V's k must have the order that S has there: bits 2 and 3 change places.
static_assert(pv.num_k_exchanges() == 1 && pv.k_exchange(0) == tw::array<tw::index_t, 2>{{2, 3}});
static_assert(tw::can_shuffle_in_registers<tw::a_distribution<pv>, tw::c_distribution<qk>>);
static_assert(!tw::can_chain({32, 32, 32, 1, 1, tw::arch::matrix_op::wmma_16x16x16_gfx11},
                             {32, 32, 32, 1, 1, tw::arch::matrix_op::wmma_16x16x16_gfx11}));

/// A matrix of 32 columns in LDS: rows of 80 bytes, free of bank conflicts for vectors of 16 bytes.
template <index_t Rows>
constexpr auto layout =
    tw::make_naive_tensor_descriptor(make_tuple(number<Rows>{}, number<32>{}), make_tuple(number<40>{}, number<1>{}));
/// The same with its dimensions exchanged.
constexpr auto columns =
    tw::make_naive_tensor_descriptor(make_tuple(number<32>{}, number<64>{}), make_tuple(number<1>{}, number<40>{}));

template <class T, class Distribution, class Descriptor>
auto global_window(T* p, const Descriptor& descriptor, Distribution distribution) {
  return tw::make_tile_window(tw::make_tensor_view<global>(p, descriptor),
                              tw::detail::lengths_as_numbers<Distribution>(), {}, distribution);
}
template <class Distribution, class Descriptor>
auto lds_window(tw::exec::lds_pointer p, const Descriptor& descriptor, Distribution distribution) {
  return tw::make_tile_window(tw::make_tensor_view<lds, half_t>(p, descriptor),
                              tw::detail::lengths_as_numbers<Distribution>(), {}, distribution);
}

void two_products(const half_t* q, const half_t* k, const half_t* v, float* o) {
  constexpr auto packed = [](auto rows) {
    return tw::make_naive_tensor_descriptor_packed(make_tuple(rows, number<32>{}));
  };
  const auto memory = tw::exec::lds_allocate<2 * 64 * 80>();
  const auto copy = tw::make_copy_distribution<64, 32, half_t, 128>();
  tw::store_tile(lds_window(memory, layout<64>, copy), tw::load_tile(global_window(k, packed(number<64>{}), copy)));
  tw::store_tile(lds_window(memory + 64 * 80, layout<64>, copy),
                 tw::load_tile(global_window(v, packed(number<64>{}), copy)));
  tw::exec::block_sync();

  const auto k_window = lds_window(memory, layout<64>, tw::b_lds_distribution<qk>{});
  const auto v_window = lds_window(memory + 64 * 80, columns, tw::b_lds_distribution<pv, true>{});
  const auto queries = tw::load_tile(global_window(q, packed(number<64>{}), tw::a_distribution<qk>{}));
  tw::static_distributed_tensor<float, tw::c_distribution<qk>> s{};
  tw::static_distributed_tensor<float, tw::c_distribution<pv>> out{};
  tw::block_gemm<qk>(s, queries, k_window);
  const auto p = tw::relayout<half_t>(s, tw::a_distribution<pv>{});
  tw::block_gemm<pv>(out, p, v_window);
  tw::store_tile(global_window(o, packed(number<64>{}), tw::c_distribution<pv>{}), out);
}

TEST(MmaPage, TwoProductsInARow) {
  const auto value = [](int i, int j) { return float((i * 3 + j * 5 + i * j) % 3 - 1); };
  std::vector<half_t> q, k, v;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 32; ++j) {
      q.push_back(half_t(value(i, j)));
      k.push_back(half_t(value(j, i)));
      v.push_back(half_t(value(i + 1, j)));
    }
  }
  std::vector<float> o(64 * 32);
  tw::emulator::launch({.target = &tw::arch::gfx950::value,
                        .grid = {1, 1, 1},
                        .block_size = 128,
                        .lds_bytes = 2 * 64 * 80,
                        .check_lds = tw::emulator::lds_checks::on},
                       [&] { two_products(q.data(), k.data(), v.data(), o.data()); });
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 32; ++j) {
      float expected = 0;
      for (int l = 0; l < 64; ++l) {
        float s = 0;
        for (int d = 0; d < 32; ++d) s += value(i, d) * value(d, l);
        expected += s * value(l + 1, j);
      }
      ASSERT_EQ(o[std::size_t(i * 32 + j)], expected) << i << ", " << j;
    }
  }
}

/// The product step by step along k, for code that does something else in between.
template <tw::block_tile Tile, class C, class A, class B>
void multiply_by_steps(C& c, const A& a_window, const B& b_window) {
  constexpr index_t steps = Tile.num_k_steps(), per_step = tw::matrix_instructions_per_step<Tile>;
  tw::static_distributed_tensor<half_t, tw::a_distribution<Tile>> a;
  tw::static_distributed_tensor<half_t, tw::b_distribution<Tile>> b;
  tw::unroll<steps>([&](auto step) {
    tw::load_fragment_steps<Tile.op, steps, step, 1>(a, a_window, 0);
    tw::load_fragment_steps<Tile.op, steps, step, 1>(b, b_window, 0);
    tw::block_gemm<Tile, step * per_step, per_step>(c, a, b);
  });
}

TEST(MmaPage, Steps) {
  constexpr tw::block_tile tile{64, 64, 32, 2, 1, op};
  tw::emulator::launch(
      {.target = &tw::arch::gfx950::value, .grid = {1, 1, 1}, .block_size = 128, .lds_bytes = 64 * 80}, [&] {
        const auto memory = tw::exec::lds_allocate<64 * 80>();
        tw::static_distributed_tensor<half_t, decltype(tw::make_copy_distribution<64, 32, half_t, 128>())> ones;
        tw::set_tile(ones, half_t(1.0f));
        tw::store_tile(lds_window(memory, layout<64>, ones.get_tile_distribution()), ones);
        tw::exec::block_sync();
        tw::static_distributed_tensor<float, tw::c_distribution<tile>> c{};
        multiply_by_steps<tile>(c, lds_window(memory, layout<64>, tw::a_lds_distribution<tile>{}),
                                lds_window(memory, layout<64>, tw::b_lds_distribution<tile>{}));
        for (const float sum : c.thread_buffer) EXPECT_EQ(sum, 32.0f);
      });
}

}  // namespace
