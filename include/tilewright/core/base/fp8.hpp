// SPDX-License-Identifier: MIT
// The 8-bit floating-point element types, and conversions of pairs by the machine where it has an instruction for them.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/small_float.hpp>

namespace tilewright {

namespace detail {

/// What the 8 bits mean. e4m3 and e5m2 are the OCP types (OCP 8-bit Floating Point Specification 1.0; gfx950, gfx1201,
/// NVIDIA); the fnuz ones (gfx942) have neither infinities nor a negative zero, their only NaN is 0x80,
/// and their exponents are biased by one more.
enum class fp8_format : signed char { e4m3, e5m2, e4m3_fnuz, e5m2_fnuz };

/// Facts of a format: its family, its fields, its largest number and a NaN.
TILEWRIGHT_HD constexpr bool is_fnuz(fp8_format f) { return f == fp8_format::e4m3_fnuz || f == fp8_format::e5m2_fnuz; }
TILEWRIGHT_HD constexpr bool is_e4m3(fp8_format f) { return f == fp8_format::e4m3 || f == fp8_format::e4m3_fnuz; }
TILEWRIGHT_HD constexpr unsigned fp8_mantissa_bits(fp8_format f) { return is_e4m3(f) ? 3u : 2u; }
TILEWRIGHT_HD constexpr unsigned fp8_bias(fp8_format f) { return (is_e4m3(f) ? 7u : 15u) + (is_fnuz(f) ? 1u : 0u); }
/// The largest finite number: 448, 57344, 240, 57344.
TILEWRIGHT_HD constexpr unsigned fp8_max_bits(fp8_format f) {
  return is_fnuz(f) ? 0x7fu : f == fp8_format::e4m3 ? 0x7eu : 0x7bu;
}
TILEWRIGHT_HD constexpr unsigned fp8_nan_bits(fp8_format f) { return is_fnuz(f) ? 0x80u : 0x7fu; }
TILEWRIGHT_HD constexpr float fp8_max(fp8_format f) {
  return f == fp8_format::e4m3 ? 448.0f : f == fp8_format::e4m3_fnuz ? 240.0f : 57344.0f;
}

/// Rounds to nearest, ties to even; larger numbers and infinities become the largest finite number. NaN stays NaN; its
/// sign and payload are not kept.
template <fp8_format F>
TILEWRIGHT_HD constexpr unsigned char fp8_bits_from_float(float value) {
  const unsigned bits = bit_cast<unsigned>(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<unsigned char>(fp8_nan_bits(F));
  const unsigned rounded = round_to_small_float<fp8_mantissa_bits(F), fp8_bias(F)>(magnitude, fp8_max_bits(F));
  if (is_fnuz(F) && (rounded == 0)) return static_cast<unsigned char>(rounded);
  return static_cast<unsigned char>(sign | rounded);
}

/// Exact.
template <fp8_format F>
TILEWRIGHT_HD constexpr float float_from_fp8_bits(unsigned char value) {
  const unsigned sign = (value & 0x80u) << 24, magnitude = value & 0x7fu;
  if (is_fnuz(F) && value == 0x80u) return bit_cast<float>(0x7fc00000u);
  if (magnitude > fp8_max_bits(F))
    return bit_cast<float>(sign | (F == fp8_format::e5m2 && magnitude == 0x7cu ? 0x7f800000u : 0x7fc00000u));
  return bit_cast<float>(sign |
                         bit_cast<unsigned>(float_of_small_magnitude<fp8_mantissa_bits(F), fp8_bias(F)>(magnitude)));
}

// Which formats the machine of this pass converts itself. Only gfx942 among AMD GPUs has the fnuz formats.
#if TILEWRIGHT_AMDGCN_PASS && __has_builtin(__builtin_amdgcn_cvt_pk_fp8_f32)
#define TILEWRIGHT_FP8_BY_AMDGCN 1
#if defined(__gfx942__)
inline constexpr bool machine_is_fnuz = true;
#else
inline constexpr bool machine_is_fnuz = false;
#endif
#elif TILEWRIGHT_NVPTX_PASS && __CUDA_ARCH__ >= 890
#define TILEWRIGHT_FP8_BY_NVPTX 1
#endif

/// Two floats to bits, saturating, the first one in the low byte.
template <fp8_format F>
TILEWRIGHT_HD constexpr unsigned short fp8_pair_from_floats(float low, float high) {
#if defined(TILEWRIGHT_FP8_BY_AMDGCN)
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (is_fnuz(F) == machine_is_fnuz) {
      // The instruction saturates only in a mode that the kernel may not have. The median of three would lose NaN.
      constexpr float limit = fp8_max(F);
      const float a = low != low ? low : __builtin_amdgcn_fmed3f(low, -limit, limit);
      const float b = high != high ? high : __builtin_amdgcn_fmed3f(high, -limit, limit);
      if constexpr (is_e4m3(F)) return static_cast<unsigned short>(__builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, false));
      if constexpr (!is_e4m3(F)) return static_cast<unsigned short>(__builtin_amdgcn_cvt_pk_bf8_f32(a, b, 0, false));
    }
  }
#elif defined(TILEWRIGHT_FP8_BY_NVPTX)
  if (!__builtin_is_constant_evaluated()) {
    unsigned short pair;
    if constexpr (F == fp8_format::e4m3) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
      return pair;
    } else if constexpr (F == fp8_format::e5m2) {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
      return pair;
    }
  }
#endif
  return static_cast<unsigned short>(fp8_bits_from_float<F>(low) | fp8_bits_from_float<F>(high) << 8);
}

/// Four floats to bits, the first one in the lowest byte. They must not exceed the largest finite number, so nothing is
/// spent on saturation.
template <fp8_format F>
TILEWRIGHT_HD constexpr unsigned fp8_word_from_small_floats(float a, float b, float c, float d) {
#if defined(TILEWRIGHT_FP8_BY_AMDGCN)
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (F == fp8_format::e4m3_fnuz ? machine_is_fnuz : F == fp8_format::e4m3 && !machine_is_fnuz) {
      const int low = __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, false);
      return static_cast<unsigned>(__builtin_amdgcn_cvt_pk_fp8_f32(c, d, low, true));
    }
  }
#endif
  return fp8_pair_from_floats<F>(a, b) | static_cast<unsigned>(fp8_pair_from_floats<F>(c, d)) << 16;
}

template <fp8_format F>
TILEWRIGHT_HD constexpr float fp8_to_float(unsigned char bits) {
#if defined(TILEWRIGHT_FP8_BY_AMDGCN)
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (is_fnuz(F) == machine_is_fnuz) {
      if constexpr (is_e4m3(F)) return __builtin_amdgcn_cvt_f32_fp8(bits, 0);
      if constexpr (!is_e4m3(F)) return __builtin_amdgcn_cvt_f32_bf8(bits, 0);
    }
  }
#elif defined(TILEWRIGHT_FP8_BY_NVPTX)
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (!is_fnuz(F)) {
      unsigned halves;
      const unsigned short pair = bits;
      if constexpr (is_e4m3(F)) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
      if constexpr (!is_e4m3(F)) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
      return float_from_half_bits(static_cast<unsigned short>(halves));
    }
  }
#endif
  return float_from_fp8_bits<F>(bits);
}

/// The numbers of two bytes, that of the low byte first.
template <fp8_format F>
TILEWRIGHT_HD constexpr array<float, 2> fp8_pair_to_floats(unsigned short pair) {
#if defined(TILEWRIGHT_FP8_BY_NVPTX)
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (!is_fnuz(F)) {
      unsigned halves;
      if constexpr (is_e4m3(F)) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
      if constexpr (!is_e4m3(F)) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
      return {float_from_half_bits(static_cast<unsigned short>(halves)),
              float_from_half_bits(static_cast<unsigned short>(halves >> 16))};
    }
  }
#endif
  return {fp8_to_float<F>(static_cast<unsigned char>(pair)), fp8_to_float<F>(static_cast<unsigned char>(pair >> 8))};
}

#undef TILEWRIGHT_FP8_BY_AMDGCN
#undef TILEWRIGHT_FP8_BY_NVPTX

}  // namespace detail

/// An 8-bit floating-point number. Conversion from float rounds to nearest, ties to even, saturates at the largest
/// finite number, and keeps NaN; conversion to float is exact.
template <detail::fp8_format F>
struct fp8 {
  static constexpr detail::fp8_format format = F;  ///< the format's facts
  unsigned char bits;                              ///< sign, exponent, mantissa

  fp8() = default;
  /// Rounds to nearest even; what is too large becomes the largest number, as the hardware's conversions do.
  TILEWRIGHT_HD constexpr explicit fp8(float value)
      : bits(static_cast<unsigned char>(detail::fp8_pair_from_floats<F>(value, 0.0f))) {}
  /// Exact.
  TILEWRIGHT_HD constexpr operator float() const { return detail::fp8_to_float<F>(bits); }
};

/// fp8: 4 bits of exponent and 3 of mantissa; bf8: 5 and 2.
using fp8_ocp_t = fp8<detail::fp8_format::e4m3>;
using bf8_ocp_t = fp8<detail::fp8_format::e5m2>;
using fp8_fnuz_t = fp8<detail::fp8_format::e4m3_fnuz>;
using bf8_fnuz_t = fp8<detail::fp8_format::e5m2_fnuz>;

namespace detail {
template <class T>
inline constexpr bool is_fp8_v = false;
template <fp8_format F>
inline constexpr bool is_fp8_v<fp8<F>> = true;
}  // namespace detail

static_assert(sizeof(fp8_ocp_t) == 1);

}  // namespace tilewright
