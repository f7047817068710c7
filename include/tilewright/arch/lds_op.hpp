// SPDX-License-Identifier: MIT
// The kinds of instructions that access LDS.
#pragma once

#include <tilewright/util/index.hpp>
#include <tilewright/util/trap.hpp>

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

/// Bytes that one lane's address stands for.
TILEWRIGHT_HD constexpr index_t access_bytes(lds_op op) {
  switch (op) {
    case lds_op::read_b8:
    case lds_op::write_b8: return 1;
    case lds_op::read_b16:
    case lds_op::write_b16: return 2;
    case lds_op::read_b32:
    case lds_op::write_b32: return 4;
    case lds_op::read_b64:
    case lds_op::read_b64_tr_b16:
    case lds_op::read_b64_tr_b8:
    case lds_op::write_b64: return 8;
    case lds_op::read_b96:
    case lds_op::write_b96: return 12;
    case lds_op::read_b128:
    case lds_op::write_b128:
    case lds_op::ldmatrix:
    case lds_op::stmatrix: return 16;
  }
  return 0;
}

/// Whether the instruction writes LDS.
TILEWRIGHT_HD constexpr bool is_write(lds_op op) {
  return (lds_op::write_b8 <= op && op <= lds_op::write_b128) || op == lds_op::stmatrix;
}

namespace detail {
// Reaching this in a constant expression is the error: no LDS instruction has this width.
TILEWRIGHT_HD void no_lds_instruction_of_this_width() { tilewright::detail::trap(); }
}  // namespace detail

/// Whether an LDS instruction of any target moves so many bytes per lane.
TILEWRIGHT_HD constexpr bool has_lds_op(index_t bytes) {
  return bytes == 12 || (bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
}

/// The instruction that reads or writes `bytes` per lane: 1, 2, 4, 8, 12 or 16.
/// Wider accesses are several instructions.
TILEWRIGHT_HD constexpr lds_op lds_read_op(index_t bytes) {
  switch (bytes) {
    case 1: return lds_op::read_b8;
    case 2: return lds_op::read_b16;
    case 4: return lds_op::read_b32;
    case 8: return lds_op::read_b64;
    case 12: return lds_op::read_b96;
    case 16: return lds_op::read_b128;
  }
  detail::no_lds_instruction_of_this_width();
  return lds_op::read_b128;
}

/// The same for writes.
TILEWRIGHT_HD constexpr lds_op lds_write_op(index_t bytes) {
  const index_t distance = index_t(lds_op::write_b8) - index_t(lds_op::read_b8);
  return static_cast<lds_op>(index_t(lds_read_op(bytes)) + distance);
}

/// The mnemonic; empty if the instruction set lacks the instruction.
TILEWRIGHT_HD constexpr const char* instruction_name(instruction_set isa, lds_op op) {
  struct names {
    const char *cdna, *rdna, *ptx;
  };
  constexpr names table[num_lds_ops] = {
      {"ds_read_u8", "ds_load_u8", "ld.shared.b8"},
      {"ds_read_u16", "ds_load_u16", "ld.shared.b16"},
      {"ds_read_b32", "ds_load_b32", "ld.shared.b32"},
      {"ds_read_b64", "ds_load_b64", "ld.shared.v2.b32"},
      {"ds_read_b96", "ds_load_b96", ""},
      {"ds_read_b128", "ds_load_b128", "ld.shared.v4.b32"},
      {"ds_read_b64_tr_b16", "", ""},
      {"ds_read_b64_tr_b8", "", ""},
      {"ds_write_b8", "ds_store_b8", "st.shared.b8"},
      {"ds_write_b16", "ds_store_b16", "st.shared.b16"},
      {"ds_write_b32", "ds_store_b32", "st.shared.b32"},
      {"ds_write_b64", "ds_store_b64", "st.shared.v2.b32"},
      {"ds_write_b96", "ds_store_b96", ""},
      {"ds_write_b128", "ds_store_b128", "st.shared.v4.b32"},
      {"", "", "ldmatrix"},
      {"", "", "stmatrix"},
  };
  const names& row = table[index_t(op)];
  return isa == instruction_set::cdna ? row.cdna : isa == instruction_set::rdna ? row.rdna : row.ptx;
}

}  // namespace tilewright::arch
