// SPDX-License-Identifier: MIT
// Vectors that start anywhere in memory, or are partly outside of a tensor.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/gather_bytes.hpp>

namespace tilewright::detail {

/// Memory whose vectors are read in words of 4 bytes and shifted where they are not aligned.
template <class Offset>
struct shifted_memory {
  exec::global_buffer words;  // from a multiple of 4 bytes on
  index_t before;             // bytes of the first word that are not known to be memory

  TILEWRIGHT_HD static shifted_memory make(const void* first, Offset bytes) {
    const index_t before = index_t(reinterpret_cast<unsigned long long>(first) % 4);
    return {exec::make_global_buffer(static_cast<const char*>(first) - before, bytes + before), before};
  }
  /// Whether all words in which n bytes from `at` on may be are inside.
  TILEWRIGHT_HD bool has(Offset at, index_t n) const {
    return at >= (before > 0 ? 4 - before : 0) && at <= Offset(words.bytes) - before - n - 4;
  }
  /// The vector at byte `at`, a multiple of Unit, of memory that `has` it.
  template <index_t Unit, index_t Words>
  TILEWRIGHT_HD array<unsigned, Words> load(Offset at) const {
    const index_t in_word = Unit >= 4 ? 0 : modulo(index_t(at) + before, 4);
    const auto all = exec::make_global_buffer(words.base + (at + (before - in_word)), 4 * (Words + 1));
    array<unsigned, Words> result;
    unsigned low = exec::buffer_load<unsigned>(all, long_index_t{0});
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < Words; ++w) {
      const unsigned high = w + 1 < Words || Unit < 4 ? exec::buffer_load<unsigned>(all, long_index_t{4 * (w + 1)}) : 0;
      result[w] = unsigned((static_cast<unsigned long long>(high) << 32 | low) >> unsigned(in_word * 8));
      low = high;
    }
    return result;
  }
};

/// The aligned vector at byte `at`, which may be partly outside of the memory, where it gets zeros. Bytes: of an
/// element.
template <index_t Words, index_t Bytes, class Offset>
TILEWRIGHT_HD array<unsigned, Words> load_within(const exec::global_buffer& memory, Offset at) {
  auto vector = exec::buffer_load<array<unsigned, Words>>(memory, at);
  if ((at < 0 || at + 4 * Words > Offset(memory.bytes)) && at < Offset(memory.bytes)) {
    array<unsigned_of<Bytes>, 4 * Words / Bytes> elements{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t e = 0; e < elements.size(); ++e) {
      if (at + e * Bytes >= 0) elements[e] = exec::buffer_load<unsigned_of<Bytes>>(memory, Offset(at + e * Bytes));
    }
    vector = bit_cast<array<unsigned, Words>>(elements);
  }
  return vector;
}

/// Two vectors of which each bit is 0 in one.
template <class V>
TILEWRIGHT_HD V merge_bits(const V& a, const V& b) {
  using pieces = array<unsigned_of<min(index_t(sizeof(V)), 4)>, max(index_t(sizeof(V)) / 4, 1)>;
  auto both = bit_cast<pieces>(a);
  const auto other = bit_cast<pieces>(b);
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < both.size(); ++i) both[i] |= other[i];
  return bit_cast<V>(both);
}

/// The vector at byte `at`, of which the elements from `lower` to `upper` - 1 are inside; the others are 0. The aligned
/// vectors that have a part of it, shifted, or at the ends of the memory single elements.
template <class V, class Element, class Offset>
TILEWRIGHT_HD V load_part(const exec::global_buffer& memory, Offset at, index_t lower, index_t upper) {
  constexpr index_t size = sizeof(Element), bytes = sizeof(V), vector = bytes / size;
  if constexpr (vector > 1 && bytes >= 4) {
    const unsigned shift =
        (unsigned(reinterpret_cast<unsigned long long>(memory.base)) + unsigned(at)) % unsigned(bytes);
    const Offset first = at - index_t(shift);
    if (first >= 0 && first + 2 * bytes <= Offset(memory.bytes)) {
      const auto both = exec::make_global_buffer(memory.base + first, 2 * bytes);
      V v = exec::shift_bytes<size>(exec::buffer_load<V>(both, long_index_t{0}),
                                    exec::buffer_load<V>(both, long_index_t{bytes}), index_t(shift));
      if (upper - lower == vector) return v;
      const auto first_bytes = [](index_t n) TILEWRIGHT_INLINE_LAMBDA {
        return n <= 0 ? 0u : n >= 4 ? ~0u : (1u << unsigned(8 * n)) - 1u;
      };
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < bytes / 4; ++w)
        v[w] &= first_bytes(upper * size - 4 * w) & ~first_bytes(lower * size - 4 * w);
      return v;
    }
  }
  array<Element, vector> elements{};
  TILEWRIGHT_UNROLL_ALL
  for (index_t e = 0; e < vector; ++e) {
    if (e >= lower && e < upper) elements[e] = exec::buffer_load<Element>(memory, Offset(at + e * size));
  }
  return bit_cast<V>(elements);
}

}  // namespace tilewright::detail
