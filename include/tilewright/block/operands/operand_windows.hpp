// SPDX-License-Identifier: MIT
// Both operands of a block tile in LDS: windows to write them as they were copied, and to read them for block_gemm.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/operand_policy.hpp>

namespace tilewright {

namespace detail {

/// Bytes of LDS for one buffer of both operands; a policy whose operands have other bits says how many.
template <class Policy>
TILEWRIGHT_HD constexpr index_t lds_stage_bytes() {
  if constexpr (requires { Policy::stage_bytes; }) return Policy::stage_bytes;
  return (Policy::tile.m + Policy::tile.n) * Policy::tile.k * index_t(sizeof(typename Policy::element_type));
}

/// Splits the range [first, last) over num_first accesses of one operand followed by those of another into one range
/// for each.
struct accesses_of_both {
  index_t begin, end, second_begin, second_end;

  TILEWRIGHT_HD constexpr accesses_of_both(index_t num_first, index_t first, index_t last)
      : begin(min(first, num_first)),
        end(min(last, num_first)),
        second_begin(max(first, num_first) - num_first),
        second_end(max(last, num_first) - num_first) {}
};

/// Offsets of stages in bytes. Operands of equal size have all stages of A before those of B, so that stages are close
/// enough for the 16-bit offsets of instructions.
template <class Policy, index_t Stages>
struct lds_stages {
  static constexpr index_t all = lds_stage_bytes<Policy>(),
                           of_a = all / (Policy::tile.m + Policy::tile.n) * Policy::tile.m;
  static constexpr bool apart = 2 * of_a == all;
  static constexpr index_t step = apart ? of_a : all;
  static constexpr index_t b_begin = apart ? Stages * of_a : of_a;
};

template <class Policy, tensor_graph Layout, class View, class Copy>
TILEWRIGHT_HD auto make_operand_window(const View& view, const multi_index<2>& origin, Copy copy) {
  constexpr index_t rows = Copy::x_lengths[0], k = Copy::x_lengths[1];
  constexpr auto lengths = make_tuple(number<rows>{}, number<k>{});
  if constexpr (Policy::copies_by_wave) {
    return make_async_tile_window(view, lengths, origin, copy, tensor_descriptor<Layout>{{}, rows * k});
  } else {
    return make_tile_window(view, lengths, origin, copy);
  }
}
}  // namespace detail

/// The window through which the policy's pipeline copies A from a view in global memory (m x k): its origin is at `row`
/// and column `k`.
template <class Policy, class View>
TILEWRIGHT_HD auto make_a_window(const View& view, index_t row, index_t k) {
  return detail::make_operand_window<Policy, Policy::a_lds>(view, {row, k}, tile_distribution<Policy::a_copy>{});
}
/// The same for B (n x k).
template <class Policy, class View>
TILEWRIGHT_HD auto make_b_window(const View& view, index_t row, index_t k) {
  return detail::make_operand_window<Policy, Policy::b_lds>(view, {row, k}, tile_distribution<Policy::b_copy>{});
}

namespace detail {

/// Both operands in registers.
template <class Policy>
struct operand_fragments {
  static_distributed_tensor<typename Policy::element_type, tile_distribution<a_encoding_v<Policy::tile>>> a;
  static_distributed_tensor<typename Policy::b_element_type, tile_distribution<b_encoding_v<Policy::tile>>> b;
};

}  // namespace detail

/// The calling thread's addresses in the first stage. Other stages are a number of bytes further.
template <class Policy>
class operand_windows {
  using T = typename Policy::element_type;
  using BElement = typename Policy::b_element_type;
  static constexpr block_tile tile = Policy::tile;

  template <class Element, tensor_graph Layout, distribution_encoding Encoding>
  struct window_of {
    using type = tile_window<tensor_view<address_space_enum::lds, Element, tensor_descriptor<Layout>>,
                             tile_distribution<Encoding>>;
  };

  template <class Window>
  TILEWRIGHT_HD static constexpr void place(Window& window, exec::lds_pointer lds, const multi_index<2>& partition) {
    constexpr multi_index<2> lengths = Window::distribution_type::x_lengths;
    detail::place_window(window, {lds, {{}, lengths[0] * lengths[1]}}, {}, partition);
  }

 public:
  using a_write_window = typename window_of<T, Policy::a_lds, Policy::a_copy>::type;
  using b_write_window = typename window_of<BElement, Policy::b_lds, Policy::b_copy>::type;

  using a_read_window = typename window_of<T, Policy::a_lds, Policy::a_read>::type;
  using b_read_window = typename window_of<BElement, Policy::b_lds, Policy::b_read>::type;

 private:
  a_write_window a_write_;
  b_write_window b_write_;
  a_read_window a_read_;
  b_read_window b_read_;

 public:
  /// Bytes of LDS that A takes; B follows.
  static constexpr index_t a_bytes = tile.m * tile.k * index_t(sizeof(T));

  /// LDS instructions with which a wave reads the operands of a tile.
  static constexpr index_t num_reads = a_read_window::num_access + b_read_window::num_access;

  /// LDS instructions with which it writes them.
  static constexpr index_t num_writes = a_write_window::num_access + b_write_window::num_access;

  /// 32-bit registers for these operands, and for a tile of each in flight from global memory.
  static constexpr index_t registers =
      (a_distribution<tile>::num_elements + b_distribution<tile>::num_elements) * index_t(sizeof(T)) / 4;
  /// 32-bit registers for a tile of each operand in flight from global memory.
  static constexpr index_t copy_registers =
      (Policy::a_copy.num_elements_per_thread() + Policy::b_copy.num_elements_per_thread()) * index_t(sizeof(T)) / 4;

  /// B's first stage is `b_begin` bytes after A's.
  TILEWRIGHT_HD explicit operand_windows(exec::lds_pointer lds, index_t b_begin = a_bytes) {
    const multi_index<2> partition = detail::partition_index<2>();
    place(a_write_, lds, partition);
    place(b_write_, lds + b_begin, partition);
    place(a_read_, lds, partition);
    place(b_read_, lds + b_begin, partition);
  }

  /// Writes a tile of each operand to the stage `lds_bytes` after the first.
  template <class A, class B>
  TILEWRIGHT_HD void store(const A& a, const B& b, index_t lds_bytes, exec::call_site where = {}) const {
    store_a(a, lds_bytes, where);
    store_b(b, lds_bytes, where);
  }
  /// LDS instructions First to Last - 1 of those that this takes.
  template <index_t First, index_t Last, class A, class B>
  TILEWRIGHT_HD void store_accesses(const A& a, const B& b, index_t lds_bytes, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    constexpr auto range = detail::accesses_of_both(a_write_window::num_access, First, Last);
    const auto store = [&]<index_t Begin, index_t... Is>(const auto& window, const auto& operand, number<Begin>,
                                                         sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      detail::store_accesses(operand, window, in_bounds<>{}, lds_bytes, sequence<Begin + Is...>{});
    };
    if constexpr (range.begin < range.end)
      store(a_write_, a, number<range.begin>{}, make_sequence<range.end - range.begin>{});
    if constexpr (range.second_begin < range.second_end)
      store(b_write_, b, number<range.second_begin>{}, make_sequence<range.second_end - range.second_begin>{});
  }
  /// One operand.
  template <class A>
  TILEWRIGHT_HD void store_a(const A& a, index_t lds_bytes, exec::call_site where = {}) const {
    store_tile_with_offset(a_write_, a, lds_bytes, where);
  }
  /// Operand B.
  template <class B>
  TILEWRIGHT_HD void store_b(const B& b, index_t lds_bytes, exec::call_site where = {}) const {
    store_tile_with_offset(b_write_, b, lds_bytes, where);
  }

  /// The windows in the first buffer that operands are written through, and those that block_gemm reads through.
  TILEWRIGHT_HD const a_write_window& a_write() const { return a_write_; }
  /// Through which B's tile is written.
  TILEWRIGHT_HD const b_write_window& b_write() const { return b_write_; }
  /// Through which block_gemm reads A's tile.
  TILEWRIGHT_HD const a_read_window& a_read() const { return a_read_; }
  /// Through which block_gemm reads B's tile.
  TILEWRIGHT_HD const b_read_window& b_read() const { return b_read_; }

  /// Reads the operands of `Count` steps along k from step First on.
  template <index_t First = 0, index_t Count = tile.num_k_steps()>
  TILEWRIGHT_HD void load(detail::operand_fragments<Policy>& f, index_t lds_bytes, exec::call_site where = {}) const {
    load_fragment_steps<tile.op, tile.num_k_steps(), First, Count>(f.a, a_read_, lds_bytes, where);
    load_fragment_steps<tile.op, tile.num_k_steps(), First, Count>(f.b, b_read_, lds_bytes, where);
  }

  /// Part Part of Parts of the reads of step Step: B, which all rows need, before A.
  template <index_t Step, index_t Part, index_t Parts>
  TILEWRIGHT_HD void load_part(detail::operand_fragments<Policy>& f, index_t lds_bytes,
                               exec::call_site where = {}) const {
    constexpr index_t steps = tile.num_k_steps(), num_b = detail::reads_per_step<b_read_window, steps>;
    constexpr index_t num = num_b + detail::reads_per_step<a_read_window, steps>;
    constexpr auto range = detail::accesses_of_both(num_b, num * Part / Parts, num * (Part + 1) / Parts);
    detail::load_fragment_accesses<tile.op, steps, Step, range.begin, range.end>(f.b, b_read_, lds_bytes, where);
    detail::load_fragment_accesses<tile.op, steps, Step, range.second_begin, range.second_end>(f.a, a_read_, lds_bytes,
                                                                                               where);
  }
};

namespace detail {

/// Estimated 32-bit registers of a thread: accumulators, the operands of `steps` steps along k, `tiles` tiles in flight
/// from global memory, and `others` for addresses and the rest.
template <class Policy>
constexpr index_t estimated_registers(index_t steps, index_t tiles, index_t others = 32) {
  using operands = operand_windows<Policy>;
  return c_encoding_v<Policy::tile>.num_elements_per_thread() +
         operands::registers * steps / Policy::tile.num_k_steps() + tiles * operands::copy_registers + others;
}

/// Steps along k whose operands a pipeline with one tile in flight keeps in registers: all, or two if there are no
/// registers for more.
template <class Policy>
constexpr index_t steps_in_registers() {
  constexpr index_t steps = Policy::tile.num_k_steps();
  return number<(estimated_registers<Policy>(steps, 1) <= Policy::registers_per_thread ? steps : 2)>::value;
}

/// A tile of A (m, k) and of B (n, k) in registers, in flight from global memory to LDS.
template <class AWindow, class BWindow>
struct operand_tiles {
  tile_of<AWindow> a;
  tile_of<BWindow> b;

  /// Issues the loads of the windows' tiles. The first tile is checked along k, the others are in_bounds<1>.
  template <class Known = in_bounds<>>
  TILEWRIGHT_HD void load(const AWindow& from_a, const BWindow& from_b, Known known = {}, exec::call_site where = {}) {
    load_tile(a, from_a, known, where);
    load_tile(b, from_b, known, where);
  }
  /// Issues those of the tiles at these offsets along k (see load_tile_along_k).
  TILEWRIGHT_HD void load_along_k(const AWindow& from_a, const BWindow& from_b, index_t a_offset, index_t b_offset,
                                  exec::call_site where = {}) {
    load_tile_along_k(a, from_a, a_offset, in_bounds<1>{}, where);
    load_tile_along_k(b, from_b, b_offset, in_bounds<1>{}, where);
  }
};

/// Prologue of a pipeline with one tile in flight to registers: tile 0 is in LDS, tile 1, if there is one, in flight to
/// `next`, and the windows are at it. Ends with a barrier.
template <class Policy, class AWindow, class BWindow>
TILEWRIGHT_HD void prologue(const operand_windows<Policy>& windows, AWindow& a_window, BWindow& b_window,
                            operand_tiles<AWindow, BWindow>& next, index_t num_tiles) {
  constexpr index_t step = Policy::tile.k;
  next.load(a_window, b_window);
  windows.store(next.a, next.b, 0);
  if (num_tiles > 1) {
    move_tile_window(a_window, {0, step});
    move_tile_window(b_window, {0, step});
    next.load(a_window, b_window, in_bounds<1>{});
  }
  exec::block_sync();
}

}  // namespace detail

}  // namespace tilewright
