// SPDX-License-Identifier: MIT
#include "gemm_reports.hpp"

#include <string_view>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

#include "operation.hpp"

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
  return *with_arch(target, []<class Arch>(of_type<Arch>) {
    static const gemm_reports reports = reports_for<Arch>();
    return &reports;
  });
}

}  // namespace tilewright::jit
