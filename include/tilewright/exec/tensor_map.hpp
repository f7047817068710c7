// SPDX-License-Identifier: MIT
// A tensor in global memory as NVIDIA's bulk copies (TMA) see it: made on the host, passed to a kernel by value.
#pragma once

#include <tilewright/util/index.hpp>

namespace tilewright::exec {

/// Opaque; exec/nvptx/make_tensor_map.hpp makes it. A kernel's parameter must be __grid_constant__.
struct alignas(128) tensor_map {
  unsigned long long opaque[16];
};

}  // namespace tilewright::exec
