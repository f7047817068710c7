// SPDX-License-Identifier: MIT
// How a thread of a reduction traverses the elements of its results: four accesses at a time.
#pragma once

#include <tilewright/core/base/vector.hpp>
#include <tilewright/kernels/tensor/reduce_block.hpp>
#include <tilewright/tile/copy/cut_vectors.hpp>

namespace tilewright::detail {

/// Adds accesses to the states of a thread, from registers or through LDS.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_traversal : reduce_block<Arch, T, Result, Kind> {
  using shared = reduce_block<Arch, T, Result, Kind>;
  using shared::in_flight;
  using typename shared::device_args, typename shared::state;

  /// Accumulates the accesses from, from + slices, ... < end; `start`: bytes to the first one. IsCopied:
  /// through LDS, where each thread has places for two groups of them, so that twice as many are in flight as registers
  /// have room for.
  template <index_t Along, bool IsAligned, bool IsCopied, index_t Results>
  TILEWRIGHT_HD static void accumulate(const device_args& args, long_index_t start, index_t before, index_t from,
                                       index_t end, state (&own)[Results], exec::lds_pointer lds) {
    using vector = vector_t<T, Results * Along>;
    constexpr bool is_cut = !IsAligned && Along > 1;
    const index_t step = in_flight * args.team.slices();
    lds = lds + exec::thread_id() * 16;
    long_index_t at[in_flight];
    reduce_chunk<in_flight, Along> chunk;
    const auto copy = [&](index_t next, index_t group) TILEWRIGHT_INLINE_LAMBDA {
      if (next >= end) return;
      find<false>(args, start, before, next, end, at, chunk);
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u) {
        const auto x = exec::make_global_buffer(reinterpret_cast<const char*>(args.x) + at[u], sizeof(vector));
        exec::masked_load_to_lds<16>(x, 0, lds, group + u * shared::block_size * 16, true);
      }
    };
    index_t group = 0;  // bytes to the group that is read next
    if constexpr (IsCopied) {
      copy(from, 0);
      copy(from + step, shared::group_bytes);
    }
    TILEWRIGHT_UNROLL(1)
    for (index_t next = from; next < end; next += step) {
      vector loaded[in_flight];
      if constexpr (IsCopied) {
        if (next + step < end) {
          exec::async_wait<in_flight>();
        } else {
          exec::async_wait();
        }
        TILEWRIGHT_UNROLL_ALL
        for (index_t u = 0; u < in_flight; ++u)
          loaded[u] = exec::lds_load<vector>(lds, group + u * shared::block_size * 16);
        copy(next + 2 * step, group);
        group = shared::group_bytes - group;
      }
      find<is_cut>(args, start, before, next, end, at, chunk);
      if constexpr (!IsCopied) load_vectors<IsAligned, is_cut>(args, at, loaded);
      if (is_cut && chunk.is_cut()) {
        add<is_cut>(loaded, chunk, own);
      } else {
        add<false>(loaded, chunk, own);
      }
    }
  }

 private:
  /// Vectors that are aligned or, if IsCut, may be partly outside of x, where they get zeros. Others: sums of small
  /// elements take words and shift them, which other states have no registers for.
  template <bool IsAligned, bool IsCut, class V, index_t Count>
  TILEWRIGHT_HD static void load_vectors(const device_args& args, const long_index_t (&at)[Count], V (&loaded)[Count]) {
    constexpr index_t size = sizeof(T), word_count = sizeof(V) / 4;
    if constexpr (!IsAligned && !IsCut && size < 4 && (Kind == reduce_kind::sum || Kind == reduce_kind::mean)) {
      const auto x = shifted_memory<long_index_t>::make(args.x, args.x_bytes);
      bool are_inside = true;
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count; ++u) are_inside = are_inside && x.has(at[u], sizeof(V));
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count && are_inside; ++u)
        loaded[u] = bit_cast<V>(x.template load<size, word_count>(at[u]));
      if (are_inside) return;
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      if constexpr (IsCut) {
        const auto x = exec::make_global_buffer(args.x, args.x_bytes);
        loaded[u] = bit_cast<V>(load_within<word_count, size>(x, at[u]));
      } else {
        using piece = vector_t<T, IsAligned ? V::size() : 1>;
        array<piece, V::size() / piece::size()> pieces;
        TILEWRIGHT_UNROLL_ALL
        for (index_t p = 0; p < pieces.size(); ++p)
          pieces[p] = shared::template load<piece>(args, at[u] + p * index_t(sizeof(piece)));
        loaded[u] = bit_cast<V>(pieces);
      }
    }
  }
  template <bool IsCut, index_t Along, class V, index_t Results>
  TILEWRIGHT_HD static void add(const V (&loaded)[in_flight], reduce_chunk<in_flight, Along>& chunk,
                                state (&own)[Results]) {
    const state first = own[0];
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < Along; ++e) chunk.x[u][e] = type_convert<float>(loaded[u][Along == 1 ? i : e]);
      }
      if constexpr (Kind == reduce_kind::mean_variance) own[i].count = first.count;  // one register for all
      own[i].template add<IsCut>(chunk);
    }
  }
  /// Bytes from x to the accesses next, next + slices and so on that are before `end`, and which elements they have.
  /// IsCut: rows start within aligned vectors.
  template <bool IsCut, index_t Along>
  TILEWRIGHT_HD static void find(const device_args& args, long_index_t start, index_t before, index_t next, index_t end,
                                 long_index_t (&at)[in_flight], reduce_chunk<in_flight, Along>& chunk) {
    index_t access[in_flight], innermost[in_flight];
    array<long_index_t, 1> offset[in_flight];
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u) {
      const index_t wanted = next + u * args.team.slices();
      access[u] = innermost[u] = min(max(wanted, 0), end - 1);
      offset[u][0] = access[u] * long_index_t{args.step};
      chunk.number[u] = before + access[u] * Along;
      chunk.first[u] = 0;
      chunk.end[u] = access[u] == wanted ? Along : 0;
    }
    if (args.step == 0) args.reduced.find(access, offset, innermost);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u) {
      at[u] = start + offset[u][0];
      if constexpr (IsCut) {
        const unsigned elements = unsigned(args.x_misaligned + at[u] / index_t(sizeof(T)));
        const index_t in_vector = index_t(elements % unsigned(Along)), col = innermost[u] * Along - in_vector;
        at[u] -= in_vector * index_t(sizeof(T));
        chunk.first[u] = max(-col, 0);
        chunk.end[u] = chunk.end[u] > 0 ? max(min(Along, args.cols - col), 0) : 0;
        const index_t row = args.step == 0 ? args.reduced.divisions[0].divide(access[u]) : 0;
        chunk.number[u] = row * args.cols + min(max(col, 0), args.cols - 1);
      }
    }
  }
};

}  // namespace tilewright::detail
