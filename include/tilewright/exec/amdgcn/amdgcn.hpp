// SPDX-License-Identifier: MIT
// The machine's functions on AMD GPUs, made of compiler builtins only.
#pragma once

#include <tilewright/exec/amdgcn/buffer.hpp>
#include <tilewright/exec/amdgcn/lds.hpp>
#include <tilewright/exec/amdgcn/matrix.hpp>

namespace tilewright::exec {
inline namespace amdgcn {

/// Value of another lane of the wave.
template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  return bit_cast<T>(__builtin_amdgcn_ds_bpermute(source_lane * 4, bit_cast<int>(value)));
}

}  // namespace amdgcn
}  // namespace tilewright::exec
