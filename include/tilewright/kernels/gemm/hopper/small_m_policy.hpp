// SPDX-License-Identifier: MIT
// Choices of the product of up to 16 rows of A: which lanes load and multiply what, and how accumulators lie in LDS.
#pragma once

#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/kernels/gemm/epilogue/result_stage.hpp>

namespace tilewright {

/// For small_m_gemm: A has up to 16 rows, so the bytes of B decide. AVector, Vector: elements of A, and of B and C,
/// that are moved at once where memory allows; contiguous lengths, leading dimensions and pointers are multiples of
/// them. AVector is 1 where A is contiguous along m.
template <class T, operand_major AMajor, operand_major BMajor, index_t AVector, index_t Vector, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct small_m_policy {
  static_assert(sizeof(T) == 2, "small_m_policy: mma.sync multiplies elements of 16 bits");
  static_assert((Vector == 1 || Vector == 8) && (AVector == 1 || (AVector == 8 && AMajor == operand_major::k)),
                "small_m_policy: a vector has 1 or 8 elements, and that of A 8 only where A is contiguous along k");
  using arch = tilewright::arch::sm90;
  using element_type = T;
  using b_element_type = T;
  using result_type = Result;
  using epilogue = Epilogue;
  using args_type = gemm_args;
  /// Elements of an access to A and to B, and waves of a block.
  static constexpr index_t products = 1, a_vector = AVector, vector = Vector, waves = 8;
  static constexpr bool gathers_a = false;                            ///< rows of A are in order
  static constexpr split_k_kind split_k = split_k_kind::none;         ///< waves share k, in LDS
  static constexpr operand_major a_major = AMajor, b_major = BMajor;  ///< which dimension is contiguous

  /// What one wave multiplies at once.
  static constexpr block_tile tile{16, 64, 32, 1, 1, tilewright::arch::matrix_op::mma_m16n8k16_x2};
};

namespace detail {

TILEWRIGHT_HD constexpr distribution_encoding one_wave_encoding(std::initializer_list<index_t> rows,
                                                                std::initializer_list<index_t> cols,
                                                                std::initializer_list<rh_id> lanes,
                                                                std::initializer_list<rh_id> registers) {
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  for (const index_t f : rows) e.h[0].push_back(f);
  for (const index_t f : cols) e.h[1].push_back(f);
  for (const rh_id id : lanes) e.p[0].push_back(id);
  for (const rh_id id : registers) e.y.push_back(id);
  return e;
}

/// Distributions of a wave, for operands as they lie in memory and as they are multiplied. A lane has the place
/// (g, t) = (lane / 4, lane % 4): g is a row of an instruction's operand, t a group of eight neighbours along k.
struct small_m_lanes {
  /// A (16 x 32) in memory: rows g and g + 8.
  static constexpr distribution_encoding a = one_wave_encoding({2, 8}, {4, 8}, {{1, 1}, {2, 0}}, {{1, 0}, {2, 1}});
  /// B (64 x 32) in memory that is contiguous along k.
  static constexpr distribution_encoding b_along_k =
      one_wave_encoding({8, 8}, {4, 8}, {{1, 1}, {2, 0}}, {{1, 0}, {2, 1}});
  /// B in memory that is contiguous along n: eight neighbours along n for each of eight k.
  static constexpr distribution_encoding b_along_n =
      one_wave_encoding({8, 8}, {4, 8}, {{1, 0}, {2, 0}}, {{2, 1}, {1, 1}});
  /// The same for the matrix instruction. A lane's eight neighbours along k are two steps of four.
  static constexpr distribution_encoding a_operand =
      one_wave_encoding({2, 8}, {4, 2, 2, 2}, {{1, 1}, {2, 0}}, {{2, 1}, {2, 2}, {1, 0}, {2, 3}});
  static constexpr distribution_encoding b_operand_along_k =
      one_wave_encoding({4, 2, 8}, {4, 2, 4}, {{1, 2}, {2, 0}}, {{1, 0}, {2, 1}, {1, 1}, {2, 2}});
  /// The lowest bit of a lane's eight n is row 8 of an instruction's operand, the others number instructions.
  static constexpr distribution_encoding b_operand_along_n =
      one_wave_encoding({8, 4, 2}, {4, 2, 4}, {{1, 0}, {2, 0}}, {{1, 1}, {2, 1}, {1, 2}, {2, 2}});
  static constexpr distribution_encoding c_along_k =
      one_wave_encoding({2, 8}, {4, 2, 4, 2}, {{1, 1}, {2, 2}}, {{2, 0}, {2, 1}, {1, 0}, {2, 3}});
  static constexpr distribution_encoding c_along_n =
      one_wave_encoding({2, 8}, {4, 2, 4, 2}, {{1, 1}, {2, 0}}, {{2, 2}, {2, 3}, {1, 0}, {2, 1}});
};

/// Eight neighbours of 16 bits that start anywhere, in the two aligned vectors that have some of them.
struct shifted_vector {
  unsigned words[8], bytes_before, count;

  /// Loads the first `count` of those from `from` on; [begin, end) may be read.
  TILEWRIGHT_HD void load(const char* from, unsigned num, const char* begin, const char* end) {
    count = num;
    bytes_before = unsigned(reinterpret_cast<unsigned long long>(from) % 16);
    const exec::global_buffer both = exec::make_global_buffer(from - bytes_before, 32);
    if (both.base >= begin && both.base + 32 <= end) {
      for (index_t half = 0; half < 2; ++half) {
        const auto vector = exec::buffer_load<array<unsigned, 4>>(both, half * 16);
        for (index_t j = 0; j < 4; ++j) words[half * 4 + j] = vector[j];
      }
    } else {  // element by element
      const exec::global_buffer valid = exec::make_global_buffer(from, 2 * index_t(count));
      for (index_t j = 0; j < 4; ++j) {
        const unsigned low = exec::buffer_load<unsigned short>(valid, j * 4);
        words[j] = low | unsigned{exec::buffer_load<unsigned short>(valid, j * 4 + 2)} << 16;
        words[j + 4] = 0;
      }
      bytes_before = 0;
    }
  }
  /// The neighbours in 4 registers; 0 after the first `count`.
  TILEWRIGHT_HD void shift() {
    for (index_t j = 0; j < 6; ++j) words[j] = bytes_before & 8 ? words[j + 2] : words[j];
    for (index_t j = 0; j < 5; ++j) words[j] = bytes_before & 4 ? words[j + 1] : words[j];
    for (index_t j = 0; j < 4; ++j) {
      const unsigned long long two = static_cast<unsigned long long>(words[j + 1]) << 32 | words[j];
      const unsigned first = unsigned(2 * j) + 1;
      words[j] = unsigned(two >> (bytes_before & 2) * 8) & (count > first ? ~0u : count == first ? 0xffffu : 0);
    }
  }
};

/// The tile at (row0, k0) of an operand of 16-bit elements whose rows are unaligned. AlongK: it has `rows` lines of
/// `k` elements, else `k` lines of `rows`.
template <bool AlongK, class T, class Distribution>
TILEWRIGHT_HD auto load_shifted(const T* data, index_t rows, index_t k, index_t ld, index_t row0, index_t k0) {
  static_distributed_tensor<T, Distribution> tile;
  constexpr index_t vectors = tile.num_elements / 8, at_once = min(vectors, 4);  // more would take too many registers
  const index_t row = divide(exec::lane_id(), 4), group = modulo(exec::lane_id(), 4) * 8;
  const index_t line0 = AlongK ? row0 + row : k0 + group, along = AlongK ? k0 + group : row0 + row * 8;
  const index_t lines = AlongK ? rows : k, length = AlongK ? k : rows;
  const char* const begin = reinterpret_cast<const char*>(data);
  const char* const end = begin + 2 * (long_index_t(lines - 1) * ld + length);
  const unsigned count = unsigned(min(max(length - along, 0), 8));
  unroll<vectors / at_once>([&](auto round) TILEWRIGHT_INLINE_LAMBDA {
    shifted_vector v[at_once];
    unroll<at_once>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t line = line0 + (round * at_once + i) * (AlongK ? 8 : 1);
      v[i].load(begin + 2 * (long_index_t(min(line, lines - 1)) * ld + min(along, length - 1)),
                line < lines ? count : 0, begin, end);
    });
    unroll<at_once>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      v[i].shift();
      __builtin_memcpy(&tile.thread_buffer[(round * at_once + i) * 8], v[i].words, 16);
    });
  });
  return tile;
}

/// How operands are loaded and multiplied, and how the waves' accumulators are added up in LDS.
template <class Policy>
struct small_m_tiles {
  static constexpr block_tile tile = Policy::tile;
  static constexpr bool b_along_k = Policy::b_major == operand_major::k;
  using lanes = small_m_lanes;
  using a_in_memory = tile_distribution<lanes::a>;
  using b_in_memory = tile_distribution<number<b_along_k ? lanes::b_along_k : lanes::b_along_n>::value>;
  using a_operand = tile_distribution<lanes::a_operand>;
  using b_operand = tile_distribution<number<b_along_k ? lanes::b_operand_along_k : lanes::b_operand_along_n>::value>;
  using accumulators = tile_distribution<number<b_along_k ? lanes::c_along_k : lanes::c_along_n>::value>;
  /// Each thread of the block finishes four neighbours of a row of C.
  using result = tile_distribution<number<result_rows_encoding(16, tile.n, Policy::waves, 32, 4)>::value>;
  static constexpr lds_layout_choice layout = number<choose_lds_layout<typename Policy::arch>(
      lds_tile{16, tile.n, 4}, lds_use{accumulators::encoding, lds_access_kind::write},
      lds_use{result::encoding, lds_access_kind::read})>::value;
  static constexpr index_t wave_bytes = 16 * tile.n * 4;
};

}  // namespace detail

}  // namespace tilewright
