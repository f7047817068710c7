// SPDX-License-Identifier: MIT
// Runs tile kernels of one block on the CPU emulator, and says what each register should hold.
#pragma once

#include "../core/distribution/copies.hpp"
#include "../core/distribution/naive_distribution.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/tile/copy/load_store.hpp>

#include <vector>

namespace tilewright::testing_tiles {

/// The kernel on one block of the distribution's threads. Registers of all threads
/// are passed in and out through memory.
template <class Distribution, class Kernel>
emulator::launch_report run(const arch::target& target, Kernel kernel, index_t lds_bytes = 0) {
  return emulator::launch({.target = &target,
                           .grid = {1, 1, 1},
                           .block_size = Distribution::num_threads(),
                           .lds_bytes = lds_bytes,
                           .workers = 1,
                           .check_lds = emulator::lds_checks::on},
                          kernel);
}

/// Byte offsets of all accesses of a window from its buffer's first byte; out_of_bounds_offset outside of the tensor.
template <class Window>
auto checked_offsets(const Window& window) {
  return detail::checked_offsets<in_bounds<>>(window, typename Window::access_sequence{},
                                              typename Window::dim_sequence{});
}

/// The tile's lengths as make_tile_window wants them.
template <class Distribution>
constexpr auto lengths_of() {
  return []<index_t... Is>(sequence<Is...>) {
    return make_tuple(number<Distribution::x_lengths[Is]>{}...);
  }(make_sequence<Distribution::ndim_x>{});
}

/// Position in the tile of each register of each thread: element [thread * registers + register].
template <class Distribution>
std::vector<multi_index<Distribution::ndim_x>> positions() {
  constexpr distribution_encoding e = Distribution::encoding;
  std::vector<multi_index<Distribution::ndim_x>> result;
  naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
    naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
      const naive::indices x = naive::position(e, p, y);
      multi_index<Distribution::ndim_x> index{};
      for (index_t d = 0; d < Distribution::ndim_x; ++d) index[d] = x[std::size_t(d)];
      result.push_back(index);
    });
  });
  return result;
}

template <index_t N>
multi_index<N> sum(multi_index<N> a, const multi_index<N>& b) {
  for (index_t d = 0; d < N; ++d) a[d] += b[d];
  return a;
}

/// Values that tell every element of a tensor from every other, and from zero.
template <class T>
std::vector<T> numbered(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = T(i % 60000 + 1);
  return values;
}

/// Copies of tiles: along k by rows, along k by columns, for waves of 64 and of 32.
template <index_t Wave>
using by_rows = tile_distribution<copies::along_rows(32, 32, 2, Wave, 8)>;
template <index_t Wave>
using by_columns = tile_distribution<copies::along_columns(32, 32, 2, Wave, 8)>;

/// What tests of windows on global memory use unless they say something else.
using element = unsigned short;
using tile_type = by_rows<64>;
inline constexpr auto global = address_space_enum::global;
inline constexpr auto lengths = lengths_of<tile_type>();

}  // namespace tilewright::testing_tiles
