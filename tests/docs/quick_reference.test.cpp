// SPDX-License-Identifier: MIT
// What docs/quick_reference.md shows.
#include <tilewright/ck_tile.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tilewright.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tw = tilewright;
using tw::half_t, tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

namespace {

namespace numbers {

static_assert(float(tw::type_convert<tw::fp8_ocp_t>(1000.0f)) ==
              448);  // rounds to nearest, ties to even, and saturates
static_assert(tw::type_convert<tw::int8_t>(-3.5f) == -4);
using elements = tuple<tw::half_t, tw::bfloat16_t, float, tw::fp8_ocp_t, tw::bf8_ocp_t, tw::fp8_fnuz_t, tw::bf8_fnuz_t,
                       tw::int8_t, int>;

}  // namespace numbers

namespace descriptors {

constexpr auto rows =
    tw::make_naive_tensor_descriptor(make_tuple(number<64>{}, number<32>{}), make_tuple(number<40>{}, number<1>{}));
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<64>{}, number<8>{}));
constexpr auto joined = tw::transform_tensor_descriptor(
    packed,
    make_tuple(tw::make_pass_through_transform(number<64>{}),
               tw::make_merge_transform(make_tuple(number<8>{}, number<8>{}))),
    make_tuple(sequence<1>{}, sequence<0, 2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
static_assert(rows.calculate_offset({2, 3}) == 83 && joined.calculate_offset({5, 9}) == 512 + 41);
static_assert(rows.is_static() && rows.get_length<1>() == 32 && rows.get_element_space_size() == 63 * 40 + 32);
// Lengths and strides known only at run time are plain integers; number<8>{} guarantees that 8 divides the address (in
// elements), the pitch and k.
inline auto of_run_time(index_t m, index_t k, index_t pitch) {
  return tw::make_naive_tensor_descriptor(make_tuple(m, k), make_tuple(pitch, number<1>{}), number<8>{});
}

}  // namespace descriptors

namespace distributions {

// 64 x 32: the rows are 2 registers x 2 waves x 16 lanes, the columns 4 lanes x 8 registers.
template <index_t Wave>
using by_rows = tw::tile_distribution<tw::tile_distribution_encoding<
    sequence<>, tuple<sequence<128 / Wave, 2, Wave / 4>, sequence<4, 8>>, tuple<sequence<1>, sequence<1, 2>>,
    tuple<sequence<1>, sequence<2, 0>>, sequence<1, 2>, sequence<0, 1>>::value>;
using pattern = tw::tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tw::tile_distribution_pattern::block_raked>;
static_assert(pattern::value == by_rows<64>::encoding);
static_assert(by_rows<64>::calculate_index({1, 5}) == tw::multi_index<2>{17, 8});  // wave 1, lane 5
static_assert(tw::load_store_traits<by_rows<64>, half_t>::scalar_per_vector == 8);

using curve =
    tw::space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 4>, true>;  // lengths, order, vector, snake
static_assert(curve::get_num_of_access() == 8 && curve::get_index(2) == tw::multi_index<2>{1, 4});

}  // namespace distributions

namespace lds {

using tw::arch::gfx942;
constexpr auto swizzled = tw::make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();  // K, KPack, MLdsLayer, M
using read = tw::tile_distribution<tw::encoding_of(describe(tw::arch::matrix_op::mfma_32x32x8_x2).a)>;
constexpr auto cost = tw::analyze_lds_access<gfx942>(swizzled, read{}, sizeof(half_t), tw::lds_access_kind::read);
static_assert(cost.is_conflict_free() && cost.op == tw::arch::lds_op::read_b128);
static_assert(tw::is_conflict_free<gfx942>(swizzled, read{}, sizeof(half_t), tw::lds_access_kind::read));
// The library finds a layout for a writer and a reader, here on two targets at once.
constexpr auto found = tw::choose_lds_layout<gfx942, tw::arch::gfx950>(
    tw::lds_tile{64, 32, sizeof(half_t)}, tw::lds_use{distributions::by_rows<64>::encoding, tw::lds_access_kind::write},
    tw::lds_use{read::encoding, tw::lds_access_kind::read});
static_assert(found.worst_degree == 1);
constexpr auto layout = tw::make_lds_descriptor<found.layout>();

}  // namespace lds

struct arguments {
  const half_t* a;
  float *b, *sums;
  index_t m, k, pitch;
};

/// b = 2 a + 1 on and below the diagonal of the tile at (64, 0), else 0; and the sum of each row is added to sums.
template <index_t Wave>
struct kernel {
  TILEWRIGHT_HD void operator()(const arguments& args) const {
    constexpr auto global = tw::address_space_enum::global, lds = tw::address_space_enum::lds;
    const auto lengths = make_tuple(number<64>{}, number<32>{});
    constexpr distributions::by_rows<Wave> copy;

    // Views: memory with a descriptor. Windows: a tile-sized part of a view, and the calling thread's share of it.
    const auto shape = make_tuple(args.m, args.k);
    const auto strides = make_tuple(args.pitch, number<1>{});
    const auto a = tw::make_naive_tensor_view<global>(args.a, shape, strides, number<8>{});
    const auto b = tw::make_naive_tensor_view<global>(args.b, shape, strides, number<8>{});
    const auto sums = tw::make_naive_tensor_view<global>(args.sums, make_tuple(number<64>{}), make_tuple(number<1>{}));
    constexpr auto layout = tw::make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();
    const auto shared = tw::make_tensor_view<lds, half_t>(tw::exec::lds_allocate<64 * 32 * 2>(), layout);

    // Through registers. Outside of a tensor in global memory, loads give zeros and stores do nothing.
    auto window = tw::make_tile_window(a, lengths, {0, 0}, copy);
    const auto in_lds = tw::make_tile_window(shared, lengths, {0, 0}, copy);
    tw::store_tile(in_lds, tw::load_tile(window));
    tw::exec::block_sync();
    tw::move_tile_window(window, {64, 0});

    // Without registers. LDS is filled lane after lane, so both windows follow the layout's swizzle.
    const auto from = tw::make_async_tile_window(a, lengths, {64, 0}, copy, layout);
    const auto to = tw::make_async_tile_window(shared, lengths, {0, 0}, copy, layout);
    tw::async_load_tile(to, from);
    tw::async_wait();
    tw::exec::block_sync();

    // Elements.
    auto tile = tw::cast_tile<float>(tw::load_tile(in_lds));
    tw::tile_elementwise_inout([](float& x) { x *= 2; }, tile);
    tw::sweep_tile(tile, [](auto, float& x) { x += 1; });
    tw::set_tile_if(tile, 0.0f, [](const tw::multi_index<2>& x) { return x[0] < x[1]; });
    tw::store_tile(tw::make_tile_window(b, lengths, {64, 0}, copy), tile);

    // Rows: in each thread, then across the lanes that share a row. max and min are the others, along<0> repeats.
    const auto row_sums = tw::row_reduce(tile, tw::plus);
    tw::tile_elementwise_inout([](float& x, float all) { x = x * tw::exec::rcp(all); }, tile, tw::along<0>(row_sums));
    const auto result = tw::make_tile_window(sums, make_tuple(number<64>{}), {0}, row_sums.get_tile_distribution());
    tw::update_tile<tw::memory_operation_enum::atomic_add>(result, row_sums);
  }
};

TEST(QuickReference, KernelOnTheCpu) {
  const index_t m = 100, k = 32, pitch = 40;
  std::vector<half_t> a(std::size_t(m * pitch), half_t(3.0f));
  std::vector<float> b(std::size_t(m * pitch)), sums(64);
  const arguments args{a.data(), b.data(), sums.data(), m, k, pitch};
  const tw::emulator::launch_config config{
      .target = &tw::arch::gfx942::value, .grid = {1, 1, 1}, .block_size = 128, .lds_bytes = 64 * 32 * 2};
  const tw::emulator::launch_report report = tw::emulator::launch(config, [&] { kernel<64>{}(args); });
  EXPECT_EQ(report.of(tw::arch::lds_op::read_b128).conflicts, 0);
  for (index_t r = 0; r < 64; ++r) {
    const float element = 64 + r < m ? 7.0f : 1.0f;  // past the tensor a is 0
    ASSERT_EQ(sums[std::size_t(r)], element * float(std::min(r + 1, k))) << r;
    for (index_t c = 0; c < k && 64 + r < m; ++c)
      ASSERT_EQ(b[std::size_t((64 + r) * pitch + c)], c <= r ? element : 0.0f);
  }
}

TEST(QuickReference, KernelAsOtherTargets) {
  for (const tw::arch::target* target : {&tw::arch::gfx950::value, &tw::arch::gfx1201::value, &tw::arch::sm90::value}) {
    std::vector<half_t> a(100 * 40, half_t(3.0f));
    std::vector<float> b(100 * 40), sums(64);
    const arguments args{a.data(), b.data(), sums.data(), 100, 32, 40};
    tw::emulator::launch({.target = target, .block_size = 2 * target->wave_size, .lds_bytes = 64 * 32 * 2}, [&] {
      if (target->wave_size == 64) kernel<64>{}(args);
      if (target->wave_size == 32) kernel<32>{}(args);
    });
    EXPECT_EQ(sums[20], 21 * 7) << target->name;
    EXPECT_EQ(sums[50], 32) << target->name;
  }
}

}  // namespace
