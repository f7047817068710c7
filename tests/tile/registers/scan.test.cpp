// SPDX-License-Identifier: MIT
// Scans across registers, lanes and waves, of distributions of every shape, against scans element by element.
#include "../on_cpu.hpp"

#include <tilewright/core/distribution/copy_distribution.hpp>
#include <tilewright/tile/registers/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace tilewright {
namespace {

using namespace testing_tiles;

int value_at(const multi_index<2>& x) { return (x[0] * 31 + x[1] * 17) % 23 - (x[1] % 3 == 0 ? 4 : 11); }

/// Associative, but f(a, b) is not f(b, a).
struct last_positive {
  TILEWRIGHT_HD int operator()(int a, int b) const { return b > 0 ? b : a; }
};

/// Scans two tiles along dimension Dim, the second one with the carry of the first.
template <index_t Dim, class Distribution, class F, class Combine>
void expect_scan(const arch::target& target, F f, Combine combine) {
  using tile_type = static_distributed_tensor<int, Distribution>;
  using reduced = reduced_distribution<Distribution, Dim>;
  constexpr index_t n = Distribution::num_elements, lds_bytes = scan_lds_bytes<tile_type, Dim>;
  const auto where = positions<Distribution>();
  const auto result_at = positions<reduced>();
  std::array<std::vector<int>, 2> found{std::vector<int>(where.size()), std::vector<int>(where.size())};
  std::vector<int> total(result_at.size()), carried(result_at.size());
  run<Distribution>(
      target,
      [&] {
        const auto own = std::size_t(exec::thread_id()) * n;
        exec::lds_pointer lds{};
        if constexpr (lds_bytes > 0) lds = exec::lds_allocate<lds_bytes>();
        tile_type first, second;
        for (index_t d = 0; d < n; ++d)
          first.thread_buffer[d] = second.thread_buffer[d] = value_at(where[own + std::size_t(d)]);
        auto carry = [&] {
          if constexpr (lds_bytes == 0) return scan<Dim>(first, f);
          if constexpr (lds_bytes > 0) return scan<Dim>(first, f, lds);
        }();
        static_assert(__is_same(decltype(carry), static_distributed_tensor<int, reduced>));
        const auto totals = carry;
        if constexpr (lds_bytes == 0) {
          scan<Dim>(second, f, carry);
        } else {
          exec::block_sync();
          scan<Dim>(second, f, carry, lds);
        }
        for (index_t d = 0; d < n; ++d) {
          found[0][own + std::size_t(d)] = first.thread_buffer[d];
          found[1][own + std::size_t(d)] = second.thread_buffer[d];
        }
        for (index_t d = 0; d < reduced::num_elements; ++d) {
          const auto at = std::size_t(exec::thread_id() * reduced::num_elements + d);
          total[at] = totals.thread_buffer[d];
          carried[at] = carry.thread_buffer[d];
        }
      },
      lds_bytes);
  const auto along = [&](multi_index<2> x, index_t length) {
    x[Dim] = 0;
    int value = value_at(x);
    for (x[Dim] = 1; x[Dim] < length; ++x[Dim]) value = combine(value, value_at(x));
    return value;
  };
  const index_t length = Distribution::get_lengths()[Dim];
  for (std::size_t i = 0; i < where.size(); ++i) {
    const int until = along(where[i], where[i][Dim] + 1);
    ASSERT_EQ(found[0][i], until) << target.name << ", element " << where[i][0] << ", " << where[i][1];
    ASSERT_EQ(found[1][i], combine(along(where[i], length), until)) << target.name;
  }
  for (std::size_t i = 0; i < total.size(); ++i) {
    multi_index<2> x{};
    x[1 - Dim] = result_at[i][0];
    const int all = along(x, length);
    ASSERT_EQ(total[i], all) << target.name;
    ASSERT_EQ(carried[i], combine(all, all)) << target.name;
  }
}

template <class Distribution>
void expect_scans(const arch::target& target) {
  expect_scan<0, Distribution>(target, plus, [](int a, int b) { return a + b; });
  expect_scan<1, Distribution>(target, plus, [](int a, int b) { return a + b; });
  expect_scan<1, Distribution>(target, max, [](int a, int b) { return std::max(a, b); });
  expect_scan<0, Distribution>(target, last_positive{}, last_positive{});
  expect_scan<1, Distribution>(target, last_positive{}, last_positive{});
}

/// Registers, then lanes, then registers again along the columns; waves along the rows.
template <index_t Wave>
using alternating = tile_distribution<tile_distribution_encoding<
    sequence<>, tuple<sequence<3, 2, 2>, sequence<2, Wave / 4, 3, 2, 2>>, tuple<sequence<1>, sequence<2, 1, 2>>,
    tuple<sequence<1>, sequence<1, 2, 3>>, sequence<2, 1, 2, 2>, sequence<2, 0, 0, 4>>::value>;
/// A tile of one wave.
template <index_t Wave>
using one_wave =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<5>, sequence<Wave, 2>>, tuple<sequence<2>>,
                                                 tuple<sequence<0>>, sequence<1, 2>, sequence<0, 1>>::value>;

template <index_t Wave>
void expect_all(const arch::target& target) {
  expect_scans<by_rows<Wave>>(target);
  expect_scans<by_columns<Wave>>(target);
  expect_scans<alternating<Wave>>(target);
  expect_scans<one_wave<Wave>>(target);
  expect_scans<decltype(make_row_distribution<2, 8 * 4 * Wave * 2, half_t, 4 * Wave, Wave>())>(target);
}

TEST(Scan, OfEveryShape) {
  expect_all<64>(arch::gfx942::value);
  expect_all<32>(arch::gfx1100::value);
  expect_all<32>(arch::sm90::value);
}

TEST(Scan, LdsHasAWordForEachWaveAndValue) {
  using row = decltype(make_row_distribution<2, 4096, half_t, 256, 64>());
  static_assert(scan_lds_bytes<static_distributed_tensor<float, row>, 1> == 4 * row::num_elements * 4);
  static_assert(scan_lds_bytes<static_distributed_tensor<float, by_rows<64>>, 1> == 0);
}

TEST(WaveScan, OfGroupsOfLanes) {
  for (const arch::target* target : {&arch::gfx942::value, &arch::gfx1100::value, &arch::sm90::value}) {
    std::vector<int> all(64), of_six(64);
    emulator::launch({.target = target, .block_size = target->wave_size, .workers = 1}, [&] {
      const auto lane = std::size_t(exec::lane_id());
      all[lane] = target->wave_size == 64 ? wave_scan<64>(int(lane), plus) : wave_scan<32>(int(lane), plus);
      of_six[lane] = wave_scan<6>(int(lane), plus);
    });
    for (int lane = 0; lane < target->wave_size; ++lane) {
      EXPECT_EQ(all[std::size_t(lane)], lane * (lane + 1) / 2) << target->name;
      int sum = 0;
      for (int i = lane / 6 * 6; i <= lane; ++i) sum += i;
      EXPECT_EQ(of_six[std::size_t(lane)], sum) << target->name << ", lane " << lane;
    }
  }
}

}  // namespace
}  // namespace tilewright
