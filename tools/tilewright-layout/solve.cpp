// SPDX-License-Identifier: MIT
// Asks the library for a layout that serves all accesses.
#include "solve.hpp"

#include "refusal.hpp"

#include <tilewright/lds/layout_solver.hpp>

namespace tilewright_layout {

namespace tw = tilewright;

named_layout solve(const tw::arch::target& target, const tw::lds_tile& tile,
                   const std::vector<named_pattern>& patterns) {
  std::vector<tw::lds_use> uses;
  bool fits = tw::is_power_of_two(tile.rows) && tw::is_power_of_two(tile.row_bytes());
  for (const named_pattern& pattern : patterns) {
    const index_t bytes = tw::detail::widest_vector_bytes({pattern.distribution, pattern.kind}, tile);
    if (bytes > pattern.max_bytes) {
      throw refusal("--layout solve: threads of pattern " + pattern.name + " hold " + std::to_string(bytes) +
                    " neighbouring bytes, and layouts are found for the widest accesses; take the width " +
                    std::to_string(bytes) + "B");
    }
    fits = fits && tw::has_power_of_two_factors(pattern.distribution) && tile.row_bytes() >= bytes;
    if (target.find(tw::lds_op_of(pattern.kind, bytes, tile.element_bytes)) == nullptr) {
      throw refusal("--layout solve: " + std::string(target.name) + " has no instruction for pattern " + pattern.name);
    }
    uses.push_back({pattern.distribution, pattern.kind});
  }
  if (!fits || tile.row_bytes() < 16) {
    throw refusal("--layout solve needs a tile whose lengths are powers of two and whose rows have at least 16 bytes");
  }
  const tw::arch::target* const targets[] = {&target};
  const tw::lds_layout_choice choice = tw::choose_lds_layout(targets, 1, tile, uses.data(), index_t(uses.size()));
  named_layout layout = layout_of("solve", "found by the library", choice.layout);
  if (choice.worst_degree > 1) {
    layout.description += choice.is_proven_best ? "; no linear layout is better" : "; no better one was found";
  }
  return layout;
}

}  // namespace tilewright_layout
