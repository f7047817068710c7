// SPDX-License-Identifier: MIT
// The loop over k with gfx950's scaled matrix instructions, for MXFP8, MXFP6 and MXFP4 operands, and its policy.
#pragma once

#include <tilewright/block/mma/block_gemm.hpp>
#include <tilewright/block/operands/scaled_operand.hpp>
#include <tilewright/block/operands/stage_copies.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright {

namespace detail {

/// An operand's tiles along k: words pass to LDS without registers, scales to registers without LDS. Tiles are those of
/// `matrix` from row `row` on.
template <class Operand>
struct scaled_tiles {
  using scale_word = typename Operand::scale_word;
  using lds_view = tensor_view<address_space_enum::lds, unsigned, tensor_descriptor<Operand::lds>>;
  using read_window = tile_window<lds_view, tile_distribution<Operand::read>>;
  using fragments = static_distributed_tensor<unsigned, tile_distribution<Operand::read>>;
  static constexpr index_t rows = Operand::rows, steps = Operand::steps;

  /// Reads of a step, if not those of a step before have read it too.
  static constexpr index_t num_reads(index_t step) {
    return step % Operand::read_steps == 0 ? reads_per_step<read_window, steps / Operand::read_steps> : 0;
  }

  /// The words of tile number `tile`, as Operand counts them.
  TILEWRIGHT_HD static auto words(const narrow_matrix& matrix, index_t tile) {
    constexpr index_t bits = bits_of(Operand::element), slices = Operand::slices, runs = Operand::words / (4 * slices);
    const index_t ld = divide(matrix.ld, 16) * (bits / 2), first = tile * runs,
                  left = ceil_div(divide(matrix.k, 16) * (bits / 2), 4 * slices) - first;
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        static_cast<const unsigned*>(matrix.words) + long_index_t(first) * (4 * slices),
        make_tuple(matrix.rows, left * (4 * slices)), make_tuple(ld, number<1>{}), number<4>{});
    if constexpr (slices == 1) {
      return view;
    } else {  // beyond the end of k, in rows that follow, are numbers whose scales are 2^-127
      const auto parts = transform_tensor_view(
          view,
          make_tuple(make_pass_through_transform(matrix.rows),
                     make_unmerge_transform(make_tuple(left, number<slices>{}, number<4>{}))),
          make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2, 3>{}));
      return transform_tensor_view(
          parts,
          make_tuple(make_pass_through_transform(matrix.rows),
                     make_merge_transform(make_tuple(number<slices>{}, number<runs>{}, number<4>{}))),
          make_tuple(sequence<0>{}, sequence<2, 1, 3>{}), make_tuple(sequence<0>{}, sequence<1>{}));
    }
  }
  TILEWRIGHT_HD static auto copies(const narrow_matrix& matrix, index_t row, index_t tile) {
    return make_async_tile_window(words(matrix, tile), make_tuple(number<rows>{}, number<Operand::words>{}), {row, 0},
                                  tile_distribution<Operand::copy>{},
                                  tensor_descriptor<Operand::lds>{{}, rows * Operand::words});
  }
  TILEWRIGHT_HD static auto scales(const narrow_matrix& matrix, index_t row) {
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        static_cast<const scale_word*>(matrix.scales), make_tuple(matrix.rows, ceil_div(divide(matrix.k, 32), steps)),
        make_tuple(divide(matrix.ld_scales, steps), number<1>{}));
    return make_tile_window(view, make_tuple(number<rows>{}, number<Operand::groups>{}), {row, 0},
                            tile_distribution<Operand::scales>{});
  }
  using copy_window = decltype(copies(narrow_matrix{}, 0, 0));
  using scale_window = decltype(scales(narrow_matrix{}, 0));
  using scale_words = array<unsigned, Operand::repeat>;  ///< of a thread
  using copy_type = wave_copy<copy_window, Operand::lds>;

  narrow_matrix matrix;
  index_t row;

  TILEWRIGHT_HD copy_type copy(index_t tile, exec::lds_pointer lds) const { return {copies(matrix, row, tile), lds}; }
  TILEWRIGHT_HD read_window reads(exec::lds_pointer lds) const {
    read_window window;
    place_window(window, {lds, {{}, rows * Operand::words}}, {}, partition_index<2>());
    return window;
  }
  TILEWRIGHT_HD static scale_words words_of(const tile_of<scale_window>& tile) {
    scale_words words;
    for (index_t i = 0; i < Operand::repeat; ++i) words[i] = tile.thread_buffer[i];
    return words;
  }
  /// The scales of tile number `tile`, which is whole.
  TILEWRIGHT_HD static scale_words load_scales(const scale_window& window, index_t tile) {
    tile_of<scale_window> scales;
    load_tile_along_k(scales, window, tile * k_step(window), in_bounds<1>{});
    return words_of(scales);
  }
  /// The same where parts of the tile may be outside of the matrix: those have scales of 2^-127.
  TILEWRIGHT_HD scale_words checked_scales(index_t tile) const {
    scale_window window = scales(matrix, row);
    move_tile_window(window, {0, tile * Operand::groups});
    scale_words words = words_of(load_tile(window));
    const index_t lane_group = divide(exec::lane_id(), Operand::lane_rows);
    const index_t bytes = divide(matrix.k, 32) - (tile * Operand::groups + lane_group) * steps;
    for (unsigned& w : words) w = bytes >= steps ? w : bytes <= 0 ? 0u : w & ((1u << 8 * bytes) - 1);
    return words;
  }
};

/// C += A B^T for one step along k, in registers.
template <block_tile Tile, class A, class B, index_t Step, class C>
TILEWRIGHT_HD void multiply_scaled(C& c, const typename scaled_tiles<A>::fragments& a,
                                   const typename scaled_tiles<A>::scale_words& a_scales,
                                   const typename scaled_tiles<B>::fragments& b,
                                   const typename scaled_tiles<B>::scale_words& b_scales) {
  using order = block_gemm_counts<Tile>;
  static_assert(order::transposes_c, "multiply_scaled: both operands are alike, so the instruction computes C^T");
  unroll<order::tiles>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t row = order::row(i), column = order::column(i), steps = A::steps;
    exec::mma_scaled<Tile.op, Step, B::element, A::element>(
        c.thread_buffer.data() + constant(order::c(i)),
        b.thread_buffer.data() + constant((column * steps + Step) * B::registers),
        a.thread_buffer.data() + constant((row * steps + Step) * A::registers), b_scales[column], a_scales[row]);
  });
}

/// Copies of both operands' tiles to a stage, one tile after the other.
template <class A, class B>
class scaled_copies {
  typename scaled_tiles<A>::copy_type a_;
  typename scaled_tiles<B>::copy_type b_;

 public:
  TILEWRIGHT_HD scaled_copies(const scaled_tiles<A>& a, const scaled_tiles<B>& b, index_t tile, exec::lds_pointer lds)
      : a_(a.copy(tile, lds)), b_(b.copy(tile, lds + A::bytes)) {}
  /// Issues those of a tile, to the stage `lds_bytes` after the first, and goes on to the next tile.
  TILEWRIGHT_HD void issue(index_t lds_bytes) {
    a_.issue(lds_bytes);
    b_.issue(lds_bytes);
    a_.advance(A::words * 4);
    b_.advance(B::words * 4);
  }
};

/// Reads a step along k of an operand, and those after it that are read at once.
template <arch::matrix_op Op, class Operand, index_t Step, class Fragments, class Window>
TILEWRIGHT_HD void read_scaled_step(Fragments& to, const Window& from, index_t lds_bytes) {
  constexpr index_t at_once = Operand::read_steps;
  if constexpr (Step % at_once == 0)
    load_fragment_steps<Op, Operand::steps / at_once, Step / at_once, 1>(to, from, lds_bytes);
}

/// One step along k of both operands in registers.
template <class A, class B, block_tile Tile>
struct scaled_step {
  typename scaled_tiles<A>::fragments a;
  typename scaled_tiles<B>::fragments b;

  template <index_t Step>
  TILEWRIGHT_HD void read(const typename scaled_tiles<A>::read_window& from_a,
                          const typename scaled_tiles<B>::read_window& from_b, index_t lds_bytes) {
    read_scaled_step<Tile.op, A, Step>(a, from_a, lds_bytes);
    read_scaled_step<Tile.op, B, Step>(b, from_b, lds_bytes);
  }
};

/// What kernels whose tiles have `steps` steps along k require of k and the scales.
constexpr const char* check_scaled_mfma(const scaled_args& g, index_t steps) {
  if (g.k % 32 != 0) return "scaled matrix instructions need whole blocks of 32 along k; use dequantising_policy";
  const auto is_aligned_to_steps = [steps](const void* scales, index_t ld, long_index_t batch_stride) {
    return vector_alignment{steps, 1}.is_met_by(scales, 1, ld, batch_stride);
  };
  const index_t packed = g.k / 32;
  return is_aligned_to_steps(g.a_scales, g.ld_a_scales ? g.ld_a_scales : packed, g.batch_stride_a_scales) &&
                 is_aligned_to_steps(g.b_scales, g.ld_b_scales ? g.ld_b_scales : packed, g.batch_stride_b_scales)
             ? nullptr
             : "rows of scales must start at multiples of 2 or 4 bytes, as many as the block tile has steps along k; "
               "use dequantising_policy";
}

/// m x m results, at most 128 columns with 6 bits, of which two steps are in registers. bits: of the wider operand.
TILEWRIGHT_HD constexpr block_tile scaled_mfma_tile_for(index_t bits, index_t m) {
  return {m, bits == 6 ? min(m, 128) : m, bits == 4 ? 256 : 128, 2, 2, arch::matrix_op::mfma_32x32x64_b8};
}

/// Two stages in LDS. The last tile, which may be partial, is multiplied first: the others are whole and the loop
/// checks nothing. Operands are read one step along k ahead:
///
///   matrix | steps 0 to steps - 2 of t  |                                 | last step of t       |
///   LDS    | read one step ahead        |                                 | read step 0 of t + 1 |
///   copies | t + 1, and its scales      | wait for t + 1, barrier         |                      |
template <class A, class B>
struct scaled_mfma_pipeline {
  static constexpr index_t num_stages = 2;
  static constexpr index_t steps = A::steps, stage_bytes = A::bytes + B::bytes;
  static_assert(steps > 1, "scaled_mfma_pipeline: k of the block tile must be at least two steps");
  using a_tiles = scaled_tiles<A>;
  using b_tiles = scaled_tiles<B>;

  static constexpr const char* check(const scaled_args& g) { return check_scaled_mfma(g, steps); }

  /// c += A B^T for the matrices' rows from origin on and num_tiles tiles along k, from number `first` on in the order
  /// in which they are multiplied.
  template <class Policy, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<float, C>& c, const narrow_matrix& a_matrix,
                                const narrow_matrix& b_matrix, const multi_index<2>& origin, index_t first,
                                index_t num_tiles, exec::lds_pointer lds) {
    constexpr block_tile tile = Policy::tile;
    const a_tiles from_a{a_matrix, origin[0]};
    const b_tiles from_b{b_matrix, origin[1]};
    const index_t first_tile = first == 0 ? ceil_div(a_matrix.k, tile.k) - 1 : first - 1;
    const auto a_read = from_a.reads(lds);
    const auto b_read = from_b.reads(lds + A::bytes);
    const auto a_scale_window = a_tiles::scales(a_matrix, origin[0]);
    const auto b_scale_window = b_tiles::scales(b_matrix, origin[1]);
    scaled_step<A, B, tile> operands;
    scaled_copies<A, B>(from_a, from_b, first_tile, lds).issue(0);
    auto a_scales = from_a.checked_scales(first_tile);
    auto b_scales = from_b.checked_scales(first_tile);
    scaled_copies<A, B> copies(from_a, from_b, first, lds);

    // Multiplies the tile in the stage `current`, whose first step is in registers, while tile number `next` is copied
    // to the other one.
    const auto multiply = [&]<bool HasNext>(number<HasNext>, index_t current, index_t other,
                                            index_t next) TILEWRIGHT_INLINE_LAMBDA {
      keep_in_accumulation_registers<tile>(c);
      auto next_a_scales = a_scales;
      auto next_b_scales = b_scales;
      unroll<steps>([&](auto s) TILEWRIGHT_INLINE_LAMBDA {
        constexpr bool is_last = s.value == steps - 1;
        constexpr index_t reads = a_tiles::num_reads(s.value + 1) + b_tiles::num_reads(s.value + 1);
        const auto now = operands;
        if constexpr (is_last && HasNext) exec::async_wait<0>(), exec::block_sync();
        if constexpr (!is_last || HasNext)
          operands.template read<(s.value + 1) % steps>(a_read, b_read, is_last ? other : current);
        if constexpr (s.value == 0 && HasNext) {
          copies.issue(other);
          next_a_scales = a_tiles::load_scales(a_scale_window, next);
          next_b_scales = b_tiles::load_scales(b_scale_window, next);
        }
        multiply_scaled<tile, A, B, s.value>(c, now.a, a_scales, now.b, b_scales);
        spread_among_matrix_instructions<matrix_instructions_per_step<tile>, matrix_instructions_per_step<tile> * 3 / 4,
                                         exec::instruction_kind::lds_read, reads>();
      });
      if constexpr (HasNext) a_scales = next_a_scales, b_scales = next_b_scales;
      keep_in_accumulation_registers<tile>(c);
    };

    exec::async_wait<0>();
    exec::block_sync();
    operands.template read<0>(a_read, b_read, 0);
    keep_in_accumulation_registers<tile>(c);  // also in each tile: the same on all paths
    index_t left = num_tiles, next = first;
    TILEWRIGHT_UNROLL(1)
    for (; left > 2; left -= 2, next += 2) {
      multiply(number<true>{}, 0, stage_bytes, next);
      multiply(number<true>{}, stage_bytes, 0, next + 1);
    }
    const index_t last = left == 2 ? stage_bytes : 0;
    if (left == 2) multiply(number<true>{}, 0, stage_bytes, next);
    multiply(number<false>{}, last, 0, 0);
  }
};

}  // namespace detail

/// 256 x 256 results with 128 of k, where both operands have 4 bits with 256, where 6 bits are the most 256 x 128; or
/// 128 x 128.
template <class AFormat, class BFormat>
TILEWRIGHT_HD constexpr block_tile scaled_mfma_tile(index_t m = 256) {
  return detail::scaled_mfma_tile_for(max(AFormat::bits, BFormat::bits), m);
}

/// A policy of narrow_gemm for gfx950: operands in MX formats of 8, 6 and 4 bits, also two different
/// ones, multiplied with their scales by the matrix instructions. k is a multiple of 32. Vector: elements of C that are
/// moved at once: 1, or 8 where n, ldc and addresses allow it.
template <class AFormat, class BFormat, block_tile Tile = scaled_mfma_tile<AFormat, BFormat>(), index_t Vector = 1>
struct scaled_mfma_policy
    : detail::gemm_choices<arch::gfx950, fp8_ocp_t>,
      detail::operand_choices<arch::gfx950, fp8_ocp_t, operand_major::k, operand_major::k, Vector, Tile> {
  using a_format = AFormat;  ///< of A in memory
  using b_format = BFormat;  ///< of B in memory
  using args_type = scaled_args;
  using a_operand = scaled_operand<AFormat, Tile, false>;
  using b_operand = scaled_operand<BFormat, Tile, true>;
  using pipeline = detail::scaled_mfma_pipeline<a_operand, b_operand>;
  static constexpr index_t stage_bytes = a_operand::bytes + b_operand::bytes;  ///< LDS of a tile of each operand
};

}  // namespace tilewright
