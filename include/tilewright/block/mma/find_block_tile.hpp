// SPDX-License-Identifier: MIT
// The block tile of a product, found from the distributions of its operands, and what these must be.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/detail/product_check.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>
#include <tilewright/tile/window/tile_window.hpp>

namespace tilewright {

/// The words of a product's refusal: compilers print them with their numbers.
namespace found {
template <char>
struct operand;
template <index_t>
struct wave;
template <index_t>
struct lane;
template <index_t>
struct element_register;
template <index_t Row, index_t Column>
struct at;
template <index_t Row, index_t Column>
struct but_expected_at;
template <index_t, index_t>
struct lengths;
template <index_t, index_t>
struct expected_lengths;
template <index_t Number, index_t Expected>
struct number_and_expected;
template <class... Facts>
inline constexpr bool disagreement = true;
}  // namespace found

namespace detail {

enum class operand_source : signed char { unknown, registers, lds, global };

template <class T>
inline constexpr operand_source place_of = operand_source::unknown;
template <class T, class Distribution>
inline constexpr operand_source place_of<static_distributed_tensor<T, Distribution>> = operand_source::registers;
template <class View, class Distribution, lane_permutation Permutation>
inline constexpr operand_source place_of<tile_window<View, Distribution, Permutation>> =
    View::address_space != address_space_enum::lds ? operand_source::global
    : Permutation.is_identity()                    ? operand_source::lds
                                                   : operand_source::unknown;

template <class T>
inline constexpr bool is_lds_operand = place_of<T> == operand_source::lds;

/// Whether an operand is a window whose layout has contiguous columns.
template <class Operand>
TILEWRIGHT_HD constexpr bool has_contiguous_columns() {
  if constexpr (is_lds_operand<Operand>) return Operand::vector_length > 1 && vector_dim_x<Operand> == 0;
  return false;
}

/// What is known of both operands before the distributions are looked at.
template <class A, class B, class Accumulator>
TILEWRIGHT_HD constexpr bool require_operands() {
  constexpr operand_source a = place_of<A>, b = place_of<B>;
  constexpr bool are_operands = a != operand_source::unknown && b != operand_source::unknown;
  static_assert(are_operands,
                "block_gemm: an operand is a tile in registers (static_distributed_tensor) or a tile window in LDS");
  constexpr bool in_global_memory = a == operand_source::global || b == operand_source::global;
  static_assert(!in_global_memory,
                "block_gemm: an operand's window is in global memory; load_tile brings it to registers, or copy it to "
                "LDS and give the window there");
  if constexpr (are_operands && !in_global_memory) {
    constexpr bool adds_up = __is_same(Accumulator, accumulator_t<typename A::element_type>);
    static_assert(adds_up, "block_gemm: products of int8_t are added up in int, all others in float: give C that type");
    return adds_up;
  }
  return false;
}

template <product_verdict V>
TILEWRIGHT_HD constexpr void require_agreement() {
  constexpr bool disagreement = V.fault == product_fault::none;
  if constexpr (V.fault == product_fault::lengths) {
    static_assert(!found::disagreement<found::operand<V.operand>, found::lengths<V.found[0], V.found[1]>,
                                       found::expected_lengths<V.expected[0], V.expected[1]>>,
                  "block_gemm: an operand has other lengths than the product: A is m x k, B n x k, C m x n");
  } else if constexpr (V.fault == product_fault::threads) {
    static_assert(
        !found::disagreement<found::operand<V.operand>, found::number_and_expected<V.found[0], V.expected[0]>>,
        "block_gemm: an operand is distributed over another number of waves or lanes than the product has");
  } else if constexpr (V.fault == product_fault::registers) {
    static_assert(
        !found::disagreement<found::operand<V.operand>, found::number_and_expected<V.found[0], V.expected[0]>>,
        "block_gemm: a thread holds another number of an operand's elements than the matrix instructions take");
  } else if constexpr (V.fault == product_fault::element) {
    static_assert(
        !found::disagreement<found::operand<V.operand>, found::wave<V.wave>, found::lane<V.lane>,
                             found::element_register<V.reg>, found::at<V.found[0], V.found[1]>,
                             found::but_expected_at<V.expected[0], V.expected[1]>>,
        "block_gemm: the distributions of A, B and C disagree: this lane holds another element than the matrix "
        "instruction multiplies; use a_distribution, b_distribution and c_distribution of one block tile");
  } else {
    static_assert(disagreement);
  }
}

/// The distributions of a product's operands, and how those in LDS are read.
struct product_operands {
  distribution_encoding a, b, c;
  bool a_in_lds = false, b_in_lds = false, a_columns = false, b_columns = false;
};
template <class C, class A, class B>
TILEWRIGHT_HD constexpr product_operands operands_of() {
  return {
      A::distribution_type::encoding, B::distribution_type::encoding, C::encoding, is_lds_operand<A>, is_lds_operand<B>,
      has_contiguous_columns<A>(),    has_contiguous_columns<B>()};
}

TILEWRIGHT_HD constexpr product_verdict check_product(const product_operands& o, const block_tile& t) {
  return check_product({o.a, o.b, o.c}, {detail::a_encoding(t, o.a_in_lds, o.a_columns),
                                         detail::b_encoding(t, o.b_in_lds, o.b_columns), detail::c_encoding(t)});
}

template <block_tile Tile, class C, class A, class B>
inline constexpr product_verdict product_verdict_v = check_product(operands_of<C, A, B>(), Tile);

/// Distributions of the block tile itself need no look.
template <block_tile Tile, class C, class A, class B>
inline constexpr bool has_own_distributions_v =
    __is_same(C, c_distribution<Tile>) && __is_same(typename A::distribution_type, a_distribution<Tile>) &&
    !is_lds_operand<A> && __is_same(typename B::distribution_type, b_distribution<Tile>) && !is_lds_operand<B>;

/// Everything that block_gemm<Tile> asks for.
template <block_tile Tile, class C, class A, class B, class Accumulator>
TILEWRIGHT_HD constexpr bool require_product() {
  static_assert(Tile.is_sound(),
                "block_gemm: the block tile is not a whole number of matrix instructions for each wave");
  if constexpr (Tile.is_sound() && require_operands<A, B, Accumulator>()) {
    constexpr bool reads_registers = !arch::is_wgmma(Tile.op);
    static_assert(reads_registers,
                  "block_gemm: wgmma takes its operands from LDS itself; give both as wgmma_tile_in_lds "
                  "(block/mma/wgmma_gemm.hpp)");
    constexpr bool right_size = sizeof(typename A::element_type) == arch::element_bytes(Tile.op) &&
                                sizeof(typename B::element_type) == arch::element_bytes(Tile.op);
    static_assert(right_size, "block_gemm: the matrix instruction multiplies elements of another size");
#if TILEWRIGHT_DEVICE_PASS
    constexpr bool target_has_it = arch::current::value.supports(
        Tile.op, arch::matrix_element_v<typename A::element_type>, arch::matrix_element_v<typename B::element_type>);
    static_assert(target_has_it, "block_gemm: this target does not have the matrix instruction for these elements");
#else
    constexpr bool target_has_it = true;
#endif
    if constexpr (!has_own_distributions_v<Tile, C, A, B>) {
      constexpr product_verdict verdict = product_verdict_v<Tile, C, A, B>;
      if constexpr (verdict.fault != product_fault::none) require_agreement<verdict>();
      return reads_registers && right_size && target_has_it && verdict.fault == product_fault::none;
    }
    return reads_registers && right_size && target_has_it;
  }
  return false;
}

}  // namespace detail

}  // namespace tilewright

namespace tilewright::detail {

/// Block tiles that fit the distributions of a product, at most one for each matrix instruction: those in the order of
/// the instruction if there are any, else those that fit up to permutations. None: the verdict on the best.
struct found_tiles {
  inplace_vector<block_tile, 4> all;
  product_verdict verdict{};

  /// Tiles that issue fewer instructions come first.
  TILEWRIGHT_HD constexpr void insert(const block_tile& tile, const product_verdict& of_tile) {
    if (!all.empty() && of_tile.num_permuted > verdict.num_permuted) return;
    if (of_tile.num_permuted < verdict.num_permuted) all = {};
    verdict = of_tile;
    all.push_back(tile);
    for (index_t i = all.size() - 1; i > 0 && arch::num_issues(all[i].op) < arch::num_issues(all[i - 1].op); --i) {
      all[i] = all[i - 1];
      all[i - 1] = tile;
    }
  }
};

TILEWRIGHT_HD constexpr bool fits_better(const product_verdict& a, const product_verdict& b) {
  return a.num_fitting != b.num_fitting ? a.num_fitting > b.num_fitting : a.num_permuted < b.num_permuted;
}

/// Whether the target of this compilation may have the instruction; the CPU emulator's is known at run time only.
TILEWRIGHT_HD constexpr bool may_have(arch::matrix_op op, arch::matrix_element a, arch::matrix_element b) {
#if TILEWRIGHT_DEVICE_PASS
  return arch::current::value.supports(op, a, b);
#else
  return arch::element_bytes(op) == arch::bytes_of(a) && arch::bytes_of(a) == arch::bytes_of(b);
#endif
}

template <class C, class A, class B>
TILEWRIGHT_HD constexpr found_tiles find_tiles() {
  const arch::matrix_element a_element = arch::matrix_element_v<typename A::element_type>,
                             b_element = arch::matrix_element_v<typename B::element_type>;
  const product_operands operands = operands_of<C, A, B>();
  const distribution_encoding &a = operands.a, &c = operands.c;
  found_tiles tiles;
  tiles.verdict = {product_fault::lengths, 'C', 0, 0, 0, {}, {}, -1, 0};
  if (c.ndim_x() != 2 || a.ndim_x() != 2) return tiles;
  const index_t waves = c.ndim_p() == 2 ? c.p_length(0) : 1;
  for (index_t o = 0; o < index_t(arch::matrix_op::wgmma_k16); ++o) {
    const arch::matrix_op op = arch::matrix_op(o);
    if (!may_have(op, a_element, b_element)) continue;
    for (index_t waves_m = 1; waves_m <= waves; ++waves_m) {
      const block_tile tile{c.x_length(0), c.x_length(1), a.x_length(1), waves_m, waves / waves_m, op};
      if (waves % waves_m != 0 || !tile.is_sound()) continue;
      const product_verdict verdict = check_product(operands, tile);
      if (verdict.fault == product_fault::none) {
        tiles.insert(tile, verdict);
        break;
      }
      if (tiles.all.empty() && fits_better(verdict, tiles.verdict)) tiles.verdict = verdict;
    }
  }
  return tiles;
}
template <class C, class A, class B>
inline constexpr found_tiles found_tiles_v = number<find_tiles<C, A, B>()>::value;

/// f(number<tile>) for the first of the tiles that the target has.
template <found_tiles Tiles, class F>
TILEWRIGHT_HD void with_tile_of_target(const F& f) {
#if TILEWRIGHT_CPU_PASS
  bool done = false;
  unroll<Tiles.all.size()>([&](auto i) {
    const bool has_it =
        i.value + 1 == Tiles.all.size() || emulator::current_thread->target->supports(Tiles.all[i.value].op);
    if (!done && has_it) f(number<Tiles.all[i.value]>{});
    done = done || has_it;
  });
#else
  f(number<Tiles.all[0]>{});
#endif
}

}  // namespace tilewright::detail
