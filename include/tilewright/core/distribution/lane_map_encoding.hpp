// SPDX-License-Identifier: MIT
// The distribution of a matrix instruction's operand, from its lane map.
#pragma once

#include <tilewright/core/arch/lane_map.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

/// The operand as a tile distribution over the lanes of one wave: dimension 0 is the row, dimension 1 the column;
/// element d of a lane is register d of the instruction.
TILEWRIGHT_HD constexpr distribution_encoding encoding_of(const arch::lane_map& map) {
  using coordinate = arch::lane_map_bit::coordinate;
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});

  // From the most significant bit of a list downwards, neighbours that stay
  // neighbours in the coordinate form one factor.
  struct factor {
    coordinate of;
    signed char low_bit, num_bits, minor;
  };
  inplace_vector<factor, 6> lane_factors, reg_factors;
  const auto split = [](const inplace_vector<arch::lane_map_bit, 6>& bits, inplace_vector<factor, 6>& factors) {
    for (index_t i = bits.size(); i-- > 0;) {
      const arch::lane_map_bit b = bits[i];
      const bool joins = !factors.empty() && factors.back().of == b.of && b.of != coordinate::none &&
                         factors.back().low_bit == b.bit + 1;
      if (joins) {
        --factors.back().low_bit;
        ++factors.back().num_bits;
      } else {
        factors.push_back({b.of, b.bit, 1, 0});
      }
    }
  };
  split(map.lane, lane_factors);
  split(map.reg, reg_factors);

  // Within a coordinate, factors are listed from the most significant one.
  for (const coordinate of : {coordinate::row, coordinate::col}) {
    auto& h = e.h[of == coordinate::row ? 0 : 1];
    for (signed char bit = 8; bit-- > 0;) {
      for (auto* list : {&lane_factors, &reg_factors}) {
        for (factor& f : *list) {
          if (f.of != of || f.low_bit != bit) continue;
          f.minor = static_cast<signed char>(h.size());
          h.push_back(1 << f.num_bits);
        }
      }
    }
  }
  const auto id = [](const factor& f) {
    return rh_id{static_cast<signed char>(f.of == coordinate::row ? 1 : f.of == coordinate::col ? 2 : 0), f.minor};
  };
  for (factor& f : lane_factors) {
    if (f.of == coordinate::none) {
      f.minor = static_cast<signed char>(e.r.size());
      e.r.push_back(1 << f.num_bits);
    }
    e.p[0].push_back(id(f));
  }
  for (const factor& f : reg_factors) e.y.push_back(id(f));
  return e;
}

}  // namespace tilewright
