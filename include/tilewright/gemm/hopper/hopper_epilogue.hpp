// SPDX-License-Identifier: MIT
// Results on their way from accumulators to memory: parts of a tile are added up,
// and what is asked for is done to the sums before they go to boxes in LDS.
#pragma once

#include <tilewright/gemm/epilogue.hpp>
#include <tilewright/gemm/hopper/hopper_boxes.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright {

/// Adds up the parts of a tile that was split along k; c holds this block's part. Parts but the last are left in
/// memory. The last one waits for them: they belong to blocks with lower numbers, which have started before.
/// True for the last.
template <class Policy>
TILEWRIGHT_HD bool add_up_parts(float* c, const hopper_args& args, const work_unit& unit, index_t rank,
                                index_t consumer) {
  constexpr hopper_tile tile = Policy::tile;
  constexpr index_t vectors = tile.accumulators() / 4;  // of four accumulators, for each thread
  const index_t thread = modulo(exec::thread_id(), 128);
  const auto pile = [&](index_t number) TILEWRIGHT_INLINE_LAMBDA {
    return (number * tile.cluster() + rank) * tile.consumers + consumer;
  };
  // A wave writes and reads 512 bytes in a row.
  const auto part_of = [&](index_t sharer) TILEWRIGHT_INLINE_LAMBDA {
    return args.parts + (long_index_t(pile(sharer)) * vectors * 128 + thread) * 4;
  };
  unsigned* const counter = args.counters + pile(unit.split_tile);
  if (!unit.is_last_part()) {
    float* const mine = part_of(unit.sharer);
    unroll<vectors>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      exec::store_to_l2(mine + j * 512, {{c[4 * j], c[4 * j + 1], c[4 * j + 2], c[4 * j + 3]}});
    });
    exec::named_sync<128>(1 + consumer);
    if (thread == 0) exec::add_release(counter, 1);
    return false;
  }
  if (thread == 0) {
    exec::wait_for_count(counter, unsigned(unit.parts - 1));
    *counter = 0;
  }
  exec::named_sync<128>(1 + consumer);
  for (index_t part = 1; part < unit.parts; ++part) {
    const float* const others = part_of(unit.sharer - part);
    unroll<vectors>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const array<float, 4> other = exec::load_from_l2(others + j * 512);
      c[4 * j] += other[0];
      c[4 * j + 1] += other[1];
      c[4 * j + 2] += other[2];
      c[4 * j + 3] += other[3];
    });
  }
  return true;
}

/// A tile_place for a wave's rows of a box; the old elements of C come there by bulk copy.
template <class Writer>
struct box_place : tile_place<typename Writer::distribution, typename Writer::Result, 2> {
  Writer& writer;
  index_t box;
  TILEWRIGHT_HD auto c() const { return writer.old_elements(box); }
};

/// One wave of a consumer: writes its 16 rows of boxes.
template <class Policy>
struct hopper_result_writer {
  using Result = typename Policy::result_type;
  using distribution = tile_distribution<Policy::box>;
  using addresses = tile_distribution<Policy::box_addresses>;
  using sums_type = static_distributed_tensor<float, distribution>;
  using result_type = static_distributed_tensor<Result, distribution>;
  using accumulators_type = typename Policy::accumulators_type;
  using boxes_type = hopper_boxes<Policy>;
  using epilogue = epilogue_of<Policy>;
  static constexpr index_t columns = Policy::tile.store_n(), box_bytes = Policy::lds.box_bytes();
  static_assert(number<predict_box_store<Policy>()>::value.is_conflict_free(),
                "hopper: writing C to LDS has bank conflicts");

  TILEWRIGHT_HD static auto box_window(exec::lds_pointer rows) {
    constexpr auto descriptor = make_lds_descriptor<Policy::lds.box_layout()>();
    return make_tile_window(make_tensor_view<address_space_enum::lds, Result>(rows, descriptor),
                            make_tuple(number<16>{}, number<columns>{}), {}, addresses{});
  }

  const hopper_args& args;
  boxes_type boxes;
  exec::lds_pointer rows;  // in the first box
  index_t consumer;
  decltype(box_window({})) window = box_window(rows);
  unsigned parities = 0;  // of the phases of `ready` to wait for: a bit for each place of a box
  index_t taken = -1;     // the place of the box that is being made, once it is free

  /// What the epilogue makes of c goes to rows from m0 on and columns from n0 on. c is used up.
  TILEWRIGHT_HD void operator()(accumulators_type& c, index_t m0, index_t n0, index_t batch) {
    constexpr index_t num_boxes = Policy::tile.boxes_of_consumer(), boxes_per_row = Policy::tile.boxes_per_row();
    const auto finish = [&](sums_type& sums, index_t j) TILEWRIGHT_INLINE_LAMBDA {
      const multi_index<2> origin{{m0 + j / boxes_per_row * 64, n0 + j % boxes_per_row * columns}};
      const box_place<hopper_result_writer> at{{args.gemm, origin, batch, {exec::lane_id()}}, *this, j};
      tilewright::epilogue::detail::call<epilogue>(at, args.gemm, sums);
    };
    if constexpr (__is_same(epilogue, tilewright::epilogue::alpha_beta)) {
      if (args.gemm.beta == 0) {  // boxes that are rounded first follow each other quickly
        if (args.gemm.alpha != 1) tilewright::epilogue::alpha{}(c, 0, args.gemm);
        result_type results[num_boxes];
        unroll<num_boxes>([&](auto j) TILEWRIGHT_INLINE_LAMBDA { results[j.value] = round(box_of(c, j)); });
        unroll<num_boxes>([&](auto j) TILEWRIGHT_INLINE_LAMBDA { put(results[j.value], take(j)); });
        return;
      }
    }
    // As a loop: what is done to the sums is many instructions.
    TILEWRIGHT_UNROLL(1)
    for (index_t j = 0; j < num_boxes; ++j) {
      sums_type sums = box_of(c, 0);
      // Registers have no numbers at run time, so the other accumulators move down.
      for (index_t d = distribution::num_elements; d < Policy::tile.accumulators(); ++d)
        c.thread_buffer[d - distribution::num_elements] = c.thread_buffer[d];
      taken = -1;
      finish(sums, j);
      put(round(sums), taken < 0 ? take(j) : unsigned(taken));
    }
  }

  /// The accumulators of box `number` of the consumer.
  TILEWRIGHT_HD static sums_type box_of(const accumulators_type& c, index_t number) {
    sums_type sum;
    for (index_t d = 0; d < distribution::num_elements; ++d)
      sum.thread_buffer[d] = c.thread_buffer[number * distribution::num_elements + d];
    return sum;
  }

  TILEWRIGHT_HD static result_type round(const sums_type& sum) {
    result_type result;
    for (index_t d = 0; d < distribution::num_elements; d += 2) {
      const unsigned pair = exec::round_pair<Result>(sum.thread_buffer[d], sum.thread_buffer[d + 1]);
      __builtin_memcpy(&result.thread_buffer[d], &pair, sizeof(pair));
    }
    return result;
  }

  /// Waits until box `number` of the consumer is free, or holds C's old elements; the result is its place.
  TILEWRIGHT_HD unsigned take(index_t number) {
    constexpr hopper_tile t = Policy::tile;
    const unsigned place = unsigned(t.box_number(consumer, number)) % boxes_type::num_boxes;
    boxes.ready(place, consumer).wait(parities >> place & 1);
    parities ^= 1u << place;
    return place;
  }

  /// Fills the box at a place.
  TILEWRIGHT_HD void put(const result_type& result, unsigned place) const {
    store_fragments(window, result, index_t(place) * box_bytes);
    exec::wave_sync();
    if (exec::lane_id() == 0) boxes.full(place).arrive();
  }

  /// C's old elements, which lie in box `number` where the new ones will.
  TILEWRIGHT_HD result_type old_elements(index_t number) {
    if (taken < 0) taken = index_t(take(number));
    const auto old = load_fragments<arch::matrix_op::mma_m16n8k16_x2, distribution>(window, taken * box_bytes);
    exec::wave_sync();
    return old;
  }
};

}  // namespace tilewright
#endif
