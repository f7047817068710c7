// SPDX-License-Identifier: MIT
// The builtins of g++ and clang that NVRTC lacks.
#pragma once

#include <tilewright/core/base/config.hpp>

#if defined(__CUDACC_RTC__)
namespace tilewright::detail {

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

}  // namespace tilewright::detail

#define __is_same(...) tilewright::detail::is_same_v<__VA_ARGS__>

/// The number of bits that are set.
TILEWRIGHT_HD constexpr int __builtin_popcount(unsigned bits) {
  if (!__builtin_is_constant_evaluated()) return __popc(int(bits));
  int count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

/// Leading zeros; `bits` must not be 0.
TILEWRIGHT_HD constexpr int __builtin_clz(unsigned bits) {
  if (!__builtin_is_constant_evaluated()) return __clz(int(bits));
  int zeros = 0;
  for (unsigned bit = 1u << 31; bit > bits; bit >>= 1) ++zeros;
  return zeros;
}

/// Copies bytes; returns `to`.
TILEWRIGHT_HD void* __builtin_memcpy(void* to, const void* from, decltype(sizeof(0)) bytes) {
  return memcpy(to, from, bytes);
}
#endif
