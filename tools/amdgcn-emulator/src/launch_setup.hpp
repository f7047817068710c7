// SPDX-License-Identifier: MIT
// What a launch gives its waves: arguments, the dispatch packet, registers; and the scheduler of a workgroup.
#pragma once

#include <random>

#include "memory.hpp"

namespace emu {
struct setup {
  const code_object& co;
  const kernel_info& k;
  const options& opt;
  dim3 grid, block;
  std::vector<u8>& kernarg_mem;
  std::vector<u8>& packet;
  u32 scratch;
};
std::vector<u8> build_kernarg(const kernel_info& k, dim3 grid, dim3 block, std::size_t dyn_lds, const kernarg& args,
                              const options& o);
std::vector<u8> build_packet(dim3 grid, dim3 block, u32 scratch, u64 lds, u64 descriptor,
                             const std::vector<u8>& kernarg);
void init_wave(wave& w, const setup& s, u32 first_thread, u32 threads);
// Gives every wave of a workgroup one turn and opens barriers; false when the workgroup has ended.
bool step_workgroup(std::vector<wave>& waves, const options& o, std::mt19937_64& rng);
}  // namespace emu
