// SPDX-License-Identifier: MIT
// The partition index of the calling thread: which part of a distributed tile it holds.
#pragma once

#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/machine/exec/expect.hpp>

namespace tilewright {

namespace detail {
template <index_t NDimP>
TILEWRIGHT_HD multi_index<NDimP> partition_index() {
  if constexpr (NDimP == 1) {
    return {{exec::lane_id()}};
  } else {
    return {{exec::wave_id(), exec::lane_id()}};
  }
}
}  // namespace detail

/// The calling thread's partition index: {wave, lane}, or {lane} for the tile of one wave.
template <TileDistribution Distribution>
TILEWRIGHT_HD multi_index<Distribution::ndim_p> get_partition_index() {
  return detail::partition_index<Distribution::ndim_p>();
}

namespace detail {

/// On the CPU, refuses a block that the distribution does not share the tile among: threads that have no part of it, or
/// parts that no thread has. A caller who names the part answers for it.
template <class Distribution>
TILEWRIGHT_HD constexpr void expect_partition([[maybe_unused]] const multi_index<Distribution::ndim_p>& p) {
#if TILEWRIGHT_CPU_PASS
  if (__builtin_is_constant_evaluated() || !(p == get_partition_index<Distribution>())) return;
  constexpr index_t lanes = Distribution::encoding.p_length(Distribution::ndim_p - 1);
  exec::expect(exec::lane_id() < lanes,
               "tile_window: the target's waves have more lanes than the distribution; distribute over its wave size");
  if constexpr (Distribution::ndim_p == 2) {
    constexpr index_t waves = Distribution::encoding.p_length(0);
    const emulator::thread_context& self = *emulator::current_thread;
    exec::expect(
        self.block_size >= waves * self.target->wave_size && self.wave_id < waves,
        "tile_window: the block has another number of waves than the distribution; launch as many threads as it "
        "distributes to");
  }
#endif
}

/// Position in the tile of register d of a thread whose register 0 is at x: constants only, once a loop over d is
/// unrolled.
template <class Distribution, index_t... Ys>
TILEWRIGHT_HD constexpr multi_index<Distribution::ndim_x> position_in_tile(multi_index<Distribution::ndim_x> x,
                                                                           index_t d, sequence<Ys...>) {
  ((x[constant(Distribution::encoding.y[Ys].major - 1)] +=
    modulo(divide(d, constant(Distribution::encoding.y_stride(Ys))), constant(Distribution::encoding.y_length(Ys))) *
    constant(Distribution::encoding.stride(Distribution::encoding.y[Ys]))),
   ...);
  return x;
}
template <class Distribution>
TILEWRIGHT_HD constexpr multi_index<Distribution::ndim_x> position_in_tile(const multi_index<Distribution::ndim_x>& x,
                                                                           index_t d) {
  return position_in_tile<Distribution>(x, d, make_sequence<Distribution::ndim_y>{});
}

/// Position in the tile of a register, less the thread's own position.
template <class Distribution, index_t Register>
inline constexpr multi_index<Distribution::ndim_x> position_of_register = position_in_tile<Distribution>({}, Register);

/// Whether this thread is the one that writes: of threads that hold the same elements, the first.
template <class Distribution>
TILEWRIGHT_HD bool is_first_replica() {
  if constexpr (Distribution::encoding.r.size() == 0) {
    return true;
  } else {
    bool first = true;
    const auto p = get_partition_index<Distribution>();
    unroll<Distribution::ndim_p>([&]<index_t Nth>(number<Nth>) {
      unsigned rest = unsigned(p[Nth]);
      constexpr index_t digits = Distribution::encoding.p[Nth].size();
      unroll<digits>([&]<index_t J>(number<J>) {
        constexpr rh_id id = Distribution::encoding.p[Nth][digits - 1 - J];
        constexpr unsigned length = unsigned(Distribution::encoding.length(id));
        if constexpr (id.major == 0) first = first && rest % length == 0;
        rest /= length;
      });
    });
    return first;
  }
}

}  // namespace detail
}  // namespace tilewright
