// SPDX-License-Identifier: MIT
// Distribution encodings in one word: "H(2,4,16)(4,8)P(1.1)(1.2,2.0)Y(1.0,2.1)".
#pragma once

#include <tilewright/core/distribution/distribution_encoding.hpp>

#include <string>

namespace tilewright_layout {

/// The lists of an encoding in the order of its parameters: R(factors), if there are any; H, a list for each dimension;
/// P, a list of ids major.minor for each partition index (wave and lane, or lane alone); Y, ids. Throws refusal.
tilewright::distribution_encoding encoding_of_text(const std::string& text);

/// The same backwards.
std::string text_of(const tilewright::distribution_encoding& e);

}  // namespace tilewright_layout
