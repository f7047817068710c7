// SPDX-License-Identifier: MIT
// Layouts with the accesses to them, and how they are shown.
#pragma once

#include "layout_spec.hpp"
#include "options.hpp"
#include "pattern.hpp"

#include <tilewright/core/lds/lds_proof.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tilewright_layout {

/// One access to one layout.
struct examined {
  const named_pattern* pattern;
  tilewright::tensor_graph graph;  // as the access sees it
  tilewright::lds_access_analysis analysis;
  bool rests_on_evidence = false;
  tilewright::lds_address_needs addresses;
  tilewright::lds_legality direct;  // as a copy from global memory that bypasses registers
};

struct examined_layout {
  named_layout layout;
  index_t bytes = 0;
  std::vector<examined> accesses;
};

bool is_write(const named_pattern& pattern);
std::string title_of(const named_pattern& pattern);

/// The access that is drawn: the same for all layouts.
std::size_t access_to_show(const options& o, const std::vector<examined_layout>& layouts);

std::string text_of(const options& o, const std::vector<examined_layout>& layouts, std::size_t drawn);
std::string svg_of(const options& o, const std::vector<examined_layout>& layouts, std::size_t drawn);
nlohmann::ordered_json json_of(const options& o, const std::vector<examined_layout>& layouts);

}  // namespace tilewright_layout
