// SPDX-License-Identifier: MIT
// Decoding of latent attention (MLA) on Hopper: all heads share rows of K whose first columns are V, by TMA and wgmma.
#pragma once

#include <tilewright/block/pipeline/warp_roles.hpp>
#include <tilewright/core/base/trap.hpp>
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_consumer.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_converter.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_rows.hpp>

namespace tilewright {

namespace detail {

/// What latent decoding cannot do with these arguments.
template <class Policy>
constexpr const char* check_latent_decode(const attention_decode_args& args) {
  if (const char* why =
          check_decode(args, Policy::head_dim, Policy::value_dim, sizeof(typename Policy::cache_type),
                       {.rows = Policy::has_token_lists,
                        .rope_columns = Policy::has_16_bit_rope ? Policy::head_dim - Policy::value_dim : 0}))
    return why;
  if (!__builtin_is_constant_evaluated() && (args.v != args.k || args.v_scales != args.k_scales))
    return "latent decoding: V is in the rows of K; give v = k, and v_scales = k_scales";
  if (args.key_starts) return "latent decoding: a cache has pages or sequences, not key_starts";
  if (latent_gathers<Policy>) return nullptr;
  const attention_strides strides[] = {args.k_strides};
  return check_tma(args, strides);
}

#if TILEWRIGHT_HOPPER_PASS
/// One block: a share of the keys for 64 rows of a key head.
template <class Policy>
struct latent_decode_block {
  static constexpr latent_lds<Policy> lds_of{};
  using pipeline_type = latent_pipeline<Policy>;

  const latent_device_args<typename Policy::args_type>& device;
  exec::lds_pointer lds;
  pipeline_type pipeline;

  /// work(problem, piece, share) for each piece of the block's share with rows of its own; all lanes of a wave.
  template <class Work>
  TILEWRIGHT_HD void for_each_piece(Work work) const {
    const auto& args = device.args;
    const index_t block = exec::block_id().x, row_blocks = ceil_div(decode_rows_of(args), lds_of.rows),
                  of_rows = divide(block, row_blocks), share = divide(of_rows, args.kv_heads),
                  first_row = (block - of_rows * row_blocks) * lds_of.rows;
    decode_piece piece = locate_share<32>(args, share);
    if (piece.left == 0) return;
    do {
      const latent_problem p(args, first_row, of_rows - share * args.kv_heads, piece, device.box_rows);
      if (block == share * args.kv_heads * row_blocks) note_share(args, piece, share, Policy::value_dim);
      if (first_row < p.rows) work(p, piece, share);
    } while (piece.advance(args));
  }

  /// work(problem, key, tile, is_first) for each tile of the block's share that is a consumer's; is_first of a piece.
  template <class Work>
  TILEWRIGHT_HD void for_each_tile(index_t consumer, Work work) const {
    index_t first = 0;
    for_each_piece([&](const latent_problem& p, const decode_piece&, index_t) TILEWRIGHT_INLINE_LAMBDA {
      const index_t tiles = p.num_tiles(lds_of.keys);
      TILEWRIGHT_UNROLL(1)
      for (index_t i = (first ^ consumer) & 1; i < tiles; i += 2) work(p, p.start + i * lds_of.keys, first + i, i < 2);
      first += tiles;
    });
  }

  /// One lane starts the loads of a part of a tile's columns: of its owner's half of V, or of the others.
  template <index_t N>
  TILEWRIGHT_HD void load_part(index_t tile, latent_part part, const array<key_location, N>& from, index_t batch,
                               index_t kv_head, index_t pieces) const {
    const index_t consumer = tile & 1, piece_bytes = device.box_rows * lds_of.k.row_bytes;
    const index_range boxes = lds_of.boxes_of(part);
    pipeline.acquire(tile, part);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = boxes.first; i < boxes.last; ++i) {
      const index_t box = lds_of.box_of(consumer, i);
      const exec::mbarrier done = pipeline.full(tile, box);
      done.arrive_and_expect(pieces * piece_bytes);
      unroll<N>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        if (j >= pieces) return;
        const unsigned to =
            exec::lds_address(lds) + unsigned(lds_of.stage(consumer) + box * lds_of.box_bytes + j * piece_bytes);
        exec::tma_load(to, device.k, done,
                       {{box * 64, from[j].row, kv_head, device.args.block_table ? from[j].page : batch, 0}});
      });
    }
  }

  /// One lane loads the tiles of a consumer, box_rows keys at a time, which are in one page.
  TILEWRIGHT_HD void produce(index_t consumer) const {
    for_each_tile(consumer, [&](const latent_problem& p, index_t key, index_t tile, bool) TILEWRIGHT_INLINE_LAMBDA {
      if (exec::lane_id() == 0) {
        const index_t pieces = ceil_div(min(p.end - key, lds_of.keys), device.box_rows);
        array<key_location, lds_of.keys / decode_keys> from;  // all at once, before the wait
        unroll<from.size()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          from[i] = locate_keys(device.args, p.batch, key + min(i.value, pieces - 1) * device.box_rows);
        });
        load_part(tile, latent_part::near, from, p.batch, p.kv_head, pieces);
        load_part(tile, latent_part::far, from, p.batch, p.kv_head, pieces);
      }
      exec::wave_sync();
    });
  }

  /// Two waves bring the rows of a consumer's tiles.
  TILEWRIGHT_HD void gather(index_t consumer, index_t thread) const {
    if constexpr (latent_converts<Policy>) {
      latent_converter<Policy> convert{device.args, lds, pipeline, consumer, thread};
      for_each_tile(consumer, [&](const latent_problem& p, index_t key, index_t tile, bool is_first)
                                  TILEWRIGHT_INLINE_LAMBDA { convert(p, key, tile, is_first); });
    } else {
      latent_rows<Policy> rows{device.args, lds, pipeline, consumer, thread};
      for_each_tile(consumer, [&](const latent_problem& p, index_t key, index_t tile, bool)
                                  TILEWRIGHT_INLINE_LAMBDA { rows.copy(p, key, tile); });
    }
  }

  TILEWRIGHT_HD void operator()() const {
    constexpr bool gathers = latent_gathers<Policy>;
    constexpr role_registers registers = Policy::has_16_bit_rope   ? role_registers{104, 200}
                                         : latent_converts<Policy> ? role_registers{88, 208}
                                         : gathers                 ? role_registers{56, 224}
                                                                   : role_registers{40, 232};
    run_roles<2, registers>(
        [&]() TILEWRIGHT_INLINE_LAMBDA {
          pipeline.init();
          if constexpr (!gathers) exec::prefetch(device.k);
        },
        [&](index_t wave) TILEWRIGHT_INLINE_LAMBDA {
          if constexpr (gathers)
            gather(wave >> 1, 32 * (wave & 1) + exec::lane_id());
          else if (wave < 2)
            produce(wave);
        },
        [&](index_t warpgroup) TILEWRIGHT_INLINE_LAMBDA {
          latent_consumer<Policy> consume{device, device.args, lds, pipeline, warpgroup};
          for_each_piece([&](const latent_problem& p, const decode_piece& piece, index_t share)
                             TILEWRIGHT_INLINE_LAMBDA { consume(p, piece, share); });
        });
  }
};
#endif

}  // namespace detail

/// attention_decode for latent attention on Hopper: K has HeadDim columns, of which the first ValueDim are V, and
/// args.v is args.k; for instance 576 and 512. Multiples of 64 up to 576, and of 128 up to 512. Compile for sm_90a.
/// Cache: elements of K and V. Those of 8 bits become half_t, exactly, and so does Q after a power of two has brought
/// the block's largest element to 2^13; k_scales, which are v_scales, multiply S, and P before it is rounded to half_t.
/// With has_16_bit_rope, elements times their scales are rounded to T when they come to LDS.
template <class T, index_t HeadDim = 576, index_t ValueDim = 512, class Cache = T>
struct hopper_latent_policy : detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_decode_args> {
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t), "hopper_latent_policy: half_t or bfloat16_t");
  static_assert(__is_same(Cache, T) || __is_same(Cache, int8_t) || __is_same(Cache, fp8_ocp_t),
                "hopper_latent_policy: the cache has the elements of Q, int8_t or fp8_ocp_t");
  static_assert(
      HeadDim % 64 == 0 && ValueDim % 128 == 0 && 128 <= ValueDim && ValueDim <= 512 && ValueDim <= HeadDim &&
          HeadDim <= 576,
      "hopper_latent_policy: K has a multiple of 64 columns up to 576, V the first of them, a multiple of 128 "
      "up to 512");
  using detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_decode_args>::op;
  using cache_type = Cache;  ///< elements of K and V
  /// Columns of a row of 8-bit elements that share a scale, the next one follows it: all, or, with has_16_bit_rope, 64
  /// or 128 of V.
  static constexpr index_t columns_of_scale = HeadDim;
  /// Whether the columns of K that V does not have are elements of T, in args.k_rope.
  static constexpr bool has_16_bit_rope = false;
  /// Whether args.block_table lists the row of each key (sparse attention), with rows_per_page = 1, and k_strides.batch
  /// from row to row. A window counts positions in the list.
  static constexpr bool has_token_lists = false;
  /// S (rows, keys) = Q (rows, head_dim) K^T of a warpgroup.
  static constexpr block_tile scores_tile{64, 64, HeadDim, 4, 1, op};
  /// O (rows, half of value_dim) = P (rows, keys) V.
  static constexpr block_tile values_tile{64, ValueDim / 2, 64, 4, 1, op};
  using scores_distribution = c_distribution<scores_tile>;
  using outputs_distribution = c_distribution<values_tile>;
};

/// For hopper_latent_policy: two warpgroups compute S of the same 64 rows for alternate tiles of 64 keys, and each one
/// half of the columns of O; K and V are one copy in LDS.
template <class Policy>
  requires(arch::is_wgmma(Policy::op))
struct attention_decode<Policy> {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using device_args = detail::latent_device_args<args_type>;
  using followed_by = detail::decode_combine<Policy>;
  static constexpr detail::latent_lds<Policy> lds_of{};  ///< a block's stages, Q and barriers
  static constexpr index_t block_size = 3 * 128, lds_bytes = lds_of.bytes();

  static constexpr const char* check(const args_type& args) { return detail::check_latent_decode<Policy>(args); }

  static device_args prepare(const args_type& args, const launch_facts& facts) {
    using T = typename Policy::element_type;
    device_args d{};
    d.args = args;
    d.box_rows = detail::decode_keys;
    if constexpr (detail::latent_gathers<Policy>) return d;
    const bool paged = args.block_table != nullptr;
    const index_t rows = paged ? args.rows_per_page : args.keys;
    d.box_rows = paged && rows % lds_of.keys != 0 ? detail::decode_keys : lds_of.keys;
    auto request = detail::request_attention_map<T>(args.k ? args.k : args.q, args.k_strides, false, Policy::head_dim,
                                                    rows, args.kv_heads, paged ? 2 : args.batch, d.box_rows);
    if (paged) request.lengths[3] = 0x7fff0000;  // as many pages as the table names
    facts.make_tensor_map(d.k, request);
    return d;
  }

  static constexpr grid_size grid(const device_args& d) { return detail::grid_of_decode(d.args, lds_of.rows); }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr index_t bytes = lds_bytes;
    const exec::lds_pointer lds = exec::lds_allocate<bytes>();
    detail::latent_decode_block<Policy>{args, lds, { exec::lds_address(lds) + unsigned(lds_of.barriers()) }}();
#elif TILEWRIGHT_NVPTX_PASS
    detail::trap();  // compile for sm_90a
#endif
  }
};

}  // namespace tilewright
