// SPDX-License-Identifier: MIT
// Calls that are wrong: each is refused by one sentence. Nothing is compiled (there is no compiler), nothing reaches
// the stub of HIP's runtime.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tilewright.h>

#include "on_gpu.hpp"
#include "recorded_launches.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::message_of, ops_test::on_gpu, ops_test::take_launches;
using tw::element;

struct wrong_call {
  std::function<void()> call;
  std::string message;  // its beginning
};

/// Memory that no call may touch. Lengths of the views are wrong in one way each.
char memory[1 << 16];
tw::tensor at(int offset, element type, std::initializer_list<tilewright::long_index_t> lengths) {
  return tw::packed(memory + offset, type, lengths);
}
const tw::tensor a = at(0, element::f16, {8, 16}), b = at(1024, element::f16, {16, 24}),
                 c = at(4096, element::f16, {8, 24}), none = {};
tw::tensor changed(tw::tensor t, const std::function<void(tw::tensor&)>& change) {
  change(t);
  return t;
}
tw::tensor of_type(tw::tensor t, element type) {
  t.type = type;
  return t;
}

const std::vector<wrong_call> gemm_calls = {
    {[] { tw::gemm(none, a, b); }, "gemm: C is null"},
    {[] { tw::gemm(c, none, b); }, "gemm: A is null"},
    {[] { tw::gemm(c, a, none); }, "gemm: B is null"},
    {[] { tw::gemm(c, b, a); }, "gemm: A is 16 x 24 and B 8 x 16; A must have as many columns as B has rows"},
    {[] { tw::gemm(a, a, b); }, "gemm: C is 8 x 16, but A B is 8 x 24"},
    {[] { tw::gemm(c, at(0, element::f16, {8}), b); }, "gemm: A has 1 dimensions"},
    {[] { tw::gemm(c, at(0, element::f16, {1, 1, 8, 16}), b); }, "gemm: A has 4 dimensions"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.rank = 7; }), b); }, "gemm: A has 7 dimensions; tensors have 0 to 5"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.rank = -1; }), b); }, "gemm: A has -1 dimensions"},
    {[] { tw::gemm(c, of_type(a, element(77)), b); }, "gemm: A has elements of type 77"},
    {[] { tw::gemm(c, of_type(a, element::bf16), b); }, "gemm: A has bf16 and B f16; they must be equal"},
    {[] { tw::gemm(of_type(c, element::bf16), a, b); }, "gemm: there is no GEMM of f16 that writes bf16"},
    {[] { tw::gemm(of_type(c, element::f16), of_type(a, element::i8), of_type(b, element::i8)); },
     "gemm: there is no GEMM of i8 that writes f16"},
    {[] { tw::gemm(c, of_type(a, element::i32), of_type(b, element::i32)); },
     "gemm: there is no GEMM of i32 that writes f16"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.lengths[0] = 0; }), b); }, "gemm: A: dimension 0 has length 0"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.lengths[1] = 1ll << 40; }), b); }, "gemm: A: dimension 1 has length"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.strides[0] = -16; }), b); }, "gemm: A: dimension 0 has stride -16"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.strides[0] = 1ll << 60; }), b); },
     "gemm: A reaches over more memory than there is"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.strides[0] = 1ll << 33; }), b); },
     "gemm: A has a stride of 8589934592 from line to line"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.strides[1] = 2; }), b); },
     "gemm: A has strides 16 and 2; a matrix must be contiguous along one dimension: copy it"},
    {[] { tw::gemm(changed(c, [](auto& t) { t.strides[0] = 8; }), a, b); }, "gemm: C: its rows (or columns) overlap"},
    {[] { tw::gemm(c, changed(a, [](auto& t) { t.data = memory + 1; }), b); }, "gemm: A is at an address"},
    {[] { tw::gemm(changed(c, [](auto& t) { t.data = memory; }), a, b); }, "gemm: C shares memory with A or B"},
    {[] { tw::gemm(at(4096, element::f16, {3, 8, 24}), at(0, element::f16, {2, 8, 16}), b); },
     "gemm: A is a batch of 2 matrices and C one of 3"},
    {[] { tw::gemm(changed(at(4096, element::f16, {3, 8, 24}), [](auto& t) { t.strides[0] = 0; }), a, b); },
     "gemm: the matrices of C's batch are the same memory"},
    {[] { tw::gemm(changed(at(4096, element::f16, {3, 8, 24}), [](auto& t) { t.strides[0] = 24; }), a, b); },
     "gemm: matrices of C's batch overlap"},
    {[] { tw::gemm(c, a, b, {.scale = at(0, element::f32, {2})}); }, "gemm: scale is f32 (2), but must be one f32"},
    {[] { tw::gemm(c, a, b, {.row_scale = at(0, element::f32, {9})}); },
     "gemm: row_scale is f32 (9), but must be f32 (8)"},
    {[] { tw::gemm(c, a, b, {.column_scale = at(0, element::f16, {24})}); }, "gemm: column_scale is f16 (24)"},
    {[] { tw::gemm(c, a, b, {.bias = at(8192, element::f32, {24})}); }, "gemm: bias is f32 (24), but must be f16 (24)"},
    {[] { tw::gemm(c, a, b, {.bias = tw::strided(memory, element::f16, {24}, {2})}); },
     "gemm: bias has stride 2; it must be contiguous"},
    {[] { tw::gemm(tw::transposed(at(4096, element::f16, {24, 8})), a, b, {.bias = at(8192, element::f16, {24})}); },
     "gemm: a bias needs a C that is contiguous along its columns"},
    {[] { tw::gemm(c, a, b, {.residual = b}); }, "gemm: residual is f16 (16, 24), but must have C's lengths and type"},
    {[] { tw::gemm(c, a, b, {.residual = at(4098, element::f16, {8, 24})}); }, "gemm: residual shares memory with C"},
    {[] { tw::gemm(c, a, b, {.activate = tilewright::activation(9)}); }, "gemm: activate is 9"},
    {[] {
       tw::gemm(of_type(at(4096, element::i32, {8, 24}), element::i32), of_type(a, element::i8),
                of_type(b, element::i8), {.activate = tilewright::activation::relu});
     },
     "gemm: a GEMM of i8 takes alpha and beta only"},
    {[] { tw::gemm(c, a, b, {.beta = 1, .gate = at(0, element::f16, {16, 24})}); },
     "gemm: a gate goes with no other option"},
    {[] { tw::gemm(c, a, b, {.gate = at(8192, element::f16, {16, 24})}); }, "gemm: gate must lie before B"},
    {[] { tw::gemm(c, a, b, {.gate = at(0, element::f16, {16, 23})}); },
     "gemm: gate is f16 (16, 23), but must have B's"},
    {[] { tw::gemm(c, a, b, {.workspace = memory}); }, "gemm: workspace and workspace_bytes belong together"},
    {[] { tw::gemm(c, a, b, {.workspace = memory + 4, .workspace_bytes = 64}); },
     "gemm: the workspace is not aligned to 16 bytes"},
    {[] { tw::gemm(c, a, b, {.choice = "77x77"}); }, "gemm: there is no policy '77x77' for gfx942"},
    {[] { tw::gemm(c, a, b, {.choice = "128x128, split_k 0"}); }, "gemm: there is no policy '128x128, split_k 0'"},
    {[] {
       tw::gemm(of_type(c, element::f32), of_type(a, element::f32), of_type(b, element::f32), {.choice = "ping_pong"});
     },
     "gemm: the policy ping_pong needs 16-bit elements"},
};

const tw::tensor x = at(0, element::f16, {4, 64}), y = at(4096, element::f16, {4, 64}),
                 weight = at(8192, element::f16, {64}), floats = at(9216, element::f32, {4});

const std::vector<wrong_call> row_calls = {
    {[] { tw::softmax(none, x); }, "softmax: y is null"},
    {[] { tw::softmax(at(4096, element::f16, {4, 63}), x); }, "softmax: y is f16 (4, 63), but must be f16 (4, 64)"},
    {[] { tw::softmax(of_type(y, element::bf16), x); }, "softmax: y is bf16 (4, 64), but must be f16 (4, 64)"},
    {[] { tw::softmax(y, tw::strided(memory, element::f16, {4, 64}, {128, 2})); },
     "softmax: x has stride 2 along its last"},
    {[] { tw::softmax(at(0, element::f16, {}), at(0, element::f16, {})); }, "softmax: x has no dimensions"},
    {[] { tw::softmax(of_type(y, element::i8), of_type(x, element::i8)); },
     "softmax: the elements are f16, bf16 or f32, not i8"},
    {[] { tw::softmax(changed(x, [](auto& t) { t.data = memory + 64; }), x); },
     "softmax: the memory from the result's first element to its last overlaps the input's"},
    {[] { tw::rms_norm(y, x, at(8192, element::f16, {63})); }, "rms_norm: weight is f16 (63), but must be f16 (64)"},
    {[] { tw::rms_norm(y, x, weight, {.epsilon = 0}); }, "rms_norm: epsilon must be positive"},
    {[] { tw::rms_norm(y, x, weight, {.epsilon = std::numeric_limits<float>::quiet_NaN()}); },
     "rms_norm: epsilon must be"},
    {[] { tw::rms_norm(y, x, weight, {.bias = weight}); }, "rms_norm: it has no bias and no mean; call layer_norm"},
    {[] { tw::rms_norm(y, x, weight, {.residual = at(12288, element::f16, {4, 64})}); },
     "rms_norm: residual and sum must both be given, or neither"},
    {[] { tw::rms_norm(of_type(y, element::fp8), x, weight); }, "rms_norm: y has fp8 and x f16"},
    {[] { tw::rms_norm(y, x, weight, {.scales = floats}); }, "rms_norm: scales belong to a y of fp8, bf8 or i8"},
    {[] { tw::rms_norm(y, x, weight, {.rstd = at(9216, element::f32, {3})}); },
     "rms_norm: rstd is f32 (3), but must have 4"},
    {[] { tw::layer_norm_gradient(y, weight, y, x, weight, none, floats); }, "layer_norm_gradient: mean is null"},
    {[] { tw::rms_norm_gradient(y, weight, at(12288, element::f16, {4, 64}), x, weight, floats, {.d_bias = weight}); },
     "rms_norm_gradient: it has no bias"},
    {[] { tw::quantise(y, floats, x); }, "quantise: y has f16; it must be of fp8, bf8 or i8"},
    {[] { tw::quantise(of_type(y, element::i8), at(9216, element::f32, {5}), x); },
     "quantise: scales is f32 (5), but must be"},
    {[] { tw::cross_entropy(floats, x, at(9500, element::f32, {4})); },
     "cross_entropy: target is f32 (4), but must be i32 (4)"},
    {[] { tw::cross_entropy(floats, x, at(9500, element::i32, {4}), {.scale = 2}); },
     "cross_entropy: factor and scale belong"},
    {[] { tw::rotary(y, x, floats, floats); }, "rotary: x has 2 dimensions"},
    {[] {
       const auto h = at(0, element::f16, {4, 2, 8});
       tw::rotary(h, h, at(9216, element::f32, {4, 5}), at(9600, element::f32, {4, 5}));
     },
     "rotary: cos has 5 pairs; a head of 8 elements has at most half as many"},
};

const tw::tensor q = at(0, element::f16, {1, 4, 2, 32}), k = at(4096, element::f16, {1, 6, 1, 32}),
                 v = at(8192, element::f16, {1, 6, 1, 32}), o = at(12288, element::f16, {1, 4, 2, 32});

const std::vector<wrong_call> attention_calls = {
    {[] { tw::attention(o, none, k, v); }, "attention: q is null"},
    {[] { tw::attention(o, at(0, element::f16, {4, 32}), k, v); }, "attention: q has 2 dimensions"},
    {[] { tw::attention(o, q, at(4096, element::f16, {1, 6, 1, 64}), v); },
     "attention: q's head dimension is 32 and k's 64"},
    {[] { tw::attention(o, q, k, at(8192, element::f16, {1, 7, 1, 32})); },
     "attention: k's number of keys is 6 and v's 7"},
    {[] { tw::attention(o, q, at(4096, element::f16, {1, 6, 3, 32}), at(8192, element::f16, {1, 6, 3, 32})); },
     "attention: q has 2 heads and k 3; q's must be a multiple of k's"},
    {[] {
       const auto t = at(0, element::f16, {1, 4, 1, 40});
       tw::attention(t, t, t, t);
     },
     "attention: q has head dimension 40; it must be a multiple of 32 up to 256, or of 128 up to 512"},
    {[] {
       const auto t = at(0, element::f16, {1, 4, 1, 320});
       tw::attention(t, t, t, t);
     },
     "attention: q has head dimension 320"},
    {[] {
       const auto t = at(0, element::f16, {1, 4, 1, 512});
       tw::attention_backward(t, t, t, t, t, t, t, t, {.lse = at(0, element::f32, {1, 4, 1})});
     },
     "attention_backward: there are gradients for head dimensions up to 256"},
    {[] {
       const tw::tensor rows = at(4096, element::i8, {1, 6, 1, 32}), scale = at(0, element::f32, {1, 6, 1});
       tw::attention_decode(o, q, rows, rows, {.k_scales = scale, .v_scales = at(64, element::f32, {1, 6, 1})});
     },
     "attention_decode: v is in the rows of k, so v_scales must be k_scales"},
    {[] { tw::attention(o, of_type(q, element::f32), k, v); }, "attention: q has f32; attention takes f16 and bf16"},
    {[] { tw::attention(of_type(o, element::bf16), q, k, v); }, "attention: o has bf16 and q f16"},
    {[] { tw::attention(o, q, k, v, {.scale = -1}); }, "attention: scale must be positive"},
    {[] { tw::attention(o, q, k, v, {.window_left = -5}); }, "attention: a window is -1"},
    {[] { tw::attention(o, q, k, v, {.causal = true, .window_right = 3}); },
     "attention: causal and window_right contradict"},
    {[] { tw::attention(o, q, k, v, {.query_starts = at(0, element::i32, {3})}); },
     "attention: q has 4 dimensions; it must be (rows"},
    {[] { tw::attention(o, q, k, v, {.lse = floats}); }, "attention: lse is f32 (4), but must be f32 (1, 4, 2)"},
    {[] { tw::attention_backward(q, k, v, o, q, k, v, o, {}); }, "attention_backward: options.lse is missing"},
    {[] { tw::attention_decode(o, q, k, v, {.block_table = at(0, element::i32, {1, 4})}); },
     "attention_decode: pages have 6 rows"},
    {[] {
       const tw::tensor rows = at(4096, element::f16, {6, 1, 1, 32});
       tw::attention_decode(o, q, rows, at(8192, element::f16, {6, 1, 1, 32}),
                            {.block_table = at(0, element::i32, {1, 4})});
     },
     "attention_decode: pages have 1 rows; they must have a multiple of 16, or those of latent attention 1"},
    {[] { tw::attention(o, q, k, v, {.sinks = at(0, element::f32, {3})}); }, "attention: sinks is f32 (3)"},
    {[] { tw::attention(o, q, k, v, {.block_mask = at(0, element::i32, {1, 1, 1})}); }, "attention: block_mask is i32"},
    {[] { tw::attention(o, q, k, v, {.block_mask = at(0, element::i32, {1, 1, 1, 1}), .mask_keys = 0}); },
     "attention: the tiles of a block mask have queries and keys of powers of two"},
    {[] { tw::attention(o, q, k, v, {.block_mask = at(0, element::i32, {1, 3, 1, 1})}); },
     "attention: block_mask is i32 (1, 3, 1, 1); its length 1 must be 2 or 1"},
    {[] { tw::attention(o, q, k, v, {.block_mask = at(0, element::i32, {1, 1, 2, 1})}); },
     "attention: block_mask is i32 (1, 1, 2, 1); its length 2 must be 1"},
    {[] {
       tw::attention_backward(q, k, v, o, q, k, v, o,
                              {.lse = at(0, element::f32, {1, 4, 2}), .block_mask = at(0, element::i32, {1, 1, 2, 1})});
     },
     "attention_backward: block_mask is i32 (1, 1, 2, 1); its length 2 must be 1"},
    {[] { tw::attention(o, q, k, v, {.d_sinks = floats}); }, "attention: d_sinks is a result of attention_backward"},
    {[] { tw::attention_backward(q, k, v, o, q, k, v, o, {.lse = at(0, element::f32, {1, 4, 2}), .d_sinks = floats}); },
     "attention_backward: d_sinks is the gradient of sinks"},
    {[] { tw::attention_decode(o, q, of_type(k, element::i8), v); }, "attention_decode: v has f16 and k i8"},
    {[] { tw::attention_decode(o, q, of_type(k, element::i8), of_type(v, element::i8)); },
     "attention_decode: a cache of i8 needs k_scales and v_scales"},
    {[] {
       tw::attention_decode(o, q, of_type(k, element::i8), of_type(v, element::i8),
                            {.k_scales = at(0, element::f32, {1, 5, 2}), .v_scales = at(0, element::f32, {1, 1, 1})});
     },
     "attention_decode: k_scales is f32 (1, 5, 2); its length 1 must be 6 or 1"},
    {[] { tw::attention_decode(o, q, k, v, {.k_scales = floats}); },
     "attention_decode: k_scales and v_scales are for a cache of fp8 or i8"},
    {[] { tw::attention(o, of_type(q, element::f16), of_type(k, element::i8), v); }, "attention: k has i8 and q f16"},
    {[] { tw::attention(changed(o, [](auto& t) { t.strides[1] = 16; }), q, k, v); },
     "attention: a row stride is smaller than the head dimension"},
};

const tw::tensor wide = at(0, element::f16, {32, 24}), narrow = at(4096, element::f16, {32, 16}),
                 experts = at(8192, element::f16, {4, 24, 16}), ends = at(12288, element::i32, {4});

const std::vector<wrong_call> grouped_calls = {
    {[] { tw::grouped_gemm(none, wide, experts, ends); }, "grouped_gemm: C is null"},
    {[] { tw::grouped_gemm(narrow, wide, b, ends); }, "grouped_gemm: C and A have two dimensions, and B three"},
    {[] { tw::grouped_gemm(at(0, element::f16, {4, 24, 16}), wide, experts, ends); },
     "grouped_gemm: C has three dimensions: (groups, m, n), and A and B two"},
    {[] { tw::grouped_gemm(narrow, narrow, experts, ends); },
     "grouped_gemm: C is f16 (32, 16), A f16 (32, 16) and B f16 (4, 24, 16)"},
    {[] { tw::grouped_gemm(narrow, wide, experts, at(12288, element::i32, {3})); },
     "grouped_gemm: ends is i32 (3), but must be i32 (4)"},
    {[] { tw::grouped_gemm(narrow, wide, experts, at(12288, element::f32, {4})); },
     "grouped_gemm: ends is f32 (4), but must be i32 (4)"},
    {[] { tw::grouped_gemm(narrow, tw::transposed(at(0, element::f16, {24, 32})), experts, ends); },
     "grouped_gemm: A must be contiguous along its last dimension"},
    {[] { tw::grouped_gemm(of_type(narrow, element::bf16), wide, experts, ends); },
     "grouped_gemm: there is no GEMM of f16 that writes bf16"},
};

const std::vector<wrong_call> tensor_calls = {
    {[] { tw::permute(y, none); }, "permute: x is null"},
    {[] { tw::permute(at(4096, element::f16, {64, 4}), x); },
     "permute: y is f16 (64, 4) and x f16 (4, 64); their lengths must be equal"},
    {[] { tw::permute(of_type(y, element::f32), x); }, "permute: x and y have different types"},
    {[] { tw::permute(x, x); }, "permute: x and y are the same memory; write to another tensor"},
    {[] { (void)tw::packed(memory, element::f16, {1, 1, 1, 1, 8, 16}); },
     "packed: there are 6 lengths; give at most 5"},
    {[] { (void)tw::strided(memory, element::f16, {8, 16}, {16}); },
     "strided: there are 2 lengths and 1 strides; give a stride for each length"},
    {[] { tw::elementwise(y, x, ""); }, "elementwise: the expression is empty"},
    {[] { tw::elementwise(y, x, "x * x2", at(8192, element::f16, {4, 63})); },
     "elementwise: x2 is f16 (4, 63) and x f16 (4, 64)"},
    {[] { tw::elementwise(y, x, "x * x2", at(8192, element::f32, {4, 64})); },
     "elementwise: x2 has another type than x"},
    {[] { tw::elementwise(of_type(x, element::f32), x, "x"); }, "elementwise: y is the memory of an input"},
    {[] { tw::reduce(at(4096, element::f32, {4, 2}), x); },
     "reduce: y is f32 (4, 2) and x f16 (4, 64); each length of y must be that of x, or 1"},
    {[] { tw::reduce(at(4096, element::f32, {4}), x); }, "reduce: y is f32 (4) and x f16 (4, 64)"},
    {[] { tw::reduce(at(4096, element::f32, {4, 1}), x, {.kind = tilewright::reduce_kind(7)}); },
     "reduce: kind must be sum, mean or maximum"},
    {[] { tw::reduce(at(4096, element::bf16, {4, 1}), x); }, "reduce: the result is f32, or has the elements of x"},
    {[] { tw::reduce(at(4096, element::i8, {4, 1}), of_type(x, element::i8)); },
     "reduce: the elements are f16, bf16 or f32, not i8"},
};

const tw::tensor logits = at(0, element::f32, {6, 16}), chosen = at(1024, element::i32, {6, 2}),
                 weights = at(2048, element::f32, {6, 2}), of_each = at(3072, element::i32, {16});

const std::vector<wrong_call> routing_calls = {
    {[] { tw::choose_experts(none, weights, logits); }, "choose_experts: expert is null"},
    {[] { tw::choose_experts(chosen, at(2048, element::f32, {6, 3}), logits); },
     "choose_experts: weight is f32 (6, 3), but must be 12 packed f32"},
    {[] { tw::choose_experts(at(1024, element::i32, {6, 17}), weights, logits); },
     "choose_experts: there are 17 choices of 16 experts"},
    {[] { tw::choose_experts(chosen, weights, of_type(logits, element::i32)); },
     "choose_experts: the elements are f16, bf16 or f32, not i32"},
    {[] { tw::order_by_expert(of_each, chosen, at(4096, element::i32, {11}), at(5120, element::i32, {6, 2})); },
     "order_by_expert: position is i32 (11), but must be 12 packed i32"},
    {[] { tw::order_by_expert(at(3072, element::f32, {16}), chosen, chosen, chosen); },
     "order_by_expert: ends is f32 (16)"},
    {[] { tw::order_by_expert(of_each, chosen, chosen, tw::strided(memory, element::i32, {6, 2}, {4, 1})); },
     "order_by_expert: "},  // expert is not packed
    {[] { tw::rows_to_experts(at(4096, element::f16, {12, 63}), at(0, element::f16, {6, 64}), chosen); },
     "rows_to_experts: y is f16 (12, 63) and x f16 (6, 64); types and rows' lengths must be equal"},
    {[] { tw::rows_to_experts(at(4096, element::f16, {12, 64}), at(0, element::f16, {6, 64}), of_each); },
     "rows_to_experts: position is i32 (16), but must be i32 (6"},
    {[] {
       tw::rows_from_experts(at(0, element::f16, {6, 64}), at(4096, element::f16, {12, 64}), chosen,
                             at(2048, element::f32, {6, 3}));
     },
     "rows_from_experts: weight is f32 (6, 3), but must be 12 packed f32"},
};

void expect_all_refused(const std::vector<wrong_call>& calls) {
  (void)take_launches();
  const std::vector<char> before(memory, memory + sizeof memory);
  for (const wrong_call& w : calls) {
    const std::string message = message_of(w.call);
    EXPECT_TRUE(message.starts_with(w.message)) << "expected: " << w.message << "\nmessage:  " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 300u) << message;
  }
  EXPECT_EQ(before, std::vector<char>(memory, memory + sizeof memory));
  EXPECT_EQ(take_launches().size(), 0u);
}

TEST(WrongCalls, OfGemm) { expect_all_refused(gemm_calls); }
TEST(WrongCalls, OfRows) { expect_all_refused(row_calls); }
TEST(WrongCalls, OfAttention) { expect_all_refused(attention_calls); }
TEST(WrongCalls, OfGroups) { expect_all_refused(grouped_calls); }
TEST(WrongCalls, OfTensors) { expect_all_refused(tensor_calls); }
TEST(WrongCalls, OfRouting) { expect_all_refused(routing_calls); }

TEST(WrongCalls, FromC) {
  const auto of = [](const tw::tensor& t) {
    tilewright_tensor r{t.data, int(t.type), t.rank, {}, {}};
    for (int i = 0; i < t.rank; ++i) r.lengths[i] = t.lengths[i], r.strides[i] = t.strides[i];
    return r;
  };
  const tilewright_tensor ca = of(a), cb = of(b), cc = of(c), cx = of(x), cw = of(weight);
  const auto expect = [](tilewright_status status, const std::string& message) {
    EXPECT_EQ(status, TILEWRIGHT_WRONG_CALL) << message;
    EXPECT_TRUE(std::string(tilewright_last_error()).starts_with(message)) << tilewright_last_error();
  };
  expect(tilewright_gemm(nullptr, &ca, &cb, nullptr), "gemm: C is a null pointer");
  tilewright_gemm_options options = TILEWRIGHT_GEMM_OPTIONS;
  options.size = 0;
  expect(tilewright_gemm(&cc, &ca, &cb, &options), "gemm: the options' size is 0");
  options.size = std::size_t(-1);
  expect(tilewright_gemm(&cc, &ca, &cb, &options), "gemm: the options' size is");
  struct {
    tilewright_gemm_options known = TILEWRIGHT_GEMM_OPTIONS;
    int later = 1;
  } newer;
  newer.known.size = sizeof newer;
  expect(tilewright_gemm(&cc, &ca, &cb, &newer.known), "gemm: the options have members that this version");
  options = TILEWRIGHT_GEMM_OPTIONS;
  options.activate = 257;  // 1 as a signed char
  expect(tilewright_gemm(&cc, &ca, &cb, &options), "gemm: activate is 257");
  expect(tilewright_rms_norm(&cx, nullptr, &cw, nullptr), "rms_norm: x is a null pointer");
  expect(tilewright_attention(&cx, &cx, &cx, &cx, nullptr), "attention: q has 2 dimensions");
  expect(tilewright_softmax(&ca, &cx, nullptr), "softmax: y is f16 (8, 16)");
  options = TILEWRIGHT_GEMM_OPTIONS;
  options.size = offsetof(tilewright_gemm_options, beta);  // an older program's: beta has its default
  expect(tilewright_gemm(&ca, &ca, &cb, &options), "gemm: C is 8 x 16");
}

}  // namespace
