// SPDX-License-Identifier: MIT
// The attention kernels that run on emulated GPUs.
#pragma once

#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/attention/backward/attention_backward.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>

namespace attention_test {

template <class Arch>
struct half_64 : tilewright::attention_policy<Arch, tilewright::half_t, 64> {};
template <class Arch>
inline constexpr bool has_fp8 =
    tilewright::arch::is_amd(Arch::value) && Arch::value.fp8 != tilewright::arch::fp8_kind::none;
template <class Arch>
struct fp8_64 : tilewright::attention_policy<
                    Arch,
                    tilewright::detail::conditional_t<Arch::value.fp8 == tilewright::arch::fp8_kind::fnuz,
                                                      tilewright::fp8_fnuz_t, tilewright::fp8_ocp_t>,
                    64> {};
/// The form of eight waves, and with copies without registers where the target has them. gfx90a shows what gfx942 does.
template <class Arch>
inline constexpr bool has_ping_pong = Arch::value.isa == tilewright::arch::instruction_set::cdna && has_fp8<Arch>;
template <class Arch>
struct ping_pong_64
    : tilewright::attention_policy<Arch, tilewright::half_t, 64, 64,
                                   tilewright::attention_tile{256, 64, 8, false, tilewright::attention_tile::ping_pong,
                                                              Arch::value.supports_direct_to_lds(16)}> {};
template <class Arch>
struct bfloat16_96 : tilewright::attention_policy<Arch, tilewright::bfloat16_t, 96, 64> {};
template <class Arch>
struct backward_bfloat16_64 : tilewright::attention_backward_policy<Arch, tilewright::bfloat16_t, 64> {};
template <class Arch>
struct half_512 : tilewright::attention_policy<Arch, tilewright::half_t, 512> {};
template <class Arch>
struct decode_half_512 : tilewright::attention_decode_policy<Arch, tilewright::half_t, 512> {};
template <class Arch>
struct decode_half_128 : tilewright::attention_decode_policy<Arch, tilewright::half_t, 128> {};
template <class Arch>
struct decode_int8_64 : tilewright::attention_decode_policy<Arch, tilewright::half_t, 64, 64, 4, tilewright::int8_t> {};

}  // namespace attention_test
