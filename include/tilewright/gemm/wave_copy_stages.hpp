// SPDX-License-Identifier: MIT
// The loop over k with several LDS buffers that are filled without registers, by a wave_copy of each operand.
#pragma once

#include <tilewright/gemm/k_tiles.hpp>
#include <tilewright/gemm/operand_windows.hpp>
#include <tilewright/mma/schedule.hpp>
#include <tilewright/tile/wave_copy.hpp>

namespace tilewright {

/// What multi_stage_pipeline does on AMD GPUs. The loop's body is there once for each stage, so that places in LDS are
/// constants.
template <class Policy, index_t Stages>
class wave_copy_stages {
  static constexpr block_tile tile = Policy::tile;
  static constexpr index_t steps = num_k_steps(tile), per_step = matrix_instructions_per_step<tile>;
  static constexpr index_t stage_bytes = lds_stage_bytes<Policy>();
  /// Copies begin in so many steps; those of the only tile that is under way as early as possible.
  static constexpr index_t parts = Stages == 2 ? 1 : max(steps - 1, 1);
  static constexpr index_t reads_per_step = operand_windows<Policy>::num_reads / steps;

  /// The copies of one tile of each operand after the other.
  template <class AWindow, class BWindow>
  class tile_copies {
    wave_copy<AWindow, Policy::a_lds> a_;
    wave_copy<BWindow, Policy::b_lds> b_;
    index_t a_step_, b_step_;

   public:
    static constexpr index_t num_a = AWindow::num_access, num = num_a + BWindow::num_access;
    static_assert((Stages - 1) * num < 64,
                  "multi_stage_pipeline: a wave can wait for less than 64 copies; use a smaller block tile, more waves "
                  "or fewer stages");

    TILEWRIGHT_HD tile_copies(const AWindow& a, const BWindow& b, exec::lds_pointer lds)
        : a_(a, lds),
          b_(b, lds + operand_windows<Policy>::a_bytes),
          a_step_(k_step_bytes(a)),
          b_step_(k_step_bytes(b)) {}

    /// Begins those of part `Part` of `Parts`, to the buffer that lies `lds_bytes` behind the first.
    template <index_t Part = 0, index_t Parts = 1>
    TILEWRIGHT_HD void begin(index_t lds_bytes) const {
      constexpr auto range = accesses_of_both(num_a, num * Part / Parts, num * (Part + 1) / Parts);
      a_.template begin<range.begin, range.end>(lds_bytes);
      b_.template begin<range.second_begin, range.second_end>(lds_bytes);
    }
    /// Goes on to the next tile, if there is one.
    TILEWRIGHT_HD void advance(bool more) {
      a_.advance(more ? a_step_ : 0);
      b_.advance(more ? b_step_ : 0);
    }
  };

 public:
  /// Behind the last tile it is copied again, for nobody, so that the same number of copies is always under way.
  static constexpr index_t num_tiles_behind = Stages - 2;

  template <class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    using enum exec::instruction_kind;
    using copies_type = tile_copies<AWindow, BWindow>;
    constexpr index_t under_way = (Stages - 2) * copies_type::num;
    const operand_windows<Policy> windows(lds);
    operand_fragments<Policy> f;

    // The first tile may be partial; the others are checked where the second one is: if there is none,
    // nothing is inside.
    copies_type(a_window, b_window, lds).begin(0);
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    copies_type copies(a_window, b_window, lds);
    unroll<Stages - 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      copies.begin((i + 1) * stage_bytes);
      copies.advance(num_tiles > i + 2);
    });

    // Multiplies with the tile in the buffer `reading`, whose first step is in registers, while another one is filled
    // with the tile that is Stages - 1 tiles behind it. The first step of the next tile is read while the last one of
    // this tile is multiplied. `left`: tiles from this one on, at least two.
    const auto multiply = [&](index_t reading, index_t filling, index_t next, index_t left) TILEWRIGHT_INLINE_LAMBDA {
      unroll<max(steps - 1, 1)>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (steps > 1) windows.template load<step + 1, 1>(f, reading);
        if constexpr (step < parts) copies.template begin<step, parts>(filling);
        if constexpr (steps > 1) {
          block_gemm<tile, step * per_step, per_step>(c, f.a, f.b);
          spread_among_matrix_instructions<per_step, per_step * 3 / 4, lds_read, reads_per_step>();
        }
      });
      copies.advance(left > Stages);
      exec::async_wait<under_way>();
      exec::block_sync();
      const operand_fragments<Policy> last = f;
      windows.template load<0, 1>(f, next);
      block_gemm<tile, (steps - 1) * per_step, per_step>(c, last.a, last.b);
      spread_among_matrix_instructions<per_step, per_step * 3 / 4, lds_read, reads_per_step>();
    };

    exec::async_wait<under_way>();
    exec::block_sync();
    windows.template load<0, 1>(f, 0);
    index_t left = num_tiles;
    TILEWRIGHT_UNROLL(1)
    for (; left > Stages; left -= Stages) {
      unroll<Stages>([&](auto stage) TILEWRIGHT_INLINE_LAMBDA {
        constexpr index_t s = stage.value;
        multiply(s * stage_bytes, (s + Stages - 1) % Stages * stage_bytes, (s + 1) % Stages * stage_bytes, left - s);
      });
    }
    index_t reading = 0, filling = (Stages - 1) * stage_bytes;
    TILEWRIGHT_UNROLL(1)
    for (; left > 1; --left) {
      const index_t next = reading + stage_bytes == Stages * stage_bytes ? 0 : reading + stage_bytes;
      multiply(reading, filling, next, left);
      filling = reading;
      reading = next;
    }
    windows.template load<1, steps - 1>(f, reading);
    block_gemm<tile>(c, f.a, f.b);
    exec::async_wait<0>();
  }
};

}  // namespace tilewright
