// SPDX-License-Identifier: MIT
// Which lane addresses which elements when LDS is read into an operand of a matrix instruction.
#pragma once

#include <tilewright/arch/matrix_instruction.hpp>
#include <tilewright/arch/target.hpp>
#include <tilewright/arch/transposing_read.hpp>
#include <tilewright/lds/lds_fault.hpp>

namespace tilewright {
namespace detail {

/// Operands of these instructions are read with ldmatrix: the lane that gives an
/// address is not the lane that gets the data.
TILEWRIGHT_HD constexpr bool uses_ldmatrix(arch::matrix_op op) { return op == arch::matrix_op::mma_m16n8k16_x2; }

}  // namespace detail

/// How an operand of an instruction is read from LDS, where its rows or (transposed) its columns are contiguous.
TILEWRIGHT_HD constexpr lds_access_kind fragment_access(arch::matrix_op op, bool transposed = false) {
  if (detail::uses_ldmatrix(op)) return lds_access_kind::ldmatrix;
  return transposed ? lds_access_kind::transposing_read : lds_access_kind::read;
}

namespace detail {

/// Whether a target can read an operand whose columns are contiguous in LDS.
TILEWRIGHT_HD constexpr bool reads_transposed(const arch::target& target, arch::matrix_op op) {
  const arch::lds_op read = arch::transposing_read_op(arch::element_bytes(op));
  return uses_ldmatrix(op) || (read != arch::lds_op::read_b64 && target.supports(read));
}

/// Which lane gives the address of which 16 bytes, for four 8x8 matrices in the order of the operand's registers:
/// lane l of matrix l / 8 addresses row l % 8.
TILEWRIGHT_HD constexpr arch::lane_map ldmatrix_address_map(const arch::lane_map& operand) {
  arch::lane_map addresses;
  addresses.lane = arch::bits(operand.lane[2], operand.lane[3], operand.lane[4], operand.reg[1], operand.reg[2]);
  addresses.reg = arch::bits(operand.reg[0], operand.lane[0], operand.lane[1]);
  return addresses;
}

/// Lanes and the elements that they address when an operand is read from LDS, where its rows or (transposed) its
/// columns are contiguous.
TILEWRIGHT_HD constexpr arch::lane_map load_map(arch::matrix_op op, const arch::lane_map& operand,
                                                bool transposed = false) {
  if (!transposed) return uses_ldmatrix(op) ? ldmatrix_address_map(operand) : operand;
  const arch::lds_op read =
      uses_ldmatrix(op) ? arch::lds_op::ldmatrix : arch::transposing_read_op(arch::element_bytes(op));
  return arch::address_map(arch::exchange_of(read), operand);
}

}  // namespace detail
}  // namespace tilewright
