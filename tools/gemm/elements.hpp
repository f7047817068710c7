// SPDX-License-Identifier: MIT
// The elements of matrices: their names, sizes and values.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/core/base/fp8.hpp>
#include <tilewright/core/base/types.hpp>

namespace gemm_program {

/// e4m3 and e5m2: the 8-bit formats of the Open Compute Project; fnuz: those without infinities and negative zero.
enum class element { f16, bf16, f32, e4m3, e5m2, e4m3fnuz, e5m2fnuz, i8, i32 };

inline constexpr const char* element_names[] = {"f16",      "bf16",     "f32",  "e4m3", "e5m2",
                                                "e4m3fnuz", "e5m2fnuz", "int8", "int32"};

constexpr const char* name_of(element type) { return element_names[int(type)]; }

constexpr std::int64_t bytes_of(element type) {
  if (type == element::f16 || type == element::bf16) return 2;
  return type == element::f32 || type == element::i32 ? 4 : 1;
}

constexpr bool is_fp8(element type) { return type >= element::e4m3 && type <= element::e5m2fnuz; }
constexpr bool is_integer(element type) { return type == element::i8 || type == element::i32; }

/// The largest finite number.
constexpr double largest_of(element type) {
  switch (type) {
    case element::f16: return 65504;
    case element::bf16: return 0x1.fep127;
    case element::f32: return 0x1.fffffep127;
    case element::e4m3: return 448;
    case element::e4m3fnuz: return 240;
    case element::e5m2:
    case element::e5m2fnuz: return 57344;
    case element::i8: return 127;
    case element::i32: break;
  }
  return 2147483647;
}

/// The type of C++ that a kernel gets.
template <class T>
constexpr element element_of() {
  if constexpr (__is_same(T, tilewright::half_t)) return element::f16;
  if constexpr (__is_same(T, tilewright::bfloat16_t)) return element::bf16;
  if constexpr (__is_same(T, float)) return element::f32;
  if constexpr (__is_same(T, tilewright::fp8_ocp_t)) return element::e4m3;
  if constexpr (__is_same(T, tilewright::bf8_ocp_t)) return element::e5m2;
  if constexpr (__is_same(T, tilewright::fp8_fnuz_t)) return element::e4m3fnuz;
  if constexpr (__is_same(T, tilewright::bf8_fnuz_t)) return element::e5m2fnuz;
  if constexpr (__is_same(T, tilewright::int8_t)) return element::i8;
  if constexpr (__is_same(T, int)) return element::i32;
}

/// The value of the lowest bytes_of(type) bytes.
double value_of(element type, std::uint32_t bits);

/// Rounds to the nearest, ties to even. Integers saturate; fp8 does, too.
std::uint32_t bits_of(element type, double value);

/// A NaN where the type has one, else its largest value: for what must not be read.
std::uint32_t poison_of(element type);

/// The value of every bit pattern of a type of at most 16 bits.
std::vector<float> value_table(element type);

/// What a result of these elements may differ from an exact one: ||C - R|| / ||R||.
constexpr double tolerance_of(element type) {
  switch (type) {
    case element::f16: return 2e-3;
    case element::bf16: return 1e-2;
    case element::f32: return 2e-5;
    case element::e4m3:
    case element::e4m3fnuz: return 6e-2;
    case element::e5m2:
    case element::e5m2fnuz: return 1.2e-1;
    case element::i8:
    case element::i32: break;
  }
  return 0;
}

}  // namespace gemm_program
