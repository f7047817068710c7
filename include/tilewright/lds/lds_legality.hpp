// SPDX-License-Identifier: MIT
// Whether a target can make an access to LDS, and how many address registers it needs.
#pragma once

#include <tilewright/lds/lds_access.hpp>

namespace tilewright {

/// Why a target cannot make an access to LDS.
enum class lds_fault : signed char {
  none,
  run_time_values,
  dimensions_differ,
  unsound_distribution,
  tile_too_large,
  too_many_lanes,
  no_such_instruction,
  narrow_ldmatrix,
  transposing_width,
  unaligned_begin,
  outside_of_lds,
  width_not_direct,
  leaves_footprint,
  nothing_to_serve,
  not_powers_of_two,
};

/// A fault, the number that is wrong and the one that it must fit.
struct lds_legality {
  lds_fault fault = lds_fault::none;
  index_t value = 0, limit = 0;

  TILEWRIGHT_HD constexpr bool is_legal() const { return fault == lds_fault::none; }
  friend constexpr bool operator==(const lds_legality&, const lds_legality&) = default;
};

/// What is wrong and what to do, as a sentence.
TILEWRIGHT_HD constexpr const char* sentence(lds_fault fault) {
  switch (fault) {
    case lds_fault::none: return "nothing is wrong";
    case lds_fault::run_time_values: return "the layout has run-time values; take graph_of(descriptor)";
    case lds_fault::dimensions_differ: return "the distribution has another number of dimensions than the layout";
    case lds_fault::unsound_distribution:
      return "a factor of the distribution has no owner, two owners or a bad length";
    case lds_fault::tile_too_large:
      return "the distribution's tile is longer than the layout; distribute a tile that fits";
    case lds_fault::too_many_lanes:
      return "the distribution has more lanes than a wave of the target; distribute over its wave size";
    case lds_fault::no_such_instruction: return "the target has no LDS instruction of this kind and width";
    case lds_fault::narrow_ldmatrix:
      return "ldmatrix reads rows of 16 contiguous, aligned bytes; the layout or the distribution leaves fewer";
    case lds_fault::transposing_width:
      return "a transposing read takes 8 contiguous, aligned bytes of each lane, in elements of 1 or 2 bytes; the "
             "layout or the distribution has others";
    case lds_fault::unaligned_begin:
      return "the tile does not begin at a multiple of its vectors; align it, or use narrower vectors";
    case lds_fault::outside_of_lds: return "the access leaves the LDS that the block has";
    case lds_fault::width_not_direct:
      return "the target copies no such number of bytes per lane from global memory to LDS directly";
    case lds_fault::leaves_footprint:
      return "a direct copy writes lane after lane from one address; this layout would have a wave write elsewhere: "
             "permute within the wave's own bytes only";
    case lds_fault::nothing_to_serve: return "a layout is chosen for one use or more on one target or more";
    case lds_fault::not_powers_of_two:
      return "layouts are chosen for tiles and distributions whose lengths are powers of two, with rows of 4 bytes or "
             "more";
  }
  return "";
}

namespace detail {

/// The distribution alone, for a layout of as many dimensions as `lengths` has.
template <index_t N>
TILEWRIGHT_HD constexpr lds_legality check_distribution(const arch::target& target, const distribution_encoding& e,
                                                        const inplace_vector<index_t, N>& lengths) {
  if (e.ndim_x() != lengths.size()) return {lds_fault::dimensions_differ, e.ndim_x(), lengths.size()};
  if (check(e).fault != encoding_fault::none || e.ndim_p() < 1) return {lds_fault::unsound_distribution, 0, 0};
  for (index_t d = 0; d < lengths.size(); ++d) {
    if (e.x_length(d) > lengths[d]) return {lds_fault::tile_too_large, e.x_length(d), lengths[d]};
  }
  const index_t lanes = e.p_length(e.ndim_p() - 1);
  if (lanes > target.wave_size) return {lds_fault::too_many_lanes, lanes, target.wave_size};
  return {};
}

/// Faults that keep lds_access_walk from being made.
TILEWRIGHT_HD constexpr lds_legality check_values(const arch::target& target, const tensor_graph& layout,
                                                  const distribution_encoding& e) {
  if (layout.num_values != 0) return {lds_fault::run_time_values, layout.num_values, 0};
  inplace_vector<index_t, tensor_graph::max_top> lengths;
  for (const index_t id : layout.top) lengths.push_back(hidden_length(layout, id));
  return check_distribution(target, e, lengths);
}

/// Whether the target moves `bytes` per lane with one instruction of this kind.
TILEWRIGHT_HD constexpr lds_legality check_instruction(const arch::target& target, lds_access_kind kind, index_t bytes,
                                                       index_t element_bytes) {
  if ((kind == lds_access_kind::ldmatrix || kind == lds_access_kind::stmatrix) && bytes != 16)
    return {lds_fault::narrow_ldmatrix, bytes, 16};
  if (kind == lds_access_kind::transposing_read && (bytes != 8 || element_bytes > 2))
    return {lds_fault::transposing_width, bytes, 8};
  if (!arch::has_lds_op(bytes) || !target.supports(lds_op_of(kind, bytes, element_bytes)))
    return {lds_fault::no_such_instruction, bytes, 0};
  return {};
}

TILEWRIGHT_HD constexpr lds_legality check_walk(const arch::target& target, const lds_access_walk& walk,
                                                lds_access_kind kind, index_t begin, index_t lds_bytes) {
  const index_t bytes = walk.bytes_per_lane();
  if (const lds_legality fault = check_instruction(target, kind, bytes, walk.element_bytes()); !fault.is_legal())
    return fault;
  if (begin % bytes != 0) return {lds_fault::unaligned_begin, begin, bytes};
  const array<index_t, 2> range = walk.address_range();
  if (begin + range[0] < 0) return {lds_fault::outside_of_lds, begin + range[0], 0};
  const index_t end = begin + range[1] + bytes;
  if (end > lds_bytes) return {lds_fault::outside_of_lds, end, lds_bytes};
  return {};
}

}  // namespace detail

/// Whether analyze_lds_access may be asked about these values, and the kernel could make the access: sound
/// values, an instruction that exists, whole vectors, and every byte inside of the `lds_bytes` of the block
/// when the tile begins at byte `begin`.
TILEWRIGHT_HD constexpr lds_legality check_lds_access(const arch::target& target, const tensor_graph& layout,
                                                      const distribution_encoding& e, index_t element_bytes,
                                                      lds_access_kind kind, index_t begin, index_t lds_bytes) {
  if (const lds_legality values = detail::check_values(target, layout, e); !values.is_legal()) return values;
  return detail::check_walk(target, lds_access_walk(layout, e, element_bytes), kind, begin, lds_bytes);
}

/// The same with all of the target's LDS and a tile that begins at byte 0.
TILEWRIGHT_HD constexpr lds_legality check_lds_access(const arch::target& target, const tensor_graph& layout,
                                                      const distribution_encoding& e, index_t element_bytes,
                                                      lds_access_kind kind) {
  return check_lds_access(target, layout, e, element_bytes, kind, 0, target.lds_bytes);
}

namespace detail {

/// Whether a target can make an access, and then what it costs.
struct examined_access {
  lds_legality legality;
  lds_access_analysis analysis;
};

TILEWRIGHT_HD constexpr examined_access examine(const arch::target& target, const tensor_graph& layout,
                                                const distribution_encoding& e, index_t element_bytes,
                                                lds_access_kind kind) {
  examined_access result{check_values(target, layout, e), {}};
  if (!result.legality.is_legal()) return result;
  const lds_access_walk walk(layout, e, element_bytes);
  result.legality = check_walk(target, walk, kind, 0, target.lds_bytes);
  if (result.legality.is_legal())
    result.analysis = analyze_walk(target, walk, kind, lds_reading::worst, lds_method::fastest);
  return result;
}

}  // namespace detail

/// Whether a tile can be copied from global memory to LDS without registers. On AMD GPUs an instruction writes a wave's
/// lanes to consecutive places, so the layout may permute only within that range; global memory is then read in the
/// inverse order (lanes_by_place). NVIDIA GPUs write anywhere. leaves_footprint: value and limit are wave and access.
TILEWRIGHT_HD constexpr lds_legality check_direct_to_lds(const arch::target& target, const tensor_graph& layout,
                                                         const distribution_encoding& e, index_t element_bytes) {
  if (const lds_legality values = detail::check_values(target, layout, e); !values.is_legal()) return values;
  const lds_access_walk walk(layout, e, element_bytes);
  if (!target.supports_direct_to_lds(walk.bytes_per_lane()))
    return {lds_fault::width_not_direct, walk.bytes_per_lane(), 0};
  if (!arch::is_amd(target)) return {};
  for (index_t wave = 0; wave < walk.num_waves(); ++wave) {
    for (index_t access = 0; access < walk.num_access(); ++access) {
      const array<index_t, 64> order = lanes_by_place(walk, wave, access);
      for (index_t place = 0; place < walk.num_lanes(); ++place) {
        if (order[place] < 0) return {lds_fault::leaves_footprint, wave, access};
      }
    }
  }
  return {};
}

/// What the addresses of a thread's accesses need: registers, and constants inside of the instructions. A constant that
/// does not fit (target::max_lds_offset) costs one more register and an addition.
struct lds_address_needs {
  index_t registers = 1;
  index_t largest_offset = 0;  // bytes

  TILEWRIGHT_HD constexpr bool fits(const arch::target& target) const {
    return largest_offset <= target.max_lds_offset;
  }
  friend constexpr bool operator==(const lds_address_needs&, const lds_address_needs&) = default;
};

/// As tile windows have it: one address and constants where offsets add up; one address for each pattern of flipped
/// bits where they are exclusive ors; else one for each access. stage_bytes: what the last of several buffers adds.
TILEWRIGHT_HD constexpr lds_address_needs address_needs(const tensor_graph& layout, const distribution_encoding& e,
                                                        index_t element_bytes, index_t stage_bytes = 0) {
  const lds_access_walk walk(layout, e, element_bytes);
  lds_address_needs needs{1, stage_bytes};
  if (walk.rule() == lds_access_walk::addresses_are::arbitrary) return {walk.num_access(), stage_bytes};
  const index_t origin = walk.first_address(0, 0);
  if (is_linear(layout)) {
    for (index_t access = 1; access < walk.num_access(); ++access)
      needs.largest_offset = max(needs.largest_offset, walk.first_address(0, access) - origin + stage_bytes);
    return needs;
  }
  const index_t variable_bits = walk.bits_of_others() * element_bytes;
  inplace_vector<index_t, 64> patterns;
  for (index_t access = 0; access < walk.num_access(); ++access) {
    const index_t address = walk.first_address(0, access), flipped = address & variable_bits;
    needs.largest_offset = max(needs.largest_offset, (address & ~variable_bits) + stage_bytes);
    bool is_known = false;
    for (const index_t known : patterns) is_known = is_known || known == flipped;
    if (!is_known && patterns.size() < patterns.capacity()) patterns.push_back(flipped);
  }
  needs.registers = patterns.size();
  return needs;
}

}  // namespace tilewright
