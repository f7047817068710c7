// SPDX-License-Identifier: MIT
// Rows of a latent cache of 8-bit elements: the producer's threads load them ahead, convert them and write them to LDS.
#pragma once

#include <tilewright/kernels/attention/decode/detail/decode_operands.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_consumer.hpp>
#include <tilewright/machine/exec/convert_word.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A thread of the 64 that bring a consumer's tiles: of each box it has the same 16 columns of keys number / 4, 16
/// further, and so on. In LDS they lie as TMA writes them. Boxes follow each other through all tiles of a piece:
///
///   load box i + ahead | wait until box i's part is empty | convert box i | write it | full(box i)
template <class Policy>
struct latent_converter {
  using T = typename Policy::element_type;
  using Cache = typename Policy::cache_type;
  static constexpr latent_lds<Policy> lds_of{};
  static constexpr index_t count = lds_of.keys / 16;  // of the thread's keys in a tile
  static constexpr bool scales_scores = latent_scales_scores<Policy>, has_16_bit_rope = Policy::has_16_bit_rope;
  static constexpr index_t boxes = has_16_bit_rope ? 2 * lds_of.half_boxes : lds_of.k.num_boxes();  // of 8 bits
  static constexpr index_t ahead = min(2, boxes);  // boxes in registers
  static_assert(Policy::columns_of_scale == Policy::head_dim ||
                    (has_16_bit_rope && Policy::columns_of_scale % 64 == 0 &&
                     lds_of.half_dim % Policy::columns_of_scale == 0),
                "latent decoding: a scale is that of a row, or, with has_16_bit_rope, of a multiple of 64 columns that "
                "divides a half of those of V");

  /// The thread's rows of a tile; past the last key that of the last one: consumers clear them. `scale`: of key
  /// key_of_scale() of the tile.
  struct tile_rows {
    array<const Cache*, count> elements{};
    array<const float*, scales_scores ? 0 : count> scales{};
    float scale = 0;
  };
  struct loaded_box {
    array<array<unsigned, 4>, count> words;
    array<float, scales_scores ? 0 : count> scales;
  };

  const typename Policy::args_type& args;
  exec::lds_pointer lds;
  latent_pipeline<Policy> pipeline;
  index_t consumer, thread;
  tile_rows rows{};
  array<loaded_box, ahead> ring{};

  TILEWRIGHT_HD void operator()(const latent_problem& p, index_t key, index_t tile, bool is_first) {
    if (is_first) {
      rows = locate(p, key);
      unroll<ahead>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { load(ring[i], rows, i); });
    }
    unroll<boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (i == 0) {
        pipeline.acquire(tile, latent_part::near);
        if constexpr (scales_scores) {
          exec::lds_store(lds, lds_of.scales(consumer) + 4 * key_of_scale(), rows.scale);
          exec::lds_store(lds, lds_of.scales(consumer, true) + 4 * key_of_scale(), rows.scale);
        }
      } else if constexpr (i == lds_of.half_boxes) {
        if constexpr (has_16_bit_rope) {
          copy_rope(p, key, tile);
        } else {
          pipeline.acquire(tile, latent_part::far);
        }
      }
      const index_t box = box_of(i);
      write(ring[i % ahead], box);
      if constexpr (i + ahead == boxes) rows = locate(p, key + 2 * lds_of.keys);
      load(ring[i % ahead], rows, (i + ahead) % boxes);
      exec::fence_async_proxy();
      pipeline.arrive(pipeline.full(tile, box));
    });
    if constexpr (has_16_bit_rope) complete_rope(tile);
    const auto boxes_ahead = ring;
    unroll<ahead>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { ring[i] = boxes_ahead[(i + boxes) % ahead]; });
  }

 private:
  /// Opaque: else the addresses of all boxes are in registers.
  TILEWRIGHT_HD index_t box_of(index_t i) const { return lds_of.box_of(exec::opaque(consumer), i); }
  TILEWRIGHT_HD index_t first_row() const { return divide(thread, 4); }
  TILEWRIGHT_HD index_t key_of_scale() const { return 16 * modulo(thread, 4) + first_row(); }

  /// Key number i of the thread, of the tile from `key` on.
  TILEWRIGHT_HD key_location locate(const latent_problem& p, index_t key, index_t i) const {
    return locate_keys(args, p.batch, min(key + 16 * i + first_row(), p.end - 1));
  }
  /// Keys of the tile from `key` on. The rows of the tile after it begin to come to L2.
  TILEWRIGHT_HD tile_rows locate(const latent_problem& p, index_t key) const {
    const key_rows_in_pages<Cache> cache(args.k, args.k_strides, args, p);
    const key_rows_in_pages<float> scales(args.k_scales, args.k_scale_strides, args, p);
    tile_rows found;
    key_location of_scale;
    unroll<count>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const key_location at = locate(p, key, i);
      found.elements[i] = cache.first(at) + 16 * modulo(thread, 4);
      if constexpr (!scales_scores) found.scales[i] = scales.first(at);
      if (i == modulo(thread, 4)) of_scale = at;
    });
    if constexpr (scales_scores) found.scale = exec::load_element(scales.first(of_scale));
    const index_t later = key + 2 * lds_of.keys + thread;
    if (later < p.end)
      exec::prefetch_to_l2(cache.first(locate_keys(args, p.batch, later)),
                           has_16_bit_rope ? Policy::value_dim : Policy::head_dim);
    return found;
  }

  /// Box number i of the consumer's order.
  TILEWRIGHT_HD void load(loaded_box& to, const tile_rows& from, index_t i) const {
    const index_t box = box_of(i);
    unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      to.words[j] = exec::buffer_load<array<unsigned, 4>>(exec::make_global_buffer(from.elements[j] + box * 64, 16), 0);
      if constexpr (!scales_scores) {
        const index_t number =
            Policy::columns_of_scale < lds_of.half_dim ? divide(box * 64, Policy::columns_of_scale) : 0;
        to.scales[j] = exec::load_element(from.scales[j] + number);
      }
    });
  }
  /// Where vector h of the thread's two in a box lies, 8 elements of its key number j. The lanes of a phase have all
  /// banks.
  TILEWRIGHT_HD index_t place_of(index_t box, index_t j, index_t h) const {
    const index_t row = first_row();
    return lds_of.stage(consumer) + box * lds_of.box_bytes + 128 * (row + 16 * j) +
           16 * ((2 * modulo(thread, 4) + h) ^ modulo(row, 8));
  }
  TILEWRIGHT_HD void write(const loaded_box& from, index_t box) const {
    unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      unroll<2>([&](auto h) TILEWRIGHT_INLINE_LAMBDA {
        const array<unsigned, 2> words{{from.words[j][2 * h], from.words[j][2 * h + 1]}};
        array<unsigned, 4> elements;
        if constexpr (scales_scores) {
          elements = widen(words);
        } else {
          elements = widen(words, from.scales[j]);
        }
        exec::lds_store(lds, place_of(box, j, h), elements);
      });
    });
  }
  TILEWRIGHT_HD static array<unsigned, 4> widen(const array<unsigned, 2>& words) {
    const auto first = exec::convert_word<half_t, Cache>(words[0]),
               second = exec::convert_word<half_t, Cache>(words[1]);
    return {{first[0], first[1], second[0], second[1]}};
  }
  TILEWRIGHT_HD static array<unsigned, 4> widen(const array<unsigned, 2>& words, float scale) {
    array<unsigned, 4> result = widen(words);
    for (unsigned& word : result) {
      const auto x = bit_cast<array<half_t, 2>>(word);
      word = exec::round_pair<T>(float(x[0]) * scale, float(x[1]) * scale);
    }
    return result;
  }

  /// Waits until the far part is empty, then starts the copies of the columns that V does not have, of 16 bits.
  TILEWRIGHT_HD void copy_rope(const latent_problem& p, index_t key, index_t tile) const {
    array<const T*, count> rows_of_rope;
    unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      rows_of_rope[j] = key_rows_in_pages<T>(args.k_rope, args.k_rope_strides, args, p).first(locate(p, key, j));
    });
    pipeline.acquire(tile, latent_part::far);
    unroll<lds_of.k.num_boxes() - boxes>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        unroll<2>([&](auto h) TILEWRIGHT_INLINE_LAMBDA {
          exec::async_load_first_bytes<16>(
              reinterpret_cast<const char*>(rows_of_rope[j] + 64 * i + 16 * modulo(thread, 4) + 8 * h), 16, lds,
              place_of(boxes + i, j, h));
        });
      });
    });
    exec::async_end_group();
  }
  TILEWRIGHT_HD void complete_rope(index_t tile) const {
    exec::async_wait_groups<0>();
    exec::fence_async_proxy();
    for (index_t box = boxes; box < lds_of.k.num_boxes(); ++box) pipeline.arrive(pipeline.full(tile, box));
  }
};

}  // namespace tilewright::detail
#endif
