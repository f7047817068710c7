// SPDX-License-Identifier: MIT
// What a block of a permutation keeps in LDS: aligned vectors of its tile of x, and where its rows and columns are.
#pragma once

#include <tilewright/kernels/tensor/detail/permute_plan.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// Element e of a vector of 16 bytes that was 0.
template <class Element>
TILEWRIGHT_HD void put_element(array<unsigned, 4>& v, index_t e, Element x) {
  constexpr index_t size = sizeof(Element);
  if constexpr (size == 8) {
    v[2 * e] = unsigned(x), v[2 * e + 1] = unsigned(x >> 32);
  } else {
    v[e * size / 4] |= unsigned(x) << unsigned(e * size % 4 * 8);
  }
}

/// Writes elements lower to upper - 1 of a vector of y, of which element e is in LDS at places[e] + offset.
template <class Element, index_t Vector, class Offset>
TILEWRIGHT_HD void store_gathered(const exec::global_buffer& y, Offset at, exec::lds_pointer lds,
                                  const index_t (&places)[Vector], index_t offset, index_t lower, index_t upper) {
  if (upper - lower < Vector) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t e = 0; e < Vector; ++e) {
      if (e >= lower && e < upper)
        exec::buffer_store(y, Offset(at + e * index_t(sizeof(Element))),
                           exec::lds_load<Element>(lds, places[e] + offset));
    }
    return;
  }
  array<unsigned, 4> v{};
  TILEWRIGHT_UNROLL_ALL
  for (index_t e = 0; e < Vector; ++e) put_element(v, e, exec::lds_load<Element>(lds, places[e] + offset));
  exec::buffer_store(y, at, v);
}

/// Copies up to Count vectors of 16 bytes that are aligned in memory to LDS; those at the ends of x, element by
/// element. NVIDIA GPUs copy them asynchronously, others have them in registers until finish().
template <class Arch, class Element, class Offset, index_t Count>
struct vectors_to_lds {
  static constexpr bool is_async = !is_amd(Arch::value);
  exec::lds_pointer lds;
  index_t before;         // bytes from an aligned address to x
  exec::global_buffer x;  // from this address on
  array<unsigned, 4> loaded[Count];
  index_t places[Count];

  template <class T>
  TILEWRIGHT_HD vectors_to_lds(const T* data, long_index_t bytes, exec::lds_pointer memory)
      : lds(memory),
        before(index_t(reinterpret_cast<unsigned long long>(data) % 16)),
        x(exec::make_global_buffer(reinterpret_cast<const char*>(data) - before, bytes + before)) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count; ++i) places[i] = -1;
  }
  /// Vector number i.
  TILEWRIGHT_HD void start(index_t i, Offset at, index_t place) {
    if (at >= before && at <= Offset(x.bytes) - 16) {
      if constexpr (is_async) {
        exec::masked_load_to_lds<16>(exec::make_global_buffer(x.base + at, 16), 0, lds, place, true);
      } else {
        loaded[i] = exec::buffer_load<array<unsigned, 4>>(x, at);
        places[i] = place;
      }
      return;
    }
    TILEWRIGHT_UNROLL(1)
    for (index_t e = 0; e < 16; e += index_t(sizeof(Element))) {
      if (at + e >= before && at + e < Offset(x.bytes))
        exec::lds_store(lds, place + e, exec::buffer_load<Element>(x, Offset(at + e)));
    }
  }
  TILEWRIGHT_HD void finish() const {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count && !is_async; ++i) {
      if (places[i] >= 0) exec::lds_store(lds, places[i], loaded[i]);
    }
  }
};

/// Waits for the vectors that vectors_to_lds copies asynchronously.
template <class Arch>
TILEWRIGHT_HD void wait_for_vectors() {
  if constexpr (!is_amd(Arch::value)) exec::async_wait();
}

/// A row of the tile has `slots` vectors of 16 bytes that are aligned in x. Offset: of bytes in x and y.
template <class T, class Offset>
struct permute_tables {
  static constexpr unaligned_tile tile{sizeof(T)};
  static constexpr index_t size = sizeof(T), vector = tile.vector(), slots = tile.slots(), rows = tile.lds_rows();

  exec::lds_pointer lds;

  /// An odd number of vectors; with one more, rows a vector apart are in different banks.
  static constexpr index_t pitch = slots * 16, tile_bytes = rows * pitch + rows / vector * 16;
  TILEWRIGHT_HD static index_t place_of(index_t row) { return row * pitch + divide(row, vector) * 16; }

  template <class V, index_t First, index_t Count>
  struct table {
    static constexpr index_t end = round_up(First, index_t(sizeof(V))) + Count * index_t(sizeof(V));
    exec::lds_pointer lds;

    TILEWRIGHT_HD V operator[](index_t i) const { return exec::lds_load<V>(lds, place(i)); }
    TILEWRIGHT_HD void set(index_t i, const V& value) const { exec::lds_store(lds, place(i), value); }
    TILEWRIGHT_HD static index_t place(index_t i) { return end - (Count - i) * index_t(sizeof(V)); }
  };
  using x_rows_table = table<Offset, tile_bytes, rows>;
  using row_offsets_table = table<index_t, x_rows_table::end, rows + vector>;
  using y_cols_table = table<Offset, row_offsets_table::end, tile.cols()>;
  using y_runs_table = table<Offset, y_cols_table::end, rows / unaligned_tile::least_run>;
  using x_slots_table = table<Offset, y_runs_table::end, slots>;
  using slot_lengths_table = table<index_t, x_slots_table::end, slots>;
  using col_offsets_table = table<index_t, slot_lengths_table::end, tile.cols()>;
  static constexpr index_t lds_bytes = col_offsets_table::end;

  TILEWRIGHT_HD x_rows_table x_rows() const { return {lds}; }    // bytes to rows, from an aligned address on
  TILEWRIGHT_HD x_slots_table x_slots() const { return {lds}; }  // from a row to its slots, if it were aligned
  TILEWRIGHT_HD slot_lengths_table slot_lengths() const { return {lds}; }  // bytes of the tile from a slot on
  TILEWRIGHT_HD y_cols_table y_cols() const { return {lds}; }            // bytes to columns; out_of_bounds_offset: none
  TILEWRIGHT_HD y_runs_table y_runs() const { return {lds}; }            // bytes to runs of rows
  TILEWRIGHT_HD col_offsets_table col_offsets() const { return {lds}; }  // of columns, from their rows on
  TILEWRIGHT_HD row_offsets_table row_offsets() const { return {lds}; }  // of rows, in the order of:
  /// Rows a vector apart are neighbours. There is one vector more than the tile has; it is not used.
  TILEWRIGHT_HD static index_t number_of_position(index_t row) {
    return modulo(row, vector) * (rows / vector + 1) + divide(row, vector);
  }

  TILEWRIGHT_HD void fill_columns(const permute_plan<T>& plan, const permute_position& block, index_t thread,
                                  index_t threads) const {
    const auto base = plan.outer.template offsets<Offset>(Offset(block.outer));
    for (index_t c = thread; c < plan.groups * vector; c += threads) {
      const index_t group = divide(c, vector), in_group = modulo(c, vector), run = plan.cols.lengths[0];
      const long_index_t number = block.first_group + group;
      const Offset of_group[1] = {Offset(min(number, plan.cols.iterations - 1))};
      array<Offset, 2> at[1];
      index_t innermost[1];
      plan.cols.find(of_group, at, innermost);
      const index_t left = plan.cols_length - innermost[0] * vector, in_vector = index_t(at[0][0] & 15);
      const index_t slot = group + plan.more_slots * index_t(unsigned(group + block.first_in_run) / unsigned(run));
      const bool exists = number < plan.cols.iterations && in_group < left;
      y_cols().set(c, exists ? at[0][1] + base[1] + Offset(plan.cols.strides[0][1] / vector) * in_group
                             : Offset{exec::out_of_bounds_offset});
      col_offsets().set(c, slot * 16 + in_vector + in_group * size);
      if (in_group != 0 || number >= plan.cols.iterations) continue;
      const bool is_last = group == plan.groups - 1 || number == plan.cols.iterations - 1;
      const index_t end = is_last ? slots : slot + 1 + (innermost[0] == run - 1 ? plan.more_slots : 0),
                    bytes = in_vector + min(left, (plan.groups - group) * vector) * size;
      for (index_t s = slot; s < end; ++s) {
        x_slots().set(s, Offset(at[0][0] - in_vector + (s - slot) * 16));
        slot_lengths().set(s, s > slot + 2 ? -16 : bytes - (s - slot) * 16);
      }
    }
  }
  TILEWRIGHT_HD void fill_rows(const permute_plan<T>& plan, const permute_position& block, index_t thread,
                               index_t threads) const {
    const Offset base = plan.outer.template offsets<Offset>(Offset(block.outer))[0] + plan.x_misaligned();
    for (index_t i = thread; i < rows + vector; i += threads) {
      const long_index_t row = max(min(block.first_row + i, plan.rows.iterations - 1), long_index_t{0});
      const auto at = plan.rows.template offsets<Offset>(Offset(row));
      if (i < rows) x_rows().set(i, at[0] + base);
      row_offsets().set(number_of_position(i), place_of(i) + index_t((at[0] + base) & 15));
      if (plan.run > 0 && i < plan.own_rows && unsigned(i) % unsigned(plan.run) == 0) y_runs().set(i / plan.run, at[1]);
    }
  }
};

}  // namespace tilewright::detail
