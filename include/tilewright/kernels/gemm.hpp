// SPDX-License-Identifier: MIT
// GEMM: portable, Hopper, grouped, block-scaled and small-M kernels, epilogues, the choice among Hopper kernels.
// Tuned plans (choice/gemm_autotune.hpp, CUDA) are included by themselves.
#pragma once

#include <tilewright/kernels/gemm/choice/block_scaled_tiles.hpp>
#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>
#include <tilewright/kernels/gemm/choice/cdna_tile_family.hpp>
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_narrow_choice.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/static_report.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/grouped/expert_gemm.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_narrow.hpp>
#include <tilewright/kernels/gemm/hopper/aligned_operands.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_narrow_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/tensor_move_pipeline.hpp>
#include <tilewright/kernels/gemm/repack_int4.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_pipeline.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_stages.hpp>
#include <tilewright/kernels/gemm/scaled/dequantising_pipeline.hpp>
#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/scaled_mfma_pipeline.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>
#include <tilewright/kernels/gemm/two_products.hpp>
