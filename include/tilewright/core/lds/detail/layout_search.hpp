// SPDX-License-Identifier: MIT
// The search of choose_lds_layout: which bits of the bank each bit of a tile's address flips.
//
// With the basis of each demand in echelon form, the vector whose highest bit is b is decided by the columns of the
// bank map up to b. So columns are chosen one by one, lowest bit first, and for each demand there is at most one vector
// to look at in a step. A demand is met if the map keeps all of its vectors but `slack` independent.
#pragma once

#include <tilewright/core/lds/detail/layout_demands.hpp>

namespace tilewright::detail {

class lds_layout_search {
 public:
  constexpr explicit lds_layout_search(const lds_tile& tile, index_t chunk_bytes)
      : tile_(tile), chunk_bits_(log2_floor(chunk_bytes)), num_bits_(log2_floor(tile.bytes())) {}

  /// Demands that it can follow, without those that follow from others.
  static constexpr index_t max_demands = 48;
  /// More have been added.
  constexpr bool is_full() const { return is_full_; }

  /// Adds what one instruction of `bytes` per lane asks of the layout, under one reading of its row.
  constexpr void require(const arch::lds_service& row, index_t bytes, const array<unsigned, 6>& plain_bits) {
    const lds_demand d = demand_of(row, bytes, plain_bits);
    if (d.size == 0) return;
    widest_bank_row_ = max(widest_bank_row_, row.banks * arch::lds_bank_bytes);
    index_t kept = 0;
    for (index_t i = 0; i < demands_.size(); ++i) {
      if (d.follows_from(demands_[i])) return;
      if (!demands_[i].follows_from(d)) demands_[kept++] = demands_[i];
    }
    demands_.count = kept;
    is_full_ = is_full_ || kept == max_demands;
    if (!is_full_) demands_.push_back(d);
  }

  /// log2 of the lowest degree that is not excluded by counting.
  constexpr index_t least_slack() const {
    index_t slack = 0;
    for (const lds_demand& d : demands_)
      slack = max(slack, d.slack_by_counting(d.bank_mask & ~((1u << chunk_bits_) - 1)));
    return slack;
  }
  constexpr index_t widest_bank_row() const { return max(widest_bank_row_, 1 << chunk_bits_); }

  /// A layout that permutes chunks within `bank_row_bytes`, with a degree of at most 2^slack. False: there is none, or
  /// too_long().
  constexpr bool find(index_t bank_row_bytes, index_t slack, swizzled_layout& layout) {
    row_bits_ = log2_floor(bank_row_bytes);
    fixed_bits_ = row_bits_;
    widths_ = {};
    for (const lds_demand& d : demands_) {
      if (d.slack_by_counting(d.bank_mask & unsigned(bank_row_bytes - (1 << chunk_bits_))) > slack) return false;
    }
    for (index_t bit = 0; bit < num_bits_; ++bit) bit_at_[bit] = bit;
    if (!search(slack)) return false;
    layout = swizzled_rows(tile_, bank_row_bytes, {}, 1 << chunk_bits_);
    for (index_t bit = row_bits_; bit < num_bits_; ++bit)
      layout.flips.push_back(index_t((column_[bit] ^ 1u << bit) >> chunk_bits_));
    return true;
  }

  /// The same for any layout that is linear over bits and keeps chunks whole.
  constexpr bool find_any(index_t slack, swizzled_layout& layout) {
    fixed_bits_ = chunk_bits_;
    row_bits_ = min(log2_floor(widest_bank_row()), num_bits_);
    dead_ends_ = max_dead_ends + 1;
    if (!find_widths()) return false;
    const inplace_vector<lds_demand, max_demands> in_order = demands_;
    bool is_found = false;
    for (index_t order = 0; order < num_orders && (order == 0 || too_long()); ++order) {
      demands_ = in_order;
      permute_bits(order);
      is_found = search(slack);
    }
    demands_ = in_order;
    if (!is_found) return false;
    array<unsigned, 32> column{};
    for (index_t bit = 0; bit < num_bits_; ++bit) column[bit_at_[bit]] = column_[bit];
    layout = layout_of_bank_map(tile_, chunk_bits_, widths_, column);
    return true;
  }

  /// The last search was given up. One in which every vector may fall together meets no dead end: it ends.
  constexpr bool too_long() const { return dead_ends_ > max_dead_ends; }

 private:
  /// What a demand has found so far: independent bank vectors, and how many of its vectors were not.
  struct progress {
    array<unsigned, 6> images{};
    index_t next = 0, size = 0;
  };
  static constexpr index_t max_widths = bank_widths::capacity();

  /// Finds out which numbers of bank bits above the chunk's instructions see. False: too many different ones.
  constexpr bool find_widths() {
    widths_ = {};
    ranks_ = {};
    unsigned seen = 1u << row_bits_;
    for (const lds_demand& d : demands_) seen |= 1u << min(lds_demand::highest_bit(d.bank_mask) + 1, row_bits_);
    seen &= ~((2u << chunk_bits_) - 1);
    if (__builtin_popcount(seen) > max_widths) return false;
    for (; seen != 0; seen &= seen - 1) widths_.push_back(lowest_set_bit(seen) - chunk_bits_);
    return true;
  }

  /// Renames the bits that can be chosen. Contradictions show early if those come first that many demands look at,
  /// above all demands that need all bits of the bank; a problem for which that takes long is easy in another order.
  constexpr void permute_bits(index_t order) {
    array<index_t, 32> count{};
    for (const lds_demand& d : demands_) {
      const index_t tightness = 4 * d.size / __builtin_popcount(d.bank_mask >> chunk_bits_);
      for (index_t i = 0; i < d.size; ++i) {
        for (unsigned rest = d.vectors[i]; rest != 0; rest &= rest - 1) count[lowest_set_bit(rest)] += tightness;
      }
    }
    for (index_t bit = 0; bit < num_bits_; ++bit) {
      if (order == 1 && count[bit] > 0) count[bit] = bit;
      if (order == 2) count[bit] += bit * 5 % 8;
      index_t place = bit;
      for (; place > fixed_bits_ && count[bit_at_[place - 1]] < count[bit]; --place)
        bit_at_[place] = bit_at_[place - 1];
      bit_at_[place] = bit;
    }
    for (lds_demand& d : demands_) {
      lds_demand permuted;
      permuted.bank_mask = d.bank_mask;
      for (index_t i = 0; i < d.size; ++i) {
        unsigned v = 0;
        for (index_t bit = 0; bit < num_bits_; ++bit) v |= (d.vectors[i] >> bit_at_[bit] & 1) << bit;
        permuted.insert(v);
      }
      d = permuted;
    }
  }

  constexpr bool search(index_t slack) {
    slack_ = slack;
    dead_ends_ = 0;
    used_bits_ = 0;
    for (index_t i = 0; i < demands_.size(); ++i) {
      progress_[i].next = progress_[i].size = 0;
      for (index_t k = 0; k < demands_[i].size; ++k) used_bits_ |= demands_[i].vectors[k];
    }
    return decide(0);
  }

  /// The places that a column must try. Bank bits of one width that no column has used yet are all alike, so that the
  /// next of them stands for all, and for what it is with wider bits added to it.
  struct place_list {
    inplace_vector<index_t, 64> used;  // sums of used bits
    inplace_vector<index_t, 64> fresh;
    inplace_vector<index_t, 64> width_of_fresh;  // the number of the width that the new bit belongs to
  };
  constexpr place_list places_to_try() const {
    place_list list;
    list.used.push_back(0);
    for (index_t i = 0, first = 0; i < widths_.size(); first = widths_[i++]) {
      const index_t sums = list.used.size();
      for (index_t k = 0; k < sums && ranks_[i] < widths_[i] - first; ++k) {
        list.fresh.push_back(list.used[k] | 1 << (first + ranks_[i]));
        list.width_of_fresh.push_back(i);
      }
      for (index_t part = 1; part >> ranks_[i] == 0; ++part) {
        for (index_t k = 0; k < sums; ++k) list.used.push_back(list.used[k] | part << first);
      }
    }
    return list;
  }

  /// Chooses the columns from `bit` on.
  constexpr bool decide(index_t bit) {
    if (bit == num_bits_) return true;
    if (too_long()) return false;
    // The demands that this column completes a vector of, and what the lower columns make of it.
    index_t waiting[max_demands];
    unsigned image[max_demands];
    index_t num_waiting = 0;
    for (index_t i = 0; i < demands_.count; ++i) {
      const lds_demand& d = demands_.elements[i];
      const index_t next = progress_[i].next;
      if (next == d.size || d.vectors.elements[next] >> bit != 1) continue;
      unsigned lower = 0;
      for (unsigned rest = d.vectors.elements[next] & ((1u << bit) - 1); rest != 0; rest &= rest - 1)
        lower ^= column_[lowest_set_bit(rest)];
      waiting[num_waiting] = i;
      image[num_waiting++] = lower;
    }
    const auto try_place = [&](index_t place) {
      column_[bit] = unsigned(place) << chunk_bits_;
      if (widths_.empty() || bit < fixed_bits_) column_[bit] ^= 1u << bit_at_[bit];
      index_t done = 0;
      while (done < num_waiting && advance(waiting[done], image[done] ^ column_[bit])) ++done;
      if (done == num_waiting && decide(bit + 1)) return true;
      dead_ends_ += done < num_waiting;
      while (done > 0) retreat(waiting[--done]);
      return false;
    };
    // The place that leaves chunks where they are comes first.
    if (bit < fixed_bits_) return try_place(0);
    const bool is_used = (used_bits_ >> bit & 1) != 0;
    if (widths_.empty()) {
      for (index_t place = 0; place < (is_used ? 1 << (row_bits_ - chunk_bits_) : 1); ++place) {
        if (try_place(place)) return true;
        if (too_long()) return false;
      }
      return false;
    }
    const place_list list = places_to_try();
    for (index_t i = 0; i < list.fresh.size(); ++i) {
      index_t& rank = ranks_[list.width_of_fresh[i]];
      ++rank;
      if (try_place(list.fresh[i])) return true;
      --rank;
      if (too_long() || !is_used) return false;
    }
    for (const index_t place : list.used) {
      if (try_place(place)) return true;
      if (too_long() || !is_used) return false;
    }
    return false;
  }

  constexpr bool advance(index_t i, unsigned image) {
    progress& p = progress_[i];
    image &= demands_[i].bank_mask;
    for (index_t k = 0; k < p.size; ++k) image = min(image, image ^ p.images[k]);
    if (image == 0 && p.next - p.size >= slack_) return false;
    p.images[p.size] = image;
    p.size += image != 0;
    was_new_[i] = (was_new_[i] << 1) | unsigned(image != 0);
    ++p.next;
    return true;
  }
  constexpr void retreat(index_t i) {
    --progress_[i].next;
    progress_[i].size -= index_t(was_new_[i] & 1);
    was_new_[i] >>= 1;
  }

  static constexpr index_t max_dead_ends = 300, num_orders = 3;
  lds_tile tile_;
  index_t chunk_bits_, num_bits_, row_bits_ = 0, fixed_bits_ = 0, slack_ = 0, widest_bank_row_ = 0, dead_ends_ = 0;
  bool is_full_ = false;
  unsigned used_bits_ = 0;                  // of the plain address, by any demand
  bank_widths widths_;                      // of find_any
  array<index_t, max_widths + 1> ranks_{};  // how many bank bits of each width columns have used
  inplace_vector<lds_demand, max_demands> demands_;
  progress progress_[max_demands] = {};
  unsigned was_new_[max_demands] = {};
  unsigned column_[32] = {};
  index_t bit_at_[32] = {};  // the tile's bit that find_any decides in each step
};

}  // namespace tilewright::detail
