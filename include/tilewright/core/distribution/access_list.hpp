// SPDX-License-Identifier: MIT
// Lists the accesses of a thread: chooses their vectors, and derives which of their addresses differ by constants.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/distribution/detail/lane_permutation.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright::detail {

/// The widest vector that a distribution and its memory allow.
struct vector_choice {
  index_t dim_y = 0;
  index_t length = 1;
  friend constexpr bool operator==(const vector_choice&, const vector_choice&) = default;
};

/// No instruction moves more than this many bytes for one thread.
inline constexpr index_t max_vector_bytes = 16;

/// runs[x]: aligned contiguous run of the memory along dimension x of the tile, in elements. A y may carry a vector
/// when it is the last factor of its dimension. The longest wins, the first of equals; without any, the last y,
/// one element at a time.
template <index_t NDimX>
TILEWRIGHT_HD constexpr vector_choice choose_vector(const distribution_encoding& e, const array<index_t, NDimX>& runs,
                                                    index_t element_bytes) {
  vector_choice best{max(0, e.ndim_y() - 1), 1};
  for (index_t i = 0; i < e.ndim_y(); ++i) {
    const rh_id id = e.y[i];
    const index_t x = id.major - 1;
    if (e.stride(id) != 1) continue;
    const index_t common = gcd(gcd(e.length(id), runs[x]), max(1, max_vector_bytes / element_bytes));
    const index_t length = common & -common;  // instructions move powers of two
    if (length > best.length) best = {i, length};
  }
  return best;
}

}  // namespace tilewright::detail

namespace tilewright {

/// How the addresses of a thread's accesses follow from each other.
enum class address_rule : signed char {
  constant_steps,  // one address; the others differ by constants
  uniform_steps,   // by numbers that are the same for all threads, but known only at run time
  xor_groups,      // a few addresses that differ in bits; the others differ from one of them by constants
  independent,     // nothing is known
};

namespace detail {

/// Accesses of one thread; offsets in elements.
template <index_t NumAccess, index_t NDimX>
struct access_list {
  address_rule rule = address_rule::independent;
  vector_choice vector;
  index_t num_bases = 1;
  array<multi_index<NDimX>, NumAccess> x{};    // position of the access, less the thread's own position
  array<index_t, NumAccess> first_register{};  // where its first element goes
  array<index_t, NumAccess> base{};            // which address it starts from
  array<index_t, NumAccess> immediate{};       // constant distance from that address
  array<index_t, NumAccess> flipped_bits{};    // xor_groups: what base b flips in the first address
  index_t num_lanes = 1;                       // whose accesses the thread makes
  array<index_t, NumAccess> lane{};            // of each access
  array<index_t, NumAccess> lane_of_base{};    // of each address
};

/// Where the accesses are in the tile and in the registers: y in row-major order,
/// the vector's dimension in steps of the vector.
template <index_t NumAccess, index_t NDimX>
constexpr void place_accesses(access_list<NumAccess, NDimX>& list, const distribution_encoding& e) {
  struct axis {
    index_t x, x_step, register_step, accesses;
  };
  array<axis, distribution_encoding::max_y> axes{};
  index_t num_registers = 1;
  for (index_t i = e.ndim_y(); i-- > 0;) {
    const index_t scalars = i == list.vector.dim_y ? list.vector.length : 1, length = e.y_length(i);
    axes[i] = {e.y[i].major - 1, scalars * e.stride(e.y[i]), scalars * num_registers, length / scalars};
    num_registers *= length;
  }
  index_t filled = 1;  // the accesses along the dimensions of y seen so far; the next one repeats them, moved
  for (index_t i = e.ndim_y(); i-- > 0;) {
    const axis a = axes[i];
    for (index_t access = filled; access < filled * a.accesses; ++access) {
      list.x[access] = list.x[access - filled];
      list.x[access][a.x] += a.x_step;
      list.first_register[access] = list.first_register[access - filled] + a.register_step;
    }
    filled *= a.accesses;
  }
}

/// Bits of coordinate x that a thread's y set, for factors that are powers of two.
TILEWRIGHT_HD constexpr index_t bits_of_y(const distribution_encoding& e, index_t x) {
  index_t bits = 0;
  for (const rh_id id : e.y) bits |= id.major == x + 1 ? (e.length(id) - 1) * e.stride(id) : 0;
  return bits;
}

/// Addresses of a static linear descriptor: all differ by constants.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_addition(access_list<NumAccess, NDimX>& list, const tensor_graph& graph) {
  list.rule = address_rule::constant_steps;
  list.num_bases = 1;
  list.base = {};
  for (index_t x = 0; x < NDimX; ++x) {
    const index_t step = index_t(step_along(graph, x).factor);
    for (index_t i = 0; i < NumAccess; ++i) list.immediate[i] += list.x[i][x] * step;
  }
}

/// Addresses of a static descriptor that is linear over bits, of a tile whose factors are powers of two.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_xor(access_list<NumAccess, NDimX>& list, const distribution_encoding& e,
                             const offset_bits<NDimX>& offsets) {
  array<index_t, NDimX> own{};
  for (index_t x = 0; x < NDimX; ++x) own[x] = bits_of_y(e, x);
  const index_t variable_bits = offsets.flipped_by_others(own);  // by the thread's position or the tile's origin
  list.rule = address_rule::xor_groups;
  list.num_bases = 0;
  array<index_t, NumAccess> offset{};
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t lowest_bit = i & -i;
    offset[i] = i == lowest_bit ? offsets.offset(list.x[i]) : offset[i - lowest_bit] ^ offset[lowest_bit];
    const index_t flipped = offset[i] & variable_bits;
    index_t b = 0;
    while (b < list.num_bases && list.flipped_bits[b] != flipped) ++b;
    if (b == list.num_bases) list.flipped_bits[list.num_bases++] = flipped;
    list.base[i] = b;
    list.immediate[i] = offset[i] & ~variable_bits;
  }
}

/// Accesses with one address whose lanes differ get an address for each lane.
template <index_t NumAccess, index_t NDimX>
constexpr void split_by_lanes(access_list<NumAccess, NDimX>& list, const lane_permutation& permutation) {
  const auto groups = find_lane_groups<NumAccess>(permutation);
  const auto shared = list;
  list.num_lanes = groups.count;
  list.lane = groups.of_access;
  list.num_bases = 0;
  array<index_t, NumAccess> old_base{};
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t old = shared.base[i], lane = list.lane[i];
    index_t b = 0;
    while (b < list.num_bases && (old_base[b] != old || list.lane_of_base[b] != lane)) ++b;
    if (b == list.num_bases) {
      old_base[b] = old;
      list.lane_of_base[b] = lane;
      list.flipped_bits[b] = shared.flipped_bits[old];
      ++list.num_bases;
    }
    list.base[i] = b;
  }
}

}  // namespace detail

}  // namespace tilewright
