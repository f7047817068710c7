// SPDX-License-Identifier: MIT
// Kernels on rows (softmax, norms and their gradients, quantisation, rotary embedding, cross-entropy) as requests to a
// jit::compiler.
#pragma once

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/element_function.hpp>
#include <tilewright/jit/kernel.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/norm_gradient_partials.hpp>
#include <tilewright/kernels/rows/quantise_rows.hpp>
#include <tilewright/kernels/rows/rotary.hpp>
#include <tilewright/kernels/rows/softmax.hpp>

namespace tilewright::jit {

// Each request has the tile for the length and the alignment of its problem. All problems with one tile share a kernel:
// lengths, strides and pointers are arguments of a launch. Pointers of `args` that every launch needs may be null, and
// count as aligned; those of optional tensors say whether launches have them. A request throws error with the sentence
// of check() where no kernel can compute the problem. Kernels take the type of `args`, or the same with element types.

struct softmax_problem {
  element type = element::f16;  // f16, bf16 or f32
  softmax_kind kind = softmax_kind::softmax;
  softmax_args<void> args = {};
};
kernel_request softmax(const softmax_problem& problem);

struct norm_problem {
  element type = element::f16;           // f16, bf16 or f32
  element result = element::f16;         // of y: the same type; with scales fp8, bf8 or i8
  scale_kind scales = scale_kind::none;  // none if, and only if, y has the type of x
  norm_kind kind = norm_kind::rms_norm;
  norm_args<void, void> args = {};
};
kernel_request row_norm(const norm_problem& problem);

struct norm_gradient_problem {
  element type = element::f16;  // f16, bf16 or f32
  norm_kind kind = norm_kind::rms_norm;
  norm_gradient_args<void> args = {};  // num_partials may be 0: launches say it
};
kernel_request norm_gradient(const norm_gradient_problem& problem);
/// The args.num_partials that suits the GPU on which `loaded`, the kernel of this problem, is.
index_t choose_num_partials(const norm_gradient_problem& problem, const kernel& loaded);

struct quantise_problem {
  element type = element::f16;    // f16, bf16 or f32
  element result = element::fp8;  // fp8, bf8 or i8
  scale_kind scales = scale_kind::per_row;
  element_function function = {};  // f(0) is 0; of x and x2 where args.x2 is given
  quantise_args<void, void> args = {};
};
kernel_request quantise_rows(const quantise_problem& problem);

struct rotary_problem {
  element type = element::f16;  // f16, bf16 or f32
  rotary_kind kind = rotary_kind::half_split;
  rotary_args<void> args = {};
};
kernel_request rotary(const rotary_problem& problem);

struct cross_entropy_problem {
  element type = element::f16;  // f16, bf16 or f32
  cross_entropy_kind kind = cross_entropy_kind::loss;
  bool has_long_targets = false;  // 64 bits each
  cross_entropy_args<void, void> args = {};
};
kernel_request cross_entropy(const cross_entropy_problem& problem);

}  // namespace tilewright::jit
