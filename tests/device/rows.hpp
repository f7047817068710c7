// SPDX-License-Identifier: MIT
// Ready kernels on rows as rows.hip compiles them and rows.emu.cpp runs them.
#pragma once

#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/softmax.hpp>
#include <tilewright/kernels/tensor/permute.hpp>
#include <tilewright/kernels/tensor/permute_runs.hpp>
#include <tilewright/kernels/tensor/permute_unaligned.hpp>
#include <tilewright/kernels/tensor/reduce_tensor.hpp>

namespace rows {

using namespace tilewright;

template <class Arch>
using permute_16 = permute<Arch, unsigned short, 8>;
template <class Arch>
using permute_unaligned_16 = permute_unaligned<Arch, unsigned short>;
template <class Arch>
using permute_runs_16 = permute_runs<Arch, unsigned short>;
template <class Arch>
using swiglu_f16 = map_tensor<Arch, half_t, half_t, swiglu_function>;
template <class Arch>
using mean_variance_f16 = reduce_tensor<Arch, half_t, reduce_kind::mean_variance>;
/// Two parts for rows of more than 2048.
template <class Arch>
using softmax_f16 = softmax<Arch, half_t, row_tile{256, 128, 2, 8}>;
/// With residual; a part has 2048 elements.
template <class Arch>
using rms_norm_f16 = row_norm<Arch, half_t, row_tile{256, 256, 1, 8}>;

}  // namespace rows
