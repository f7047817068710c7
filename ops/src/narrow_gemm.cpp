// SPDX-License-Identifier: MIT
#include <tilewright/ops/narrow_gemm.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/core/base/math.hpp>
#include <tilewright/jit/narrow_gemm.hpp>

#include "matrix_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* narrow_op = "narrow_gemm";

template <class Problem>
candidate describe_kernel(const Problem& p, const device_facts& on) {
  Problem split = p;
  candidate c{.reason = "the only one for these types"};
  if (!on.is_emulated()) c.splits = split.args.split_k = jit::narrow_gemm_splits(p, on.target, compute_units(on));
  c.source = jit::narrow_gemm(split);
  c.kernel = c.source(on.target).name;
  c.workspace_bytes = jit::narrow_gemm_workspace(split, on.target);
  c.counts_in_workspace = c.workspace_bytes > 0;
  return c;
}

/// The format; int4 with the scales that are given.
jit::narrow_format format_of(const narrow_weights& b) {
  switch (b.format) {
    case weight_format::mxfp4: return jit::narrow_format_of("mxfp4");
    case weight_format::nvfp4: return jit::narrow_format_of("nvfp4");
    case weight_format::mxfp8: return jit::narrow_format_of("mxfp8");
    case weight_format::int8: return jit::narrow_format_of("int8");
    case weight_format::e4m3: return jit::narrow_format_of("e4m3");
    case weight_format::mxfp8_e5m2: return jit::narrow_format_of("mxfp8_e5m2");
    case weight_format::mxfp6_e2m3: return jit::narrow_format_of("mxfp6_e2m3");
    case weight_format::mxfp6_e3m2: return jit::narrow_format_of("mxfp6_e3m2");
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

element scale_type_of(const narrow_weights& b) {
  if (b.format == weight_format::nvfp4) return element::fp8;
  if (b.format == weight_format::int8 || b.format == weight_format::e4m3) return element::f32;
  if (b.format != weight_format::int4) return element::i8;
  return b.scales.type == element::f16 || b.scales.type == element::bf16 ? b.scales.type : element::f32;
}

/// Codes, scales and zero points as kernels take them.
struct stored_operand {
  jit::narrow_format format;
  const void *codes = nullptr, *scales = nullptr, *zeros = nullptr;
  index_t rows = 0, batch = 1, ld = 0, ld_scales = 0;  ///< ld in elements
  long_index_t batch_stride = 0, batch_stride_scales = 0;
};

matrix_view row_major(const char* name, const tensor& t) {
  const matrix_view m = as_matrix(narrow_op, name, t);
  if (!m.along_cols) refuse(narrow_op, std::string(name) + " must be contiguous along its columns");
  return m;
}

/// Refuses scales (or zero points) that do not have `groups` for each of the operand's rows.
void require_scales(const std::string& name, const tensor& t, element type, const stored_operand& of,
                    long_index_t groups) {
  require_tensor(narrow_op, name.c_str(), t);
  const bool has_batch = of.batch > 1, by_row = of.format.group == 0;
  tensor wanted{.type = type, .rank = 0};
  for (const auto& [exists, length] :
       {std::pair{has_batch, long_index_t(of.batch)}, {true, long_index_t(of.rows)}, {!by_row, groups}})
    if (exists) wanted.lengths[wanted.rank++] = length;
  const bool is_right =
      t.type == type && t.rank == wanted.rank && std::equal(wanted.lengths, wanted.lengths + wanted.rank, t.lengths);
  if (!is_right) refuse(narrow_op, name + " is " + describe(t) + ", but must be " + describe(wanted) + " here");
  const long_index_t inner = t.strides[t.rank - 1], row = by_row ? 1 : t.strides[t.rank - 2];
  if (inner != 1 && t.lengths[t.rank - 1] > 1)
    refuse(narrow_op, name + " must be contiguous along " + (by_row ? "rows" : "the groups of k"));
  if (!by_row && (row < groups || row > 0x7fffffff)) refuse(narrow_op, name + " has overlapping or too distant rows");
}

/// name: "", or "A's " before what messages name.
stored_operand stored(const std::string& name, const narrow_weights& w, index_t k) {
  const matrix_view codes = row_major((name + "codes").c_str(), w.codes);
  stored_operand s;
  s.format = format_of(w), s.codes = codes.data, s.scales = w.scales.data, s.rows = codes.rows, s.batch = codes.batch;
  const index_t bits = s.format.bits, groups = s.format.group == 0 ? 1 : ceil_div(k, s.format.group);
  const bool is_fp8 = w.format == weight_format::e4m3 || w.format == weight_format::mxfp8;
  if (codes.type != element::i8 && !(is_fp8 && codes.type == element::fp8))
    refuse(narrow_op, name + "codes is " + describe(w.codes) + ", but must be of i8");
  if (codes.ld * 8LL % bits != 0 || codes.batch_stride * 8 % bits != 0)
    refuse(narrow_op, name + "codes of 6 bits must have rows at multiples of 48 bytes");
  s.ld = index_t(codes.ld * 8LL / bits), s.batch_stride = codes.batch_stride * 8 / bits;
  require_scales(name + "scales", w.scales, scale_type_of(w), s, groups);
  const bool by_row = s.format.group == 0;
  s.ld_scales = by_row ? 0 : index_t(w.scales.strides[w.scales.rank - 2]);
  if (s.batch > 1) s.batch_stride_scales = w.scales.strides[0];
  if (!w.zeros.data) return s;
  if (!s.format.has_zero_points) refuse(narrow_op, "only int4 has zero points");
  require_scales("zeros", w.zeros, element::i8, s, groups);
  if (!std::equal(w.zeros.strides, w.zeros.strides + w.zeros.rank, w.scales.strides))
    refuse(narrow_op, "zeros must have the strides of scales");
  s.zeros = w.zeros.data;
  return s;
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
  if (r.type != c.type || r.rows != c.rows || r.cols != c.cols || r.batch != c.batch)
    refuse(narrow_op, "residual is " + describe(o.residual) + ", but must have C's lengths and type");
  g.residual = r.data, g.ld_residual = r.ld, g.batch_stride_residual = r.batch_stride;
}

/// What both calls set, and the call.
template <class Problem>
void run_narrow(Problem& p, const matrix_view& to, const stored_operand& b, index_t k, const std::string& types,
                const gemm_options& options) {
  auto& g = p.args;
  p.format = b.format, p.result = to.type;
  g.c = to.data, g.ldc = to.ld, g.m = to.rows, g.n = b.rows, g.k = k;
  g.batch = to.batch, g.batch_stride_c = to.batch_stride;
  g.b = b.codes, g.ldb = b.ld, g.b_scales = b.scales, g.b_zeros = b.zeros, g.ld_b_scales = b.ld_scales;
  g.batch_stride_b = b.batch_stride, g.batch_stride_b_scales = b.batch_stride_scales;
  set_epilogue(g, options, to);
  long_index_t scale_strides[] = {0, 0};
  if constexpr (requires { g.ld_a_scales; })
    scale_strides[0] = g.ld_a_scales, scale_strides[1] = g.batch_stride_a_scales;
  const long_index_t aligned_to = reinterpret_cast<long_index_t>(to.data) % 16;
  run_single<describe_kernel<Problem>>(
      narrow_op,
      key_of_all(narrow_op, std::string_view(types), p.result, g.m, g.n, k, g.lda, g.ldb, g.ldc, g.ld_b_scales,
                 scale_strides[0], scale_strides[1], aligned_to, g.batch, g.batch_stride_a, g.batch_stride_b,
                 g.batch_stride_c, g.batch_stride_b_scales, g.scale != nullptr, g.row_scale != nullptr,
                 static_cast<const void*>(g.column_scale), g.bias, g.residual, g.ld_residual,
                 g.activation != activation::none),
      p, options.stream,
      {.workspace = &g.workspace,
       .splits = &g.split_k,
       .given_workspace = options.workspace,
       .given_bytes = options.workspace_bytes});
}

/// Refuses lengths and batches that do not fit each other.
void require_lengths(const matrix_view& c, index_t a_rows, index_t a_batch, const stored_operand& b,
                     const std::string& given, const std::string& wanted) {
  if (c.rows != a_rows || c.cols != b.rows) refuse(narrow_op, given + "; they must be " + wanted);
  if (a_batch != c.batch || (b.batch != 1 && b.batch != c.batch))
    refuse(narrow_op, given + "; C and A have a batch of the same length, and B has it or none");
}

std::string bytes_of_k(index_t bits) { return bits == 4 ? "k / 2" : bits == 6 ? "3 k / 4" : "k"; }

}  // namespace

void narrow_gemm(const tensor& c, const tensor& a, const narrow_weights& b, const gemm_options& options) {
  const matrix_view to = row_major("C", c), from = row_major("A", a);
  const index_t k = from.cols, bits = format_of(b).bits;
  const matrix_view codes = row_major("codes", b.codes);
  const std::string given = "A is " + describe(a) + ", codes " + describe(b.codes) + " and C " + describe(c);
  if (codes.cols != ceil_div(k * long_index_t(bits), 8LL))
    refuse(narrow_op, given + "; they must be (m, k), (n, " + bytes_of_k(bits) + ") and (m, n)");
  const stored_operand in = stored("", b, k);
  require_lengths(to, from.rows, from.batch, in, given, "(m, k), (n, " + bytes_of_k(bits) + ") and (m, n)");
  jit::narrow_gemm_problem p{.type = from.type};
  p.args.a = from.data, p.args.lda = from.ld, p.args.batch_stride_a = from.batch_stride;
  run_narrow(p, to, in, k, std::string(name_of(from.type)) + " x " + in.format.type, options);
}

void narrow_gemm(const tensor& c, const narrow_weights& a, const narrow_weights& b, const gemm_options& options) {
  const matrix_view to = row_major("C", c), a_codes = row_major("A's codes", a.codes),
                    b_codes = row_major("codes", b.codes);
  const index_t a_bits = format_of(a).bits, b_bits = format_of(b).bits;
  const std::string given =
      "A's codes are " + describe(a.codes) + ", codes " + describe(b.codes) + " and C " + describe(c);
  const std::string wanted = "(m, " + bytes_of_k(a_bits) + "), (n, " + bytes_of_k(b_bits) + ") and (m, n)";
  if (a.zeros.data) refuse(narrow_op, "A has no zero points");
  // Of two lengths in bytes the one with more elements to a byte leaves k open: scales say no more, so k is A's.
  const index_t k = index_t(a_codes.cols * 8LL / a_bits);
  if (b_codes.cols != ceil_div(k * long_index_t(b_bits), 8LL)) refuse(narrow_op, given + "; they must be " + wanted);
  const stored_operand from = stored("A's ", a, k), in = stored("", b, k);
  require_lengths(to, from.rows, from.batch, in, given, wanted);
  jit::narrow_operands_problem p{.a_format = from.format};
  scaled_args& g = p.args;
  g.a = from.codes, g.lda = from.ld, g.batch_stride_a = from.batch_stride;
  g.a_scales = from.scales, g.ld_a_scales = from.ld_scales, g.batch_stride_a_scales = from.batch_stride_scales;
  run_narrow(p, to, in, k, from.format.type + " x " + in.format.type, options);
}

}  // namespace tilewright::ops
