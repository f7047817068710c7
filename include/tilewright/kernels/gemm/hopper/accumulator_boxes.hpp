// SPDX-License-Identifier: MIT
// The accumulators of a consumer as boxes of C, which an epilogue finishes one after the other.
#pragma once

#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// For a warp, which has 16 rows of each box (64 x box_n; of C^T with swap_ab).
template <class Block>
struct accumulator_boxes {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr bool swap_ab = tile.swap_ab;
  using Result = typename Block::result_type;
  using distribution = tile_distribution<number<swap_ab ? with_dimensions_exchanged(Block::box) : Block::box>::value>;
  using box_type = static_distributed_tensor<float, distribution>;
  using result_type = static_distributed_tensor<Result, distribution>;
  using accumulators = typename Block::accumulators;

  /// The accumulators of box `Number` of the consumer; a narrow one has others' or zeros after its own.
  template <index_t Number>
  TILEWRIGHT_HD static box_type box_of(const accumulators& c) {
    constexpr hopper_gemm_tile t = tile;
    constexpr index_t row = Number / t.boxes_per_row() * t.result_n() / 2, num = distribution::num_elements,
                      first = row + Number % t.boxes_per_row() * num;
    box_type box;
    for (index_t d = 0; d < num; ++d)
      box.thread_buffer[d] = first + d < t.accumulators() ? c.thread_buffer[first + d] : 0;
    return box;
  }

  TILEWRIGHT_HD static result_type round(const box_type& box) {
    result_type result;
    for (index_t d = 0; d < distribution::num_elements; d += 2) {
      const unsigned pair = exec::round_pair<Result>(box.thread_buffer[d], box.thread_buffer[d + 1]);
      __builtin_memcpy(&result.thread_buffer[d], &pair, sizeof(pair));
    }
    return result;
  }

  /// Calls store(j, bounds, origin, batch, finish, box) for each box j of the warp, whose first accumulator is C(m0,
  /// n0) as the tile counts. finish(at) applies the epilogue to `box`, where `at` is made of `bounds`, the first row
  /// and column in C, and the matrix of the batch. c is used up.
  template <class Store>
  TILEWRIGHT_HD static void for_each_box(accumulators& c, const auto& args, index_t m0, index_t n0, index_t batch,
                                         Store store) {
    constexpr hopper_gemm_tile t = tile;
    // A narrow box ends before the next tile: nothing of an epilogue is read or written there.
    const gemm_args* bounds = &args;
    [[maybe_unused]] gemm_args ends;
    if constexpr (t.has_narrow_box()) {
      ends = args;
      index_t& end = swap_ab ? ends.m : ends.n;
      end = min(end, n0 + t.result_n());
      bounds = &ends;
    }
    // As a loop: what is done to a box is many instructions.
    TILEWRIGHT_UNROLL(1)
    for (index_t j = 0; j < t.boxes_per_consumer(); ++j) {
      box_type box = box_of<0>(c), second = box_of<t.products == 1 ? 0 : t.boxes_per_row()>(c);
      // Registers have no numbers at run time, so the other accumulators move down.
      if (t.is_narrow_box(j)) {
        move_down<t.last_box_n() / 2>(c);
      } else {
        move_down<distribution::num_elements>(c);
      }
      const index_t m = m0 + j / t.boxes_per_row() * (64 * t.consumers_per_tile()),
                    n = n0 + j % t.boxes_per_row() * t.box_n();
      const auto finish = [&](const auto& at) TILEWRIGHT_INLINE_LAMBDA {
        using epilogue = typename Block::epilogue;
        if constexpr (Block::tile.products == 1) {
          tilewright::epilogue::detail::call<epilogue>(at, args, box);
        } else {
          tilewright::epilogue::detail::call<epilogue>(at, args, box, second);
        }
      };
      store(j, *bounds, multi_index<2>{{swap_ab ? n : m, swap_ab ? m : n}}, batch, finish, box);
    }
  }

 private:
  template <index_t By>
  TILEWRIGHT_HD static void move_down(accumulators& c) {
    for (index_t d = By; d < tile.accumulators(); ++d) c.thread_buffer[d - By] = c.thread_buffer[d];
  }
};

}  // namespace tilewright::detail
#endif
