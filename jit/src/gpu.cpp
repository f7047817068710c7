// SPDX-License-Identifier: MIT
#include "gpu.hpp"

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {

std::shared_ptr<gpu> find_gpu() {
  std::string why;
  for (const auto find : {find_nvidia_gpu, find_amd_gpu}) {
    try {
      return find();
    } catch (const error& e) {
      why += (why.empty() ? "" : "; ") + std::string(e.what()).substr(5);
    }
  }
  throw error("no GPU was found (" + why + "); name a target to compile without one");
}

}  // namespace tilewright::jit
