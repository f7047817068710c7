// SPDX-License-Identifier: MIT
// Layouts by name: what --layout understands.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

#include <string>

namespace tilewright_layout {

using tilewright::index_t;

struct named_layout {
  std::string name;                // as the user wrote it
  std::string title;               // in a few words, for pictures
  std::string description;         // in one sentence
  tilewright::tensor_graph graph;  // from (row, col) to the offset in elements
};

/// What the words mean, one line each.
extern const char* const layout_help;

/// Throws refusal. Everything but `solve`, which needs to know the accesses: see solve.hpp.
named_layout layout_of(const std::string& text, const tilewright::arch::target& target,
                       const tilewright::lds_tile& tile);

/// A permutation of chunks as a layout; says how rows are permuted.
named_layout layout_of(const std::string& name, const std::string& title, const tilewright::swizzled_layout& layout);

/// The same layout to a kernel that relies on no more than `elements` neighbours along a row,
/// so that its accesses are no wider.
tilewright::tensor_graph with_runs_limited(const tilewright::tensor_graph& graph, const tilewright::lds_tile& tile,
                                           index_t elements);

}  // namespace tilewright_layout
