// SPDX-License-Identifier: MIT
// Values of different dimensions.
// EXPECT: encodings_cannot_be_embedded
#include <tilewright/distribution/embed_encoding.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding of_two_dims = [] {
  tw::distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  return e;
}();
constexpr tw::distribution_encoding both = tw::embed(of_two_dims, tw::distribution_encoding{});
