// SPDX-License-Identifier: MIT
#include "gpu.hpp"

#include <string>

#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

/// What the first maker's function returns that does not throw.
template <class Find, class... Args>
auto of_any_maker(Find nvidia, Find amd, Args... args) {
  std::string why;
  for (const auto find : {nvidia, amd}) {
    try {
      return find(args...);
    } catch (const error& e) {
      why += (why.empty() ? "" : "; ") + std::string(e.what()).substr(5);
    }
  }
  throw error("no GPU was found (" + why + "); name a target to compile without one");
}

}  // namespace

std::shared_ptr<gpu> find_gpu(int device) { return of_any_maker(find_nvidia_gpu, find_amd_gpu, device); }

int device_of(void* stream) {
  static const device_finder find = of_any_maker(find_nvidia_devices, find_amd_devices);
  return find(stream);
}

}  // namespace tilewright::jit
