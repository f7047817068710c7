// SPDX-License-Identifier: MIT
// What the command line asks for.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>
#include <tilewright/viz/distribution_picture.hpp>
#include <tilewright/viz/lds_picture.hpp>
#include <tilewright/viz/svg.hpp>

#include <string>
#include <vector>

namespace tilewright_layout {

using tilewright::index_t;

enum class command { access, distribution, curve, phases };
enum class format { text, svg, json };

struct options {
  command what = command::access;
  format as = format::text;
  tilewright::viz::svg_theme theme = tilewright::viz::svg_theme::automatic;
  std::string out_file;  // empty: standard output
  std::string title;     // of a picture; empty: one that says what was asked for

  std::vector<const tilewright::arch::target*> targets;
  const tilewright::arch::target* target = nullptr;  // the one that is looked at
  tilewright::lds_tile tile{128, 64, 2};
  std::string dtype = "f16";
  index_t threads = 0;  // 0: as many as the tile keeps busy, up to 256

  std::vector<std::string> layouts, writes, reads;
  tilewright::lds_reading reading = tilewright::lds_reading::worst;
  bool only_evidence = false;
  bool direct = false;  // writes shall be copies from global memory that bypass registers
  tilewright::viz::lds_view view = tilewright::viz::lds_view::tile;
  index_t shown_access = 0;     // of the writes and then the reads, from 1 on; 0: the one with the worst conflicts
  index_t shown_phase = -1;     // -1: the guilty one
  index_t explained_bank = -1;  // the bank whose accesses in the shown phase are explained; -1: none

  std::string pattern;  // of command distribution
  tilewright::viz::owner_part colours = tilewright::viz::owner_part::lane;

  std::vector<std::string> curves;
};

/// The request, or help. Throws refusal.
struct parsed_line {
  options asked;
  bool help = false;
  std::string text;  // of the help
};

parsed_line parse_command_line(int argc, const char* const* argv);

}  // namespace tilewright_layout
