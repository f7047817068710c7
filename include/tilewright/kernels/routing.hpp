// SPDX-License-Identifier: MIT
// Routing of tokens to experts: their choice, the order by expert, moving rows to experts and back.
#pragma once

#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/kernels/routing/choose_experts_by_score.hpp>
#include <tilewright/kernels/routing/choose_experts_gradient.hpp>
#include <tilewright/kernels/routing/expert_activation.hpp>
#include <tilewright/kernels/routing/expert_column_sums.hpp>
#include <tilewright/kernels/routing/expert_dots.hpp>
#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>
#include <tilewright/kernels/routing/routed_chunk.hpp>
