// SPDX-License-Identifier: MIT
// Kernels of models as models.hip compiles them and models.emu.cpp runs them.
#pragma once

#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>
#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/kernels/rows/norm_gradient.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>
#include <tilewright/kernels/rows/rotary.hpp>

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
using choose_f16 = choose_experts<Arch, half_t, 100>;
template <class Arch>
using count_by_expert = order_by_expert<Arch>;
template <class Arch>
using sum_by_expert = typename order_by_expert<Arch>::followed_by;
template <class Arch>
using position_by_expert = typename sum_by_expert<Arch>::followed_by;
/// A part has 2048 elements.
template <class Arch>
using swiglu_int8 = quantise_rows<Arch, half_t, int8_t, row_tile{256, 128, 2, 8}, scale_kind::per_row, swiglu_function>;
template <class Arch>
using scatter_f16 = expert_rows<Arch, half_t, row_tile{256, 256, 1, 8}, expert_rows_kind::scatter>;
template <class Arch>
using combine_f16 = expert_rows<Arch, half_t, row_tile{256, 256, 1, 8}, expert_rows_kind::combine>;

}  // namespace models
