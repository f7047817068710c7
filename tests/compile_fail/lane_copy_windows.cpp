// SPDX-License-Identifier: MIT
// A copy to LDS again and again: from LDS, to global memory, and between windows of two distributions; too many copies.
// EXPECT: lane_copy: the window must be in global memory
// EXPECT: lane_copy: the destination must be in LDS
// EXPECT: lane_copy: both windows must move the same vectors of the same distribution
// EXPECT: lane_copy: there are fewer copies; see num_access
#include <tilewright/tile/copy/repeated_copy.hpp>

#include "sample_tile.hpp"

void f(tw::exec::lds_pointer p, const float* q) {
  const auto from = tw::make_tile_window(view(q), lengths, {0, 0}, distribution{});
  const auto to = tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{});
  const auto columns = tw::make_tile_window(lds_view(p), lengths, {0, 0}, by_columns{});
  [[maybe_unused]] const tw::lane_copy from_lds(to, to);
  [[maybe_unused]] const tw::lane_copy to_global(from, from);
  [[maybe_unused]] const tw::lane_copy other(from, columns);
  tw::lane_copy(from, to).issue<0, 2>(0);
}
