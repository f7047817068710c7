// SPDX-License-Identifier: MIT
// Finds a layout in LDS that is free of bank conflicts for every given access on every given target.
//
// The lanes of one phase are a coset of a subspace of the lane id's bits, and a swizzled layout is linear over bits. So a phase is
// free of conflicts when no sum of its basis, other than those that stay inside of one dword, lands on bank bits that are all zero.
// Each such sum is a row difference and a byte difference; the bits of its row are decided from the least significant one on, and
// a sum is tested as soon as its highest row bit is decided.
#pragma once

#include <tilewright/distribution/access_plan.hpp>
#include <tilewright/lds/lds_access.hpp>
#include <tilewright/lds/swizzled_layout.hpp>

namespace tilewright {

/// One way in which a tile is accessed: which thread takes which element, and how. The distribution's dimensions are (row, col).
struct lds_use {
  distribution_encoding distribution;
  lds_access_kind kind = lds_access_kind::read;
};

/// A layout and the worst degree of any phase of any use on any target; 1 means free of conflicts.
struct lds_layout_choice {
  swizzled_layout layout;
  index_t worst_degree = 1;
  bool is_proven_best = true;  // false: the search was cut short, a better layout might exist
};

namespace detail {

class lds_layout_search {
 public:
  constexpr explicit lds_layout_search(const lds_tile& tile) { layout_.tile = tile; }

  /// Adds what one instruction asks of the layout under one reading of its phases.
  constexpr void require(const arch::lds_service& service, const distribution_encoding& e, index_t bytes) {
    index_t rows[6] = {}, cols[6] = {};
    index_t num_basis = log2_floor(service.phases.lanes_per_phase);
    for (index_t i = 0; i < num_basis; ++i) {
      for (index_t bit = 0; bit < 6; ++bit) {
        if (!(service.phases.lane_bit[i] >> bit & 1)) continue;
        const array<index_t, 2> x = position_of_lane(e, index_t(1) << bit);
        rows[i] ^= x[0];
        cols[i] ^= x[1] * layout_.tile.element_bytes;
      }
    }
    const index_t first_bank_bit = max<index_t>(2, log2_floor(bytes));
    const index_t bank_mask = (service.banks * arch::lds_bank_bytes - 1) & ~((1 << first_bank_bit) - 1);
    const index_t group = num_groups_++;
    widest_bank_row_ = max(widest_bank_row_, service.banks * arch::lds_bank_bytes);
    // Lanes at the same place of their chunks need different slots of the bank row: no layout gives them more than there are.
    index_t same_place = 0, same_dword = 0;
    for (index_t subset = 0; subset < 1 << num_basis; ++subset) {
      index_t row = 0, col = 0;
      for (index_t i = 0; i < num_basis; ++i) {
        if (subset >> i & 1) {
          row ^= rows[i];
          col ^= cols[i];
        }
      }
      same_place += (col & bank_mask & (layout_.chunk_bytes - 1)) == 0;
      if (row == 0 && col < arch::lds_bank_bytes) {
        ++same_dword;
        continue;
      }
      sums_.push_back({static_cast<short>(row), static_cast<short>(col), static_cast<short>(bank_mask), 0,
                       static_cast<signed char>(group)});
    }
    const index_t slots = service.banks * arch::lds_bank_bytes / layout_.chunk_bytes;
    lowest_degree_ = max(lowest_degree_, same_place / (slots * same_dword));
  }

  /// As few rows in a bank row as possible: the fewer, the simpler the addresses.
  constexpr lds_layout_choice solve() {
    const index_t row_bytes = layout_.tile.cols * layout_.tile.element_bytes;
    for (index_t degree = lowest_degree_;; degree *= 2) {
      limit_ = degree - 1;  // sums that may fall into one bank: a kernel of dimension log2(degree), less zero
      for (index_t layer = 1; layer == 1 || (layer * row_bytes <= widest_bank_row_ && layer <= layout_.tile.rows);
           layer *= 2) {
        begin(layer);
        place(0);
        if (test(0, 0) && decide(0)) return {layout_, degree, proven_};
      }
    }
  }

 private:
  struct sum {
    short row = 0, col = 0, bank_mask = 0;
    signed char level = 0, group = 0;
    short bank_row = 0, place = 0;  // where it lies without flips
  };

  static constexpr array<index_t, 2> position_of_lane(const distribution_encoding& e, index_t lane) {
    array<index_t, 2> x{};
    const auto& ids = e.p[e.ndim_p() - 1];
    for (index_t i = ids.size(); i-- > 0;) {
      const index_t digit = lane % e.length(ids[i]);
      lane /= e.length(ids[i]);
      if (ids[i].major != 0) x[ids[i].major - 1] += digit * e.stride(ids[i]);
    }
    return x;
  }

  constexpr void begin(index_t layer) {
    layout_.layer = layer;
    num_bits_ = log2_floor(layout_.tile.rows / layer);
    layout_.flips = {};
    for (index_t& v : violations_) v = 0;
    for (sum& s : sums_) {
      s.level = static_cast<signed char>(s.row < layer ? 0 : log2_floor(s.row / layer) + 1);
      s.bank_row = static_cast<short>(s.row / layer);
      s.place = static_cast<short>(layout_.address(s.row, s.col) & s.bank_mask);
    }
    for (index_t i = 0; i < num_bits_; ++i) layout_.flips.push_back(0);
    by_level_.count = 0;
    for (index_t level = 0; level <= num_bits_; ++level) {
      first_[level] = by_level_.size();
      for (index_t i = 0; i < sums_.size(); ++i) {
        if (sums_[i].level == level) by_level_.push_back(static_cast<short>(i));
      }
    }
    first_[num_bits_ + 1] = by_level_.size();
    steps_ = 0;
  }

  /// Counts the sums of a level that the flip of its bit puts into one bank; undoes it and says no where a group has too many.
  constexpr bool test(index_t level, index_t flip) {
    for (index_t i = first_[level]; i < first_[level + 1]; ++i) {
      const sum& s = sums_[by_level_[i]];
      if ((s.bank_mask & (places_[i] ^ flip * layout_.chunk_bytes)) != 0) continue;
      if (++violations_[s.group] > limit_) {
        retract(level, flip, i + 1);
        return false;
      }
    }
    return true;
  }

  constexpr void retract(index_t level, index_t flip, index_t end) {
    for (index_t i = first_[level]; i < end; ++i) {
      const sum& s = sums_[by_level_[i]];
      if ((s.bank_mask & (places_[i] ^ flip * layout_.chunk_bytes)) == 0) --violations_[s.group];
    }
  }

  /// Where the sums of a level lie by the flips of the bits below it.
  constexpr void place(index_t level) {
    for (index_t i = first_[level]; i < first_[level + 1]; ++i) {
      const sum& s = sums_[by_level_[i]];
      index_t flips = 0;
      for (index_t bit = 0; bit + 1 < level; ++bit) {
        if (s.bank_row >> bit & 1) flips ^= layout_.flips[bit];
      }
      places_[i] = static_cast<short>(s.place ^ flips * layout_.chunk_bytes);
    }
  }

  constexpr bool decide(index_t bit) {
    if (bit == num_bits_) return true;
    if (++steps_ > max_steps) {
      proven_ = false;
      return false;
    }
    const index_t level = bit + 1, chunks = layout_.chunks_per_row() * layout_.layer;
    place(level);
    for (index_t flip = 0; flip < chunks; ++flip) {
      if (!test(level, flip)) continue;
      layout_.flips[bit] = flip;
      if (decide(bit + 1)) return true;
      retract(level, flip, first_[level + 1]);
    }
    layout_.flips[bit] = 0;
    return false;
  }

  static constexpr index_t max_steps = 1000;
  swizzled_layout layout_;
  index_t num_bits_ = 0, num_groups_ = 0, limit_ = 0, steps_ = 0, widest_bank_row_ = 0, lowest_degree_ = 1;
  bool proven_ = true;
  static constexpr index_t max_sums = 1024;
  inplace_vector<sum, max_sums> sums_;
  inplace_vector<short, max_sums> by_level_;  // numbers of sums
  short places_[max_sums] = {};               // of by_level_
  index_t first_[swizzled_layout::max_row_bits + 2] = {};
  index_t violations_[48] = {};
};

template <class Arch>
constexpr void require_uses(lds_layout_search& search, const lds_tile& tile, const lds_use& use) {
  const index_t chunk = 16 / tile.element_bytes;
  const vector_choice vector = choose_vector(use.distribution, array<index_t, 2>{{1, chunk}}, tile.element_bytes);
  const index_t bytes = vector.length * tile.element_bytes;
  const arch::lds_op op = use.kind == lds_access_kind::ldmatrix ? arch::lds_op::ldmatrix
                          : use.kind == lds_access_kind::write  ? arch::lds_write_op(bytes)
                                                                : arch::lds_read_op(bytes);
  for (const arch::lds_service& reading : Arch::value.find(op)->readings)
    search.require(reading, use.distribution, bytes);
}

}  // namespace detail

/// A layout of the tile that serves all uses on all targets, disputed facts in every reading. Without conflicts where that is
/// possible for layouts of this kind; else with the lowest degree.
template <class... Archs, class... Uses>
constexpr lds_layout_choice choose_lds_layout(const lds_tile& tile, const Uses&... uses) {
  detail::lds_layout_search search(tile);
  const auto require_on = [&]<class Arch>(Arch) { (detail::require_uses<Arch>(search, tile, uses), ...); };
  (require_on(Archs{}), ...);
  return search.solve();
}

}  // namespace tilewright
