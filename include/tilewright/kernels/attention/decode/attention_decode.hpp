// SPDX-License-Identifier: MIT
// Attention with few queries and a long cache of keys, contiguous or paged: bound by the bytes of the cache.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_combine.hpp>
#include <tilewright/kernels/attention/decode/detail/decode_queries.hpp>

namespace tilewright {

/// O = softmax(scale Q K^T + mask) V where few queries meet many keys. The queries of all heads that share a key head
/// are rows of one GEMM, 16 in a block, so that K and V are read once for them. The block's waves are interleaved
/// over its 16 keys each, without barriers; args.splits blocks share the keys of a sequence. An 8-bit cache is
/// converted in registers, its scales multiply scores and probabilities.
template <class Policy>
struct attention_decode {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using followed_by = detail::decode_combine<Policy>;
  using T = typename Policy::element_type;
  using key_type = detail::decode_key_type<Policy>;
  using value_type = detail::decode_value_type<Policy>;
  using product = detail::decode_step<Policy>;
  static constexpr index_t dim = max(Policy::head_dim, Policy::value_columns);  ///< of the rows that are exchanged
  /// Whether K and V of the next step fit into registers beside those of this one. gfx11 holds everything twice.
  static constexpr bool fits_ahead = product::stays_in_lanes && dim <= 128;
  /// How a wave loads K and V.
  static constexpr detail::cache_loads loads = !tilewright::arch::is_amd(arch::value) ? detail::cache_loads::queue
                                               : fits_ahead                           ? detail::cache_loads::ahead
                                                                                      : detail::cache_loads::now;
  using keys_type = detail::cached_keys<Policy, false, loads, detail::decode_chunks<Policy, Policy::head_dim>>;
  using values_type = detail::cached_keys<Policy, true, loads, detail::decode_chunks<Policy, Policy::value_columns>>;
  using queries_type = detail::decode_queries<Policy, !fits_ahead, detail::decode_chunks<Policy, Policy::head_dim>>;
  using softmax_type = detail::attention_softmax<Policy>;
  using scores = typename detail::attention_registers<Policy>::scores;
  /// Steps of 16 keys in flight or in use, for each wave: as many bytes of 8-bit elements as of 16-bit ones.
  static constexpr index_t stages = loads == detail::cache_loads::queue ? 4 / detail::cache_bytes<Policy> : 1;
  static constexpr index_t slot_bytes = keys_type::slot_bytes + values_type::slot_bytes;  ///< LDS of a step of K and V
  /// LDS in which a wave's lanes exchange probabilities; 0: in registers
  static constexpr index_t exchange_bytes = product::stays_in_lanes ? 0 : 16 * 24 * index_t(sizeof(T));
  /// A wave's own LDS; when its keys are done, its softmax and O take this space.
  static constexpr index_t wave_bytes =
      max(detail::decode_wave_bytes<Policy>, stages* slot_bytes + queries_type::lds_bytes + exchange_bytes);
  using waves_type = detail::decode_waves<Policy, wave_bytes>;
  static constexpr index_t block_size = Policy::waves * arch::value.wave_size;
  static constexpr index_t blocks_at_once = 2;
  static constexpr index_t lds_bytes = Policy::waves * wave_bytes;

  static constexpr const char* check(const args_type& args) {
    return detail::check_decode(args, Policy::head_dim, Policy::value_dim, detail::cache_bytes<Policy>);
  }

  static constexpr grid_size grid(const args_type& args) {
    return detail::grid_of_decode(args, detail::decode_rows, Policy::value_parts);
  }

  TILEWRIGHT_HD void operator()(const args_type& kernel_args) const {
    const args_type& args = kernel_args;
    constexpr index_t parts = Policy::value_parts;
    const index_t block = exec::block_id().x, row_blocks = detail::decode_row_blocks(args),
                  of_rows = divide(block, row_blocks), of_part = divide(of_rows, parts),
                  share = divide(of_part, args.kv_heads),
                  first_row = (block - of_rows * row_blocks) * detail::decode_rows;
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    detail::decode_piece piece = detail::locate_share<arch::value.wave_size>(args, share);
    if (piece.left == 0) return;
    bool is_first = true;
    do {
      const args_type& again = exec::load_again(kernel_args);
      detail::decode_problem p = detail::locate_decode(again, first_row, of_part - share * again.kv_heads, piece.batch);
      p.first_column = (of_rows - of_part * parts) * Policy::value_columns;
      if (block == share * again.kv_heads * parts * row_blocks)
        detail::note_share(again, piece, share, Policy::value_dim);
      if (first_row >= p.rows) continue;
      if (!is_first) exec::block_sync();  // all have read the softmax of the piece before
      is_first = false;
      softmax_type softmax;
      // Opaque: ptxas 13.0 would keep the block's LDS address in a uniform register, and make cp.async instructions
      // with it that do not exist.
      add_keys(softmax, again, p, piece, exec::opaque(lds + exec::wave_id() * wave_bytes));
      exec::wave_sync();
      const waves_type waves{lds};
      waves.store(softmax);
      exec::block_sync();
      waves.write(again, p, piece, share);
    } while (piece.advance(exec::load_again(kernel_args)));
  }

 private:
  /// P as operand A: in its lanes, or through the wave's own LDS.
  TILEWRIGHT_HD static auto exchange(const scores& s, [[maybe_unused]] exec::lds_pointer lds) {
    if constexpr (product::stays_in_lanes) {
      return relayout<value_type>(s, typename product::p{});
    } else {
      constexpr auto layout =
          make_naive_tensor_descriptor(make_tuple(number<16>{}, number<16>{}), make_tuple(number<24>{}, number<1>{}));
      const auto view = make_tensor_view<address_space_enum::lds, value_type>(lds, layout);
      const auto lengths = make_tuple(number<16>{}, number<16>{});
      exec::wave_sync();
      store_tile(make_tile_window(view, lengths, {}, typename product::s{}), cast_tile<value_type>(s));
      exec::wave_sync();
      return load_tile(make_tile_window(view, lengths, {}, typename product::p{}));
    }
  }

  template <block_tile Tile, class C, class A, class B>
  TILEWRIGHT_HD static void multiply(C& c, const A& a, const B& b) {
    block_gemm<Tile>(c, a, b);
    detail::multiply_before_later_reads<Tile>(c);
  }

  TILEWRIGHT_HD static void add_keys(softmax_type& softmax, const args_type& args, const detail::decode_problem& p,
                                     const detail::decode_piece& piece, exec::lds_pointer own_lds) {
    constexpr index_t step = detail::decode_keys, stride = Policy::waves * step;
    const index_t queries = p.query_of(min(detail::decode_rows, p.rows - p.first_row) - 1) + 1 - p.first_query;
    const detail::index_range all = p.seen_by_any(args.window, queries), unmasked = p.seen_by_all(args.window, queries);
    const index_t of_piece = piece.of.first_key + piece.first * step, first = max(all.first & -step, of_piece),
                  last = min(of_piece + piece.count() * step, all.last);
    index_t key = first + exec::wave_id() * step;
    if (key >= last) return;

    const auto k_cache = detail::key_cache<Policy>::of_keys(args, p),
               v_cache = detail::key_cache<Policy>::of_values(args, p);
    const exec::lds_pointer slots = own_lds + (queries_type::lds_bytes + exchange_bytes);
    const queries_type q(args, p, own_lds);
    keys_type k;
    values_type v;
    detail::value_range<Policy> range;
    constexpr index_t ahead = loads == detail::cache_loads::now ? 0 : stages;  // steps in flight
    detail::key_location at = detail::locate_keys(args, p.batch, key), next = at;
    unroll<ahead>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const exec::lds_pointer slot = slots + i * slot_bytes;
      const bool exists = key + i * stride < last;
      begin_or_end_group(k, k_cache, next, p.keys, slot, exists);
      begin_or_end_group(v, v_cache, next, p.keys, slot + keys_type::slot_bytes, exists);
      if (key + (i + 1) * stride < last) next = detail::locate_keys(args, p.batch, key + (i + 1) * stride);
    });
    index_t used = 0;  // bytes from the first slot to this step's
    TILEWRIGHT_UNROLL(1)
    for (; key < last; key += stride) {
      const bool loads_next = ahead > 0 && key + ahead * stride < last;
      const exec::lds_pointer slot = slots + used, v_slot = slot + keys_type::slot_bytes;
      if constexpr (stages > 1) used = used == (stages - 1) * slot_bytes ? 0 : used + slot_bytes;
      scores s{};
      wait<keys_type>();
      k.for_each_chunk(k_cache, at, p.keys, slot, [&](auto chunk, const auto& tile) TILEWRIGHT_INLINE_LAMBDA {
        using of_part = detail::decode_product_of<Policy, Policy::head_dim, chunk.value>;
        multiply<of_part::scores>(s, q.template get<chunk.value>(),
                                  relayout<key_type>(detail::widen_tile<key_type>(tile), typename of_part::k{}));
      });
      q.multiply_scales(s);
      k.multiply_scales(s, k_cache, at, p.keys, slot, [](auto&) TILEWRIGHT_INLINE_LAMBDA {});
      begin_or_end_group(k, k_cache, next, p.keys, slot, loads_next);
      softmax.update(s, args, p, key, key < unmasked.first || key + step > unmasked.last,
                     [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { softmax.scale_outputs(factors); });
      wait<values_type>();
      v.multiply_scales(s, v_cache, at, p.keys, v_slot,
                        [&](auto& scales) TILEWRIGHT_INLINE_LAMBDA { range(scales, softmax); });
      const auto probabilities = exchange(s, own_lds + queries_type::lds_bytes);
      v.for_each_chunk(v_cache, at, p.keys, v_slot, [&](auto chunk, const auto& tile) TILEWRIGHT_INLINE_LAMBDA {
        using of_part = detail::decode_product_of<Policy, Policy::value_columns, chunk.value>;
        multiply<of_part::values>(softmax.o.template get<chunk.value>(), probabilities,
                                  relayout<value_type>(detail::widen_tile<value_type>(tile), typename of_part::v{}));
      });
      begin_or_end_group(v, v_cache, next, p.keys, v_slot, loads_next);
      const index_t after = key + (ahead + 1) * stride;
      if (after < last) next = detail::locate_keys(args, p.batch, after);
      if constexpr (ahead == 0) at = next;
    }
    range.finish(softmax);
  }

  /// Until the oldest group of copies, of K or of V, is complete.
  template <class Keys>
  TILEWRIGHT_HD static void wait() {
    if constexpr (loads == detail::cache_loads::queue) exec::async_wait_groups<2 * stages - 1>();
    Keys::acquire();
  }
  /// Groups are counted, so one without copies stands for what is past the last key.
  template <class Keys, class Cache>
  TILEWRIGHT_HD static void begin_or_end_group(Keys& keys, const Cache& cache, const detail::key_location& at,
                                               index_t count, exec::lds_pointer slot, bool is_inside) {
    if (is_inside) {
      keys.begin(cache, at, count, slot);
    } else if constexpr (loads == detail::cache_loads::queue) {
      exec::async_end_group();
    }
  }
};

}  // namespace tilewright
