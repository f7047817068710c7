// SPDX-License-Identifier: MIT
// The launches that the stub of HIP's runtime has recorded.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>

#include "stub_hip.hpp"

namespace ops_test {

/// Those since the last call of this.
inline std::vector<stub_launch> take_launches() {
  static void* const library = dlopen(std::getenv("TILEWRIGHT_HIP_LIBRARY"), RTLD_NOW);
  static const auto take = reinterpret_cast<decltype(&stub_take_launches)>(dlsym(library, "stub_take_launches"));
  std::size_t count = 0;
  const stub_launch* const launches = take(&count);
  return {launches, launches + count};
}

}  // namespace ops_test
