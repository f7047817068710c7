// SPDX-License-Identifier: MIT
// moe_layer: the tensors of an expert layer after they were validated, its scratch memory, and its routing.
#pragma once

#include <initializer_list>

#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/ops/moe.hpp>
#include <tilewright/ops/routing.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

#include "call.hpp"
#include "matrix_view.hpp"
#include "rows_view.hpp"

namespace tilewright::ops {

/// How weights are stored: as x is, fp8 with a scale for each row or for blocks of 128 x 128, or a format of
/// narrow_gemm.
enum class expert_format { plain, fp8_rows, fp8_blocks, narrow };

/// The weights of one of the two GEMMs: rows of all experts, with k elements each.
struct expert_weights {
  matrix_view codes;
  expert_format format = expert_format::plain;
  jit::narrow_format narrow = {};
  tensor scales = {}, zeros = {}, factor = {};
  index_t k = 0;
};

struct moe_layer {
  rows_view x;
  expert_weights gate_up, down;  // gate_up (2 n, d), down (d, n); batches of experts
  element type;                  // of x and y
  index_t tokens = 0, experts = 0, entries = 0, n = 0, d = 0, choices = 0;  // choices: with the shared ones

  element weights() const { return gate_up.codes.type; }
  bool is_quantised() const { return gate_up.format == expert_format::fp8_rows; }
  /// Whether the first GEMM applies SwiGLU itself.
  bool is_fused() const { return gate_up.format == expert_format::plain || is_quantised(); }
};

/// Refuses tensors that are no layer. `call`: its name.
moe_layer moe_layer_of(const char* call, const tensor& x, const tensor& gate_up, const tensor& down,
                       const moe_options& o);
/// Refuses logits and biases of other lengths, and half of a routing.
void require_routing(const char* call, const moe_layer& l, const tensor& logits, const moe_options& o);

/// Refuses a tensor of the options that is no row of l.type for each expert.
void require_bias(const char* call, const char* name, const tensor& t, const moe_layer& l, long_index_t cols);

/// Hands tensors out of scratch memory, one after the other. Without memory it counts bytes.
struct scratch_memory {
  char* base = nullptr;
  long_index_t bytes = 0;
  tensor take(element type, std::initializer_list<long_index_t> lengths);
};

/// The lists of a layer's entries.
struct moe_routing {
  tensor expert, weight, ends, source, position, counts;

  const index_t* ends_data() const { return static_cast<const index_t*>(ends.data); }
};
/// Lists in scratch memory, or those that the options give.
moe_routing take_routing(const char* call, scratch_memory& memory, const moe_layer& l, const moe_options& o);

/// choose_experts(), as the call of a name.
void choose_for(const char* call, const tensor& expert, const tensor& weight, const tensor& logits,
                const choose_experts_options& o);
/// Queues the choice of experts, if there are logits.
void choose_entries(const char* call, const moe_routing& r, const tensor& logits, const moe_options& o);
/// Queues the order of entries by expert.
void order_entries(const char* call, const moe_layer& l, const moe_routing& r, const moe_options& o);

/// As moe(), in steps: rows are copied to experts, both GEMMs write what they compute, a kernel between them applies
/// SwiGLU.
struct moe_steps {
  tensor rows, products, halves, hidden, results;
  tensor bias = {}, row_codes = {}, row_scales = {}, hidden_codes = {}, hidden_scales = {};

  moe_steps(scratch_memory& memory, const moe_layer& l, const moe_options& o);
  void run(const moe_layer& l, const moe_routing& r, const tensor& x, const moe_options& o) const;
};

/// The columns of two halves that alternate as columns of one half after the other, or back: `to` and `from` (rows,
/// 2 n).
void separate_halves(const tensor& to, const tensor& from, void* stream);
void alternate_halves(const tensor& to, const tensor& from, void* stream);

/// A grouped GEMM with these weights: C = A W^T of each expert's rows.
void multiply_by_expert(const char* call, const moe_layer& l, const expert_weights& w, const moe_routing& r,
                        const tensor& c, const tensor& a, const tensor& a_scales, void* stream);

/// SwiGLU of rows of both halves, or its gradient where `gradient` has tensors.
struct activation_tensors {
  tensor y, x, bias = {};
  tensor dx = {}, dy = {}, dweight = {};
  tensor dresult = {};  // of the second GEMM's result, where it has a bias
};
void activate_rows(const char* call, const moe_layer& l, const moe_routing& r, const activation_tensors& t,
                   const moe_options& o);

/// A tensor of experts as the kernels that know an entry's number in `expert` reach it: from number 0 on.
const void* from_expert_0(const tensor& of_experts, const moe_options& o);

/// What the options say of SwiGLU.
clamped_swiglu_function swiglu_of(const moe_options& o);

}  // namespace tilewright::ops
