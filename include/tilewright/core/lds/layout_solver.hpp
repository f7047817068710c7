// SPDX-License-Identifier: MIT
// Finds a layout in LDS that is free of bank conflicts for every given access on every given target, or the best one.
#pragma once

#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/distribution/access_list.hpp>
#include <tilewright/core/lds/detail/layout_search.hpp>
#include <tilewright/core/lds/lds_fault.hpp>

namespace tilewright {

/// One way in which a tile, or a window of it, is accessed: which thread takes which element, and how. The
/// distribution's dimensions are (row, col), and windows begin at multiples of their lengths. Factors are powers of
/// two; the slowest one of the rows may be any number unless lanes own it, and then what is below it counts as the
/// window.
struct lds_use {
  distribution_encoding distribution;            ///< who takes what
  lds_access_kind kind = lds_access_kind::read;  ///< reads, writes or copies
};

/// A layout and the worst degree of any phase of any use on any target; 1 means free of conflicts.
struct lds_layout_choice {
  swizzled_layout layout;    ///< where chunks are
  index_t worst_degree = 1;  ///< of all uses and targets
  /// No layout that is linear over bits and keeps the widest vectors whole has a lower degree.
  /// False: the search was cut short.
  bool is_proven_best = true;
  index_t address_registers = 0;  ///< of one thread, for all uses together
};

namespace detail {

/// In a constant expression a fault is an error of the compiler that shows it.
TILEWRIGHT_HD constexpr void require_layout(lds_legality fault) {
  if (!fault.is_legal()) message_of<true>(fault.fault);
}

/// The rows that a layout repeats: the largest power of two that divides the tile's.
constexpr index_t rows_of_part(const lds_tile& tile) { return tile.rows & -tile.rows; }

/// Whether each instruction stays within such a part of the tile, and its lanes' bits are bits of the position.
constexpr lds_legality check_part(const distribution_encoding& e, index_t part_rows) {
  distribution_encoding inner = e;
  bool lanes_own_slowest = e.h[0].empty();
  for (const rh_id id : e.p[e.ndim_p() - 1]) lanes_own_slowest = lanes_own_slowest || (id.major == 1 && id.minor == 0);
  if (!lanes_own_slowest && (!is_power_of_two(e.h[0][0]) || e.x_length(0) > part_rows)) inner.h[0][0] = 1;
  if (!has_power_of_two_factors(inner)) return {lds_fault::not_powers_of_two, e.x_length(0), e.x_length(1)};
  if (inner.x_length(0) > part_rows) return {lds_fault::crosses_parts, inner.x_length(0), part_rows};
  return {};
}

/// Bytes that the use moves at once if they are neighbours in a row.
constexpr index_t widest_vector_bytes(const lds_use& use, const lds_tile& tile) {
  return choose_vector(use.distribution, array<index_t, 2>{{1, tile.cols}}, tile.element_bytes).length *
         tile.element_bytes;
}

/// Addresses that a thread keeps in registers: one for each pattern of flipped bits among its accesses.
constexpr index_t count_address_registers(const swizzled_layout& layout, const lds_use& use, index_t vector_bytes) {
  if (layout.is_plain()) return 1;
  const distribution_encoding& e = use.distribution;
  const lds_tile& tile = layout.tile;
  index_t own_bits = 0;
  for (const rh_id id : e.y) {
    for (index_t step = 1; step < e.length(id); step *= 2) own_bits |= plain_byte_of_factor(e, id, tile) * step;
  }
  array<unsigned, 16> flipped{};
  unsigned variable_bits = 0;
  index_t count = 0;
  for (index_t plain = vector_bytes; plain < tile.bytes(); plain *= 2) {
    const unsigned address = unsigned(layout.address(plain / tile.row_bytes(), plain % tile.row_bytes()));
    if (own_bits & plain) {
      flipped[count++] = address;
    } else {
      variable_bits |= address;
    }
  }
  for (index_t i = 0; i < count; ++i) flipped[i] &= variable_bits;
  return 1 << f2_rank(flipped, count);
}

/// The search for a layout that serves all uses on all targets. The widest vector of any use decides how large chunks
/// are.
constexpr lds_layout_search search_for(const arch::target* const* targets, index_t num_targets, const lds_tile& tile,
                                       const lds_use* uses, index_t num_uses) {
  index_t chunk_bytes = arch::lds_bank_bytes;
  for (index_t i = 0; i < num_uses; ++i) chunk_bytes = max(chunk_bytes, widest_vector_bytes(uses[i], tile));
  lds_layout_search search(tile, chunk_bytes);
  for (index_t t = 0; t < num_targets; ++t) {
    for (index_t i = 0; i < num_uses; ++i) {
      const index_t bytes = widest_vector_bytes(uses[i], tile);
      const array<unsigned, 6> plain_bits = plain_bits_of_lane(uses[i].distribution, tile);
      const arch::lds_op op = lds_op_of(uses[i].kind, bytes, tile.element_bytes);
      for (const arch::lds_service& reading : targets[t]->find(op)->readings)
        search.require(reading, bytes, plain_bits);
    }
  }
  return search;
}

/// Rows of the tile that are laid out; the other parts repeat them.
constexpr lds_tile part_of(const lds_tile& tile) { return {rows_of_part(tile), tile.cols, tile.element_bytes}; }

}  // namespace detail

/// Why choose_lds_layout refuses to lay out a tile: all that check_lds_access would refuse, rows whose length is no
/// power of two, windows that cross its parts, problems without uses or targets, and more than 48 different demands.
constexpr lds_legality check_lds_uses(const arch::target* const* targets, index_t num_targets, const lds_tile& tile,
                                      const lds_use* uses, index_t num_uses) {
  if (num_targets < 1 || num_uses < 1) return {lds_fault::nothing_to_serve, num_uses, num_targets};
  if (tile.rows < 1 || !detail::is_power_of_two(tile.cols) || !detail::is_power_of_two(tile.element_bytes) ||
      tile.row_bytes() < arch::lds_bank_bytes)
    return {lds_fault::not_powers_of_two, tile.rows, tile.cols};
  inplace_vector<index_t, 2> lengths;
  for (const index_t length : {tile.rows, tile.cols}) lengths.push_back(length);
  for (index_t i = 0; i < num_targets * num_uses; ++i) {
    const arch::target& target = *targets[i % num_targets];
    const lds_use& use = uses[i / num_targets];
    if (tile.bytes() > target.lds_bytes) return {lds_fault::outside_of_lds, tile.bytes(), target.lds_bytes};
    lds_legality fault = detail::check_distribution(target, use.distribution, lengths);
    if (fault.is_legal()) fault = detail::check_part(use.distribution, detail::rows_of_part(tile));
    if (fault.is_legal())
      fault = detail::check_instruction(target, use.kind, detail::widest_vector_bytes(use, tile), tile.element_bytes);
    if (!fault.is_legal()) return fault;
  }
  const bool may_be_full = num_targets * num_uses * 2 > detail::lds_layout_search::max_demands;  // two readings each
  if (may_be_full && detail::search_for(targets, num_targets, detail::part_of(tile), uses, num_uses).is_full())
    return {lds_fault::too_many_demands, num_uses, num_targets};
  return {};
}

/// A layout of the tile that serves all uses on all targets, disputed facts in every reading. Never pads. Among
/// the layouts of the lowest degree it takes one that needs few address registers: plain rows where they do, else
/// chunks permuted within rows of banks. There may be any number of uses. If check_lds_uses finds a fault, it is a
/// compile-time error, and at run time the program ends with its sentence. If the number of
/// rows is no power of two, the parts of the tile that are as many rows as the largest power of two in it are laid out
/// alike.
constexpr lds_layout_choice choose_lds_layout(const arch::target* const* targets, index_t num_targets,
                                              const lds_tile& whole, const lds_use* uses, index_t num_uses) {
  detail::require_layout(check_lds_uses(targets, num_targets, whole, uses, num_uses));
  const lds_tile tile = detail::part_of(whole);
  detail::lds_layout_search search = detail::search_for(targets, num_targets, tile, uses, num_uses);
  lds_layout_choice best;
  const auto consider = [&](const swizzled_layout& layout) {
    index_t registers = 0;
    for (index_t i = 0; i < num_uses; ++i)
      registers += detail::count_address_registers(layout, uses[i], detail::widest_vector_bytes(uses[i], tile));
    if (best.address_registers != 0 && registers >= best.address_registers) return;
    best.layout = layout;
    best.address_registers = registers;
  };
  const index_t widest = min(search.widest_bank_row(), tile.bytes());
  for (index_t slack = search.least_slack();; ++slack) {
    swizzled_layout layout;
    for (index_t bank_row = min(widest, tile.row_bytes()); bank_row <= widest && best.address_registers != num_uses;
         bank_row *= 2) {
      if (search.find(bank_row, slack, layout)) consider(layout);
    }
    if (best.address_registers == 0 && search.find_any(slack, layout)) consider(layout);
    if (best.address_registers > 0) {
      best.worst_degree = 1 << slack;
      best.layout.tile = whole;
      return best;
    }
    best.is_proven_best = best.is_proven_best && !search.too_long();
  }
}

/// The same with targets as types.
template <class... Archs, class... Uses>
constexpr lds_layout_choice choose_lds_layout(const lds_tile& tile, const Uses&... uses) {
  const arch::target* const targets[] = {&Archs::value...};
  const lds_use all_uses[] = {uses...};
  return choose_lds_layout(targets, sizeof...(Archs), tile, all_uses, sizeof...(Uses));
}

}  // namespace tilewright
