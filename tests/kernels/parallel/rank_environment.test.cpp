// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tilewright/kernels/parallel/rank_environment.hpp>

#include <map>

namespace tilewright::parallel {
namespace {

using variables = std::map<std::string, std::string>;

std::optional<rank_environment> read(const variables& all) {
  return read_rank_environment([&](const char* name) -> const char* {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankEnvironment, LaunchersAndRendezvous) {
  const auto torchrun = read({{"RANK", "5"},
                              {"WORLD_SIZE", "8"},
                              {"LOCAL_RANK", "1"},
                              {"MASTER_ADDR", "node0"},
                              {"MASTER_PORT", "4000"},
                              {"SLURM_PROCID", "7"},
                              {"SLURM_NTASKS", "9"}});
  ASSERT_TRUE(torchrun);
  EXPECT_EQ(torchrun->self.rank, 5);
  EXPECT_EQ(torchrun->self.ranks, 8);
  EXPECT_EQ(torchrun->local_rank, 1);
  EXPECT_EQ(torchrun->rendezvous, "node0:4001");
  const auto mpi = read({{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                         {"NCCL_COMM_ID", "10.0.0.1:9"}});
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->self.rank, 1);
  EXPECT_EQ(mpi->local_rank, 0);
  EXPECT_EQ(mpi->rendezvous, "10.0.0.1:9");
  const auto slurm = read({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->self.rank, 3);
  EXPECT_EQ(slurm->local_rank, 3);
  EXPECT_EQ(slurm->rendezvous, "127.0.0.1:29501");
}

TEST(RankEnvironment, WhatMakesNoSenseIsNoRank) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({{"RANK", "0"}}));
  EXPECT_FALSE(read({{"RANK", "2"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(read({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(read({{"RANK", "1x"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(read({{"RANK", ""}, {"WORLD_SIZE", "2"}}));
}

}  // namespace
}  // namespace tilewright::parallel
