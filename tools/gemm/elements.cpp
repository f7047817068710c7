// SPDX-License-Identifier: MIT
// The elements of matrices: their names, sizes and values.
#include "elements.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gemm_program {

namespace {

namespace tw = tilewright;

template <class T>
double from_bits(std::uint32_t bits) {
  if constexpr (sizeof(T) == 1)
    return double(tw::type_convert<float>(tw::bit_cast<T>(static_cast<unsigned char>(bits))));
  if constexpr (sizeof(T) == 2)
    return double(tw::type_convert<float>(tw::bit_cast<T>(static_cast<std::uint16_t>(bits))));
  if constexpr (sizeof(T) == 4) return double(tw::bit_cast<T>(bits));
}

template <class T>
std::uint32_t to_bits(double value) {
  if constexpr (sizeof(T) == 1) return tw::bit_cast<unsigned char>(tw::type_convert<T>(float(value)));
  if constexpr (sizeof(T) == 2) return tw::bit_cast<std::uint16_t>(tw::type_convert<T>(float(value)));
  if constexpr (sizeof(T) == 4) return tw::bit_cast<std::uint32_t>(T(value));
}

/// f with a value of the type of C++.
template <class F>
auto with_type(element type, F f) {
  switch (type) {
    case element::f16: return f(tw::half_t{});
    case element::bf16: return f(tw::bfloat16_t{});
    case element::e4m3: return f(tw::fp8_ocp_t{});
    case element::e5m2: return f(tw::bf8_ocp_t{});
    case element::e4m3fnuz: return f(tw::fp8_fnuz_t{});
    case element::e5m2fnuz: return f(tw::bf8_fnuz_t{});
    case element::i8: return f(tw::int8_t{});
    case element::i32: return f(int{});
    case element::f32: break;
  }
  return f(float{});
}

}  // namespace

double value_of(element type, std::uint32_t bits) {
  return with_type(type, [bits](auto t) { return from_bits<decltype(t)>(bits); });
}

std::uint32_t bits_of(element type, double value) {
  if (type == element::i32) {
    using limits = std::numeric_limits<int>;
    value = std::clamp(std::nearbyint(value), double(limits::min()), double(limits::max()));
  }
  return with_type(type, [value](auto t) { return to_bits<decltype(t)>(value); });
}

std::uint32_t poison_of(element type) {
  switch (type) {
    case element::f16:
    case element::bf16: return 0x7fff;
    case element::f32: return 0x7fffffff;
    case element::e4m3fnuz:
    case element::e5m2fnuz: return 0x80;
    case element::e4m3:
    case element::e5m2:
    case element::i8: return 0x7f;
    case element::i32: break;
  }
  return 0x7fffffff;
}

std::vector<float> value_table(element type) {
  std::vector<float> table(std::size_t{1} << 8 * bytes_of(type));
  for (std::size_t bits = 0; bits < table.size(); ++bits)
    table[bits] = float(value_of(type, static_cast<std::uint32_t>(bits)));
  return table;
}

}  // namespace gemm_program
