// SPDX-License-Identifier: MIT
// What the emulated runtime remembers between calls.
#pragma once

#include <amdgcn_emulator.hpp>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hip/hip_runtime_api.h>

struct ihipModule_t {
  std::unique_ptr<emu::module> code;
  std::map<std::string, emu::kernel_summary> kernels;
};
struct ihipModuleSymbol_t {
  ihipModule_t* module;
  std::string name;
};
namespace emulated_hip {

constexpr int SMs = 4;

struct fat_binary {  // what the compiler passes to __hipRegisterFatBinary, and what is made of it
  const char* bundle = nullptr;
  ihipModule_t module;
};
struct registered_function {
  fat_binary* binary;
  std::string name;
};
struct launch_shape {
  dim3 grid, block;
  std::size_t lds;
  hipStream_t stream;
};
struct runtime_state {
  std::mutex mutex;  // of what follows, and of a launch, which runs to its end
  std::map<const void*, registered_function> functions;
  std::map<char*, std::size_t> allocations;  // and registered host memory
  std::atomic<hipError_t> latest = hipSuccess, failed_launch = hipSuccess;
};
inline runtime_state state;
inline thread_local std::vector<launch_shape> pushed;

inline void add_allocation(void* p, std::size_t size) {
  const std::lock_guard guard(state.mutex);
  state.allocations[static_cast<char*>(p)] = size;
}
inline void remove_allocation(void* p) {
  const std::lock_guard guard(state.mutex);
  state.allocations.erase(static_cast<char*>(p));
}

inline std::string emulated_gpu() {
  const char* const name = std::getenv("AMDGCN_EMULATED_GPU");
  return name ? name : "gfx942";
}
inline hipError_t remember(hipError_t error) {
  if (error != hipSuccess) state.latest.store(error);
  return error;
}

}  // namespace emulated_hip
