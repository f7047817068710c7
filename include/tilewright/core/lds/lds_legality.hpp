// SPDX-License-Identifier: MIT
// Whether a target can make an access to LDS, and how many address registers it needs.
#pragma once

#include <tilewright/core/lds/lds_access.hpp>

namespace tilewright {

namespace detail {

/// Faults that keep lds_access_pattern from being made.
TILEWRIGHT_HD constexpr lds_legality check_values(const arch::target& target, const tensor_graph& layout,
                                                  const distribution_encoding& e) {
  if (layout.num_values != 0) return {lds_fault::run_time_values, layout.num_values, 0};
  inplace_vector<index_t, tensor_graph::max_top> lengths;
  for (const index_t id : layout.top) lengths.push_back(hidden_length(layout, id));
  return check_distribution(target, e, lengths);
}

TILEWRIGHT_HD constexpr lds_legality check_access_pattern(const arch::target& target, const lds_access_pattern& pattern,
                                                          lds_access_kind kind, index_t begin, index_t lds_bytes) {
  const index_t bytes = pattern.bytes_per_lane();
  if (const lds_legality fault = check_instruction(target, kind, bytes, pattern.element_bytes()); !fault.is_legal())
    return fault;
  if (begin % bytes != 0) return {lds_fault::unaligned_begin, begin, bytes};
  const array<index_t, 2> range = pattern.address_range();
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
  return detail::check_access_pattern(target, lds_access_pattern(layout, e, element_bytes), kind, begin, lds_bytes);
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
  const lds_access_pattern pattern(layout, e, element_bytes);
  result.legality = check_access_pattern(target, pattern, kind, 0, target.lds_bytes);
  if (result.legality.is_legal()) result.analysis = analyze_access_pattern(target, pattern, kind, lds_reading::worst);
  return result;
}

}  // namespace detail

/// Whether a tile can be copied from global memory to LDS without registers. On AMD GPUs an instruction writes a wave's
/// lanes to consecutive places, so the layout may permute only within that range; global memory is then read in the
/// inverse order (lds_access_pattern::lanes_by_address). NVIDIA GPUs write anywhere. leaves_footprint: value and limit
/// are wave and access.
TILEWRIGHT_HD constexpr lds_legality check_direct_to_lds(const arch::target& target, const tensor_graph& layout,
                                                         const distribution_encoding& e, index_t element_bytes) {
  if (const lds_legality values = detail::check_values(target, layout, e); !values.is_legal()) return values;
  const lds_access_pattern pattern(layout, e, element_bytes);
  if (!target.supports_direct_to_lds(pattern.bytes_per_lane()))
    return {lds_fault::width_not_direct, pattern.bytes_per_lane(), 0};
  if (!arch::is_amd(target)) return {};
  for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
    for (index_t access = 0; access < pattern.num_access(); ++access) {
      const array<index_t, 64> order = pattern.lanes_by_address(wave, access);
      for (index_t place = 0; place < pattern.num_lanes(); ++place) {
        if (order[place] < 0) return {lds_fault::leaves_footprint, wave, access};
      }
    }
  }
  return {};
}

/// What the addresses of a thread's accesses need: registers, and constants inside of the instructions. A constant that
/// does not fit (target::max_lds_offset) costs one more register and an addition.
struct lds_address_needs {
  index_t registers = 1;       ///< for addresses, of a thread
  index_t largest_offset = 0;  ///< bytes

  /// Whether instructions of the target can add all constants.
  TILEWRIGHT_HD constexpr bool fits(const arch::target& target) const {
    return largest_offset <= target.max_lds_offset;
  }
  friend constexpr bool operator==(const lds_address_needs&, const lds_address_needs&) = default;
};

/// As tile windows have it: one address and constants where offsets add up; one address for each pattern of flipped
/// bits where they are exclusive ors; else one for each access. stage_bytes: what the last of several buffers adds.
TILEWRIGHT_HD constexpr lds_address_needs address_needs(const tensor_graph& layout, const distribution_encoding& e,
                                                        index_t element_bytes, index_t stage_bytes = 0) {
  const lds_access_pattern pattern(layout, e, element_bytes);
  lds_address_needs needs{1, stage_bytes};
  if (pattern.rule() == lds_access_pattern::addresses_are::arbitrary) return {pattern.num_access(), stage_bytes};
  const index_t origin = pattern.first_address(0, 0);
  if (detail::is_linear(layout)) {
    for (index_t access = 1; access < pattern.num_access(); ++access)
      needs.largest_offset = max(needs.largest_offset, pattern.first_address(0, access) - origin + stage_bytes);
    return needs;
  }
  const index_t variable_bits = pattern.bits_of_others() * element_bytes;
  inplace_vector<index_t, 64> patterns;
  for (index_t access = 0; access < pattern.num_access(); ++access) {
    const index_t address = pattern.first_address(0, access), flipped = address & variable_bits;
    needs.largest_offset = max(needs.largest_offset, (address & ~variable_bits) + stage_bytes);
    bool is_known = false;
    for (const index_t known : patterns) is_known = is_known || known == flipped;
    if (!is_known && patterns.size() < patterns.capacity()) patterns.push_back(flipped);
  }
  needs.registers = patterns.size();
  return needs;
}

}  // namespace tilewright
