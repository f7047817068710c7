// SPDX-License-Identifier: MIT
// Argument checks of the kernels for grouped products.
#pragma once

#include <tilewright/kernels/gemm/check_gemm.hpp>

namespace tilewright {

namespace detail {

/// No fewer tiles of rows x cols than all groups have.
TILEWRIGHT_HD constexpr long_index_t grouped_tile_limit(const grouped_args& g, bool by_rows, index_t rows,
                                                        index_t cols) {
  const long_index_t along_m = ceil_div(g.m, rows);
  return (by_rows ? along_m + g.groups : along_m * g.groups) * ceil_div(g.n, cols);
}

/// What kernels with this tile cannot do with these groups, as an error message; nullptr: they can.
constexpr const char* check_groups(const grouped_args& args, bool by_rows, index_t tile_m, index_t tile_n) {
  if (args.batch != 1 || args.split_k != 1) return "grouped GEMMs have no batch, and do not split k";
  if (args.groups < 1) return "there must be at least one group";
  if ((args.ends == nullptr) == (args.counts == nullptr)) return "groups need either ends or counts";
  if (!by_rows && args.c && results_overlap(args, args.groups))
    return "the C of several groups lie in the same memory: give batch_stride_c";
  const index_t all = by_rows ? args.m : args.k;
  if (args.counts && (args.slot_rows < 1 || long_index_t(args.slot_rows) * args.groups != all))
    return "with counts, the rows of A (k, if groups divide k) must be groups times slot_rows";
  if (all >= 1 << 30) return "all groups have 2^30 rows (2^30 k, if groups divide k) or more; use several launches";
  return grouped_tile_limit(args, by_rows, tile_m, tile_n) > 0x7fffffff / 64
             ? "C has too many tiles; use several launches"
             : nullptr;
}

}  // namespace detail

/// check_gemm() for a policy whose products are grouped.
template <class Policy>
constexpr const char* check_grouped(const typename Policy::args_type& args, const vector_alignment& guarantee) {
  static_assert(
      Policy::groups != group_kind::none,
      "grouped_gemm_kernel: the policy's products are not grouped; name it grouped<Policy, group_kind::rows>");
  const char* const why = check_gemm<Policy>(args, guarantee);
  return why ? why
             : detail::check_groups(args, Policy::groups == group_kind::rows, Policy::tile.m,
                                    Policy::tile.n / Policy::products);
}

}  // namespace tilewright
