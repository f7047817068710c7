// SPDX-License-Identifier: MIT
// Rows of a latent cache that the producer's threads bring to LDS themselves: rows that a list names, by cp.async, and
// those of 8-bit elements, which they convert.
#pragma once

#include <tilewright/kernels/attention/decode/detail/decode_operands.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_consumer.hpp>
#include <tilewright/machine/exec/convert_word.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A thread of the producer: of each box of a tile it has the same 8 columns of keys number / 8, that of another thread
/// after the last one, and so on. In LDS they lie as TMA writes them.
template <class Policy>
struct latent_rows {
  using T = typename Policy::element_type;
  using Cache = typename Policy::cache_type;
  static constexpr latent_lds<Policy> lds_of{};
  static constexpr bool converts = latent_converts<Policy>;
  static constexpr index_t threads = converts ? 128 : 64, key_step = threads / 8;
  static constexpr index_t count = lds_of.keys / key_step;  // of the thread's keys in a tile
  static_assert(!Policy::has_16_bit_rope || converts,
                "latent decoding: has_16_bit_rope is for a cache of 8-bit elements");
  static_assert(Policy::columns_of_scale == Policy::head_dim ||
                    (Policy::has_16_bit_rope && Policy::columns_of_scale % 64 == 0 &&
                     lds_of.half_dim % Policy::columns_of_scale == 0),
                "latent decoding: a scale is that of a row, or, with has_16_bit_rope, of a multiple of 64 columns that "
                "divides a half of those of V");
  static constexpr index_t k_boxes = lds_of.k.num_boxes(), half_boxes = lds_of.half_boxes;
  /// Boxes of a part, the last of the far one with the columns that V does not have.
  template <latent_part Part>
  static constexpr index_t boxes = half_boxes + (Part == latent_part::far ? k_boxes - 2 * half_boxes : 0);

  const typename Policy::args_type& args;
  exec::lds_pointer lds;
  latent_pipeline<Policy> pipeline;
  index_t thread;
  array<const Cache*, count> rows{};  // null past the last key
  array<const T*, count> ropes{};
  array<const float*, count> scales{};

  TILEWRIGHT_HD index_t column() const { return 8 * modulo(thread, 8); }

  /// The cache's row of key `key`.
  TILEWRIGHT_HD const Cache* row_of(const latent_problem& p, const key_location& at) const {
    return key_rows_in_pages<Cache>(args.k, args.k_strides, args, p).first(at);
  }
  /// Keys of the tile from `key` on. The rows of a later tile begin to come to L2.
  TILEWRIGHT_HD void locate(const latent_problem& p, index_t key) {
    unroll<count>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t own = key + key_step * i + divide(thread, 8);
      rows[i] = nullptr;
      if (own >= p.end) return;
      const key_location at = locate_keys(args, p.batch, own);
      rows[i] = row_of(p, at);
      if constexpr (converts)
        scales[i] = key_rows_in_pages<float>(args.k_scales, args.k_scale_strides, args, p).first(at);
      if constexpr (Policy::has_16_bit_rope)
        ropes[i] = key_rows_in_pages<T>(args.k_rope, args.k_rope_strides, args, p).first(at);
    });
    const index_t later = key + 2 * lds_of.keys + thread;
    if (converts && thread < lds_of.keys && later < p.end)
      exec::prefetch_to_l2(row_of(p, locate_keys(args, p.batch, later)),
                           Policy::has_16_bit_rope ? Policy::value_dim : Policy::head_dim);
  }

  /// Starts the copies of a part, or loads it, and writes it to the stage once that is empty.
  template <latent_part Part>
  TILEWRIGHT_HD void copy(index_t tile) const {
    const index_t owner = tile & 1, half = Part == latent_part::near ? owner : 1 - owner, row = divide(thread, 8),
                  to = lds_of.stage(owner) + 128 * row + 16 * (modulo(thread, 8) ^ modulo(row, 8));
    const auto box_of = [&](index_t i) TILEWRIGHT_INLINE_LAMBDA {
      return i < half_boxes ? half * half_boxes + i : half_boxes + i;
    };
    if constexpr (!converts) {
      pipeline.acquire(tile, Part);
      TILEWRIGHT_UNROLL(1)
      for (index_t i = 0; i < boxes<Part>; ++i) {
        unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
          const void* const from = rows[j] ? rows[j] + box_of(i) * 64 + column() : args.k;
          exec::async_load_first_bytes<16>(static_cast<const char*>(from), rows[j] ? 16 : 0, lds,
                                           to + box_of(i) * lds_of.box_bytes + key_step * 128 * j);
        });
        pipeline.full(tile, box_of(i)).arrive_after_copies();
      }
    } else {
      array<array<words_type<false>, count>, half_boxes> words;
      array<array<words_type<true>, count>, boxes<Part> - half_boxes> rope;
      array<array<float, count>, scales_of_part> factors;
      unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        unroll<half_boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { words[i][j] = load(rows[j], box_of(i)); });
        unroll<rope.size()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          if constexpr (Policy::has_16_bit_rope)
            rope[i][j] = load(ropes[j], i);
          else
            rope[i][j] = load(rows[j], box_of(half_boxes + i));
        });
        unroll<scales_of_part>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          factors[i][j] =
              rows[j] ? exec::load_element(scales[j] + half * scales_of_part * (scales_of_part > 1) + i) : 0;
        });
      });
      pipeline.acquire(tile, Part);
      unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        const auto store = [&](index_t box, const array<unsigned, 4>& elements) TILEWRIGHT_INLINE_LAMBDA {
          exec::lds_store(lds, to + box * lds_of.box_bytes + key_step * 128 * j, elements);
        };
        unroll<half_boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          store(box_of(i), widen(words[i][j], factors[i * 64 * scales_of_part / lds_of.half_dim][j]));
        });
        unroll<rope.size()>(
            [&](auto i) TILEWRIGHT_INLINE_LAMBDA { store(box_of(half_boxes + i), widen(rope[i][j], factors[0][j])); });
      });
      exec::fence_async_proxy();
      exec::wave_sync();
      if (exec::lane_id() == 0)
        for (index_t i = 0; i < boxes<Part>; ++i) pipeline.full(tile, box_of(i)).arrive();
    }
  }

 private:
  /// Scales of the V columns of a part: one of the row, or one for columns_of_scale columns.
  static constexpr index_t scales_of_part =
      Policy::columns_of_scale < lds_of.half_dim ? lds_of.half_dim / Policy::columns_of_scale : 1;
  /// 8 elements of the cache, or, of columns that V does not have, perhaps of 16 bits.
  template <bool IsRope>
  using words_type = array<unsigned, IsRope && Policy::has_16_bit_rope ? 4 : 2>;

  template <class Element>
  TILEWRIGHT_HD auto load(const Element* row, index_t box) const {
    array<unsigned, 2 * index_t(sizeof(Element))> words{};
    if (row)
      words = exec::buffer_load<decltype(words)>(exec::make_global_buffer(row + box * 64 + column(), sizeof(words)), 0);
    return words;
  }
  TILEWRIGHT_HD static array<unsigned, 4> widen(const array<unsigned, 4>& words, float) { return words; }
  TILEWRIGHT_HD static array<unsigned, 4> widen(const array<unsigned, 2>& words, float scale) {
    array<unsigned, 4> result;
    for (index_t i = 0; i < 2; ++i) {
      const auto x = bit_cast<array<half_t, 4>>(exec::convert_word<half_t, Cache>(words[i]));
      for (index_t j = 0; j < 2; ++j)
        result[2 * i + j] = exec::round_pair<T>(float(x[2 * j]) * scale, float(x[2 * j + 1]) * scale);
    }
    return result;
  }
};

}  // namespace tilewright::detail
#endif
