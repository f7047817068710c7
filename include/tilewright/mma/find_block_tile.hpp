// SPDX-License-Identifier: MIT
// The block tile of a product, found from the distributions of its operands.
#pragma once

#include <tilewright/mma/product_requirements.hpp>

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

/// Whether the target of this compilation may have the instruction; the CPU backend's is known at run time only.
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
  for (index_t o = 0; o <= index_t(arch::matrix_op::wmma_16x16x16_b8_x2_gfx12); ++o) {
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
