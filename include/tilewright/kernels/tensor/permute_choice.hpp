// SPDX-License-Identifier: MIT
// Which kernel moves a permutation fastest: what launch_permute and tilewright::jit choose.
#pragma once

#include <tilewright/kernels/tensor/permute.hpp>
#include <tilewright/kernels/tensor/permute_runs.hpp>
#include <tilewright/kernels/tensor/permute_unaligned.hpp>

namespace tilewright {

namespace detail {

/// Whether all contiguous elements of a tensor start at multiples of 32 bytes.
template <class T>
bool starts_at_sectors(const strided_tensor<T>& t) {
  bool all = is_aligned(t.data, 32);
  for (index_t d = 0; d < t.dims; ++d) {
    const long_index_t bytes = t.strides[d] * long_index_t(sizeof(T));
    all = all && (t.lengths[d] == 1 || t.strides[d] == 1 || bytes % 32 == 0);
  }
  return all;
}

}  // namespace detail

/// use(kernel) with the kernel for y = x that is the fastest of those that can take these tensors: measured on an H100.
/// If none can it is map_tensor, whose check() says why.
template <class Arch, class T, class Use>
void choose_permute_kernel(const map_args<T, T>& args, Use use) {
  constexpr index_t vector = sizeof(T) == 1 ? 8 : 16 / index_t(sizeof(T));
  const auto try_one = [&]<class Kernel>(Kernel kernel) {
    if (Kernel::check(args) || !Kernel::is_worth_it(Kernel::prepare(args, 0))) return false;
    use(kernel);
    return true;
  };
  const auto try_all = [&]<class Offset>(Offset) {
    using aligned = permute<Arch, T, vector, Offset>;
    using unaligned = permute_unaligned<Arch, T, Offset>;
    const bool is_aligned = detail::starts_at_sectors(args.y) && aligned::has_full_tiles(aligned::prepare(args, 0));
    return (is_aligned && try_one(aligned{})) || try_one(permute_runs<Arch, T, Offset>{}) ||
           (unaligned::has_full_tiles(unaligned::prepare(args, 0)) && try_one(unaligned{})) || try_one(aligned{}) ||
           try_one(unaligned{}) || try_one(permute<Arch, T, 1, Offset>{});
  };
  const bool is_near = detail::is_near(args.x) && detail::is_near(args.y);
  if (!(is_near ? try_all(index_t{}) : try_all(long_index_t{}))) use(map_tensor<Arch, T>{});
}

}  // namespace tilewright
