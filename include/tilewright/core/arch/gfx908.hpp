// SPDX-License-Identifier: MIT
// Facts about gfx908: AMD Instinct MI100 (CDNA1).
#pragma once

#include <tilewright/core/arch/gfx90a.hpp>

namespace tilewright::arch {

/// As gfx90a, but its matrix instructions for bf16 take half as much of k, so the library does not use them.
struct gfx908 {
  /// Facts of the GPU.
  static constexpr target value = [] {
    target t = gfx90a::value;
    t.name = "gfx908";
    t.lds_size_source = "CDNA1 ISA manual; granule: LLVM, AMDGPU code objects";
    t.multiplies_bf16 = false;
    t.lds = inferred_rows(gfx90a::value, "as gfx90a");
    return t;
  }();
};

}  // namespace tilewright::arch
