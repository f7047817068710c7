// SPDX-License-Identifier: MIT
// Vectors that start anywhere in memory, or are partly outside of a tensor.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/exec/gather_bytes.hpp>
#include <tilewright/util/type_traits.hpp>

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
  /// The vector at byte `at`, a multiple of Unit; if not `exists`, any other one. The memory has at least 32 bytes.
  template <index_t Unit, index_t Words>
  TILEWRIGHT_HD array<unsigned, Words> load(Offset at, bool exists) const {
    const index_t in_word = Unit >= 4 ? 0 : modulo(index_t(at) + before, 4);
    const auto all = exec::make_global_buffer(words.base + (exists       ? at + (before - in_word)
                                                            : before > 0 ? 4
                                                                         : 0),
                                              4 * (Words + 1));
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
  template <class Element>
  TILEWRIGHT_HD Element load_element(Offset at) const {
    return exec::buffer_load<Element>(words, at < 0 ? Offset{exec::out_of_bounds_offset} : Offset(at + before));
  }
};

/// For the vectors whose bit is set in `cut`: element e of vector i is load(i, e). Bytes: of an element.
template <index_t Bytes, index_t Count, index_t Words, class Load>
TILEWRIGHT_HD void load_cut_vectors(array<unsigned, Words> (&vectors)[Count], unsigned cut, Load load) {
  TILEWRIGHT_UNROLL(1)
  for (index_t i = 0; cut >> i != 0; ++i) {
    if ((cut >> i & 1) == 0) continue;
    array<unsigned, Words> vector{};
    TILEWRIGHT_UNROLL(1)
    for (index_t e = 0; e < Words * 4 / Bytes; ++e) {
      const unsigned long long bits = load(i, e);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < Words; ++w) {
        const index_t shift = 8 * (e * Bytes - 4 * w);
        vector[w] |= shift >= 0 && shift < 32 ? unsigned(bits << shift) : shift == -32 ? unsigned(bits >> 32) : 0;
      }
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < Count; ++j) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < Words; ++w) vectors[j][w] = j == i ? vector[w] : vectors[j][w];
    }
  }
}

/// Stores the elements from `lower` to `upper` - 1 of a vector that is aligned in memory, in the longest aligned
/// pieces; fewer than all. Bytes: of an element.
template <index_t Bytes, index_t Words, class Offset>
TILEWRIGHT_HD void store_part(const exec::global_buffer& to, Offset at, const array<unsigned, Words>& vector,
                              index_t lower, index_t upper) {
  const auto store = [&](auto words, index_t byte, bool exists) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t n = decltype(words)::value, all = max(n / 4, 1);
    array<unsigned, all> piece{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < Words; ++w) piece[w % all] = w / all == divide(byte, 4 * all) ? vector[w] : piece[w % all];
    const Offset place = exists ? at + byte : Offset{exec::out_of_bounds_offset};
    if constexpr (n < 4) {
      exec::buffer_store(to, place, unsigned_of<n>(piece[0] >> unsigned(modulo(byte, 4) * 8)));
    } else {
      exec::buffer_store(to, place, piece);
    }
  };
  const auto step = [&](auto bytes) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t n = decltype(bytes)::value, elements = n / Bytes;
    const bool is_first = (lower & elements) != 0 && lower < upper;
    store(bytes, lower * Bytes, is_first);
    lower += is_first ? elements : 0;
    const bool is_last = (upper & elements) != 0 && lower < upper;
    upper -= is_last ? elements : 0;
    store(bytes, upper * Bytes, is_last);
  };
  if constexpr (Bytes <= 1) step(number<1>{});
  if constexpr (Bytes <= 2) step(number<2>{});
  if constexpr (Bytes <= 4 && Words > 1) step(number<4>{});
  if constexpr (Words > 2) step(number<8>{});
}

}  // namespace tilewright::detail
