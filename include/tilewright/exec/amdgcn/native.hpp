// SPDX-License-Identifier: MIT
// The integer types that memory instructions of AMD GPUs move, and thread ids.
#pragma once

#include <tilewright/arch/current.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/util/block_index.hpp>
#include <tilewright/util/type_traits.hpp>

namespace tilewright::exec::inline amdgcn {

namespace detail {
template <index_t Bytes>
struct native {
  using type __attribute__((ext_vector_type(Bytes / 4), may_alias)) = unsigned;
};
template <index_t Bytes>
  requires(Bytes <= 4)
struct native<Bytes> {
  using type __attribute__((may_alias)) = tilewright::detail::unsigned_of<Bytes>;
};

template <class V>
struct moved {
  using type = typename native<sizeof(V)>::type;
};
template <index_t N>
  requires(N > 1)
struct moved<vector_t<float, N>> {
  using type __attribute__((ext_vector_type(N))) = float;
};
}  // namespace detail

/// The register type that one memory instruction moves: 1, 2, 4, 8 or 16 bytes.
template <index_t Bytes>
using native_t = typename detail::native<Bytes>::type;

/// The type in which loads and stores move a vector. Here not the vector itself: clang returns a struct element by
/// element, and the compiler then puts the elements together again.
template <class V>
using moved_t = typename detail::moved<V>::type;

TILEWRIGHT_HD index_t thread_id() { return index_t(__builtin_amdgcn_workitem_id_x()); }
TILEWRIGHT_HD index_t lane_id() { return thread_id() & (arch::current::value.wave_size - 1); }
/// readfirstlane tells the compiler that it is uniform.
TILEWRIGHT_HD index_t wave_id() {
  return __builtin_amdgcn_readfirstlane(index_t(unsigned(thread_id()) / unsigned(arch::current::value.wave_size)));
}
TILEWRIGHT_HD block_index block_id() {
  return {index_t(__builtin_amdgcn_workgroup_id_x()), index_t(__builtin_amdgcn_workgroup_id_y()),
          index_t(__builtin_amdgcn_workgroup_id_z())};
}

}  // namespace tilewright::exec::inline amdgcn
