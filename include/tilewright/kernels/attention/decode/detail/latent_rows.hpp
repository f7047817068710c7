// SPDX-License-Identifier: MIT
// Rows of a latent cache that a list names: the producer's threads bring them to LDS by cp.async.
#pragma once

#include <tilewright/kernels/attention/decode/detail/decode_operands.hpp>
#include <tilewright/kernels/attention/decode/detail/latent_consumer.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// A thread of the 64 that bring a consumer's tiles: of each box it has the same 8 columns of keys number / 8, 8
/// further, and so on. In LDS they lie as TMA writes them.
template <class Policy>
struct latent_rows {
  using T = typename Policy::element_type;
  static constexpr latent_lds<Policy> lds_of{};
  static constexpr index_t count = lds_of.keys / 8;  // of the thread's keys in a tile
  static_assert(!Policy::has_16_bit_rope, "latent decoding: has_16_bit_rope is for a cache of 8-bit elements");

  const typename Policy::args_type& args;
  exec::lds_pointer lds;
  latent_pipeline<Policy> pipeline;
  index_t consumer, thread;

  /// Starts the copies of the keys of a tile from `key` on.
  TILEWRIGHT_HD void copy(const latent_problem& p, index_t key, index_t tile) const {
    const auto rows = locate(p, key);  // before the wait
    copy_part(rows, tile, latent_part::near);
    copy_part(rows, tile, latent_part::far);
  }

 private:
  /// Null past the last key.
  TILEWRIGHT_HD array<const T*, count> locate(const latent_problem& p, index_t key) const {
    array<const T*, count> rows{};
    unroll<count>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t own = key + 8 * i + divide(thread, 8);
      if (own >= p.end) return;
      const key_location at = locate_keys(args, p.batch, own);
      rows[i] = key_rows_in_pages<T>(args.k, args.k_strides, args, p).first(at) + 8 * modulo(thread, 8);
    });
    return rows;
  }
  TILEWRIGHT_HD void copy_part(const array<const T*, count>& rows, index_t tile, latent_part part) const {
    const index_t row = divide(thread, 8),
                  to = lds_of.stage(consumer) + 128 * row + 16 * (modulo(thread, 8) ^ modulo(row, 8));
    const index_range boxes = lds_of.boxes_of(part);
    pipeline.acquire(tile, part);
    TILEWRIGHT_UNROLL(1)
    for (index_t i = boxes.first; i < boxes.last; ++i) {
      const index_t box = lds_of.box_of(consumer, i);
      unroll<count>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
        const void* const from = rows[j] ? rows[j] + box * 64 : args.k;
        exec::async_load_first_bytes<16>(static_cast<const char*>(from), rows[j] ? 16 : 0, lds,
                                         to + box * lds_of.box_bytes + 8 * 128 * j);
      });
      pipeline.full(tile, box).arrive_after_copies();
    }
  }
};

}  // namespace tilewright::detail
#endif
