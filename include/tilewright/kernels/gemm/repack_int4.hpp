// SPDX-License-Identifier: MIT
// Repacks int4 weights of AWQ and GPTQ, with zero points, once: to columns whose k are contiguous, as int4_groups
// reads.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue_chain.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// How 4-bit integers are stored, eight in a word of 32 bits.
///   awq                (k, n / 8): eight columns, in the order 0 2 4 6 1 3 5 7 from the lowest bits on; zero points
///                      (groups, n / 8) likewise
///   gptq               (k / 8, n): eight k; zero points (groups, n / 8), eight columns in order, stored less 1
///   compressed_tensors (n, k / 8): eight k, as int4_groups reads them; zero points (n / 8, groups), eight columns
enum class int4_layout : signed char { awq, gptq, compressed_tensors };

/// Weights, or zero points, of a matrix of n columns. Pointers are aligned to 4 bytes; n is a multiple of 8.
struct repack_int4_args {
  const unsigned* from = nullptr;  ///< words as int4_layout says, without gaps
  void* to = nullptr;              ///< weights: words (n, to_ld / 8); zero points: bytes (n, to_ld)
  index_t n = 0;                   ///< columns
  index_t k = 0;                   ///< weights: length along k, a multiple of 8; zero points: groups
  index_t to_ld = 0;               ///< elements from one column to the next, >= k; of weights a multiple of 8
  int4_layout layout{};            ///< of `from`
  bool are_zero_points = false;    ///< whether these are zero points
};

/// A thread makes a word of eight k of a column, or a column's zero points of eight groups. Ready for launch(), on any
/// target. With act-order (g_idx) GPTQ's k must be permuted first.
template <class Arch>
struct repack_int4 {
  using arch = Arch;
  using args_type = repack_int4_args;
  static constexpr index_t block_size = 256;  ///< threads
  static constexpr index_t lds_bytes = 0;     ///< none

  static constexpr const char* check(const args_type& g) {
    if (g.n < 1 || g.k < 1) return "n and k must be positive";
    if (g.n % 8 != 0) return "words have eight columns: n must be a multiple of 8";
    if (!g.are_zero_points && (g.k % 8 != 0 || g.to_ld % 8 != 0))
      return "words have eight k: k and to_ld must be multiples of 8";
    if (g.to_ld < g.k) return "to_ld is smaller than a column";
    if (!detail::is_aligned(g.from, 4) || (!g.are_zero_points && !detail::is_aligned(g.to, 4)))
      return "words are not aligned to 4 bytes";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& g) {
    return {ceil_div(g.n, block_size), ceil_div(g.k, 8), 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& g) const {
    const index_t column = exec::block_id().x * block_size + exec::thread_id(), first = exec::block_id().y * 8;
    if (column >= g.n) return;
    const bool are_eight_k = !g.are_zero_points && g.layout != int4_layout::awq;
    unsigned codes[8] = {};
    for (index_t i = 0; i < 8 && first + i < g.k; ++i) codes[i] = code_at(g, column, first + i, are_eight_k);
    if (g.are_zero_points) {
      for (index_t i = 0; i < 8 && first + i < g.k; ++i)
        store(g.to, long_index_t(column) * g.to_ld + first + i,
              static_cast<unsigned char>(codes[i] + (g.layout == int4_layout::gptq)));
      return;
    }
    unsigned word = 0;
    for (index_t i = 0; i < 8; ++i) word |= codes[i] << 4 * i;
    store(g.to, (long_index_t(column) * g.to_ld + first) / 8, word);
  }

 private:
  /// Number `at` of values of V from `to` on.
  template <class V>
  TILEWRIGHT_HD static void store(void* to, long_index_t at, V value) {
    exec::buffer_store(exec::make_global_buffer(to, long_index_t{1} << 62), at * long_index_t(sizeof(V)), value);
  }
  /// The code of a column at k (a zero point: at group k), from the word that has it.
  TILEWRIGHT_HD static unsigned code_at(const args_type& g, index_t column, index_t k, bool are_eight_k) {
    const bool is_column_major = g.layout == int4_layout::compressed_tensors;
    const index_t row = are_eight_k ? divide(k, 8) : k, col = are_eight_k ? column : divide(column, 8),
                  rows = are_eight_k ? divide(g.k, 8) : g.k, cols = are_eight_k ? g.n : divide(g.n, 8);
    const long_index_t at = is_column_major ? long_index_t(col) * rows + row : long_index_t(row) * cols + col;
    const auto word = exec::buffer_load<unsigned>(exec::make_global_buffer(g.from, long_index_t{1} << 62), at * 4);
    const unsigned in_word = unsigned(modulo(are_eight_k ? k : column, 8));
    // AWQ: even columns first.
    const unsigned nibble = g.layout == int4_layout::awq ? in_word / 2 + in_word % 2 * 4 : in_word;
    return word >> 4 * nibble & 15;
  }
};

}  // namespace tilewright
