// SPDX-License-Identifier: MIT
#include "gemm_reports.hpp"

#include <initializer_list>
#include <string_view>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/cdna_tile_family.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

#include "operation.hpp"

namespace tilewright::jit {
namespace {

/// Tiles of cdna_tile_family.hpp.
template <class Arch, index_t Count, array<cdna_tile, Count> Tiles>
void add_family(gemm_reports& all) {
  constexpr auto k = operand_major::k;
  unroll<Count>([&]<index_t I>(number<I>) {
    constexpr cdna_tile t = Tiles[I];
    const auto joined = [](std::initializer_list<index_t> numbers, const char* between) {
      std::string text;
      for (const index_t n : numbers) text += (text.empty() ? "" : between) + std::to_string(n);
      return text;
    };
    all.names.push_back("deep_" + joined({t.m, t.n, t.k}, "x") + "_" + std::to_string(t.stages));
    all.policies.push_back("tw::gemm_cdna_tile");
    all.last_arguments.push_back(", tw::cdna_tile{" + joined({t.m, t.n, t.k, t.waves_m, t.waves_n, t.stages}, ", ") +
                                 "}");
    all.reports.push_back(static_report<gemm_cdna_tile<Arch, half_t, k, k, 8, t>>);
  });
}

template <class Arch>
gemm_reports reports_for() {
  constexpr auto k = operand_major::k;
  gemm_reports all;
  for (const arch::gpu_facts& known : arch::known_gpus)
    if (std::string_view(known.target) == Arch::value.name) all.gpu = &known;
  apply(
      [&]<class... Policies>(Policies...) {
        (all.names.push_back(std::string(Policies::name).substr(5)), ...);  // without gemm_
        (all.policies.push_back(std::string("tw::") + Policies::name), ...);
        all.last_arguments.resize(all.names.size());
      },
      named_policies<Arch, half_t, k, k, 8>());
  for (const gemm_static_report& r : named_reports<Arch, half_t, k, k, 8>()) all.reports.push_back(r);
  if constexpr (__is_same(Arch, arch::gfx950)) add_family<Arch, gfx950_tiles.size(), gfx950_tiles>(all);
  if constexpr (__is_same(Arch, arch::gfx942)) add_family<Arch, gfx942_tiles.size(), gfx942_tiles>(all);
  return all;
}

}  // namespace

const gemm_reports& gemm_reports_of(const std::string& target) {
  return *with_arch(target, []<class Arch>(of_type<Arch>) {
    static const gemm_reports reports = reports_for<Arch>();
    return &reports;
  });
}

}  // namespace tilewright::jit
