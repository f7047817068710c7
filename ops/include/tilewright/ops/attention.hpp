// SPDX-License-Identifier: MIT
// attention: O = softmax(scale Q K^T + mask) V, its gradients, and decoding with a cache of keys.
#pragma once

#include <tilewright/ops/operation_error.hpp>
#include <tilewright/ops/tensor.hpp>

namespace tilewright::ops {

struct attention_options {
  float scale = 0;        ///< of scores, > 0; 0: 1 / sqrt(head dimension)
  bool causal = false;    ///< each query sees the keys up to its own position, both counted from their ends
  int window_left = -1;   ///< keys before its own position that a query sees; -1: all
  int window_right = -1;  ///< keys after it; -1: all; causal: 0
  tensor lse = {};        ///< f32 (batch, queries, heads), any strides: log-sum-exp of scores, what the gradients take
  tensor query_starts = {};  ///< i32 (sequences + 1): sequences of different lengths, one after the other; then tensors
                             ///< are (rows, heads, dim), and max_queries is the length of the longest
  tensor key_starts = {};    ///< the same for keys; given with query_starts
  int max_queries = 0;       ///< with query_starts: of the longest sequence
  int max_keys = 0;          ///< with key_starts
  tensor sinks = {};         ///< f32 (heads): a score for each head that is in each row's sum, but has no value
  tensor d_sinks = {};       ///< of attention_backward, f32 (heads): result, the gradient of sinks
  tensor block_mask = {};    ///< i32 (batch, heads, tiles of queries, words), batch and heads may be 1: bit j % 32 of
                           ///< word j / 32 says whether a tile of queries sees tile j of keys, beside the window. Tiles
                           ///< are counted from each sequence's first query and key
  int mask_queries = 128, mask_keys = 128;  ///< of a tile of block_mask: powers of two from 16 to 2^20
  void* stream = nullptr;                   ///< as in gemm_options
};

/// o: (batch, queries, heads, value_dim), q: (batch, queries, heads, dim), k: (batch, keys, kv_heads, dim), v: (batch,
/// keys, kv_heads, value_dim), all f16 or all bf16. Dimensions may be in any order in memory (strides), but for the
/// last, which is contiguous; other strides are multiples of 8, data is aligned to 16 bytes. heads is a multiple of
/// kv_heads: neighbouring heads share a key head. dim and value_dim are multiples of 32 up to 256, or 384 or 512.
/// Queries that see no key get zeros. Without a batch: three dimensions. Throws operation_error before anything is
/// queued.
void attention(const tensor& o, const tensor& q, const tensor& k, const tensor& v,
               const attention_options& options = {});

/// Gradients dq, dk, dv of attention with the same options and head dimensions up to 256; o and options.lse are what it
/// wrote. Scratch memory is the library's.
void attention_backward(const tensor& dq, const tensor& dk, const tensor& dv, const tensor& d_o, const tensor& q,
                        const tensor& k, const tensor& v, const tensor& o, const attention_options& options);

struct attention_decode_options {
  float scale = 0;           ///< of scores, > 0; 0: 1 / sqrt(head dimension)
  bool causal = false;       ///< as in attention_options
  int window_left = -1;      ///< as in attention_options
  tensor lse = {};           ///< as in attention_options
  tensor key_counts = {};    ///< i32 (batch): keys of each sequence; without it all of them count
  tensor block_table = {};   ///< i32 (batch, pages of the longest sequence): then k and v are (pages, rows of a page,
                             ///< kv_heads, dim), rows of a page a multiple of 16; latent attention of 576 and 512 on
                             ///< Hopper also takes 1: then it is a list of the rows of sparse attention
  tensor query_starts = {};  ///< i32 (batch + 1): sequences with different numbers of queries, one after the other;
                             ///< then q and o are (rows, heads, dim), lse (rows, heads)
  int max_queries = 0;       ///< with query_starts: the most of a sequence
  tensor k_scales = {};      ///< of a cache of fp8 or i8, f32 (batch or pages, keys or rows of a page, kv_heads), where
                             ///< each length may be 1: what elements of k are multiplied by
  tensor v_scales = {};      ///< the same of v
  tensor sinks = {};         ///< as in attention_options
  void* stream = nullptr;    ///< as in gemm_options
};

/// attention for few queries (one, or some, of each sequence) and many keys, which several blocks share. Tensors are as
/// in attention; k and v may be fp8 (e4m3) or i8, whose strides are multiples of 16, with k_scales and v_scales. Latent
/// attention (MLA): v is a view of the first columns of k, with the same data; then dim is up to 576, value_dim up to
/// 512.
void attention_decode(const tensor& o, const tensor& q, const tensor& k, const tensor& v,
                      const attention_decode_options& options = {});

}  // namespace tilewright::ops
