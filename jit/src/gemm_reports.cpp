// SPDX-License-Identifier: MIT
#include "gemm_reports.hpp"

#include <string_view>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

namespace tilewright::jit {
namespace {

template <class Arch>
gemm_reports reports_for() {
  constexpr auto k = operand_major::k;
  gemm_reports all;
  for (const arch::gpu_facts& known : arch::known_gpus)
    if (std::string_view(known.target) == Arch::value.name) all.gpu = &known;
  apply(
      [&]<class... Policies>(Policies...) {
        (all.names.push_back(std::string(Policies::name).substr(5)), ...);  // without gemm_
      },
      named_policies<Arch, half_t, k, k, 8>());
  for (const gemm_static_report& r : named_reports<Arch, half_t, k, k, 8>()) all.reports.push_back(r);
  return all;
}

}  // namespace

const gemm_reports& gemm_reports_of(const std::string& target) {
  static const gemm_reports gfx90a = reports_for<arch::gfx90a>(), gfx942 = reports_for<arch::gfx942>(),
                            gfx950 = reports_for<arch::gfx950>(), gfx1100 = reports_for<arch::gfx1100>(),
                            gfx1201 = reports_for<arch::gfx1201>(), sm_80 = reports_for<arch::sm80>(),
                            sm_90 = reports_for<arch::sm90>();
  return target == "gfx90a"    ? gfx90a
         : target == "gfx942"  ? gfx942
         : target == "gfx950"  ? gfx950
         : target == "gfx1100" ? gfx1100
         : target == "gfx1201" ? gfx1201
         : target == "sm_80"   ? sm_80
                               : sm_90;
}

}  // namespace tilewright::jit
