// SPDX-License-Identifier: MIT
// Fills the stages of a pipeline in LDS without registers: cp.async on NVIDIA GPUs, direct-to-LDS loads on AMD GPUs.
#pragma once

#include <tilewright/block/operands/k_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>

namespace tilewright {

namespace detail {

/// Copies of an operand's tiles, one after the other along k. Copy: a lane_copy or wave_copy of the window to Target.
template <class Copy, class Window, class Target>
class operand_stream {
  Window window_;
  Target target_;
  Copy copy_;

 public:
  TILEWRIGHT_HD operand_stream(const Window& window, const Target& target)
      : window_(window), target_(target), copy_(window, target) {}

  template <index_t First, index_t Last>
  TILEWRIGHT_HD void issue(index_t lds_bytes, exec::call_site where) const {
    copy_.template issue<First, Last>(lds_bytes, where);
  }
  /// Goes on to the next tile, if there is one. Bounds are checked for the first tile alone.
  TILEWRIGHT_HD void advance(bool more, index_t k_stride) {
    if constexpr (has_k_stride<Window>) {
      copy_.advance(k_stride);
    } else if (more) {
      move_tile_window(window_, {0, Window::distribution_type::x_lengths[1]});
      copy_ = Copy(window_, target_);
    }
  }
};

}  // namespace detail

/// The copies of both operands, tile after tile along k. issue() takes a fraction of a tile's copies, so that they can
/// be among matrix instructions; commit() follows when all of them are issued, wait_for_tile() at the consumers.
template <class Policy, index_t Stages, class AWindow, class BWindow>
class stage_copies {
  using operands = operand_windows<Policy>;
  /// Copies by wave (AMD) are waited for by their number, so all tiles need the same: where a tile does not exist, the
  /// last one is copied again. Copies by lane (NVIDIA) are waited for by groups, which may be empty.
  static constexpr bool by_wave = Policy::copies_by_wave;
  static constexpr index_t num_a = AWindow::num_access, num = num_a + BWindow::num_access;
  static_assert(!by_wave || (Stages - 1) * num < 64,
                "multi_stage_pipeline: a wave can wait for less than 64 copies; use a smaller block tile, more waves "
                "or fewer stages");

  template <class Window, class WriteWindow, tensor_graph Layout>
  TILEWRIGHT_HD static auto stream_of(const Window& from, [[maybe_unused]] const WriteWindow& to,
                                      [[maybe_unused]] exec::lds_pointer lds, number<Layout>) {
    if constexpr (by_wave) {
      return detail::operand_stream<wave_copy<Window, Layout>, Window, exec::lds_pointer>(from, lds);
    } else {
      return detail::operand_stream<lane_copy<Window, WriteWindow>, Window, WriteWindow>(from, to);
    }
  }
  using a_stream = decltype(stream_of(AWindow{}, typename operands::a_write_window{}, {}, number<Policy::a_lds>{}));
  using b_stream = decltype(stream_of(BWindow{}, typename operands::b_write_window{}, {}, number<Policy::b_lds>{}));
  a_stream a_;
  b_stream b_;
  index_t a_step_, b_step_;

 public:
  /// Copies of the windows' tiles and of those after them along k, to `lds`.
  TILEWRIGHT_HD stage_copies(const AWindow& a, const BWindow& b, const operands& windows, exec::lds_pointer lds)
      : a_(stream_of(a, windows.a_write(), lds, number<Policy::a_lds>{})),
        b_(stream_of(b, windows.b_write(), lds + operands::a_bytes, number<Policy::b_lds>{})),
        a_step_(detail::k_step(a)),
        b_step_(detail::k_step(b)) {}

  /// Issues fraction Fraction of Fractions of a tile's copies, to the stage `lds_bytes` after the first; `exists`:
  /// whether there is such a tile.
  template <index_t Fraction = 0, index_t Fractions = 1>
  TILEWRIGHT_HD void issue(index_t lds_bytes, bool exists = true, exec::call_site where = {}) const {
    constexpr auto range =
        detail::accesses_of_both(num_a, num * Fraction / Fractions, num * (Fraction + 1) / Fractions);
    if (!by_wave && !exists) return;
    a_.template issue<range.begin, range.end>(lds_bytes, where);
    b_.template issue<range.second_begin, range.second_end>(lds_bytes, where);
  }
  /// Commits the tile's copies as one group and goes on to the next tile; `more`: whether there is one.
  TILEWRIGHT_HD void commit(bool more) {
    if constexpr (!by_wave) exec::async_end_group();
    a_.advance(more, by_wave && !more ? 0 : a_step_);
    b_.advance(more, by_wave && !more ? 0 : b_step_);
  }
  /// Waits for the oldest of Stages - 1 tiles in flight, and for the other waves.
  TILEWRIGHT_HD static void wait_for_tile() {
    if constexpr (by_wave) {
      exec::async_wait<(Stages - 2) * num>();
    } else {
      exec::async_wait_groups<Stages - 2>();
    }
    exec::block_sync();
  }
  /// Waits for all copies of this thread, without a barrier.
  TILEWRIGHT_HD static void wait_for_all() {
    if constexpr (by_wave) {
      exec::async_wait<0>();
    } else {
      exec::async_wait_groups<0>();
    }
  }
};

}  // namespace tilewright
