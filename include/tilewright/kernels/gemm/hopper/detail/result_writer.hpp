// SPDX-License-Identifier: MIT
// What a consumer does with its sums: epilogue, rounding, stmatrix to boxes of C in LDS.
#pragma once

#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/kernels/gemm/hopper/detail/result_boxes.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// What it costs a wave to write its rows of a box to LDS.
template <class Block>
TILEWRIGHT_HD constexpr lds_access_analysis predict_box_store() {
  return analyze_lds_access<arch::sm90>(Block::box_descriptor(), tile_distribution<Block::box_addresses>{},
                                        sizeof(typename Block::result_type), lds_access_kind::stmatrix);
}

/// A tile_place for a wave's rows of a box; the old elements of C come there by bulk copy.
template <class Writer>
struct box_place : tile_place<typename Writer::distribution, typename Writer::Result, Writer::vector> {
  Writer& writer;
  index_t box;
  TILEWRIGHT_HD auto c() const { return writer.old_elements(box); }
  template <class Tile>
  TILEWRIGHT_HD void read_c(Tile& tile) const {
    tile = c();
  }
};

/// One wave of a consumer: writes its 16 rows of boxes.
template <class Block>
struct result_writer {
  using Result = typename Block::result_type;
  static constexpr bool swap_ab = Block::tile.swap_ab;
  static constexpr bool direct = Block::tile.unaligned;         // writes C from registers, element by element
  static constexpr index_t vector = swap_ab || direct ? 1 : 2;  // neighbours in a row of C that a lane has
  using distribution = tile_distribution<number<swap_ab ? with_dimensions_exchanged(Block::box) : Block::box>::value>;
  using addresses = tile_distribution<Block::box_addresses>;
  using sums_type = static_distributed_tensor<float, distribution>;
  using result_type = static_distributed_tensor<Result, distribution>;
  using all_sums_type = typename Block::sums_type;
  using boxes_type = result_boxes<Block>;
  using epilogue = typename Block::epilogue;
  static constexpr index_t columns = Block::tile.box_n(), box_bytes = Block::lds.box_bytes();
  static_assert(number<predict_box_store<Block>()>::value.is_conflict_free(),
                "gemm: writing C to LDS has bank conflicts");

  /// A wave's rows of the first box, or columns of C.
  TILEWRIGHT_HD static auto box_window(exec::lds_pointer boxes, index_t wave) {
    constexpr auto descriptor = Block::box_descriptor();
    const exec::lds_pointer rows = swap_ab ? boxes : boxes + wave * (box_bytes / 4);
    return make_tile_window(make_tensor_view<address_space_enum::lds, Result>(rows, descriptor),
                            make_tuple(number<16>{}, number<columns>{}), {swap_ab ? wave * 16 : 0, 0}, addresses{});
  }

  const typename Block::device_args& args;
  boxes_type boxes;
  index_t consumer;
  decltype(box_window({}, 0)) window;
  unsigned parities = 0;  // of the phases of `ready` to wait for: a bit for each place of a box
  index_t taken = -1;     // the place of the box that is being made, once it is free

  /// What the epilogue makes of c goes to rows from m0 on and columns from n0 on. c is used up.
  TILEWRIGHT_HD void operator()(all_sums_type& c, index_t m0, index_t n0, index_t batch) {
    constexpr index_t num_boxes = Block::tile.boxes_per_consumer(), boxes_per_row = Block::tile.boxes_per_row();
    constexpr bool is_plain = __is_same(epilogue, tilewright::epilogue::alpha_beta) && Block::tile.products == 1;
    if constexpr (!direct && (is_plain || Block::sends_tiles)) {
      bool as_is = false;  // sums that another GPU finishes
      if constexpr (Block::sends_tiles) as_is = !Block::is_own(args.args, batch);
      // Boxes that are rounded first follow each other quickly.
      if (as_is || (is_plain && !Block::sends_tiles && args.args.beta == 0)) {
        if (!as_is && args.args.alpha != 1) tilewright::epilogue::alpha{}(c, 0, args.args);
        result_type results[num_boxes];
        unroll<num_boxes>([&](auto j) TILEWRIGHT_INLINE_LAMBDA { results[j.value] = round(box_of<j.value>(c)); });
        unroll<num_boxes>([&](auto j) TILEWRIGHT_INLINE_LAMBDA { put(results[j.value], take(j)); });
        return;
      }
    }
    // A narrow box ends before the next tile: nothing of an epilogue is read or written there.
    const gemm_args* bounds = &args.args;
    [[maybe_unused]] gemm_args ends;
    if constexpr (Block::tile.has_narrow_box()) {
      ends = args.args;
      index_t& end = swap_ab ? ends.m : ends.n;
      end = min(end, n0 + Block::tile.result_n());
      bounds = &ends;
    }
    // As a loop: what is done to the sums is many instructions.
    TILEWRIGHT_UNROLL(1)
    for (index_t j = 0; j < num_boxes; ++j) {
      sums_type sums = box_of<0>(c), second = box_of<Block::tile.products == 1 ? 0 : boxes_per_row>(c);
      // Registers have no numbers at run time, so the other accumulators move down.
      constexpr hopper_gemm_tile t = Block::tile;
      if (t.is_narrow_box(j)) {
        move_down<t.last_box_n() / 2>(c);
      } else {
        move_down<distribution::num_elements>(c);
      }
      taken = -1;
      const index_t m = m0 + j / boxes_per_row * (64 * Block::tile.consumers_per_tile()),
                    n = n0 + j % boxes_per_row * columns;
      const multi_index<2> origin{{swap_ab ? n : m, swap_ab ? m : n}};
      const auto finish = [&](const auto& at) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (Block::tile.products == 1) {
          tilewright::epilogue::detail::call<epilogue>(at, args.args, sums);
        } else {
          tilewright::epilogue::detail::call<epilogue>(at, args.args, sums, second);
        }
      };
      if constexpr (direct) {
        const result_place<distribution, Result, 1> at{{*bounds, origin, batch, {exec::lane_id()}}};
        finish(at);
        store_tile(at.c_window, round(sums));
      } else {
        finish(box_place<result_writer>{{*bounds, origin, batch, {exec::lane_id()}}, *this, j});
        put(round(sums), taken < 0 ? take(j) : unsigned(taken));
      }
    }
  }

  /// The accumulators of box `Number` of the consumer; a narrow one has others' or zeros after its own.
  template <index_t Number>
  TILEWRIGHT_HD static sums_type box_of(const all_sums_type& c) {
    constexpr hopper_gemm_tile t = Block::tile;
    constexpr index_t row = Number / t.boxes_per_row() * t.result_n() / 2, num = distribution::num_elements,
                      first = row + Number % t.boxes_per_row() * num;
    sums_type sum;
    for (index_t d = 0; d < num; ++d)
      sum.thread_buffer[d] = first + d < t.accumulators() ? c.thread_buffer[first + d] : 0;
    return sum;
  }
  template <index_t By>
  TILEWRIGHT_HD static void move_down(all_sums_type& c) {
    for (index_t d = By; d < Block::tile.accumulators(); ++d) c.thread_buffer[d - By] = c.thread_buffer[d];
  }

  TILEWRIGHT_HD static result_type round(const sums_type& sum) {
    result_type result;
    for (index_t d = 0; d < distribution::num_elements; d += 2) {
      const unsigned pair = exec::round_pair<Result>(sum.thread_buffer[d], sum.thread_buffer[d + 1]);
      __builtin_memcpy(&result.thread_buffer[d], &pair, sizeof(pair));
    }
    return result;
  }

  /// Waits until box `number` of the consumer is free, or holds what is to be added; the result is its place.
  TILEWRIGHT_HD unsigned take(index_t number) {
    constexpr hopper_gemm_tile t = Block::tile;
    const unsigned place = unsigned(t.box_number(t.ping_pong ? 0 : consumer, number)) % boxes_type::num_boxes;
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

  /// Adds what another GPU has sent.
  TILEWRIGHT_HD void add_received(all_sums_type& c) {
    unroll<Block::tile.boxes_per_consumer()>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const unsigned place = take(j);
      const auto more =
          load_fragments<arch::matrix_op::mma_m16n8k16_x2, distribution>(window, index_t(place) * box_bytes);
      exec::wave_sync();
      if (exec::lane_id() == 0) boxes.full(place).arrive();
      for (index_t d = 0; d < distribution::num_elements; ++d)
        c.thread_buffer[j.value * distribution::num_elements + d] += type_convert<float>(more.thread_buffer[d]);
    });
  }

  /// C's old elements, which lie in box `number` where the new ones will.
  TILEWRIGHT_HD result_type old_elements(index_t number) {
    if (taken < 0) taken = index_t(take(number));
    constexpr arch::matrix_op op = arch::matrix_op::mma_m16n8k16_x2;
    constexpr hopper_gemm_tile t = Block::tile;
    result_type old;
    if (t.is_narrow_box(number)) {
      old = {};
      read_fragments<op>(old, window, taken * box_bytes, make_sequence<t.last_box_n() / 16>{});
    } else {
      load_fragment_steps<op, 1, 0, 1>(old, window, taken * box_bytes);
    }
    exec::wave_sync();
    return old;
  }
};

}  // namespace tilewright::detail
#endif
