// SPDX-License-Identifier: MIT
// HIP's runtime with a GPU that does nothing: launches are recorded, or only counted where TILEWRIGHT_STUB_IS_FAST is
// set.
#include "stub_hip.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex mutex;
std::vector<stub_launch> queued, taken;
std::set<std::string> names;
const bool is_fast = std::getenv("TILEWRIGHT_STUB_IS_FAST") != nullptr;

}  // namespace

extern "C" {

const stub_launch* stub_take_launches(std::size_t* count) {
  const std::lock_guard guard(mutex);
  taken.swap(queued);
  queued.clear();
  *count = taken.size();
  return taken.data();
}

int hipInit(unsigned) { return 0; }
int hipGetDevice(int* device) { return *device = 0, 0; }
int hipSetDevice(int) { return 0; }
int hipStreamGetDevice(void*, int* device) { return *device = 0, 0; }
int hipDeviceSynchronize() { return 0; }
const char* hipGetErrorString(int) { return "no error"; }
int hipGetDevicePropertiesR0600(void* properties, int) {
  std::strcpy(static_cast<char*>(properties), "a stub");
  std::strcpy(static_cast<char*>(properties) + 1024, "gfx942");
  return 0;
}

int hipModuleLoadData(void** module, const void* data) { return *module = const_cast<void*>(data), 0; }
int hipModuleUnload(void*) { return 0; }
int hipModuleGetFunction(void** function, void*, const char* name) {
  const std::lock_guard guard(mutex);
  return *function = const_cast<char*>(names.emplace(name).first->c_str()), 0;
}
int hipModuleLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          void* stream, void**, void** extra) {
  if (is_fast) return 0;
  stub_launch launch{};
  std::strncpy(launch.name, static_cast<const char*>(function), sizeof launch.name - 1);
  launch.stream = stream;
  launch.bytes = *static_cast<const std::size_t*>(extra[3]);
  if (launch.bytes > sizeof launch.args) return 1;
  std::memcpy(launch.args, extra[1], launch.bytes);
  {
    const std::lock_guard guard(mutex);
    queued.push_back(launch);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(1));  // so that other threads come in between
  return 0;
}

int hipMalloc(void** memory, std::size_t bytes) {
  return *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256), 0;
}
int hipFree(void* memory) { return std::free(memory), 0; }
int hipMemcpy(void* to, const void* from, std::size_t bytes, int) { return std::memcpy(to, from, bytes), 0; }
int hipMemset(void* memory, int value, std::size_t bytes) { return std::memset(memory, value, bytes), 0; }

}  // extern "C"
