// SPDX-License-Identifier: MIT
// Host halves of the kernels for Hopper whose groups divide rows or k, of any tile.
#pragma once

#include <bit>
#include <functional>
#include <string>
#include <utility>

#include <tilewright/kernels/gemm/choice/hopper_tile_family.hpp>

#include "operation.hpp"

namespace tilewright::jit {

/// check: what the kernel refuses beyond what all with groups do; it gets the arguments.
template <group_kind Kind, index_t Products, class Args>
host_half half_of_groups(const detail::hopper_gemm_facts& kernel, bool gathers_a,
                         std::function<const char*(const Args&)> check) {
  host_half half;
  half.check = [kernel, check = std::move(check)](const void* given) {
    const Args& g = *static_cast<const Args*>(given);
    const char* why = detail::check_lengths(g, kernel.checked());
    if (!why && !detail::is_aligned(g.workspace)) why = "the workspace is not aligned to 16 bytes";
    why = why ? why : check(g);
    why = why ? why : detail::check_groups(kernel, Kind, g);
    return why ? why : detail::check_tma(kernel, g);
  };
  half.prepare = [kernel, gathers_a](const void* given, const launch_facts& facts) {
    const auto made = detail::plan_grouped<Kind, Products>(kernel, gathers_a, *static_cast<const Args*>(given),
                                                           facts.resident_clusters, facts.make_tensor_map);
    return host_half::prepared{as_bytes(made), {made.blocks, 1, 1}};
  };
  return half;
}

/// The tile for a problem of any lengths of groups. Rows are rounded up to powers of two, unless the groups may be
/// equal and of whole tiles: so few kernels serve all numbers of rows.
inline hopper_gemm_tile choose_tile_for_groups(grouped_args g, const hopper_gemm_operands& o,
                                               const grouped_kernel_kind& kind) {
  alignas(16) static char somewhere[16];
  if (!g.workspace) g.workspace = somewhere;  // without one in the problem, a launch may have it
  if (g.groups > 1 && g.m > 1 && g.m % (64ll * g.groups) != 0) g.m = index_t(std::bit_ceil(unsigned(g.m)) - 1);
  return choose_grouped_tile(g, o, 132, kind);
}

/// The policy of a tile as C++ text.
inline std::string policy_text(const std::string& element, const std::string& operands, const hopper_gemm_tile& t,
                               const std::string& result) {
  return "tw::gemm_hopper<" + element + ", " + operands + ", " + text_of(t) + ", " + result + ">";
}

}  // namespace tilewright::jit
