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
struct registered_symbol {
  fat_binary* binary;
  std::string name;
};
struct launch_shape {
  dim3 grid, block;
  std::size_t lds;
  hipStream_t stream;
};
struct runtime_state {
  std::recursive_mutex mutex;  // of what follows, and of a launch, which runs to its end
  std::map<const void*, registered_symbol> functions, variables;
  emu::memory memory;
  std::atomic<hipError_t> latest = hipSuccess, failed_launch = hipSuccess;
  unsigned allocations = 0;
};
inline runtime_state& runtime() {
  static auto* const r = new runtime_state;  // programs call the runtime in destructors, too
  return *r;
}

inline thread_local std::vector<launch_shape> pushed;
/// For the length of a call.
inline std::unique_lock<std::recursive_mutex> locked() { return std::unique_lock(runtime().mutex); }

inline std::string emulated_gpu() {
  const char* const name = std::getenv("AMDGCN_EMULATED_GPU");
  return name ? name : "gfx942";
}
inline bool wave64() { return emulated_gpu().starts_with("gfx9"); }
inline hipError_t remember(hipError_t error) {
  if (error != hipSuccess) runtime().latest.store(error);
  return error;
}

// modules.cpp
void load(ihipModule_t& module, const char* bytes, std::size_t size);
ihipModule_t& module_of(fat_binary& binary);
// bundle.cpp
/// The code object for the emulated GPU: of an image (ELF), a bundle, or a compressed bundle. Throws
/// std::runtime_error.
void load_image(ihipModule_t& module, const char* image);
// hostcall.cpp
void* hostcall_buffer();
void serve_hostcall(void* buffer);
// session.cpp
/// Adds what was found, prints it, and keeps the files of the report up to date.
void found(std::vector<emu::finding> findings);
/// A finding of a call by the host.
void found_in_call(emu::finding_kind kind, const std::string& call, const std::string& message, const void* address);
void found_banks(const std::string& kernel, const std::vector<emu::lds_row>& rows);
void timed(const std::string& kernel, const emu::result& r);
/// The program uses what the runtime does not have: prints a sentence, and ends the program with 2.
[[noreturn]] void cannot_run(const std::string& sentence);
/// The same for a kernel; the launch fails.
void note_cannot_run(const std::string& sentence);
int runtime_version();  // 5, 6 or 7: of the library that the program was linked to
bool checking();        // whether tilewright-check started the program
void set_check_options(emu::options& o);
std::string call_site();  // "<address,address>" of the program's code that called the runtime

}  // namespace emulated_hip
