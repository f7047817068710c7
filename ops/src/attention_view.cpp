// SPDX-License-Identifier: MIT
#include "attention_view.hpp"

#include <cmath>
#include <string>
#include <tuple>

#include "call.hpp"
#include "matrix_view.hpp"

namespace tilewright::ops {
namespace {

/// Lengths of (batch, rows, heads, dim).
struct head_lengths {
  long_index_t batch, rows, heads, dim;
};

head_lengths lengths_of(const char* operation, const char* name, const tensor& t, bool is_packed) {
  require_tensor(operation, name, t);
  const int rank = is_packed ? 3 : t.rank;
  if (t.rank != rank || (rank != 3 && rank != 4))
    refuse(operation, std::string(name) + " has " + std::to_string(t.rank) + " dimensions; it must be " +
                          (is_packed ? "(rows, heads, dim) where query_starts are given"
                                     : "(batch, rows, heads, dim) or (rows, heads, dim)"));
  const int r = t.rank - 3;
  if (t.strides[r + 2] != 1 && t.lengths[r + 2] > 1)
    refuse(operation, std::string(name) + ": the head dimension must be contiguous");
  if (t.strides[r] > 0x7fffffff)
    refuse(operation, std::string(name) + " has a stride of " + std::to_string(t.strides[r]) +
                          " from row to row; it must be below 2^31");
  return {r > 0 ? t.lengths[0] : 1, t.lengths[r], t.lengths[r + 1], t.lengths[r + 2]};
}

void require_equal(const char* operation, const char* what, long_index_t x, const char* other, long_index_t y) {
  if (x != y)
    refuse(operation, std::string(what) + " is " + std::to_string(x) + " and " + other + " " + std::to_string(y) +
                          "; they must be equal");
}

/// Sequences with different numbers of queries: how many there are.
index_t set_query_starts(const char* operation, const attention_options& o, attention_args& args) {
  require_tensor(operation, "query_starts", o.query_starts, element::i32, {-1});
  const long_index_t count = o.query_starts.lengths[0];
  require_vector(operation, "query_starts", o.query_starts, element::i32, count);
  if (count < 2) refuse(operation, "query_starts has one number; of n sequences there are n + 1");
  if (o.max_queries < 1) refuse(operation, "with query_starts give max_queries, the most of a sequence");
  args.query_starts = static_cast<const index_t*>(o.query_starts.data);
  args.queries = o.max_queries;
  return index_t(count - 1);
}
void set_key_starts(const char* operation, const attention_options& o, attention_args& args) {
  if (!o.query_starts.data || !o.key_starts.data)
    refuse(operation, "query_starts and key_starts belong together: give both, or neither");
  require_vector(operation, "key_starts", o.key_starts, element::i32, o.query_starts.lengths[0]);
  if (o.max_keys < 1) refuse(operation, "with key_starts give max_keys, the length of the longest sequence");
  args.key_starts = static_cast<const index_t*>(o.key_starts.data);
  args.keys = o.max_keys;
}

void set_mask(const char* operation, const attention_options& o, int head_dim, attention_args& args) {
  if (o.window_left < -1 || o.window_right < -1) refuse(operation, "a window is -1 (no limit) or a number of keys");
  if (o.causal && o.window_right > 0) refuse(operation, "causal and window_right contradict each other; give one");
  args.window = {o.window_left, o.causal ? 0 : o.window_right};
  if (o.scale < 0 || !std::isfinite(o.scale)) refuse(operation, "scale must be positive, or 0 for 1 / sqrt(dim)");
  args.scale = o.scale > 0 ? o.scale : 1 / std::sqrt(float(head_dim));
}

void set_block_mask(const char* operation, const attention_options& o, attention_args& args) {
  const tensor& t = o.block_mask;
  require_tensor(operation, "block_mask", t, element::i32, {-1, -1, -1, -1});
  attention_block_mask& m = args.block_mask;
  const auto stride = [&](int i) { return t.lengths[i] > 1 ? t.strides[i] : 0; };
  if (t.strides[3] != 1 && t.lengths[3] > 1) refuse(operation, "block_mask: the words of a row must be contiguous");
  if (stride(2) < 0 || stride(2) > 0x7fffffff)
    refuse(operation, "block_mask has a stride from row to row that is negative, or 2^31 or more");
  m = {.queries = o.mask_queries,
       .keys = o.mask_keys,
       .bits = static_cast<const unsigned*>(t.data),
       .strides = {.batch = stride(0), .head = stride(1), .row = index_t(t.lengths[3])}};
  if (const char* why = tilewright::detail::check_block_mask(args, true)) refuse(operation, why);
  if (t.lengths[2] > 1) m.strides.row = index_t(t.strides[2]);
  const long_index_t wanted[] = {args.batch, args.heads, ceil_div(args.queries, m.queries)};
  for (int i = 0; i < 3; ++i)
    if (t.lengths[i] != wanted[i] && (i == 2 || t.lengths[i] != 1))
      refuse(operation, "block_mask is " + describe(t) + "; its length " + std::to_string(i) + " must be " +
                            std::to_string(wanted[i]) + (i == 2 ? "" : " or 1"));
}

/// (batch, queries, heads) or (queries, heads) floats.
void set_lse(const char* operation, const tensor& lse, const tensor& q, attention_args& args) {
  if (q.rank == 4)
    require_tensor(operation, "lse", lse, element::f32, {q.lengths[0], q.lengths[1], q.lengths[2]});
  else
    require_tensor(operation, "lse", lse, element::f32, {q.lengths[0], q.lengths[1]});
  const int r = lse.rank - 2;
  if (lse.strides[r] > 0x7fffffff) refuse(operation, "lse has a stride of 2^31 or more from row to row");
  args.lse = static_cast<float*>(lse.data);
  args.lse_strides = {r > 0 ? lse.strides[0] : 0, lse.strides[r + 1], index_t(lse.strides[r])};
}

void require_types(const char* operation, const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                   key_tensors keys) {
  if (q.type != element::f16 && q.type != element::bf16)
    refuse(operation, std::string("q has ") + name_of(q.type) + "; attention takes f16 and bf16");
  const bool is_8bit = keys != key_tensors::of_sequences && (k.type == element::fp8 || k.type == element::i8);
  if (is_8bit && v.type != k.type)
    refuse(operation, std::string("v has ") + name_of(v.type) + " and k " + name_of(k.type) + "; they must be equal");
  for (const auto& [name, t] : {std::pair{"o", &o}, {"k", &k}, {"v", &v}})
    if (t->type != q.type && !(is_8bit && t != &o))
      refuse(operation,
             std::string(name) + " has " + name_of(t->type) + " and q " + name_of(q.type) + "; they must be equal");
}

}  // namespace

attention_strides strides_of(const char*, const char*, const tensor& t) {
  const int r = t.rank - 3;
  return {r > 0 && t.lengths[0] > 1 ? t.strides[0] : 0, t.lengths[r + 1] > 1 ? t.strides[r + 1] : 0,
          index_t(t.lengths[r] > 1 ? t.strides[r] : std::max(t.strides[r], t.lengths[r + 2]))};
}

attention_view view_attention(const char* operation, const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                              const attention_options& options, key_tensors keys, attention_args& args) {
  const bool has_starts = options.query_starts.data || options.key_starts.data,
             pages = keys == key_tensors::cache_in_pages, are_packed = has_starts && keys == key_tensors::of_sequences;
  const head_lengths lq = lengths_of(operation, "q", q, has_starts), lo = lengths_of(operation, "o", o, has_starts),
                     lk = lengths_of(operation, "k", k, are_packed), lv = lengths_of(operation, "v", v, are_packed);
  require_types(operation, o, q, k, v, keys);
  require_equal(operation, "q's batch", lq.batch, "o's", lo.batch);
  require_equal(operation, "q's number of queries", lq.rows, "o's", lo.rows);
  require_equal(operation, "q's number of heads", lq.heads, "o's", lo.heads);
  require_equal(operation, "q's head dimension", lq.dim, "k's", lk.dim);
  require_equal(operation, "v's head dimension", lv.dim, "o's", lo.dim);
  require_equal(operation, "k's number of keys", lk.rows, "v's", lv.rows);
  require_equal(operation, "k's number of heads", lk.heads, "v's", lv.heads);
  require_equal(operation, pages ? "k's number of pages" : "k's batch", lk.batch, "v's", lv.batch);
  const long_index_t batch =
      has_starts && !are_packed ? set_query_starts(operation, options, args) : lq.batch;  // a cache has one for each
  if (!pages) require_equal(operation, "q's batch", batch, "k's", lk.batch);
  if (lq.heads % lk.heads != 0)
    refuse(operation, "q has " + std::to_string(lq.heads) + " heads and k " + std::to_string(lk.heads) +
                          "; q's must be a multiple of k's, and tensors are (batch, rows, heads, head dimension)");
  const bool is_latent = keys != key_tensors::of_sequences && v.data == k.data;
  for (const auto& [name, dim, most] : {std::tuple{"q", lq.dim, is_latent ? 576 : 512}, {"v", lv.dim, 512}})
    if (dim > most || dim % (dim <= 256 ? 32 : is_latent ? 64 : 128) != 0)
      refuse(operation, std::string(name) + " has head dimension " + std::to_string(dim) +
                            "; it must be a multiple of 32 up to 256, or " + (is_latent ? "of 64" : "of 128") +
                            " up to " + std::to_string(most));
  args.q = q.data, args.k = k.data, args.v = v.data, args.o = o.data;
  args.batch = index_t(lq.batch), args.heads = index_t(lq.heads), args.kv_heads = index_t(lk.heads);
  args.queries = index_t(lq.rows), args.keys = index_t(lk.rows);
  args.q_strides = strides_of(operation, "q", q), args.k_strides = strides_of(operation, "k", k);
  args.v_strides = strides_of(operation, "v", v), args.o_strides = strides_of(operation, "o", o);
  if (are_packed) set_key_starts(operation, options, args);
  if (has_starts) args.batch = set_query_starts(operation, options, args);
  if (options.sinks.data) {
    require_vector(operation, "sinks", options.sinks, element::f32, args.heads);
    args.sinks = static_cast<const float*>(options.sinks.data);
  }
  set_mask(operation, options, int(lq.dim), args);
  if (options.lse.data) set_lse(operation, options.lse, q, args);
  if (options.block_mask.data) set_block_mask(operation, options, args);
  return {q.type, k.type, int(lq.dim), int(lv.dim)};
}

void add_to_key(call_key& key, const attention_view& view, const attention_args& a) {
  key.add(view.type).add(view.cache_type).add(view.head_dim).add(view.value_dim);
  key.add(a.q).add(a.k).add(a.v).add(static_cast<const void*>(a.o)).add(a.lse != nullptr);
  key.add(a.batch).add(a.heads).add(a.kv_heads).add(a.queries).add(a.keys);
  for (const attention_strides* s : {&a.q_strides, &a.k_strides, &a.v_strides, &a.o_strides, &a.lse_strides})
    key.add(s->batch).add(s->head).add(s->row);
  key.add(a.query_starts != nullptr).add(a.key_starts != nullptr).add(a.sinks != nullptr);
  key.add(a.scale).add(a.window.left).add(a.window.right);
  key.add(a.block_mask.bits != nullptr).add(a.block_mask.queries).add(a.block_mask.keys);
  key.add(a.block_mask.strides.batch).add(a.block_mask.strides.head).add(a.block_mask.strides.row);
}

}  // namespace tilewright::ops
