// SPDX-License-Identifier: MIT
// Lane maps: which element of a matrix operand each lane holds in each of its registers.
#pragma once

#include <tilewright/core/base/array.hpp>

namespace tilewright::arch {

/// One bit of a lane id or of a register index: the bit of the row or of the column that it selects.
struct lane_map_bit {
  enum class coordinate : signed char { none, row, col };
  coordinate of = coordinate::none;  ///< what the bit selects
  signed char bit = 0;               ///< which bit of it
  friend constexpr bool operator==(const lane_map_bit&, const lane_map_bit&) = default;
};

/// The bits of a coordinate, to write lane maps as the manuals draw them;
/// none(): lanes that differ here hold the same element.
TILEWRIGHT_HD constexpr lane_map_bit row(int bit) {
  return {lane_map_bit::coordinate::row, static_cast<signed char>(bit)};
}
/// Bit `bit` of the column.
TILEWRIGHT_HD constexpr lane_map_bit col(int bit) {
  return {lane_map_bit::coordinate::col, static_cast<signed char>(bit)};
}
/// A bit that selects nothing: lanes or registers that differ there hold the same element.
TILEWRIGHT_HD constexpr lane_map_bit none() { return {}; }

/// Row and column of an element of one operand.
struct matrix_position {
  index_t row = 0;  ///< of the operand
  index_t col = 0;  ///< of the operand
  friend constexpr bool operator==(const matrix_position&, const matrix_position&) = default;
};

/// A matrix operand over the lanes of a wave. Both lists start with the least significant bit. A register is one
/// element of the operand's type, counted in the order in which the instruction takes them.
struct lane_map {
  inplace_vector<lane_map_bit, 6> lane;  ///< bits of the lane's number
  inplace_vector<lane_map_bit, 6> reg;   ///< bits of the register's number

  /// Lanes of the wave.
  TILEWRIGHT_HD constexpr index_t num_lanes() const { return 1 << lane.size(); }
  /// Elements of a lane.
  TILEWRIGHT_HD constexpr index_t num_registers() const { return 1 << reg.size(); }

  /// The element that a lane has in a register.
  TILEWRIGHT_HD constexpr matrix_position at(index_t lane_id, index_t register_index) const {
    matrix_position p;
    for (index_t i = 0; i < lane.size(); ++i) deposit(p, lane[i], lane_id >> i & 1);
    for (index_t i = 0; i < reg.size(); ++i) deposit(p, reg[i], register_index >> i & 1);
    return p;
  }

  /// Rows and columns that the map covers.
  TILEWRIGHT_HD constexpr matrix_position extent() const {
    matrix_position last = at(num_lanes() - 1, num_registers() - 1);
    return {last.row + 1, last.col + 1};
  }

  /// Sets the bit's row or column bit to `value`, 0 or 1.
  TILEWRIGHT_HD static constexpr void deposit(matrix_position& p, lane_map_bit b, index_t value) {
    if (b.of == lane_map_bit::coordinate::row) p.row |= value << b.bit;
    if (b.of == lane_map_bit::coordinate::col) p.col |= value << b.bit;
  }
};

/// Lists the bits of a lane map, least significant first.
template <class... Bits>
TILEWRIGHT_HD constexpr inplace_vector<lane_map_bit, 6> bits(Bits... list) {
  inplace_vector<lane_map_bit, 6> result;
  (result.push_back(list), ...);
  return result;
}

/// The map of an operand whose rows (columns) are stored in another order: bits i and j of the coordinate change
/// places.
TILEWRIGHT_HD constexpr lane_map with_permuted_bits(lane_map map, lane_map_bit::coordinate of, int i, int j) {
  for (auto* list : {&map.lane, &map.reg}) {
    for (lane_map_bit& b : *list) {
      if (b.of == of && (b.bit == i || b.bit == j)) b.bit = static_cast<signed char>(b.bit == i ? j : i);
    }
  }
  return map;
}

}  // namespace tilewright::arch
