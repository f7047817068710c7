// SPDX-License-Identifier: MIT
// Ranks as launchers announce them: the environment variables of torchrun, MPI and Slurm.
#pragma once

#include <tilewright/kernels/parallel/rank_args.hpp>

#include <cstdlib>
#include <optional>
#include <string>

namespace tilewright::parallel {

/// A process that a launcher has started as one of several ranks.
struct rank_environment {
  rank_of self;            ///< this process
  index_t local_rank = 0;  ///< among those of its host: the number of its GPU
  std::string rendezvous;  ///< "host:port" of rank 0, for NCCL_COMM_ID
};

/// Looks for RANK, WORLD_SIZE and LOCAL_RANK, then for the variables of Open MPI, of MPICH and Intel MPI, and of Slurm.
/// The rendezvous is NCCL_COMM_ID, else MASTER_ADDR and the port after MASTER_PORT, on which torchrun itself listens.
/// None where no launcher has set them, or they make no sense. lookup(name): the value of a variable, or nullptr.
template <class Lookup>
std::optional<rank_environment> read_rank_environment(Lookup lookup) {
  const auto number = [&](const char* name) -> std::optional<index_t> {
    const char* const text = lookup(name);
    char* end = nullptr;
    const long value = text ? std::strtol(text, &end, 10) : -1;
    if (!text || end == text || *end != '\0' || value < 0 || value > 1 << 20) return {};
    return index_t(value);
  };
  constexpr const char* names[][3] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
  };
  for (const auto& [rank_name, size_name, local_name] : names) {
    const auto rank = number(rank_name), size = number(size_name), local = number(local_name);
    if (!rank || !size || *rank >= *size) continue;
    rank_environment result{{*rank, *size}, local.value_or(*rank), {}};
    if (const char* const id = lookup("NCCL_COMM_ID")) {
      result.rendezvous = id;
    } else {
      const char* const host = lookup("MASTER_ADDR");
      result.rendezvous =
          (host ? host : "127.0.0.1") + (":" + std::to_string(number("MASTER_PORT").value_or(29500) + 1));
    }
    return result;
  }
  return {};
}

/// Reads it from the environment of this process; nullopt if it is not set. Throws launch_error if it contradicts
/// itself.
inline std::optional<rank_environment> read_rank_environment() {
  return read_rank_environment([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace tilewright::parallel
