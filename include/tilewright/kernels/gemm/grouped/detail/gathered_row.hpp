// SPDX-License-Identifier: MIT
// Which row of memory a row of a gathered operand is.
#pragma once

#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// The token of an entry; -1 and more than 2^31 / choices stay outside of the tokens.
TILEWRIGHT_HD constexpr index_t token_of(index_t source, index_t choices) {
  return source < 0 ? -1 : index_t(unsigned(source) / unsigned(choices));
}

/// For make_functor_transform: the token of entry `row` of a table of `rows` entries at the address low, high.
struct gathered_row {
  TILEWRIGHT_HD index_t operator()(index_t row, index_t low, index_t high, index_t rows, index_t choices) const {
    const auto address = static_cast<unsigned long long>(unsigned(high)) << 32 | unsigned(low);
    const auto table = exec::make_global_buffer(reinterpret_cast<const index_t*>(address), rows * 4);
    return token_of(exec::buffer_load<index_t>(table, row * 4), choices);
  }
};

}  // namespace tilewright::detail
