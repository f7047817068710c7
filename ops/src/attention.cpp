// SPDX-License-Identifier: MIT
#include <tilewright/ops/attention.hpp>

#include <algorithm>
#include <string>

#include <tilewright/jit/attention.hpp>

#include "attention_view.hpp"
#include "single_kernel.hpp"

namespace tilewright::ops {
namespace {

template <class Problem>
std::string name_with_dims(const char* name, const Problem& p) {
  return std::string(name) + "_d" + std::to_string(p.head_dim) +
         (p.value_dim == p.head_dim ? "" : "_" + std::to_string(p.value_dim));
}

/// The kernel of these lengths, and one for all lengths, where an archive has that one.
std::vector<candidate> describe_forward(const jit::attention_problem& p, const device_facts&) {
  const std::string name = name_with_dims("attention", p);
  jit::attention_problem general = p;
  general.for_all_lengths = true;
  std::vector<candidate> list{kernel_for(name, p.type, jit::attention(p)),
                              kernel_for(name, p.type, jit::attention(general))};
  list.back().is_for_archives = true;
  return list;
}

candidate describe_backward(const jit::attention_backward_problem& p, const device_facts& on) {
  candidate c = kernel_for(name_with_dims("attention_backward", p), p.type, jit::attention_backward(p));
  c.workspace_bytes = jit::workspace_bytes(p, on.target);
  return c;
}

candidate describe_decode(const jit::attention_decode_problem& p, const device_facts& on) {
  candidate c = kernel_for(name_with_dims("attention_decode", p), p.type, jit::attention_decode(p));
  attention_decode_args args = p.args;
  const index_t rows = jit::rows_of_block(p, on.target);
  const bool is_ragged = tilewright::detail::is_ragged(args);
  c.splits = is_ragged ? args.choose_shares(compute_units(on), rows) : args.choose_splits(compute_units(on), rows);
  (is_ragged ? args.shares : args.splits) = c.splits;
  c.reason = std::string(is_ragged ? "keys of all sequences" : "keys") + " in " + std::to_string(c.splits) +
             (is_ragged ? " shares" : " splits") + " for " + std::to_string(compute_units(on)) + " compute units";
  c.workspace_bytes = workspace_bytes(args, p.value_dim);
  return c;
}

/// As `like`, a gradient or what it is of.
void set_gradient(const char* op, const char* name, const tensor& t, const tensor& like, const void*& data,
                  attention_strides& strides) {
  require_tensor(op, name, t);
  if (t.rank != like.rank || t.type != like.type || !std::equal(t.lengths, t.lengths + t.rank, like.lengths))
    refuse(op, std::string(name) + " is " + describe(t) + ", but must be " + describe(like));
  if (t.strides[t.rank - 1] != 1) refuse(op, std::string(name) + ": the head dimension must be contiguous");
  data = t.data;
  strides = strides_of(op, name, t);
}

}  // namespace

void attention(const tensor& o, const tensor& q, const tensor& k, const tensor& v, const attention_options& options) {
  constexpr const char* op = "attention";
  jit::attention_problem p;
  const attention_view view = view_attention(op, o, q, k, v, options, key_tensors::of_sequences, p.args);
  p.type = view.type, p.head_dim = view.head_dim, p.value_dim = view.value_dim;
  if (options.d_sinks.data) refuse(op, "d_sinks is a result of attention_backward");
  const bool is_masked = p.args.block_mask.bits != nullptr;
  if (const char* why = tilewright::detail::check_attention(p.args, p.head_dim, p.value_dim, 8, 8, is_masked))
    refuse(op, why);
  call_key key(op);
  add_to_key(key, view, p.args);
  run_single<describe_forward>(op, key, p, options.stream);
}

void attention_backward(const tensor& dq, const tensor& dk, const tensor& dv, const tensor& d_o, const tensor& q,
                        const tensor& k, const tensor& v, const tensor& o, const attention_options& options) {
  constexpr const char* op = "attention_backward";
  jit::attention_backward_problem p;
  if (!options.lse.data) refuse(op, "options.lse is missing: the gradients need the log-sum-exp that attention wrote");
  const attention_view view = view_attention(op, o, q, k, v, options, key_tensors::of_sequences, p.args);
  p.type = view.type, p.head_dim = view.head_dim, p.value_dim = view.value_dim;
  if (std::max(p.head_dim, p.value_dim) > 256) refuse(op, "there are gradients for head dimensions up to 256");
  attention_backward_args& a = p.args;
  if (options.d_sinks.data) {
    if (!a.sinks) refuse(op, "d_sinks is the gradient of sinks, which are missing");
    require_vector(op, "d_sinks", options.d_sinks, element::f32, a.heads);
    a.d_sinks = static_cast<float*>(options.d_sinks.data);
  }
  const void* written[3];
  set_gradient(op, "d_o", d_o, o, a.d_o, a.d_o_strides);
  set_gradient(op, "dq", dq, q, written[0], a.d_q_strides);
  set_gradient(op, "dk", dk, k, written[1], a.d_k_strides);
  set_gradient(op, "dv", dv, v, written[2], a.d_v_strides);
  a.d_q = dq.data, a.d_k = dk.data, a.d_v = dv.data;
  call_key key(op);
  add_to_key(key, view, a);
  for (const void* x : {a.d_o, written[0], written[1], written[2]}) key.add(x);
  key.add(a.d_sinks != nullptr);
  for (const attention_strides* s : {&a.d_o_strides, &a.d_q_strides, &a.d_k_strides, &a.d_v_strides})
    key.add(s->batch).add(s->head).add(s->row);
  run_single<describe_backward>(op, key, p, options.stream, {.workspace = &a.workspace});
}

namespace {

/// Scales of an 8-bit cache: (blocks, rows, kv_heads), lengths of 1 are for all.
void set_scales(const char* op, const char* name, const tensor& scales, const tensor& cache, const float*& data,
                attention_strides& strides) {
  const int r = cache.rank - 3;  // 0 without a batch
  const long_index_t blocks = r > 0 ? cache.lengths[0] : 1, rows = cache.lengths[r], heads = cache.lengths[r + 1];
  require_tensor(op, name, scales, element::f32, {-1, -1, -1});
  const long_index_t wanted[] = {blocks, rows, heads};
  for (int i = 0; i < 3; ++i)
    if (scales.lengths[i] != 1 && scales.lengths[i] != wanted[i])
      refuse(op, std::string(name) + " is " + describe(scales) + "; its length " + std::to_string(i) + " must be " +
                     std::to_string(wanted[i]) + " or 1");
  const auto stride = [&](int i) { return scales.lengths[i] > 1 ? scales.strides[i] : 0; };
  if (stride(1) > (1 << 24)) refuse(op, std::string(name) + " has a stride of more than 2^24 from row to row");
  data = static_cast<const float*>(scales.data);
  strides = {.batch = stride(0), .head = stride(2), .row = index_t(stride(1))};
}

/// The pages of a cache.
void set_pages(const char* op, const tensor& table, bool is_latent, attention_decode_args& a) {
  require_tensor(op, "block_table", table, element::i32, {a.batch, -1});
  if (table.strides[1] != 1 && table.lengths[1] > 1) refuse(op, "block_table must be contiguous along pages");
  a.rows_per_page = a.keys;
  if (a.rows_per_page % 16 != 0 && !(is_latent && a.rows_per_page == 1))
    refuse(op, "pages have " + std::to_string(a.keys) +
                   " rows; they must have a multiple of 16, or those of latent attention 1");
  if (table.lengths[1] * a.rows_per_page > 0x7fffffff - 1024)
    refuse(op, "the pages of a sequence have 2^31 keys or more");
  a.keys = index_t(table.lengths[1]) * a.rows_per_page;
  a.block_table = static_cast<const index_t*>(table.data);
  a.table_stride = index_t(table.lengths[0] > 1 ? table.strides[0] : table.lengths[1]);
}

}  // namespace

void attention_decode(const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                      const attention_decode_options& options) {
  constexpr const char* op = "attention_decode";
  jit::attention_decode_problem p;
  attention_decode_args& a = p.args;
  const bool pages = options.block_table.data != nullptr;
  const attention_view view = view_attention(op, o, q, k, v,
                                             {.scale = options.scale,
                                              .causal = options.causal,
                                              .window_left = options.window_left,
                                              .lse = options.lse,
                                              .query_starts = options.query_starts,
                                              .max_queries = options.max_queries,
                                              .sinks = options.sinks},
                                             pages ? key_tensors::cache_in_pages : key_tensors::cache, a);
  p.type = view.type, p.head_dim = view.head_dim, p.value_dim = view.value_dim, p.cache_type = view.cache_type;
  p.is_latent = v.data == k.data;
  if (view.cache_type != view.type) {
    if (!options.k_scales.data || !options.v_scales.data)
      refuse(op, std::string("a cache of ") + name_of(view.cache_type) + " needs k_scales and v_scales");
    if (p.is_latent && options.v_scales.data != options.k_scales.data)
      refuse(op, "v is in the rows of k, so v_scales must be k_scales");
    set_scales(op, "k_scales", options.k_scales, k, a.k_scales, a.k_scale_strides);
    set_scales(op, "v_scales", options.v_scales, v, a.v_scales, a.v_scale_strides);
  } else if (options.k_scales.data || options.v_scales.data) {
    refuse(op, "k_scales and v_scales are for a cache of fp8 or i8");
  }
  if (pages) set_pages(op, options.block_table, p.is_latent, a);
  if (options.key_counts.data) {
    require_vector(op, "key_counts", options.key_counts, element::i32, a.batch);
    a.key_counts = static_cast<const index_t*>(options.key_counts.data);
  }
  call_key key(op);
  add_to_key(key, view, a);
  key.add(a.key_counts != nullptr).add(p.is_latent).add(pages).add(a.table_stride).add(a.rows_per_page);
  for (const attention_strides* s : {&a.k_scale_strides, &a.v_scale_strides})
    key.add(s->batch).add(s->head).add(s->row);
  run_single<describe_decode>(
      op, key, p, options.stream,
      {.workspace = &a.workspace, .splits = tilewright::detail::is_ragged(a) ? &a.shares : &a.splits});
}

}  // namespace tilewright::ops
