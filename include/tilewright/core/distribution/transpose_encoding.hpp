// SPDX-License-Identifier: MIT
// Distributions around a transposing read of LDS: who addresses elements, and who receives them.
#pragma once

#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

namespace detail {

/// Why a tile cannot be transposed by an exchange between lanes; make_transpose_input_distribution has the error
/// messages.
enum class transpose_fault { none, dimensions, lanes, registers, too_many_factors };

/// A distribution of the transposed tile, unless `fault` says why there is none.
struct encoding_transpose {
  transpose_fault fault = transpose_fault::none;
  distribution_encoding encoding;
};

/// A factor, or a part of one, whose owner counts in it: `length` indices of a dimension
/// (major as in rh_id), `stride` apart.
struct factor_part {
  signed char major = 0;
  index_t stride = 1, length = 1;
};
/// Parts, the least significant first.
using part_list = inplace_vector<factor_part, 16>;

template <class Ids>
TILEWRIGHT_HD constexpr part_list parts_of(const distribution_encoding& e, const Ids& ids) {
  part_list parts;
  for (index_t i = ids.size(); i-- > 0;) {
    const rh_id id = ids[i];
    index_t stride = 1;
    for (index_t m = id.minor + 1; id.major == 0 && m < e.r.size(); ++m) stride *= e.r[m];
    if (id.major != 0) stride = e.stride(id);
    parts.push_back({id.major, stride, e.length(id)});
  }
  return parts;
}

/// Cuts the list so that each of its first n parts is one bit; false if the factors are not made of bits there.
TILEWRIGHT_HD constexpr bool cut_into_bits(part_list& parts, index_t n) {
  part_list cut;
  for (factor_part part : parts) {
    const bool was_one = part.length == 1;  // nothing to cut, but a dimension of y of its own
    while (cut.size() < n && part.length > 1) {
      if (part.length % 2 != 0) return false;
      cut.push_back({part.major, part.stride, 2});
      part.stride *= 2;
      part.length /= 2;
    }
    const bool is_rest = part.length > 1 || (cut.size() >= n && was_one);
    if (is_rest) cut.push_back(part);
  }
  parts = cut;
  return parts.size() >= n;
}

/// Parts that continue the one before them are one again: all of the list, or only those that begin before place `end`.
TILEWRIGHT_HD constexpr void join(part_list& parts, index_t end) {
  part_list joined;
  for (index_t i = 0; i < parts.size(); ++i) {
    const bool continues = !joined.empty() && i <= end && joined.back().major == parts[i].major &&
                           joined.back().stride * joined.back().length == parts[i].stride;
    if (continues) {
      joined.back().length *= parts[i].length;
    } else {
      joined.push_back(parts[i]);
    }
  }
  parts = joined;
}

/// The encoding in which partition indices and y own these parts. False if it has no room for that many factors.
TILEWRIGHT_HD constexpr bool encode(const inplace_vector<part_list, distribution_encoding::max_p>& p,
                                    const part_list& y, index_t ndim_x, distribution_encoding& e) {
  using encoding = distribution_encoding;
  struct owned {
    factor_part part;
    signed char list;  // of p; -1: y
    rh_id id;
  };
  inplace_vector<owned, 48> all;
  for (signed char i = 0; i < p.size(); ++i) {
    for (const factor_part& part : p[i]) all.push_back({part, i, {}});
  }
  for (const factor_part& part : y) all.push_back({part, -1, {}});
  e = {};
  for (signed char major = 0; major <= ndim_x; ++major) {
    inplace_vector<index_t, encoding::max_factors> factors;
    // The most significant factor is listed first.
    for (index_t stride = 1 << 30, next = 0; stride > 0; stride = next) {
      next = 0;
      for (index_t length_one = 1; length_one >= 0; --length_one) {
        for (owned& o : all) {
          if (o.part.major != major) continue;
          if (o.part.stride < stride) next = max(next, o.part.stride);
          if (o.part.stride != stride || (o.part.length == 1) != (length_one == 1)) continue;
          if (factors.size() == encoding::max_factors) return false;
          o.id = {major, static_cast<signed char>(factors.size())};
          factors.push_back(o.part.length);
        }
      }
    }
    if (major == 0) {
      e.r = factors;
    } else {
      if (factors.empty()) factors.push_back(1);
      e.h.push_back(factors);
    }
  }
  for (index_t list = 0; list < p.size(); ++list) {
    // g++ 12 takes equal values for different template arguments where they were made differently: lists are made as in
    // tile_distribution_encoding, of new ids and as a whole.
    inplace_vector<rh_id, encoding::max_factors> ids;
    for (index_t i = all.size(); i-- > 0;) {
      if (all[i].list != list) continue;
      if (ids.size() == encoding::max_factors) return false;
      ids.push_back({all[i].id.major, all[i].id.minor});
    }
    e.p.push_back(ids);
  }
  for (index_t i = all.size(); i-- > 0;) {
    if (all[i].list >= 0) continue;
    if (e.y.size() == encoding::max_y) return false;
    e.y.push_back({all[i].id.major, all[i].id.minor});
  }
  return true;
}

/// The tile with its dimensions swapped, and elements exchanged between lanes: from who receives
/// them to who addresses them, or back.
TILEWRIGHT_HD constexpr encoding_transpose transpose_encoding(const distribution_encoding& e,
                                                              const arch::lane_exchange& exchange, bool to_input) {
  using enum transpose_fault;
  if (e.ndim_x() != 2 || e.ndim_p() < 1) return {dimensions, {}};
  inplace_vector<part_list, distribution_encoding::max_p> p;
  for (const auto& ids : e.p) p.push_back(parts_of(e, ids));
  part_list y = parts_of(e, e.y);
  if (!exchange.is_identity()) {
    part_list& lane = p.back();
    const index_t lane_bits = exchange.lane.size(), y_bits = exchange.reg.size();
    if (!cut_into_bits(lane, lane_bits)) return {lanes, {}};
    if (!cut_into_bits(y, y_bits)) return {registers, {}};
    const part_list old_lane = lane, old_y = y;
    for (index_t b = 0; b < y_bits; ++b) {
      if (to_input) y[b] = old_lane[exchange.reg[b]];
      if (!to_input) lane[exchange.reg[b]] = old_y[b];
    }
    for (index_t b = 0; b < lane_bits; ++b) {
      const signed char of = exchange.lane[b];
      if (to_input) lane[b] = of >= 0 ? old_lane[of] : old_y[-1 - of];
      if (!to_input) (of >= 0 ? lane[of] : y[-1 - of]) = old_lane[b];
    }
    for (index_t b = 0; b < y_bits; ++b) {
      if (y[b].major == 0) return {lanes, {}};  // lanes that hold copies cannot receive what one of them addresses
    }
    join(lane, lane.size());
    join(y, y_bits);
  }
  for (part_list& list : p) {
    for (factor_part& part : list) part.major = static_cast<signed char>(part.major == 0 ? 0 : 3 - part.major);
  }
  for (factor_part& part : y) part.major = static_cast<signed char>(3 - part.major);
  encoding_transpose result;
  if (!encode(p, y, 2, result.encoding)) return {too_many_factors, {}};
  return result;
}

/// Whether each register of each thread holds the same element of the tile in both.
TILEWRIGHT_HD constexpr bool hold_the_same(const distribution_encoding& a, const distribution_encoding& b) {
  if (a.ndim_x() != b.ndim_x() || a.num_elements_per_thread() != b.num_elements_per_thread()) return false;
  // Positions are sums of what each index contributes.
  for (index_t x = 0; x < a.ndim_x(); ++x) {
    if (a.x_length(x) != b.x_length(x) || !a.places_threads_like(b, x, x)) return false;
    for (index_t d = 1; d < a.num_elements_per_thread(); ++d) {
      if (a.position_of(a.y, d, x) != b.position_of(b.y, d, x)) return false;
    }
  }
  return true;
}

template <transpose_fault Fault>
TILEWRIGHT_HD constexpr void require_transposable() {
  using enum transpose_fault;
  static_assert(Fault != dimensions, "load_tile_transpose: the tile must have two dimensions, distributed over lanes");
  static_assert(
      Fault != lanes,
      "load_tile_transpose: the instruction exchanges elements among 16 (ldmatrix: 32) neighbouring lanes; the "
      "distribution's lanes are fewer there, no power of two, or hold copies");
  static_assert(
      Fault != registers,
      "load_tile_transpose: the instruction exchanges 8 (ldmatrix: 16) bytes of each lane; the last dimensions "
      "of Y hold fewer elements, or no power of two");
  static_assert(Fault != too_many_factors,
                "load_tile_transpose: the transposed distribution needs more factors than an encoding holds (6 in a "
                "dimension, 6 in a P, 8 in Y)");
}

}  // namespace detail

/// The distribution of the window that load_tile_transpose<Target> reads to give
/// threads tiles of T distributed as `held`.
template <class T, class Target, distribution_encoding Held>
TILEWRIGHT_HD constexpr auto make_transpose_input_distribution(tile_distribution<Held>) {
  constexpr detail::encoding_transpose input =
      detail::transpose_encoding(Held, arch::exchange_of(arch::transposing_op(Target::value, sizeof(T))), true);
  detail::require_transposable<input.fault>();
  if constexpr (input.fault == detail::transpose_fault::none) return tile_distribution<input.encoding>{};
}

/// The distribution of the tile that load_tile_transpose<Target> reads through a
/// window of T distributed as `addressed`.
template <class T, class Target, distribution_encoding Addressed>
TILEWRIGHT_HD constexpr auto make_transpose_output_distribution(tile_distribution<Addressed>) {
  constexpr detail::encoding_transpose output =
      detail::transpose_encoding(Addressed, arch::exchange_of(arch::transposing_op(Target::value, sizeof(T))), false);
  detail::require_transposable<output.fault>();
  if constexpr (output.fault == detail::transpose_fault::none) return tile_distribution<output.encoding>{};
}

}  // namespace tilewright
