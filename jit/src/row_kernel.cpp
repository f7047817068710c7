// SPDX-License-Identifier: MIT
#include "row_kernel.hpp"

namespace tilewright::jit {

std::string text_of(const row_tile& t) {
  return "tw::row_tile{" + std::to_string(t.threads) + ", " + std::to_string(t.threads_per_row) + ", " +
         std::to_string(t.vectors) + ", " + std::to_string(t.vector) + ", " + std::to_string(t.blocks) + ", " +
         (t.unaligned ? "true, " : "false, ") + std::to_string(t.lds_segments) + "}";
}

std::string name_of(element result, scale_kind scales) {
  constexpr const char* names[] = {"", "_per_row", "_per_128"};
  return scales == scale_kind::none ? "" : "_to_" + short_name(result) + names[int(scales)];
}

}  // namespace tilewright::jit
