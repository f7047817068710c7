// SPDX-License-Identifier: MIT
// Kernels of models as models.hip compiles them and models.emu.cpp runs them.
#pragma once

#include <tilewright/rows/choose_experts.hpp>
#include <tilewright/rows/cross_entropy.hpp>
#include <tilewright/rows/norm_gradient.hpp>
#include <tilewright/rows/order_by_expert.hpp>
#include <tilewright/rows/rotary.hpp>

namespace models {

using namespace tilewright;

/// A part has 2048 elements.
template <class Arch>
using layer_norm_128 =
    row_norm<Arch, half_t, row_tile{256, 128, 2, 8}, norm_kind::layer_norm, int8_t, scale_kind::per_128>;
template <class Arch>
using norm_gradient = row_norm_gradient<Arch, half_t, row_tile{256, 256, 1, 8}, norm_kind::layer_norm>;
template <class Arch>
using loss_and_gradient = cross_entropy<Arch, half_t, row_tile{256, 128, 2, 8}, cross_entropy_kind::loss_and_gradient>;
template <class Arch>
using rotary_f16 = rotary<Arch, half_t, rotary_kind::interleaved>;
template <class Arch>
using choose_f16 = choose_experts<Arch, half_t, row_tile{256, 32, 1, 8}>;
template <class Arch>
using count_by_expert = order_by_expert<Arch>;
template <class Arch>
using place_by_expert = detail::place_by_expert<Arch>;

}  // namespace models
