// SPDX-License-Identifier: MIT
// Ready kernels on rows as rows.hip compiles them and rows.emu.cpp runs them.
#pragma once

#include <tilewright/rows/norm.hpp>
#include <tilewright/rows/softmax.hpp>
#include <tilewright/rows/transpose.hpp>

namespace rows {

using namespace tilewright;

template <class Arch>
using transpose_f16 = transpose<Arch, half_t>;
/// Two parts for rows of more than 2048.
template <class Arch>
using softmax_f16 = softmax<Arch, half_t, row_tile{256, 128, 2, 8}>;
/// With residual; a part has 2048 elements.
template <class Arch>
using rms_norm_f16 = row_norm<Arch, half_t, row_tile{256, 256, 1, 8}>;

}  // namespace rows
