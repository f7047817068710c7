// SPDX-License-Identifier: MIT
// Kernels on rows: softmax, LayerNorm and RMSNorm with their gradients, cross-entropy, rotary embedding, quantisation.
// launch_rows.hpp, which launches some of them, and the headers that choose tiles on the host are included by
// themselves.
#pragma once

#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/norm_gradient.hpp>
#include <tilewright/kernels/rows/norm_gradient_choice.hpp>
#include <tilewright/kernels/rows/norm_gradient_partials.hpp>
#include <tilewright/kernels/rows/quantise_groups.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>
#include <tilewright/kernels/rows/rotary.hpp>
#include <tilewright/kernels/rows/row_choice.hpp>
#include <tilewright/kernels/rows/row_scales.hpp>
#include <tilewright/kernels/rows/softmax.hpp>
