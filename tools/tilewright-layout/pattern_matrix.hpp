// SPDX-License-Identifier: MIT
// Matrix instructions by name, and the patterns in which a wave holds their operands.
#pragma once

#include "pattern.hpp"

#include <functional>

namespace tilewright_layout {

std::string family_of(const tilewright::arch::target& target);

/// "mfma" and "16x16x32" for v_mfma_f32_16x16x32_f16, "mma" and "16x8x16" for mma.sync.aligned.m16n8k16.
bool is_vendor_name(const std::string& word, std::string& family, std::string& shape);

/// The instruction (or group of them) of this shape for elements of this size; any element may be stored from a result.
/// Empty shape: the first one that `fits`.
tilewright::arch::matrix_op matrix_op_of(const std::string& text, const std::string& family, const std::string& shape,
                                         const std::string& operand, const tilewright::arch::target& target,
                                         const tilewright::lds_tile& tile,
                                         const std::function<bool(tilewright::arch::matrix_op)>& fits);

/// A transposing read of an operand whose k runs down the tile's rows.
named_pattern transposing_pattern(const std::string& text, const std::string& shape, const std::string& operand,
                                  const tilewright::arch::target& target, const tilewright::lds_tile& tile);

/// The tile as operand of a matrix instruction, held by one wave.
tilewright::distribution_encoding operand_encoding(const std::string& text, tilewright::arch::matrix_op op,
                                                   const std::string& operand, bool addresses,
                                                   const tilewright::lds_tile& tile);

}  // namespace tilewright_layout
