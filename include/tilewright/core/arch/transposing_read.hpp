// SPDX-License-Identifier: MIT
// Which lane's elements each lane receives when an LDS instruction transposes.
#pragma once

#include <tilewright/core/arch/lane_map.hpp>
#include <tilewright/core/arch/target.hpp>

namespace tilewright::arch {

/// An element of a lane's vector.
struct lane_element {
  index_t lane = 0, element = 0;  ///< numbers of both
  friend constexpr bool operator==(const lane_element&, const lane_element&) = default;
};

/// AMD's transposing read for elements of 2 or 1 bytes; read_b64 for others, which none transposes.
TILEWRIGHT_HD constexpr lds_op transposing_read_op(index_t element_bytes) {
  return element_bytes == 2 ? lds_op::read_b64_tr_b16 : element_bytes == 1 ? lds_op::read_b64_tr_b8 : lds_op::read_b64;
}

/// The instruction with which a target reads LDS transposed: AMD's, ldmatrix for elements of 2 bytes, or an ordinary
/// read where it has none.
TILEWRIGHT_HD constexpr lds_op transposing_op(const target& t, index_t element_bytes) {
  const lds_op amd = transposing_read_op(element_bytes);
  if (amd != lds_op::read_b64 && t.supports(amd)) return amd;
  if (element_bytes == 2 && t.supports(lds_op::ldmatrix)) return lds_op::ldmatrix;
  return lds_read_op(element_bytes);
}

/// How an instruction moves elements between the lanes of a wave: bit b of an element's place in the vector that a lane
/// addresses is bit reg[b] of the number of the lane that receives it; bit b of the addressing lane is bit lane[b] of
/// the receiving lane or, where lane[b] is -1 - r, bit r of the element's number there.
/// Bits that are not listed stay what they are.
struct lane_exchange {
  inplace_vector<signed char, 3> reg;   ///< by bit of the element's place
  inplace_vector<signed char, 6> lane;  ///< by bit of the addressing lane

  /// Whether each lane receives what it addresses.
  TILEWRIGHT_HD constexpr bool is_identity() const { return reg.empty(); }
  /// Elements that a lane addresses: they must be contiguous.
  TILEWRIGHT_HD constexpr index_t vector_length() const { return 1 << reg.size(); }
  friend constexpr bool operator==(const lane_exchange&, const lane_exchange&) = default;
};

/// gfx950: the 16 lanes of a group address the pieces of a matrix of 8 bytes / element rows and 16 columns in its
/// order, and lane i receives column i. ldmatrix (transposed, 16-bit elements, four matrices): lane l addresses row
/// l % 8 of the 8x8 matrix l / 8, and lane i receives, two by two, rows 2 (i % 4) and the next of column i / 4 of each
/// matrix. (CDNA4 ISA, "LDS transpose loads"; PTX ISA, "ldmatrix")
TILEWRIGHT_HD constexpr lane_exchange exchange_of(lds_op op) {
  lane_exchange e;
  const auto list = [](auto& to, auto... bits) { (to.push_back(static_cast<signed char>(bits)), ...); };
  if (op == lds_op::read_b64_tr_b16) {
    list(e.reg, 0, 1);
    list(e.lane, 2, 3, -1, -2);
  } else if (op == lds_op::read_b64_tr_b8) {
    list(e.reg, 0, 1, 2);
    list(e.lane, 3, -1, -2, -3);
  } else if (op == lds_op::ldmatrix) {
    list(e.reg, 2, 3, 4);
    list(e.lane, -1, 0, 1, -2, -3);
  }
  return e;
}

/// Where the element comes from that a lane receives from a transposing instruction.
TILEWRIGHT_HD constexpr lane_element source_of_transposing_read(lds_op op, lane_element received) {
  const lane_exchange e = exchange_of(op);
  lane_element source{received.lane >> e.lane.size() << e.lane.size(), 0};
  for (index_t b = 0; b < e.reg.size(); ++b) source.element |= (received.lane >> e.reg[b] & 1) << b;
  for (index_t b = 0; b < e.lane.size(); ++b) {
    const index_t bit = e.lane[b] >= 0 ? received.lane >> e.lane[b] : received.element >> (-1 - e.lane[b]);
    source.lane |= (bit & 1) << b;
  }
  return source;
}

/// Which lane must address which elements for a matrix operand to arrive in its registers. Elements that a lane
/// addresses are the operand's rows (or columns) that the lowest bits of the receiving lane stand for,
/// so the layout must have them contiguous.
TILEWRIGHT_HD constexpr lane_map address_map(const lane_exchange& e, const lane_map& operand) {
  lane_map addresses = operand;
  for (index_t b = 0; b < e.reg.size(); ++b) addresses.reg[b] = operand.lane[e.reg[b]];
  for (index_t b = 0; b < e.lane.size(); ++b)
    addresses.lane[b] = e.lane[b] >= 0 ? operand.lane[e.lane[b]] : operand.reg[-1 - e.lane[b]];
  return addresses;
}

}  // namespace tilewright::arch
