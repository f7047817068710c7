// SPDX-License-Identifier: MIT
// Tiles that live in LDS.
#include "../../tile/on_cpu.hpp"

#include <tilewright/compat/ck_tile/static_distributed_lds_tensor.hpp>
#include <tilewright/compat/ck_tile/sweep_tile.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using namespace testing_tiles;
using tile_type = by_columns<64>;

TEST(StaticDistributedLdsTensor, KeepsEachThreadsElements) {
  using tensor = static_distributed_lds_tensor<float, tile_type>;
  static_assert(tensor::get_lds_buffer_size() == 32 * 32 && tensor::lds_bytes() == 4096);
  std::vector<float> found(static_cast<std::size_t>(tensor::get_lds_buffer_size()));
  const emulator::launch_report report = run<tile_type>(
      arch::gfx942::value,
      [&] {
        const auto t =
            make_static_distributed_lds_tensor<float>(exec::lds_allocate<tensor::lds_bytes() + 64>() + 64, tile_type{});
        static_distributed_tensor<float, tile_type> tile;
        for (index_t d = 0; d < tile_type::num_elements; ++d)
          tile.thread_buffer[d] = float(exec::thread_id() * tile_type::num_elements + d);
        store_tile(t, tile);
        // One element of each thread is changed in place: the last one.
        sweep_tile_span<0>(tile, [&](auto i) {
          sweep_tile_span<1>(tile, [&](auto j) {
            const auto index = make_tuple(i, j);
            const float before = t[index];
            t(index) = before + 0.5f;
            if (float(t(index)) != tile[index] + 0.5f) throw std::runtime_error("not what was stored");
          });
        });
        const auto again = load_tile(t);
        for (index_t d = 0; d < tile_type::num_elements; ++d)
          found[std::size_t(exec::thread_id() * tile_type::num_elements + d)] = again.thread_buffer[d];
      },
      tensor::lds_bytes() + 64);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], float(i) + 0.5f);
  EXPECT_EQ(report.of(arch::lds_op::write_b32).conflicts + report.of(arch::lds_op::read_b32).conflicts, 0);
}

TEST(StaticDistributedLdsTensor, RefusesBlocksOfMoreThreads) {
  using one_wave = tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<64>>, tuple<sequence<1>>,
                                                                tuple<sequence<0>>, sequence<>, sequence<>>::value>;
  const auto make = [] { (void)make_static_distributed_lds_tensor<float>(exec::lds_allocate<256>(), one_wave{}); };
  EXPECT_NO_THROW(run<one_wave>(arch::gfx942::value, make, 256));
  try {
    run<tile_type>(arch::gfx942::value, make, 256);
    ADD_FAILURE() << "two waves share the elements of one";
  } catch (const emulator::fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("the block has more threads than the distribution"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright
