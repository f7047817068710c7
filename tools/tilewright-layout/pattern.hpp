// SPDX-License-Identifier: MIT
// Access patterns by name: what --write and --read understand. A pattern is a distribution of the tile,
// and how wide accesses may be.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>
#include <tilewright/core/lds/lds_access_pattern.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

#include <string>

namespace tilewright_layout {

using tilewright::index_t;

struct named_pattern {
  std::string name;  // as the user wrote it
  tilewright::distribution_encoding distribution;
  tilewright::lds_access_kind kind = tilewright::lds_access_kind::read;
  index_t max_bytes = 16;  // of one access by a lane
};

/// What the words mean, one line each.
extern const char* const pattern_help;

/// Threads of the block; 0: as many as the tile keeps busy, up to 256.
named_pattern pattern_of(const std::string& text, const tilewright::arch::target& target,
                         const tilewright::lds_tile& tile, bool is_write, index_t threads);

}  // namespace tilewright_layout
