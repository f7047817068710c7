// SPDX-License-Identifier: MIT
// The kinds of instructions that access LDS, and their phases: which lanes of a wave one serves together.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/index.hpp>
#include <tilewright/core/base/trap.hpp>

namespace tilewright::arch {

/// One kind of LDS instruction, named after the bits that a lane moves.
enum class lds_op : signed char {
  read_b8,
  read_b16,
  read_b32,
  read_b64,
  read_b96,
  read_b128,
  read_b64_tr_b16,  // gfx950: reads 64 bits per lane and exchanges 16-bit elements between lanes
  read_b64_tr_b8,   // the same with 8-bit elements
  write_b8,
  write_b16,
  write_b32,
  write_b64,
  write_b96,
  write_b128,
  ldmatrix,  // lane l addresses row l % 8 (16 bytes) of the 8x8 matrix l / 8
  stmatrix,
};

/// How many kinds there are: indices of tables with a row for each.
inline constexpr index_t num_lds_ops = index_t(lds_op::stmatrix) + 1;

/// Families of instruction sets. RDNA calls LDS accesses ds_load and ds_store, CDNA ds_read and ds_write.
enum class instruction_set : signed char { cdna, rdna, ptx };

namespace detail {

struct lds_op_facts {
  index_t bytes;                  // that one lane's address selects
  const char *cdna, *rdna, *ptx;  // mnemonics; empty: the instruction set lacks the instruction
};

TILEWRIGHT_HD constexpr lds_op_facts facts_of(lds_op op) {
  using enum lds_op;
  switch (op) {
    case read_b8: return {1, "ds_read_u8", "ds_load_u8", "ld.shared.b8"};
    case read_b16: return {2, "ds_read_u16", "ds_load_u16", "ld.shared.b16"};
    case read_b32: return {4, "ds_read_b32", "ds_load_b32", "ld.shared.b32"};
    case read_b64: return {8, "ds_read_b64", "ds_load_b64", "ld.shared.v2.b32"};
    case read_b96: return {12, "ds_read_b96", "ds_load_b96", ""};
    case read_b128: return {16, "ds_read_b128", "ds_load_b128", "ld.shared.v4.b32"};
    case read_b64_tr_b16: return {8, "ds_read_b64_tr_b16", "", ""};
    case read_b64_tr_b8: return {8, "ds_read_b64_tr_b8", "", ""};
    case write_b8: return {1, "ds_write_b8", "ds_store_b8", "st.shared.b8"};
    case write_b16: return {2, "ds_write_b16", "ds_store_b16", "st.shared.b16"};
    case write_b32: return {4, "ds_write_b32", "ds_store_b32", "st.shared.b32"};
    case write_b64: return {8, "ds_write_b64", "ds_store_b64", "st.shared.v2.b32"};
    case write_b96: return {12, "ds_write_b96", "ds_store_b96", ""};
    case write_b128: return {16, "ds_write_b128", "ds_store_b128", "st.shared.v4.b32"};
    case ldmatrix: return {16, "", "", "ldmatrix"};
    case stmatrix: break;
  }
  return {16, "", "", "stmatrix"};
}

// Reaching this in a constant expression is the error: no LDS instruction has this width.
TILEWRIGHT_HD void no_lds_instruction_of_this_width() { tilewright::detail::trap(); }

}  // namespace detail

/// Bytes that one lane's address selects.
TILEWRIGHT_HD constexpr index_t access_bytes(lds_op op) { return detail::facts_of(op).bytes; }

/// Whether the instruction writes LDS.
TILEWRIGHT_HD constexpr bool is_write(lds_op op) {
  return (lds_op::write_b8 <= op && op <= lds_op::write_b128) || op == lds_op::stmatrix;
}

/// Whether an LDS instruction of any target moves this many bytes per lane.
TILEWRIGHT_HD constexpr bool has_lds_op(index_t bytes) {
  return bytes == 12 || (bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
}

/// The instruction that reads or writes `bytes` per lane: 1, 2, 4, 8, 12 or 16.
/// Wider accesses are several instructions.
TILEWRIGHT_HD constexpr lds_op lds_read_op(index_t bytes) {
  if (!has_lds_op(bytes)) detail::no_lds_instruction_of_this_width();
  return static_cast<lds_op>((bytes > 1) + (bytes > 2) + (bytes > 4) + (bytes > 8) + (bytes > 12));
}
/// The same for writes.
TILEWRIGHT_HD constexpr lds_op lds_write_op(index_t bytes) {
  const index_t distance = index_t(lds_op::write_b8) - index_t(lds_op::read_b8);
  return static_cast<lds_op>(index_t(lds_read_op(bytes)) + distance);
}

/// The instruction's name in the assembly of an instruction set.
TILEWRIGHT_HD constexpr const char* instruction_name(instruction_set isa, lds_op op) {
  const detail::lds_op_facts facts = detail::facts_of(op);
  return isa == instruction_set::cdna ? facts.cdna : isa == instruction_set::rdna ? facts.rdna : facts.ptx;
}

/// The order in which an LDS instruction serves the lanes of a wave. Each `lanes_per_phase` consecutive places of that
/// order are one phase: they are served together and compete for the banks. The lane in place p is the XOR of
/// lane_bit[i] over the bits i that are set in p; so every phase is a coset of the subspace of F2^6 that the first
/// lane_bits span, and the analysis of linear layouts can use that subspace directly.
struct lds_phases {
  index_t wave_size = 0;         ///< lanes
  index_t lanes_per_phase = 0;   ///< lanes that are served together: a power of two
  array<index_t, 6> lane_bit{};  ///< by bit of the place

  /// Phases of an instruction.
  TILEWRIGHT_HD constexpr index_t num_phases() const { return wave_size / lanes_per_phase; }

  /// The lane in a place of the order.
  TILEWRIGHT_HD constexpr index_t lane_at_position(index_t position) const {
    index_t lane = 0;
    for (index_t i = 0; i < 6; ++i) lane ^= (position >> i & 1) ? lane_bit[i] : 0;
    return lane;
  }

  /// The lanes of one phase, as a mask.
  TILEWRIGHT_HD constexpr unsigned long long lanes_of(index_t phase) const {
    unsigned long long mask = 0;
    for (index_t i = 0; i < lanes_per_phase; ++i) mask |= 1ull << lane_at_position(phase * lanes_per_phase + i);
    return mask;
  }

  friend constexpr bool operator==(const lds_phases&, const lds_phases&) = default;
};

/// Phases of consecutive lanes.
TILEWRIGHT_HD constexpr lds_phases contiguous_phases(index_t wave_size, index_t lanes_per_phase) {
  return {wave_size, lanes_per_phase, {{1, 2, 4, 8, 16, 32}}};
}

/// Every lane of the wave is in exactly one phase.
TILEWRIGHT_HD constexpr bool every_lane_is_served_once(const lds_phases& phases) {
  unsigned long long served = 0;
  for (index_t position = 0; position < phases.wave_size; ++position) {
    const unsigned long long lane = 1ull << phases.lane_at_position(position);
    if (served & lane) return false;
    served |= lane;
  }
  const unsigned long long wave = phases.wave_size == 64 ? ~0ull : (1ull << phases.wave_size) - 1;
  return served == wave && phases.num_phases() * phases.lanes_per_phase == phases.wave_size;
}

}  // namespace tilewright::arch
