// SPDX-License-Identifier: MIT
// Of threads that hold the same elements, one is the first.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tile/registers/get_partition_index.hpp>

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace tilewright {
namespace {

// Two waves that hold the same, and in each wave four lanes: each element is held by eight threads.
TEST(IsFirstReplica, HoldsForOneThreadOfEachElement) {
  using replicated = tile_distribution<
      tile_distribution_encoding<sequence<2, 4>, tuple<sequence<16, 2>>, tuple<sequence<0>, sequence<0, 1>>,
                                 tuple<sequence<0>, sequence<1, 0>>, sequence<1>, sequence<1>>::value>;
  std::vector<std::pair<index_t, bool>> found(128);  // by thread
  emulator::launch({.target = &arch::gfx942::value, .grid = {1}, .block_size = 128}, [&] {
    const index_t position = replicated::calculate_index(get_partition_index<replicated>())[0];
    found[std::size_t(exec::thread_id())] = {position, detail::is_first_replica<replicated>()};
  });
  std::map<index_t, index_t> holders, firsts;  // by position
  for (const auto& [position, is_first] : found) ++holders[position], firsts[position] += index_t(is_first);
  EXPECT_EQ(holders.size(), 16u);
  for (const auto& [position, count] : holders) {
    EXPECT_EQ(count, 8) << position;
    EXPECT_EQ(firsts[position], 1) << position;
  }
  EXPECT_TRUE(found[0].second);
}

// Lanes of one wave alone.
TEST(IsFirstReplica, WithOneFactorOfReplicas) {
  using replicated =
      tile_distribution<tile_distribution_encoding<sequence<4>, tuple<sequence<16>>, tuple<sequence<0, 1>>,
                                                   tuple<sequence<0, 0>>, sequence<>, sequence<>>::value>;
  index_t firsts = 0;
  emulator::launch({.target = &arch::gfx942::value, .grid = {1}, .block_size = 64, .workers = 1},
                   [&] { firsts += index_t(detail::is_first_replica<replicated>()); });
  EXPECT_EQ(firsts, 16);
}

}  // namespace
}  // namespace tilewright
