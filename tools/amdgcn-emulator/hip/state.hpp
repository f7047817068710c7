// SPDX-License-Identifier: MIT
// What the emulated runtime remembers between calls.
#pragma once

#include <amdgcn_emulator.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
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
struct ihipStream_t {
  unsigned flags = 0;
  unsigned long long capture = 0;     // key of runtime_state::captures; 0: calls run at once
  std::vector<hipGraphNode*> latest;  // what the next captured call runs after
};
struct ihipEvent_t {
  std::chrono::steady_clock::time_point time;
  unsigned long long capture = 0;  // recorded in a stream that is captured
  std::vector<hipGraphNode*> after;
};
namespace emulated_hip {

constexpr int SMs = 4;
constexpr std::size_t memory_bytes = std::size_t{1} << 34;

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
  std::map<unsigned long long, ihipGraph*> captures;  // graphs that streams are captured into now
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

/// A kernel and everything that it is launched with.
struct kernel_call {
  ihipModule_t* module;
  std::string name;
  dim3 grid, block;
  std::size_t lds;
  emu::kernarg arguments;
  bool cooperative = false;
};

// modules.cpp
/// The call of a kernel that the program registered; its arguments are copied. An error is remembered.
hipError_t prepare(kernel_call& call, const void* function, dim3 grid, dim3 block, void** arguments, std::size_t lds,
                   bool cooperative);
hipError_t run(const kernel_call& call);
void load(ihipModule_t& module, const char* bytes, std::size_t size);
ihipModule_t& module_of(fat_binary& binary);
// graphs.cpp
/// Runs the work of a call in a stream; adds it to the graph instead where the stream is captured.
hipError_t submit(hipStream_t stream, hipGraphNodeType type, std::function<hipError_t()> work);
hipError_t submit(hipStream_t stream, kernel_call call, const void* function);
/// The graph that calls in this stream are added to; null when they run at once.
ihipGraph* captured(hipStream_t stream);
/// Device memory that lives as long as the graph.
void own(ihipGraph& graph, void* memory);
// memory.cpp
hipError_t copy(void* to, const void* from, std::size_t bytes, const char* call);
/// Rows of `elements` values of `bytes` bytes each.
hipError_t fill_rows(const hipMemsetParams& p, const char* call);
/// A box without arrays; arrays are refused.
hipError_t copy_box(const hipMemcpy3DParms& p, const char* call);
// bundle.cpp
/// Whether it is a bundle, compressed or not.
bool is_bundle(const std::vector<char>& file);
/// The code object for the emulated GPU: of an image (ELF), a bundle, or a compressed bundle. Throws
/// std::runtime_error.
void load_image(ihipModule_t& module, const char* image);
// hostcall.cpp
void* hostcall_buffer();
void serve_hostcall(void* buffer);
void* device_heap();  // of malloc in kernels
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
