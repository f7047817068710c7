// SPDX-License-Identifier: MIT
// Asks the library for a layout that serves all accesses.
#include "solve.hpp"

#include "refusal.hpp"

#include <tilewright/lds/layout_solver.hpp>

namespace tilewright_layout {

namespace tw = tilewright;

named_layout solve(const tw::arch::target& target, const tw::lds_tile& tile,
                   const std::vector<named_pattern>& patterns) {
  if (!tw::is_power_of_two(tile.rows) || !tw::is_power_of_two(tile.cols) || tile.row_bytes() < 16) {
    throw refusal("--layout solve needs a tile whose lengths are powers of two and whose rows have at least 16 bytes");
  }
  tw::detail::lds_layout_search search(tile);
  for (const named_pattern& pattern : patterns) {
    const index_t most = tw::min(16, pattern.max_bytes) / tile.element_bytes;
    const tw::vector_choice vector =
        tw::choose_vector(pattern.distribution, tw::array<index_t, 2>{{1, most}}, tile.element_bytes);
    const index_t bytes = vector.length * tile.element_bytes;
    const tw::arch::lds_instruction* row = target.find(tw::lds_op_of(pattern.kind, bytes));
    if (row == nullptr)
      throw refusal("--layout solve: " + std::string(target.name) + " has no instruction for pattern " + pattern.name);
    for (const tw::arch::lds_service& service : row->readings) search.require(service, pattern.distribution, bytes);
  }
  const tw::lds_layout_choice choice = search.solve();
  named_layout layout = layout_of("solve", choice.layout);
  if (choice.worst_degree > 1) {
    layout.description +=
        "; no better permutation of chunks " + std::string(choice.is_proven_best ? "exists" : "was found");
  }
  return layout;
}

}  // namespace tilewright_layout
