// SPDX-License-Identifier: MIT
// Element-wise functions in lists.
#pragma once

#include <tilewright/jit/element_function.hpp>

#include "reader.hpp"

namespace pack {

/// Members "expression", or "function" and "code". Returns "inputs": 1 or 2.
int read_function(reader& r, tilewright::jit::element_function& to);

}  // namespace pack
