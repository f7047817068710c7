// SPDX-License-Identifier: MIT
#include "own_kernels.hpp"

#include <cstddef>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/block_scaled_tiles.hpp>
#include <tilewright/kernels/gemm/choice/cdna_tile_family.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

namespace predict {
namespace {

namespace tw = tilewright;

template <class Arch, tw::index_t Count>
std::vector<tw::cdna_gemm_kernel> kernels_of(const tw::array<tw::cdna_tile, Count>& family) {
  constexpr tw::operand_major k = tw::operand_major::k;
  std::vector<tw::cdna_gemm_kernel> result;
  for (const tw::gemm_static_report& report : tw::named_reports<Arch, tw::bfloat16_t, k, k, 8>())
    result.push_back(report.as_cdna_kernel(1));
  for (const tw::cdna_tile& tile : family) result.push_back(tile.as_cdna_kernel(Arch::value));
  return result;
}

std::vector<tw::cdna_gemm_kernel> block_scaled_kernels(const tw::arch::target& target) {
  std::vector<tw::cdna_gemm_kernel> result;
  for (const tw::block_scaled_tile& tile : tw::block_scaled_tiles)
    if (tile.fits(target)) result.push_back(tile.as_cdna_kernel());
  return result;
}

}  // namespace

const std::vector<tw::cdna_gemm_kernel>& own_kernels(const tw::arch::cdna_gpu& gpu, tw::index_t element_bits) {
  static const std::vector<tw::cdna_gemm_kernel> gfx942 = kernels_of<tw::arch::gfx942>(tw::gfx942_tiles),
                                                 gfx950 = kernels_of<tw::arch::gfx950>(tw::gfx950_tiles),
                                                 scaled_gfx942 = block_scaled_kernels(tw::arch::gfx942::value),
                                                 scaled_gfx950 = block_scaled_kernels(tw::arch::gfx950::value);
  const bool is_gfx950 = gpu.isa == &tw::arch::gfx950::value;
  if (element_bits != 16) return is_gfx950 ? scaled_gfx950 : scaled_gfx942;
  return is_gfx950 ? gfx950 : gfx942;
}

const tw::cdna_gemm_kernel* find_own_kernel(const tw::arch::cdna_gpu& gpu, std::string_view name) {
  constexpr tw::operand_major k = tw::operand_major::k;
  const auto number = [&]<class... Policies>(tw::tuple<Policies...>) {
    std::size_t i = 0;
    return ((name == Policies::name || (++i, false)) || ...) ? i : sizeof...(Policies);
  };
  const std::size_t named = gpu.isa == &tw::arch::gfx950::value
                                ? number(tw::named_policies<tw::arch::gfx950, tw::bfloat16_t, k, k, 8>())
                                : number(tw::named_policies<tw::arch::gfx942, tw::bfloat16_t, k, k, 8>());
  const std::size_t count =
      own_kernels(gpu, 16).size() -
      std::size_t(gpu.isa == &tw::arch::gfx950::value ? tw::gfx950_tiles.size() : tw::gfx942_tiles.size());
  return named < count ? &own_kernels(gpu, 16)[named] : nullptr;
}

}  // namespace predict
