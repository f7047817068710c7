// SPDX-License-Identifier: MIT
#include <tilewright/ops/rotary.hpp>

#include <tilewright/jit/rows.hpp>

#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* rotary_op = "rotary";

candidate describe_rotary(const jit::rotary_problem& p, const device_facts&) {
  return kernel_for(p.kind == rotary_kind::half_split ? "rotary" : "rotary_interleaved", p.type, jit::rotary(p));
}

/// (tokens, heads, dim); a batch before them becomes tokens.
tensor as_heads(const char* name, tensor t) {
  require_tensor(rotary_op, name, t);
  if (t.rank != 3 && t.rank != 4)
    refuse(rotary_op, std::string(name) + " has " + std::to_string(t.rank) +
                          " dimensions; it must be (tokens, heads, dim) or (batch, tokens, heads, dim)");
  if (t.strides[t.rank - 1] != 1 && t.lengths[t.rank - 1] > 1)
    refuse(rotary_op, std::string(name) + ": the last dimension must be contiguous");
  if (t.rank == 3) return t;
  if (t.lengths[0] > 1 && t.strides[0] != t.lengths[1] * t.strides[1])
    refuse(rotary_op, std::string(name) + ": its batch must follow with the stride of tokens; call once for each");
  return strided(t.data, t.type, {t.lengths[0] * t.lengths[1], t.lengths[2], t.lengths[3]},
                 {t.strides[1], t.strides[2], t.strides[3]});
}

}  // namespace

void rotary(const tensor& y, const tensor& x, const tensor& cos, const tensor& sin, const rotary_options& options) {
  const tensor in = as_heads("x", x), out = as_heads("y", y);
  require_tensor(rotary_op, "y", out, in.type, {in.lengths[0], in.lengths[1], in.lengths[2]});
  require_tensor(rotary_op, "cos", cos, element::f32, {-1, -1});
  require_tensor(rotary_op, "sin", sin, element::f32, {cos.lengths[0], cos.lengths[1]});
  for (const auto& [name, t] : {std::pair{"cos", &cos}, {"sin", &sin}})
    if ((t->strides[1] != 1 && t->lengths[1] > 1) || (t->strides[0] != t->lengths[1] && t->lengths[0] > 1))
      refuse(rotary_op, std::string(name) + " must be packed: one row of pairs after another");
  if (2 * cos.lengths[1] > in.lengths[2])
    refuse(rotary_op, "cos has " + std::to_string(cos.lengths[1]) + " pairs; a head of " +
                          std::to_string(in.lengths[2]) + " elements has at most half as many");
  if (in.lengths[0] > 0x7fffffff) refuse(rotary_op, "x has more than 2^31 tokens; split it");
  if (options.position.data) require_vector(rotary_op, "position", options.position, element::i32, in.lengths[0]);
  jit::rotary_problem p{.type = in.type,
                        .kind = options.is_interleaved ? rotary_kind::interleaved : rotary_kind::half_split};
  p.args = {.x = in.data,
            .y = out.data,
            .cos = static_cast<const float*>(cos.data),
            .sin = static_cast<const float*>(sin.data),
            .position = static_cast<const index_t*>(options.position.data),
            .tokens = index_t(in.lengths[0]),
            .heads = index_t(in.lengths[1]),
            .pairs = index_t(cos.lengths[1]),
            .max_position = index_t(cos.lengths[0]),
            .x_token_stride = in.strides[0],
            .x_head_stride = in.strides[1],
            .y_token_stride = out.strides[0],
            .y_head_stride = out.strides[1],
            .is_inverse = options.is_inverse};
  const auto& a = p.args;
  run_single<describe_rotary>(
      rotary_op,
      key_of_all(rotary_op, p.type, p.kind, a.x, a.y, static_cast<const void*>(a.cos), static_cast<const void*>(a.sin),
                 a.position != nullptr, a.tokens, a.heads, a.pairs, a.max_position, a.x_token_stride, a.x_head_stride,
                 a.y_token_stride, a.y_head_stride),
      p, options.stream);
}

}  // namespace tilewright::ops
