// SPDX-License-Identifier: MIT
// The search of choose_lds_layout: which bits of the bank each bit of a tile's address flips.
//
// An element's place in the plain tile (its byte, row after row) is a vector over F2. The lanes of one phase differ by
// a subspace of these vectors, a basis of which is a demand: the bank map must keep as many of its vectors independent
// as it can. With the basis in echelon form, the vector whose highest bit is b is decided by the columns of the bank
// map up to b. So columns are chosen one by one, lowest bit first,
// and for each demand there is at most one vector to look at in a step.
#pragma once

#include <tilewright/arch/target.hpp>
#include <tilewright/distribution/distribution_encoding.hpp>
#include <tilewright/lds/f2_rank.hpp>
#include <tilewright/lds/swizzled_layout.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// The plain byte of what a lane bit, a wave bit or a bit of y moves to; every factor is a power of two.
TILEWRIGHT_HD constexpr index_t plain_byte_of_factor(const distribution_encoding& e, rh_id id, const lds_tile& tile) {
  if (id.major == 0) return 0;
  return e.stride(id) * (id.major == 1 ? tile.row_bytes() : tile.element_bytes);
}

/// The bits of the plain address that the bits of a partition index set, from the least significant one on.
TILEWRIGHT_HD constexpr array<unsigned, 6> plain_bits_of_lane(const distribution_encoding& e, const lds_tile& tile) {
  array<unsigned, 6> result{};
  const auto& ids = e.p[e.ndim_p() - 1];
  index_t bit = 0;
  for (index_t i = ids.size(); i-- > 0;) {
    const index_t first = plain_byte_of_factor(e, ids[i], tile);
    for (index_t step = 1; step < e.length(ids[i]) && bit < 6; step *= 2) result[bit++] = unsigned(first * step);
  }
  return result;
}

class lds_layout_search {
 public:
  constexpr explicit lds_layout_search(const lds_tile& tile, index_t chunk_bytes)
      : tile_(tile), chunk_bits_(log2_floor(chunk_bytes)), num_bits_(log2_floor(tile.bytes())) {}

  /// Adds what one instruction of `bytes` per lane asks of the layout, under one reading of its row.
  constexpr void require(const arch::lds_service& row, index_t bytes, const array<unsigned, 6>& plain_bits) {
    const arch::lds_service service = service_of(row, plain_bits);
    const index_t unit_bit = max(2, log2_floor(bytes));
    demand d;
    d.bank_mask = unsigned(service.banks * arch::lds_bank_bytes - 1) & ~((1u << unit_bit) - 1);
    for (index_t i = 0; i < log2_floor(service.phases.lanes_per_phase); ++i) {
      unsigned v = 0;
      for (index_t bit = 0; bit < 6; ++bit) v ^= (service.phases.lane_bit[i] >> bit & 1) ? plain_bits[bit] : 0;
      insert(d, v, unit_bit);
    }
    if (d.size == 0) return;
    for (const demand& known : demands_) {
      if (known == d) return;
    }
    least_slack_ = max(least_slack_, slack_by_counting(d, d.bank_mask & ~((1u << chunk_bits_) - 1)));
    for (index_t i = 0; i < d.size; ++i) used_bits_ |= d.vectors[i];
    has_one_width_ = demands_.empty() || (has_one_width_ && widest_bank_row_ == service.banks * arch::lds_bank_bytes);
    widest_bank_row_ = max(widest_bank_row_, service.banks * arch::lds_bank_bytes);
    demands_.push_back(d);
  }

  /// log2 of the lowest degree that is not excluded by counting.
  constexpr index_t least_slack() const { return least_slack_; }
  constexpr index_t widest_bank_row() const { return max(widest_bank_row_, 1 << chunk_bits_); }

  /// A layout that permutes chunks within `bank_row_bytes`, with a degree of at most 2^slack; the two halves of a bank
  /// row differently, if asked. False: there is none, or too_long().
  constexpr bool find(index_t bank_row_bytes, index_t slack, bool flips_half, swizzled_layout& layout) {
    begin(slack);
    row_bits_ = log2_floor(bank_row_bytes);
    fixed_bits_ = row_bits_ - flips_half;
    is_free_ = false;
    for (const demand& d : demands_) {
      if (slack_by_counting(d, d.bank_mask & unsigned(bank_row_bytes - (1 << chunk_bits_))) > slack) return false;
    }
    if (!decide(0)) return false;
    layout = {tile_,
              max(1, bank_row_bytes / tile_.row_bytes()),
              {},
              max(1, tile_.row_bytes() / bank_row_bytes),
              1 << chunk_bits_,
              0};
    const auto flip = [&](index_t bit) { return index_t((column_[bit] ^ 1u << bit) >> chunk_bits_); };
    for (index_t bit = row_bits_; bit < num_bits_; ++bit) layout.flips.push_back(flip(bit));
    if (flips_half) layout.half_flip = flip(row_bits_ - 1);
    return true;
  }

  /// Whether any map from the tile to banks that is linear over bits and keeps chunks
  /// whole has a degree of at most 2^slack.
  constexpr bool exists(index_t slack) {
    begin(slack);
    is_free_ = true;
    return decide(0);
  }

  /// Instructions see different numbers of banks.
  constexpr bool has_two_widths() const { return !has_one_width_; }

  /// The last search was given up.
  constexpr bool too_long() const { return steps_ > max_steps; }

 private:
  struct demand {
    array<unsigned, 6> vectors{};  // by ascending highest bit
    index_t size = 0;
    unsigned bank_mask = 0;
    friend constexpr bool operator==(const demand&, const demand&) = default;
  };
  /// What a demand has found so far: independent bank vectors, and how many of its vectors were not.
  struct progress {
    array<unsigned, 6> images{};
    index_t next = 0, size = 0;
  };

  static constexpr index_t highest_bit(unsigned v) { return 31 - __builtin_clz(v); }

  /// Vectors that must fall together when only the bits of `slots` can be chosen: those that the other bits of the bank
  /// do not keep apart, less one for each slot bit.
  static constexpr index_t slack_by_counting(const demand& d, unsigned slots) {
    array<unsigned, 6> apart = d.vectors;
    for (unsigned& v : apart) v &= d.bank_mask & ~slots;
    return d.size - f2_rank(apart, d.size) - __builtin_popcount(slots);
  }

  /// Keeps the vectors in reduced echelon form.
  static constexpr void insert(demand& d, unsigned v, index_t unit_bit) {
    for (index_t i = d.size; i-- > 0;) {
      if (v >> highest_bit(d.vectors[i]) & 1) v ^= d.vectors[i];
    }
    if (v >> unit_bit == 0) return;
    index_t place = d.size++;
    for (; place > 0 && d.vectors[place - 1] > v; --place) d.vectors[place] = d.vectors[place - 1];
    d.vectors[place] = v;
    for (index_t i = place + 1; i < d.size; ++i) d.vectors[i] ^= (d.vectors[i] >> highest_bit(v) & 1) ? v : 0;
  }

  constexpr void begin(index_t slack) {
    slack_ = slack;
    steps_ = 0;
    for (index_t i = 0; i < demands_.size(); ++i) progress_[i].next = progress_[i].size = 0;
  }

  /// Chooses the columns from `bit` on.
  constexpr bool decide(index_t bit, index_t rank = 0) {
    if (bit == num_bits_) return true;
    if (++steps_ > max_steps) return false;
    // The demands that this column completes a vector of, and what the lower columns make of it.
    index_t waiting[max_demands];
    unsigned image[max_demands];
    index_t num_waiting = 0;
    for (index_t i = 0; i < demands_.count; ++i) {
      const demand& d = demands_.elements[i];
      const index_t next = progress_[i].next;
      if (next == d.size || d.vectors.elements[next] >> bit != 1) continue;
      unsigned lower = 0;
      for (unsigned rest = d.vectors.elements[next] & ((1u << bit) - 1); rest != 0; rest &= rest - 1)
        lower ^= column_[lowest_set_bit(rest)];
      waiting[num_waiting] = i;
      image[num_waiting++] = lower;
    }
    const bool is_fixed = bit < (is_free_ ? chunk_bits_ : fixed_bits_);
    // Bank vectors that are not used yet are all alike, where all instructions see the same banks.
    const index_t places = is_free_ ? widest_bank_row() >> chunk_bits_ : 1 << max(0, min(bit, row_bits_) - chunk_bits_);
    const index_t candidates = is_fixed || !(used_bits_ >> bit & 1) ? 1
                               : is_free_ && has_one_width_         ? min(places, 1 << (rank + 1))
                                                                    : places;
    for (index_t place = 0; place < candidates; ++place) {
      const bool is_new = is_free_ && has_one_width_ && place >= 1 << rank;
      if (is_new && place > 1 << rank) break;
      column_[bit] = (is_fixed || !is_free_ ? 1u << bit : 0) ^ unsigned(place) << chunk_bits_;
      index_t done = 0;
      while (done < num_waiting && advance(waiting[done], image[done] ^ column_[bit])) ++done;
      if (done == num_waiting && decide(bit + 1, rank + is_new)) return true;
      while (done > 0) retreat(waiting[--done]);
      if (steps_ > max_steps) return false;
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

  static constexpr index_t max_demands = 48, max_steps = 400;
  lds_tile tile_;
  unsigned used_bits_ = 0;  // of the plain address, by any demand
  index_t chunk_bits_, num_bits_, row_bits_ = 0, fixed_bits_ = 0, slack_ = 0, least_slack_ = 0, widest_bank_row_ = 0,
                                  steps_ = 0;
  bool has_one_width_ = true, is_free_ = false;
  inplace_vector<demand, max_demands> demands_;
  progress progress_[max_demands] = {};
  unsigned was_new_[max_demands] = {};
  unsigned column_[32] = {};
};

}  // namespace tilewright::detail
