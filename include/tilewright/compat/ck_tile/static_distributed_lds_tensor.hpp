// SPDX-License-Identifier: MIT
// A tile whose elements each thread keeps in LDS instead of registers.
#pragma once

#include <tilewright/compat/ck_tile/tile_index.hpp>
#include <tilewright/machine/exec/expect.hpp>

namespace tilewright {

/// The elements of a tile in LDS, each thread's for itself: no thread sees another one's, so nothing needs a barrier.
/// Elements d of all threads are contiguous, so that accesses of 4 bytes and more are free of bank conflicts. Not
/// initialised.
template <class T, TileDistribution Distribution>
struct static_distributed_lds_tensor {
  using element_type = T;
  using distribution_type = Distribution;
  static constexpr index_t num_elements = Distribution::num_elements;  ///< of a thread

  exec::lds_pointer begin;  ///< First byte of the block's tensor; aligned to the size of T.

  /// Elements of the whole block.
  TILEWRIGHT_HD static constexpr index_t get_lds_buffer_size() { return num_elements * Distribution::num_threads(); }
  /// Bytes of LDS that they take.
  TILEWRIGHT_HD static constexpr index_t lds_bytes() { return get_lds_buffer_size() * index_t(sizeof(T)); }
  /// The distribution of the tile.
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }

  /// An element of the calling thread: t(index) = value stores it, T(t(index)) loads it.
  struct reference {
    exec::lds_pointer begin;  ///< of the tile in LDS
    index_t byte_offset;      ///< of the element

    /// Stores the element.
    TILEWRIGHT_HD const reference& operator=(T value) const {
      exec::lds_store(begin, byte_offset, value);
      return *this;
    }
    /// Loads the element.
    TILEWRIGHT_HD operator T() const { return exec::lds_load<T>(begin, byte_offset); }
  };

  /// The value at an index of sweep_tile, or at make_tuple(an index of sweep_tile_span for each dimension).
  template <detail::ElementIndex Index>
  TILEWRIGHT_HD T operator[](const Index&) const {
    return exec::lds_load<T>(begin, byte_offset(constant(detail::register_of<Distribution, Index>::value)));
  }
  /// That element, to be stored or loaded.
  template <detail::ElementIndex Index>
  TILEWRIGHT_HD reference operator()(const Index&) const {
    return {begin, byte_offset(constant(detail::register_of<Distribution, Index>::value))};
  }

  /// Distance in bytes of element d of the calling thread from `begin`.
  TILEWRIGHT_HD static index_t byte_offset(index_t d) {
    return (d * Distribution::num_threads() + exec::thread_id()) * index_t(sizeof(T));
  }
};

/// A tensor in LDS from p on: static_distributed_lds_tensor<T, Distribution>::lds_bytes() bytes. The block must have as
/// many threads as the distribution.
template <class T, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_static_distributed_lds_tensor(exec::lds_pointer p, Distribution) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "make_static_distributed_lds_tensor: elements have 1, 2, 4, 8 or 16 bytes");
#if TILEWRIGHT_CPU_PASS
  exec::expect(exec::thread_id() < Distribution::num_threads(),
               "make_static_distributed_lds_tensor: the block has more threads than the distribution; their elements "
               "would lie on those of others");
#endif
  return static_distributed_lds_tensor<T, Distribution>{p};
}

/// The calling thread's elements of `from`, in registers. It must have stored them; no barrier is needed.
template <class T, class Distribution>
TILEWRIGHT_HD auto load_tile(const static_distributed_lds_tensor<T, Distribution>& from) {
  static_distributed_tensor<T, Distribution> tile;
  unroll<Distribution::num_elements>(
      [&](auto d) { tile.thread_buffer[d] = exec::lds_load<T>(from.begin, from.byte_offset(d)); });
  return tile;
}
/// Stores the calling thread's elements of `tile` in `to`, where the same thread may load them without a barrier.
template <class T, class Distribution>
TILEWRIGHT_HD void store_tile(const static_distributed_lds_tensor<T, Distribution>& to,
                              const static_distributed_tensor<T, Distribution>& tile) {
  unroll<Distribution::num_elements>(
      [&](auto d) { exec::lds_store(to.begin, to.byte_offset(d), tile.thread_buffer[d]); });
}

}  // namespace tilewright
