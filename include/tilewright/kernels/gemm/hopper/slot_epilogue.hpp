// SPDX-License-Identifier: MIT
// What a consumer does with C in its accumulators: epilogue, rounding, stmatrix to slots in LDS.
#pragma once

#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/kernels/gemm/hopper/accumulator_boxes.hpp>
#include <tilewright/kernels/gemm/hopper/c_slots.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// What it costs a warp to write its rows of a box to LDS.
template <class Block>
TILEWRIGHT_HD constexpr lds_access_analysis predict_box_store() {
  return analyze_lds_access<arch::sm90>(Block::box_descriptor(), tile_distribution<Block::box_addresses>{},
                                        sizeof(typename Block::result_type), lds_access_kind::stmatrix);
}

/// One warp of a consumer: writes its 16 rows of boxes of C (m, n) to slots.
template <class Block>
struct slot_epilogue : accumulator_boxes<Block> {
  using boxes = accumulator_boxes<Block>;
  using slots_type = typename Block::roles::slots;
  using accumulators = typename Block::accumulators;
  using result_type = typename boxes::result_type;
  using distribution = typename boxes::distribution;
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr index_t vector = tile.swap_ab ? 1 : 2;  // neighbours in a row of C that a lane has
  static constexpr index_t slot_bytes = Block::lds.slot_bytes();
  static_assert(number<predict_box_store<Block>()>::value.is_conflict_free(),
                "gemm: writing C to LDS has bank conflicts");

  /// A warp's rows of the first slot, or columns of C.
  TILEWRIGHT_HD static auto slot_window(exec::lds_pointer slots, index_t warp) {
    constexpr auto descriptor = Block::box_descriptor();
    const exec::lds_pointer rows = tile.swap_ab ? slots : slots + warp * (slot_bytes / 4);
    return make_tile_window(make_tensor_view<address_space_enum::lds, typename Block::result_type>(rows, descriptor),
                            make_tuple(number<16>{}, number<tile.box_n()>{}), {tile.swap_ab ? warp * 16 : 0, 0},
                            tile_distribution<Block::box_addresses>{});
  }

  const typename Block::device_args& args;
  slots_type slots;
  index_t consumer;
  decltype(slot_window({}, 0)) window;
  unsigned phases = 0;  // of the `ready` barriers to wait for: a bit for each slot
  index_t slot = -1;    // of the box that is being made; -1: not yet waited for

  TILEWRIGHT_HD slot_epilogue(const typename Block::device_args& a, const slots_type& s, exec::lds_pointer lds,
                              index_t c)
      : args(a), slots(s), consumer(c), window(slot_window(lds + Block::regions.slots, warp())) {}

  /// Stores what the epilogue makes of c, which is used up.
  TILEWRIGHT_HD void operator()(accumulators& c, const typename Block::work_type& work) {
    using epilogue = typename Block::epilogue;
    constexpr bool decides_later = __is_same(epilogue, tilewright::epilogue::from_args);
    if constexpr ((__is_same(epilogue, tilewright::epilogue::alpha_beta) || decides_later) && tile.products == 1) {
      if (args.args.beta == 0 && !(decides_later && has_epilogue(args.args))) {
        if (args.args.alpha != 1) tilewright::epilogue::alpha{}(c, 0, args.args);
        return store_rounded(c);
      }
    }
    store_finished(c, work);
  }

  /// Rounds all boxes before the first is stored: they follow each other quickly.
  TILEWRIGHT_HD void store_rounded(const accumulators& c) {
    constexpr index_t num_boxes = tile.boxes_per_consumer();
    result_type results[num_boxes];
    unroll<num_boxes>([&](auto j)
                          TILEWRIGHT_INLINE_LAMBDA { results[j] = boxes::round(boxes::template box_of<j>(c)); });
    unroll<num_boxes>([&](auto j) TILEWRIGHT_INLINE_LAMBDA { commit(results[j], wait(j)); });
  }
  /// Stores box after box, with any epilogue.
  TILEWRIGHT_HD void store_finished(accumulators& c, const typename Block::work_type& work) {
    boxes::for_each_box(c, args.args, work.m0 + (tile.ping_pong ? 0 : consumer) * 64 + warp() * 16, work.n0,
                        work.tile.batch,
                        [&](index_t j, const gemm_args& bounds, const multi_index<2>& origin, index_t batch,
                            const auto& finish, const auto& box) TILEWRIGHT_INLINE_LAMBDA {
                          slot = -1;
                          finish(slot_tile{{bounds, origin, batch, {exec::lane_id()}}, *this, j});
                          commit(boxes::round(box), slot < 0 ? wait(j) : slot);
                        });
  }

  /// Waits until box `number` of the consumer has its slot, where C's old elements are if beta is not 0.
  TILEWRIGHT_HD index_t wait(index_t number) {
    constexpr hopper_gemm_tile t = tile;
    const auto its_slot =
        index_t(unsigned(t.box_number(t.ping_pong ? 0 : consumer, number)) % unsigned(slots_type::num_slots));
    slots.ready(its_slot, consumer).wait(phases >> its_slot & 1);
    phases ^= 1u << its_slot;
    return its_slot;
  }
  /// Writes a box to its slot.
  TILEWRIGHT_HD void commit(const result_type& result, index_t its_slot) const {
    store_fragments(window, result, its_slot * slot_bytes);
    slots.commit(its_slot);
  }

 private:
  /// Of the consumer.
  TILEWRIGHT_HD static index_t warp() { return divide(modulo(exec::thread_id(), 128), 32); }
  /// The `at` of an epilogue.
  struct slot_tile : epilogue_tile<distribution, typename Block::result_type, vector> {
    slot_epilogue& writer;
    index_t box;
    TILEWRIGHT_HD auto c() const { return writer.old_elements(box); }
    template <class Tile>
    TILEWRIGHT_HD void read_c(Tile& to) const {
      to = c();
    }
  };

  /// C's old elements of a box, from the slot where the new ones will be.
  TILEWRIGHT_HD result_type old_elements(index_t number) {
    if (slot < 0) slot = wait(number);
    constexpr arch::matrix_op op = arch::matrix_op::mma_m16n8k16_x2;
    constexpr hopper_gemm_tile t = tile;
    result_type old;
    if (t.is_narrow_box(number)) {
      old = {};
      read_fragments<op>(old, window, slot * slot_bytes, make_sequence<t.last_box_n() / 16>{});
      if constexpr (t.last_box_n() % 16 != 0) read_last_columns(old);
    } else {
      load_fragment_steps<op, 1, 0, 1>(old, window, slot * slot_bytes);
    }
    exec::wave_sync();
    return old;
  }
  /// The last 8 columns of a narrow box, which ldmatrix would read together with 8 that no TMA load has written.
  TILEWRIGHT_HD void read_last_columns(result_type& old) const {
    constexpr arch::lane_map columns{Block::result.lane, arch::bits(arch::col(0), arch::row(3))};
    using distribution_type = tile_distribution<number<wave_tile_encoding(1, columns)>::value>;
    constexpr index_t first = tile.last_box_n() / 16 * 16;
    const auto at = make_tile_window(window.view, make_tuple(number<16>{}, number<8>{}),
                                     {tile.swap_ab ? warp() * 16 : 0, first}, distribution_type{});
    static_distributed_tensor<typename Block::result_type, distribution_type> last;
    load_accesses(last, at, in_bounds<>{}, slot * slot_bytes, typename decltype(at)::access_sequence{});
    for (index_t d = 0; d < distribution_type::num_elements; ++d)
      old.thread_buffer[first / 2 + d] = last.thread_buffer[d];
  }
};

}  // namespace tilewright::detail
#endif
