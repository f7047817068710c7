// SPDX-License-Identifier: MIT
// What one run computes with: Q, K and V from files or random, and room for O.
#include "inputs.hpp"

#include <algorithm>
#include <cmath>

#include <tilewright/core/arch/arch.hpp>

#include "../program/available_memory.hpp"
#include "formatted.hpp"
#include "npy.hpp"
#include "random.hpp"

namespace attention_program {
namespace {

using gemm_program::npy_reader, gemm_program::npy_scalar;

/// A size that a file or an option gives; both must agree.
class size {
 public:
  size(const char* what, std::optional<std::int64_t> wanted) : what_(what), value_(wanted), from_("the options") {}
  void fence_operand(std::int64_t value, const std::string& from) {
    if (value_ && *value_ != value)
      throw refusal(std::string(what_) + " would be " + std::to_string(*value_) + " by " + from_ + ", but " +
                    std::to_string(value) + " by " + from);
    value_ = value;
    from_ = from;
  }
  std::int64_t value_or(std::int64_t otherwise) const { return value_.value_or(otherwise); }

 private:
  const char* what_;
  std::optional<std::int64_t> value_;
  std::string from_;
};

std::optional<npy_reader> open(const std::optional<std::string>& name) {
  if (!name) return {};
  return npy_reader(*name);
}

/// Refuses what does not fit: each tensor of 2 bytes for each element, and the copy that a kernel takes.
void require_memory(double bytes) {
  const double available = double(program::available_memory());
  if (bytes > available)
    throw refusal(gemm_program::formatted("the tensors take %.1f GiB, and this process can have %.1f GiB of memory",
                                          bytes * 0x1p-30, available * 0x1p-30));
}

matrix read_or_draw(std::optional<npy_reader>& file, matrix random, std::uint64_t seed, std::uint64_t stream) {
  if (file) return file->read(random.type);
  gemm_program::fill_random(random, seed, stream);
  return random;
}

}  // namespace

inputs prepare_inputs(const options& o) {
  std::optional<npy_reader> q = open(o.q_file), k = open(o.k_file), v = open(o.v_file), d_o = open(o.d_o_file);
  const std::int64_t batch = o.batch.value_or(1);
  size heads("the number of query heads", o.heads), kv_heads("the number of key heads", o.kv_heads),
      queries("the number of queries", o.queries), keys("the number of keys", o.keys),
      dim("the head dimension of Q and K", o.dim), value_dim("the head dimension of V", o.value_dim);
  std::optional<element> type = o.type;
  const auto fence_operand = [&](const std::optional<npy_reader>& file, size& of_heads, size& rows, size& columns) {
    if (!file) return;
    const gemm_program::npy_header& h = file->header();
    if (h.batch % batch != 0)
      throw refusal(file->name() + " holds " + std::to_string(h.batch) + " matrices, which is no multiple of --batch");
    of_heads.fence_operand(h.batch / batch, file->name());
    rows.fence_operand(h.rows, file->name());
    columns.fence_operand(h.cols, file->name());
    if (h.scalar == npy_scalar::f32) return;
    if (h.scalar != npy_scalar::f16 && h.scalar != npy_scalar::bf16)
      throw refusal(file->name() + " holds neither float16, bfloat16 nor float32");
    if (o.type == element::e4m3) return;  // they are rounded
    const element found = h.scalar == npy_scalar::f16 ? element::f16 : element::bf16;
    if (type && *type != found)
      throw refusal(file->name() + " holds " + name_of(found) + ", but another file or --dtype says " + name_of(*type));
    type = found;
  };
  fence_operand(q, heads, queries, dim);
  fence_operand(k, kv_heads, keys, dim);
  fence_operand(v, kv_heads, keys, value_dim);
  fence_operand(d_o, heads, queries, value_dim);

  inputs data;
  data.batch = batch;
  data.kv_heads = kv_heads.value_or(heads.value_or(2));
  data.heads = heads.value_or(data.kv_heads);
  if (data.heads % data.kv_heads != 0)
    throw refusal(std::to_string(data.heads) + " query heads are no multiple of " + std::to_string(data.kv_heads) +
                  " key heads");
  const std::int64_t d = dim.value_or(64), dv = value_dim.value_or(d), n = queries.value_or(128),
                     s = keys.value_or(128);
  if (d > 256 || dv > 256) throw refusal("the program has kernels for head dimensions up to 256");
  const element t = type.value_or(element::f16);
  const bool is_fp8 = t == element::e4m3;
  require_memory((o.backward || is_fp8 ? 8 : 4) * double(batch) * double(d + dv) *
                 (double(data.heads) * double(n) + double(data.kv_heads) * double(s)));
  const auto tensor = [&](std::int64_t count, std::int64_t rows, std::int64_t cols) {
    if (double(batch) * double(count) * double(rows) * double(cols) > 0x1p34)
      throw refusal("a tensor would have more than 2^34 elements");
    return matrix{.rows = rows, .cols = cols, .type = is_fp8 ? element::f32 : t, .batch = batch * count};
  };
  data.q = read_or_draw(q, tensor(data.heads, n, d), o.seed, 1);
  data.k = read_or_draw(k, tensor(data.kv_heads, s, d), o.seed, 2);
  data.v = read_or_draw(v, tensor(data.kv_heads, s, dv), o.seed, 3);
  data.o = matrix{.rows = n, .cols = dv, .type = is_fp8 ? element::bf16 : t, .batch = batch * data.heads};
  if (o.backward) {
    data.d_o = read_or_draw(d_o, tensor(data.heads, n, dv), o.seed, 4);
    data.d_q = tensor(data.heads, n, d);
    data.d_k = tensor(data.kv_heads, s, d);
    data.d_v = tensor(data.kv_heads, s, dv);
  }
  data.lse = matrix{.rows = batch * data.heads, .cols = n, .type = element::f32};
  data.scale = o.scale.value_or(1 / std::sqrt(float(d)));
  data.window = o.window;
  data.q_source = o.q_file.value_or("random");
  data.k_source = o.k_file.value_or("random");
  data.v_source = o.v_file.value_or("random");
  return data;
}

void quantise(inputs& data, const std::string& target, kernel_kind kernel) {
  if (data.q.type != element::f32) return;
  const tilewright::arch::target* const known = tilewright::arch::find_target(target.c_str());
  using enum tilewright::arch::fp8_kind;
  if (target != "sm_90" && (!known || known->fp8 == none))
    throw refusal(target + " multiplies no 8-bit floats; --dtype fp8 is for gfx942, gfx950, gfx12 and sm_90");
  if (target == "sm_90" && kernel == kernel_kind::portable)
    throw refusal("the portable kernel has no 8-bit elements on sm_90; leave --kernel out");
  const element type = known->fp8 == fnuz ? element::e4m3fnuz : element::e4m3;
  const auto round = [&](matrix& tensor, std::vector<float>& scales) {
    matrix rounded{.rows = tensor.rows, .cols = tensor.cols, .type = type, .batch = tensor.batch};
    const std::int64_t count = tensor.rows * tensor.cols;
    for (std::int64_t z = 0; z < tensor.batch; ++z) {
      double largest = 0;
      for (std::int64_t i = z * count; i < (z + 1) * count; ++i) {
        const double size = std::abs(value_of(element::f32, tensor.bits_at(i)));
        if (std::isfinite(size)) largest = std::max(largest, size);
      }
      scales.push_back(largest > 0 ? float(largest / gemm_program::largest_of(type)) : 1.0f);
      for (std::int64_t i = z * count; i < (z + 1) * count; ++i)
        rounded.set_bits_at(i, bits_of(type, value_of(element::f32, tensor.bits_at(i)) / double(scales.back())));
    }
    tensor = std::move(rounded);
  };
  round(data.q, data.q_scales);
  round(data.k, data.k_scales);
  round(data.v, data.v_scales);
}

std::int64_t kernel_dim(const inputs& data) {
  const std::int64_t cols = std::max(data.q.cols, data.v.cols);
#ifdef ATTENTION_HEAD_DIM
  if (cols > ATTENTION_HEAD_DIM)
    throw refusal("the kernels for " + std::to_string(cols) +
                  " columns are not built by ./dev test; use the preset release");
  return ATTENTION_HEAD_DIM;
#endif
  return cols <= 64 && !gemm_program::is_fp8(data.q.type) ? 64 : cols <= 128 ? 128 : 256;
}

}  // namespace attention_program
