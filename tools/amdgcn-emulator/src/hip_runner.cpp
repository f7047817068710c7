// SPDX-License-Identifier: MIT
// Runs kernels through HIP's runtime, which it loads with dlopen: building it needs neither HIP's headers nor its
// library.
#include "hip_runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <dlfcn.h>

namespace emu {
namespace {

class hip_library {
 public:
  hip_library() {
    const char* const wanted = std::getenv("AMDGCN_HIP_LIBRARY");
    for (const char* name :
         {wanted ? wanted : "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
      if (!handle_ && (name == wanted || !wanted)) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw fault(std::string("AMDGCN_RUNNER=hip: HIP's runtime was not found: ") + dlerror());
  }
  /// Calls a function of the runtime; what it is for is said when it fails.
  template <class... Arguments>
  void call(const char* name, const std::string& purpose, Arguments... arguments) const {
    using function = int (*)(Arguments...);
    const auto f = reinterpret_cast<function>(dlsym(handle_, name));
    if (!f) throw fault(std::string("HIP's runtime has no ") + name);
    if (const int error = f(arguments...); error != 0) {
      const auto text = reinterpret_cast<const char* (*)(int)>(dlsym(handle_, "hipGetErrorString"));
      throw fault(purpose + ": " + (text ? text(error) : std::to_string(error)));
    }
  }

 private:
  void* handle_ = nullptr;
};

/// Whole pages, without overlaps: what the runtime can register.
std::vector<std::pair<u64, u64>> pages_of(std::vector<std::pair<u64, u64>> ranges) {
  constexpr u64 page = 4096;
  for (auto& [first, last] : ranges) first = first / page * page, last = (last + page - 1) / page * page;
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::pair<u64, u64>> pages;
  for (const auto& range : ranges) {
    if (range.first == range.second) continue;
    if (pages.empty() || range.first > pages.back().second)
      pages.push_back(range);
    else
      pages.back().second = std::max(pages.back().second, range.second);
  }
  return pages;
}

/// Host memory that the GPU sees while this lives.
class registered_memory {
 public:
  registered_memory(const hip_library& hip, std::vector<std::pair<u64, u64>> ranges)
      : hip_(hip), pages_(pages_of(std::move(ranges))) {
    constexpr unsigned mapped = 2;
    for (const auto& [first, last] : pages_) {
      void *const host = reinterpret_cast<void*>(first), *device = nullptr;
      hip_.call("hipHostRegister", "registering host memory", host, std::size_t(last - first), mapped);
      ++count_;
      hip_.call("hipHostGetDevicePointer", "asking for a device address", &device, host, 0u);
      if (device != host) throw fault("this GPU sees host memory at other addresses: the tests cannot run on it");
    }
  }
  registered_memory(const registered_memory&) = delete;
  registered_memory& operator=(const registered_memory&) = delete;
  ~registered_memory() {
    try {
      for (std::size_t i = 0; i < count_; ++i)
        hip_.call("hipHostUnregister", "releasing host memory", reinterpret_cast<void*>(pages_[i].first));
    } catch (const fault&) {  // the launch's own fault is the one to report
    }
  }

 private:
  const hip_library& hip_;
  std::vector<std::pair<u64, u64>> pages_;
  std::size_t count_ = 0;
};

}  // namespace

bool runs_through_hip() {
  const char* const runner = std::getenv("AMDGCN_RUNNER");
  if (runner && std::string(runner) != "hip" && std::string(runner) != "emulator")
    throw std::runtime_error("AMDGCN_RUNNER must be 'emulator' or 'hip', not '" + std::string(runner) + "'");
  return runner && std::string(runner) == "hip";
}

void run_through_hip(const std::string& code_object, const std::string& kernel, dim3 grid, dim3 block, std::size_t lds,
                     const std::vector<u8>& arguments, const std::vector<std::pair<u64, u64>>& ranges) {
  static const hip_library hip;
  hip.call("hipInit", "starting HIP", 0u);
  const registered_memory memory(hip, ranges);
  static std::map<std::string, void*> modules;
  void*& module = modules[code_object];
  void* function = nullptr;
  if (!module) hip.call("hipModuleLoad", "loading " + code_object, &module, code_object.c_str());
  hip.call("hipModuleGetFunction", "looking for the kernel " + kernel, &function, module, kernel.c_str());
  std::vector<u8> bytes = arguments;
  std::size_t size = bytes.size();
  const auto mark = [](std::size_t value) { return reinterpret_cast<void*>(value); };
  void* extra[] = {mark(1), bytes.data(), mark(2), &size, mark(3)};  // HIP_LAUNCH_PARAM_...: pointer, size, end
  void *const stream = nullptr, **const parameters = nullptr;
  hip.call("hipModuleLaunchKernel", "launching " + kernel, function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
           unsigned(lds), stream, parameters, &extra[0]);
  hip.call("hipDeviceSynchronize", "running " + kernel);
}

}  // namespace emu
