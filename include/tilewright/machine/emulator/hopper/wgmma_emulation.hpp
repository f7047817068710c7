// SPDX-License-Identifier: MIT
// Matrix instructions of warpgroups on the CPU: operands in LDS, decoded from descriptors; registers that instructions
// in flight own; the product.
#pragma once

#include <tilewright/core/base/fp8.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/emulator/hopper/bulk_copies.hpp>
#include <tilewright/machine/emulator/threads/register_poison.hpp>

#include <array>
#include <vector>

namespace tilewright::emulator {

/// An operand's descriptor. PTX ISA, "Matrix descriptor": addresses and strides count 16 bytes.
struct wgmma_descriptor_fields {
  /// Address and strides in bytes; swizzle: 0 none, 1 to 3 for 128, 64 and 32 bytes.
  index_t start, leading_stride, stride, base_offset, swizzle;

  /// From the 64 bits that the instruction takes.
  explicit wgmma_descriptor_fields(unsigned long long bits)
      : start(index_t(bits & 0x3fff) * 16),
        leading_stride(index_t(bits >> 16 & 0x3fff) * 16),
        stride(index_t(bits >> 32 & 0x3fff) * 16),
        base_offset(index_t(bits >> 49 & 7)),
        swizzle(index_t(bits >> 62)) {}

  /// Bytes after which the pattern of the swizzle repeats itself; 0: no swizzle.
  index_t pattern_bytes() const { return swizzle == 0 ? 0 : 256 >> swizzle; }
};

/// One operand of a matrix instruction: rows of 32 bytes along k, or with `transposed` 16 rows along k of elements of 2
/// bytes.
struct wgmma_operand_in_lds {
  wgmma_descriptor_fields fields;  ///< where the operand is in LDS
  index_t rows;                    ///< m or n
  bool transposed;                 ///< m or n is contiguous, not k

  /// PTX ISA, "Strides": rows along k, each as long as the pattern, form groups of 8; `stride` leads to the next group.
  /// Transposed, rows along m or n, each as long as the pattern: `stride` leads to the next 8, `leading_stride` to the
  /// next part of m or n.
  index_t address(index_t row, index_t k_byte) const {
    const index_t pattern = fields.pattern_bytes();
    if (!transposed)
      return swizzled_in_lds(fields.start + row / 8 * fields.stride + row % 8 * pattern + k_byte, pattern);
    const index_t k = k_byte / 2, per_row = pattern / 2;
    return swizzled_in_lds(fields.start + row / per_row * fields.leading_stride + k / 8 * fields.stride +
                               k % 8 * pattern + row % per_row * 2,
                           pattern);
  }

  /// use(address) for each 16 bytes of rows [first, end).
  template <class Use>
  void for_each_chunk(index_t first, index_t end, Use use) const {
    for (index_t row = first; row < end; row += transposed ? 8 : 1) {
      for (index_t k_byte = 0; k_byte < 32; k_byte += transposed ? 2 : 16) use(address(row, k_byte));
    }
  }
};

/// The operand A (64 rows) of a wgmma, if it is in LDS.
inline wgmma_operand_in_lds a_of(const wgmma_operands& o) { return {wgmma_descriptor_fields(o.a), 64, o.transpose_a}; }
/// The operand B (n rows) of a wgmma.
inline wgmma_operand_in_lds b_of(const wgmma_operands& o) { return {wgmma_descriptor_fields(o.b), o.n, o.transpose_b}; }

/// The row and column of c that register i of a thread of the warpgroup holds. PTX ISA, "Register fragments for wgmma",
/// matrix D.
struct wgmma_position {
  index_t row, col;  ///< in the 64 x n result
};
/// Element of C in accumulator i (of n / 2) of a thread of the warpgroup. PTX ISA, "Register fragments for wgmma",
/// matrix D.
constexpr wgmma_position position_of_wgmma_result(index_t thread, index_t i) {
  const index_t lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

namespace detail {

/// c += a b; bytes_of_a(row, byte along k) points to an element of a.
template <class T, class BytesOfA>
void multiply_in_lds(BytesOfA bytes_of_a, const wgmma_operand_in_lds& b, const char* lds, float* c) {
  constexpr index_t k = 32 / sizeof(T), max_n = 256;
  const index_t n = b.rows;
  alignas(64) float b_rows[k][max_n];
  const auto element = [](const char* bytes) {
    T value;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return float(value);
  };
  for (index_t j = 0; j < n; ++j) {
    for (index_t l = 0; l < k; ++l) b_rows[l][j] = element(lds + b.address(j, l * index_t(sizeof(T))));
  }
  for (index_t i = 0; i < 64; ++i) {
    float* const row = c + i * n;
    for (index_t l = 0; l < k; ++l) {
      const float factor = element(bytes_of_a(i, l * index_t(sizeof(T))));
      for (index_t j = 0; j < n; ++j) row[j] += factor * b_rows[l][j];
    }
  }
}

}  // namespace detail

/// What a warpgroup's threads hold of a, 16 bytes each. PTX ISA, "Register fragments for wgmma", matrix A: two rows, 8
/// apart, of 4 bytes each, then the same 16 bytes further along k.
struct wgmma_a_in_registers {
  const char* bytes;  ///< of the 128 threads, 16 bytes each

  /// Where the element of a row (0 to 63) at a byte (0 to 31) along k is.
  const char* operator()(index_t row, index_t k_byte) const {
    const index_t thread = row / 16 * 32 + row % 8 * 4 + k_byte % 16 / 4;
    return bytes + thread * 16 + k_byte / 16 * 8 + row % 16 / 8 * 4 + k_byte % 4;
  }
};

/// c (64 x n, row-major) += a b; bytes_of_a(row, byte along k) points to an element of a. Products are
/// exact and are added in the order of k, each sum rounded to float.
template <class BytesOfA>
void multiply_in_lds(BytesOfA bytes_of_a, const wgmma_operand_in_lds& b, arch::matrix_element element, const char* lds,
                     float* c) {
  if (element == arch::matrix_element::f16) return detail::multiply_in_lds<half_t>(bytes_of_a, b, lds, c);
  if (element == arch::matrix_element::bf16) return detail::multiply_in_lds<bfloat16_t>(bytes_of_a, b, lds, c);
  detail::multiply_in_lds<fp8_ocp_t>(bytes_of_a, b, lds, c);
}

inline constexpr index_t warpgroup_size = 128;  // threads

/// The accumulators of instructions in flight: sums that the threads do not see yet. Their registers hold NaN
/// meanwhile.
struct wgmma_accumulators {
  static constexpr unsigned poison = accumulator_poison;  ///< NaN

  index_t n = 0;                                   ///< columns of C
  index_t in_flight = 0;                           ///< instructions
  std::array<float*, warpgroup_size> registers{};  ///< by thread: its first accumulator
  std::vector<float> sums{};                       ///< 64 x n, row-major

  /// For 64 x `columns` results, with that many instructions in flight.
  wgmma_accumulators(index_t columns, index_t instructions)
      : n(columns), in_flight(instructions), sums(std::size_t(64 * columns)) {}

  /// Whether `c` are the thread's registers of these instructions, of the same width.
  bool are_of(const thread_context& self, const float* c, index_t columns) const {
    return in_flight > 0 && registers[std::size_t(self.number % warpgroup_size)] == c && n == columns;
  }

  /// A thread passes its registers. The first instruction in flight takes their values.
  void take(const thread_context& self, float* c, bool accumulate, bool has_fenced, call_site where) {
    const index_t thread = self.number % warpgroup_size;
    float*& mine = registers[std::size_t(thread)];
    if (mine == c) return;
    if (mine != nullptr)
      refuse(self, "passes wgmma", where, " other accumulators than the threads of its warpgroup before it");
    if (!has_fenced) {
      refuse(self, "passes accumulators to wgmma", where, " without a wgmma_fence() since they were the thread's own");
    }
    if (accumulate && are_unset(c, 1)) refuse(self, "adds to", where, unset_registers);
    mine = c;
    for (index_t i = 0; i < n / 2; ++i) {
      const wgmma_position at = position_of_wgmma_result(thread, i);
      sums[std::size_t(at.row * n + at.col)] = accumulate ? c[i] : 0;
      __builtin_memcpy(&c[i], &poison, sizeof(float));
    }
  }

  /// All instructions have ended: the registers of the warpgroup's threads get the sums.
  void give_back(const thread_context* threads, const thread_context& self, call_site where) const {
    for (index_t thread = 0; thread < warpgroup_size; ++thread) {
      for (index_t i = 0; i < n / 2; ++i) {
        float& c = registers[std::size_t(thread)][i];
        if (__builtin_memcmp(&c, &poison, sizeof(float)) != 0)
          refuse(threads[thread], "changes accumulators before it has waited" + in_parentheses(self, where) +
                                      " for the matrix instructions that add to them");
        const wgmma_position at = position_of_wgmma_result(thread, i);
        c = sums[std::size_t(at.row * n + at.col)];
      }
    }
  }
};

/// Operand a of each thread: where its registers are, and what they held when the instruction started.
struct wgmma_a_registers {
  std::array<const void*, warpgroup_size> registers_of{};    ///< by thread: its operand's registers
  std::array<std::array<char, 16>, warpgroup_size> bytes{};  ///< what they held

  /// A thread passes its 16 bytes of a. Throws without a wgmma_fence().
  void take(const thread_context& self, const void* a, bool has_fenced, call_site where) {
    if (!has_fenced) refuse(self, "passes operand a in registers to wgmma", where, " without a wgmma_fence()");
    const auto thread = std::size_t(self.number % warpgroup_size);
    registers_of[thread] = a;
    __builtin_memcpy(bytes[thread].data(), a, 16);
    check_for_poison(self, bytes[thread], "multiplies", where);
  }

  /// They must be what they were.
  void check(const thread_context* threads, const thread_context& self, call_site where) const {
    for (std::size_t thread = 0; thread < warpgroup_size; ++thread) {
      if (__builtin_memcmp(registers_of[thread], bytes[thread].data(), 16) == 0) continue;
      refuse(threads[thread], "changes operand a in registers before it has waited" + in_parentheses(self, where) +
                                  " for the matrix instruction that reads it");
    }
  }
};

}  // namespace tilewright::emulator
