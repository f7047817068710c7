// SPDX-License-Identifier: MIT
// Nested loops over the elements of several tensors: as few loops as possible, and the offsets of an iteration.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/tensor/strided_tensor.hpp>

namespace tilewright::detail {

/// Up to six loops; loop 0 is the innermost. Strides are in elements, after finish() in bytes.
template <index_t Tensors>
struct loop_nest {
  static constexpr index_t max_loops = 6;

  index_t loops = 0;
  index_t split = max_loops;  // iterations of the loops below `split`: fewer than 2^31, and so of the others
  long_index_t iterations = 1, below_split = 1;
  index_t lengths[max_loops] = {};
  long_index_t strides[max_loops][Tensors] = {};
  magic_division divisions[max_loops] = {};

  /// Adds an outermost loop, or makes the outermost loop longer if the new one continues it in every tensor.
  constexpr void add(index_t length, const array<long_index_t, Tensors>& of_loop) {
    if (length == 1) return;
    bool continues = loops > 0 && long_index_t{lengths[loops - 1]} * length < (1ll << 30);
    for (index_t t = 0; continues && t < Tensors; ++t)
      continues = of_loop[t] == strides[loops - 1][t] * lengths[loops - 1];
    if (continues) {
      lengths[loops - 1] *= length;
    } else {
      for (index_t t = 0; t < Tensors; ++t) strides[loops][t] = of_loop[t];
      lengths[loops++] = length;
    }
  }
  constexpr long_index_t elements() const {
    long_index_t n = 1;
    for (index_t i = 0; i < loops; ++i) n *= lengths[i];
    return n;
  }
  /// The innermost loop takes `vector` elements at once.
  constexpr void vectorise(index_t vector) {
    if (loops == 0 || vector == 1) return;
    lengths[0] = ceil_div(lengths[0], vector);
    for (index_t t = 0; t < Tensors; ++t) strides[0][t] *= vector;
  }
  /// After the last change. False: two groups of fewer than 2^31 iterations do not suffice.
  constexpr bool finish(const array<index_t, Tensors>& element_bytes) {
    iterations = below_split = 1;
    split = max_loops;
    for (index_t i = 0; i < loops; ++i) {
      divisions[i] = make_magic_division(lengths[i]);
      if (split == max_loops && iterations * lengths[i] > 0x7fffffff) split = i;
      iterations *= lengths[i];
      if (split == max_loops) below_split = iterations;
      for (index_t t = 0; t < Tensors; ++t) strides[i][t] *= element_bytes[t];
    }
    return iterations / below_split <= 0x7fffffff;
  }

  /// Bytes to iterations i in each tensor, 0 <= i < iterations. `innermost` is the index of loop 0. Offset: index_t
  /// where all tensors are near, or long_index_t; Index: index_t where there are fewer than 2^31 iterations.
  template <index_t Count, class Index, class Offset>
  TILEWRIGHT_HD void find(const Index (&i)[Count], array<Offset, Tensors> (&offsets)[Count],
                          index_t (&innermost)[Count]) const {
    index_t rest[Count], later[Count];
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count && loops <= 1; ++u) {
      innermost[u] = index_t(i[u]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < Tensors; ++t) offsets[u][t] = innermost[u] * Offset(strides[0][t]);
    }
    if (loops <= 1) return;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      offsets[u] = {};
      rest[u] = index_t(i[u]);
      later[u] = innermost[u] = 0;
      if constexpr (sizeof(Index) == 8) {
        if (split == max_loops) continue;
        later[u] = index_t(static_cast<unsigned long long>(i[u]) / static_cast<unsigned long long>(below_split));
        rest[u] = index_t(i[u] - later[u] * below_split);
      }
    }
    TILEWRIGHT_UNROLL(1)
    for (index_t d = 0; d < loops; ++d) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count; ++u) {
        if (sizeof(Index) == 8 && d == split) rest[u] = later[u];
        const index_t next = d == loops - 1 ? 0 : divisions[d].divide(rest[u]), index = rest[u] - next * lengths[d];
        if (d == 0) innermost[u] = index;
        TILEWRIGHT_UNROLL_ALL
        for (index_t t = 0; t < Tensors; ++t) offsets[u][t] += index * Offset(strides[d][t]);
        rest[u] = next;
      }
    }
  }
  template <class Offset = long_index_t, class Index>
  TILEWRIGHT_HD array<Offset, Tensors> offsets(Index i) const {
    array<Offset, Tensors> result[1];
    const Index of_iteration[1] = {i};
    index_t innermost[1];
    find(of_iteration, result, innermost);
    return result[0];
  }
};

/// Whether 32 bits suffice for offsets in a tensor, and a few blocks further.
template <class T>
constexpr bool is_near(const strided_tensor<T>& t) {
  return span_of(t) * long_index_t(sizeof(T)) < 0x7fff0000 && t.elements() < 0x7fff0000;
}

/// The loops over all elements of tensors of the same lengths, so that the last tensor is written in the order of its
/// addresses.
template <class... Ts>
constexpr loop_nest<sizeof...(Ts)> loops_over(const strided_tensor<Ts>&... tensors) {
  constexpr index_t n = sizeof...(Ts), last = n - 1;
  const long_index_t* const strides[n] = {tensors.strides...};
  const long_index_t* const lengths[n] = {tensors.lengths...};
  const index_t dims[n] = {tensors.dims...};
  bool done[6] = {};
  loop_nest<n> nest;
  for (index_t round = 0; round < dims[0]; ++round) {
    index_t best = -1;
    for (index_t d = dims[0]; d-- > 0;) {
      if (!done[d] && (best < 0 || strides[last][d] < strides[last][best])) best = d;
    }
    done[best] = true;
    array<long_index_t, n> of_loop{};
    for (index_t t = 0; t < n; ++t) of_loop[t] = strides[t][best];
    nest.add(index_t(lengths[last][best]), of_loop);
  }
  return nest;
}

/// Loops over two tensors that are given to parts one by one.
struct permuted_loops {
  loop_nest<2> all;
  bool done[6] = {};

  /// The loop of a tensor's smallest stride among those that are left, or -1.
  constexpr index_t next(index_t tensor) const {
    index_t best = -1;
    for (index_t d = 0; d < all.loops; ++d) {
      if (!done[d] && (best < 0 || all.strides[d][tensor] < all.strides[best][tensor])) best = d;
    }
    return best;
  }
  constexpr void give(index_t d, loop_nest<2>& to) {
    done[d] = true;
    to.add(all.lengths[d], {all.strides[d][0], all.strides[d][1]});
  }
};

/// Divides loops over two tensors into columns, which begin with the loop of tensor 0's smallest stride, and rows,
/// which begin with that of tensor 1's. Each gets more loops, those of its tensor's next smallest strides, while it has
/// fewer than `wanted` iterations. Both are empty if both smallest strides are those of one loop.
constexpr void split_loops(const loop_nest<2>& all, index_t wanted, index_t element_bytes, loop_nest<2>& cols,
                           loop_nest<2>& rows) {
  permuted_loops loops{all};
  if (loops.next(0) == 0) return;  // loop 0 has the smallest stride of tensor 1
  for (index_t round = 0; round < all.loops; ++round) {
    // The first two rounds are for one each, then the shorter one chooses; rows get what neither needs.
    const bool to_cols = round == 0 || (round > 1 && cols.elements() < wanted && cols.elements() <= rows.elements());
    loops.give(loops.next(to_cols ? 0 : 1), to_cols ? cols : rows);
  }
  for (loop_nest<2>* nest : {&cols, &rows}) nest->finish({element_bytes, element_bytes});
}

}  // namespace tilewright::detail
