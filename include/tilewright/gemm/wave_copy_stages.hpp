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

 public:
  /// Behind the last tile it is copied again, for nobody, so that the same number of copies is always under way.
  static constexpr index_t num_tiles_behind = Stages - 2;

  template <class AWindow, class BWindow, class Accumulator, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<Accumulator, C>& c, AWindow a_window, BWindow b_window,
                                index_t num_tiles, exec::lds_pointer lds) {
    using enum exec::instruction_kind;
    using a_copy = wave_copy<AWindow, Policy::a_lds>;
    using b_copy = wave_copy<BWindow, Policy::b_lds>;
    constexpr index_t num_a = a_copy::num_access, num_copies = num_a + b_copy::num_access;
    static_assert((Stages - 1) * num_copies < 64,
                  "multi_stage_pipeline: a wave can wait for less than 64 copies; use a smaller block tile, more waves "
                  "or fewer stages");
    const exec::lds_pointer b_lds = lds + operand_windows<Policy>::a_bytes;
    const operand_windows<Policy> windows(lds);
    operand_fragments<Policy> f;

    // The first tile may be partial; the others are checked where the second one is: if there is none,
    // nothing is inside.
    a_copy(a_window, lds).begin(0);
    b_copy(b_window, b_lds).begin(0);
    const index_t a_step = k_step_bytes(a_window), b_step = k_step_bytes(b_window);
    move_tile_window(a_window, {0, tile.k});
    move_tile_window(b_window, {0, tile.k});
    a_copy a(a_window, lds);
    b_copy b(b_window, b_lds);
    const auto advance = [&](bool more) TILEWRIGHT_INLINE_LAMBDA {
      a.advance(more ? a_step : 0);
      b.advance(more ? b_step : 0);
    };
    unroll<Stages - 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      a.begin((i.value + 1) * stage_bytes);
      b.begin((i.value + 1) * stage_bytes);
      advance(num_tiles > i.value + 2);
    });

    // Multiplies with the tile in the buffer `reading`, whose first step is in registers, while another one is filled
    // with the tile that is Stages - 1 tiles behind it. The first step of the next tile is read while the last one of
    // this tile is multiplied. `left`: tiles from this one on, at least two.
    const auto multiply = [&](index_t reading, index_t filling, index_t next, index_t left) TILEWRIGHT_INLINE_LAMBDA {
      unroll<max(steps - 1, 1)>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        constexpr auto range = accesses_of_both(num_a, min(num_copies * step.value / parts, num_copies),
                                                min(num_copies * (step.value + 1) / parts, num_copies));
        if constexpr (steps > 1) windows.template load<step.value + 1, 1>(f, reading);
        a.template begin<range.begin, range.end>(filling);
        b.template begin<range.second_begin, range.second_end>(filling);
        if constexpr (steps > 1) {
          block_gemm<tile, step.value * per_step, per_step>(c, f.a, f.b);
          spread_among_matrix_instructions<per_step, per_step * 3 / 4, lds_read, reads_per_step>();
        }
      });
      advance(left > Stages);
      exec::async_wait<(Stages - 2) * num_copies>();
      exec::block_sync();
      const operand_fragments<Policy> last = f;
      windows.template load<0, 1>(f, next);
      block_gemm<tile, (steps - 1) * per_step, per_step>(c, last.a, last.b);
      spread_among_matrix_instructions<per_step, per_step * 3 / 4, lds_read, reads_per_step>();
    };

    exec::async_wait<(Stages - 2) * num_copies>();
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
