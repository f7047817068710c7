// SPDX-License-Identifier: MIT
#include <tilewright/ops/narrow_gemm.hpp>

#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

#include "matrix_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* narrow_op = "narrow_gemm";

candidate describe_kernel(const jit::narrow_gemm_problem& p, const device_facts& on) {
  jit::kernel_request source = jit::narrow_gemm(p);
  candidate c{.kernel = source(on.target).name, .reason = "the only one for these types", .source = source};
  if (p.args.m <= 16 && on.target.starts_with("sm_90"))
    c.workspace_bytes = hopper_gemm_workspace::bytes, c.counts_in_workspace = true;
  return c;
}

/// The format, and the type that its scales must have; null: those of `given`.
jit::narrow_format format_of(const narrow_weights& b) {
  switch (b.format) {
    case weight_format::mxfp4: return jit::narrow_format_of("mxfp4");
    case weight_format::nvfp4: return jit::narrow_format_of("nvfp4");
    case weight_format::mxfp8: return jit::narrow_format_of("mxfp8");
    case weight_format::int8: return jit::narrow_format_of("int8");
    case weight_format::e4m3: return jit::narrow_format_of("e4m3");
    default: break;
  }
  if (b.format != weight_format::int4)
    refuse(narrow_op, "format is " + std::to_string(int(b.format)) + ", which is no weight_format");
  const std::string group = std::to_string(b.group);
  if (b.group != 32 && b.group != 64 && (b.group <= 0 || b.group % 128 != 0))
    refuse(narrow_op, "group is " + group + "; it must be 32, 64 or a multiple of 128");
  const element scale = b.scales.type == element::f16 || b.scales.type == element::bf16 ? b.scales.type : element::f32;
  return jit::narrow_format_of((b.zeros.data ? "int4_zero_" : "int4_") + group + "_" + name_of(scale));
}

void require_scales(const narrow_weights& b, const jit::narrow_format& f, index_t n, index_t k) {
  require_tensor(narrow_op, "scales", b.scales);
  const element wanted =
      b.format == weight_format::nvfp4                                       ? element::fp8
      : b.format == weight_format::mxfp4 || b.format == weight_format::mxfp8 ? element::i8
      : b.format == weight_format::int4 && (b.scales.type == element::f16 || b.scales.type == element::bf16)
          ? b.scales.type
          : element::f32;
  if (f.group == 0) return require_vector(narrow_op, "scales", b.scales, wanted, n);
  const long_index_t groups = ceil_div(k, f.group);
  const auto require = [&](const char* name, const tensor& t, element type) {
    require_tensor(narrow_op, name, t, type, {n, groups});
    if (t.strides[1] != 1 && groups > 1)
      refuse(narrow_op, std::string(name) + " must be contiguous along the groups of k");
    if (t.strides[0] < groups || t.strides[0] > 0x7fffffff)
      refuse(narrow_op, std::string(name) + " has overlapping or too distant rows");
  };
  require("scales", b.scales, wanted);
  if (!b.zeros.data) return;
  if (!f.has_zero_points) refuse(narrow_op, "only int4 has zero points");
  require("zeros", b.zeros, element::i8);
  if (b.zeros.strides[0] != b.scales.strides[0]) refuse(narrow_op, "zeros must have the strides of scales");
}

matrix_view row_major(const char* name, const tensor& t) {
  const matrix_view m = as_matrix(narrow_op, name, t);
  if (!m.along_cols || m.batch != 1)
    refuse(narrow_op, std::string(name) + " must be one matrix that is contiguous along its columns");
  return m;
}

void set_epilogue(narrow_args& g, const gemm_options& o, const matrix_view& c) {
  if (o.gate.data || o.choice) refuse(narrow_op, "there is no gate and no choice of kernels");
  g.alpha = o.alpha, g.beta = o.beta, g.activation = o.activate;
  if (o.scale.data) require_vector(narrow_op, "scale", o.scale, element::f32, 1);
  if (o.row_scale.data) require_vector(narrow_op, "row_scale", o.row_scale, element::f32, c.rows);
  if (o.column_scale.data) require_vector(narrow_op, "column_scale", o.column_scale, element::f32, c.cols);
  if (o.bias.data) require_vector(narrow_op, "bias", o.bias, c.type, c.cols);
  g.scale = static_cast<const float*>(o.scale.data), g.row_scale = static_cast<const float*>(o.row_scale.data);
  g.column_scale = static_cast<const float*>(o.column_scale.data), g.bias = o.bias.data;
  if (!o.residual.data) return;
  const matrix_view r = row_major("residual", o.residual);
  if (r.type != c.type || r.rows != c.rows || r.cols != c.cols)
    refuse(narrow_op, "residual is " + describe(o.residual) + ", but must have C's lengths and type");
  g.residual = r.data, g.ld_residual = r.ld;
}

}  // namespace

void narrow_gemm(const tensor& c, const tensor& a, const narrow_weights& b, const gemm_options& options) {
  const matrix_view to = row_major("C", c), from = row_major("A", a), codes = row_major("codes", b.codes);
  const jit::narrow_format format = format_of(b);
  const bool is_fp8 = b.format == weight_format::e4m3 || b.format == weight_format::mxfp8;
  if (codes.type != element::i8 && !(is_fp8 && codes.type == element::fp8))
    refuse(narrow_op, "codes is " + describe(b.codes) + ", but must be of i8");
  const index_t in_byte = 8 / format.bits, n = codes.rows, k = from.cols;
  if (codes.cols != ceil_div(k, in_byte) || to.rows != from.rows || to.cols != n)
    refuse(narrow_op, "A is " + describe(a) + ", codes " + describe(b.codes) + " and C " + describe(c) +
                          "; they must be (m, k), (n, " + (in_byte == 2 ? "k / 2" : "k") + ") and (m, n)");
  require_scales(b, format, n, k);
  jit::narrow_gemm_problem p{.type = from.type, .result = to.type, .format = format};
  narrow_args& g = p.args;
  g.a = from.data, g.b = codes.data, g.c = to.data;
  g.m = to.rows, g.n = n, g.k = k, g.lda = from.ld, g.ldb = codes.ld * in_byte, g.ldc = to.ld;
  g.b_scales = b.scales.data, g.b_zeros = format.has_zero_points ? b.zeros.data : nullptr;
  g.ld_b_scales = format.group == 0 ? 0 : index_t(b.scales.strides[0]);
  set_epilogue(g, options, to);
  const long_index_t aligned_to = reinterpret_cast<long_index_t>(to.data) % 16;
  run_single<describe_kernel>(
      narrow_op,
      key_of_all(narrow_op, p.type, p.result, std::string_view(format.type), g.m, n, k, g.lda, g.ldb, g.ldc,
                 g.ld_b_scales, aligned_to, g.scale != nullptr, g.row_scale != nullptr,
                 static_cast<const void*>(g.column_scale), g.bias, g.residual, g.ld_residual,
                 g.activation != activation::none),
      p, options.stream,
      {.workspace = &g.workspace, .given_workspace = options.workspace, .given_bytes = options.workspace_bytes});
}

}  // namespace tilewright::ops
