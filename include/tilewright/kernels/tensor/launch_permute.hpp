// SPDX-License-Identifier: MIT
// launch_permute and launch_concatenate: start the kernels that move permutations, slices and concatenations fastest.
#pragma once

#include <tilewright/kernels/tensor/permute.hpp>
#include <tilewright/kernels/tensor/permute_runs.hpp>
#include <tilewright/kernels/tensor/permute_unaligned.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright {

namespace detail {

/// Whether all contiguous elements of a tensor start at multiples of 32 bytes.
template <class T>
bool starts_at_sectors(const strided_tensor<T>& t) {
  bool all = reinterpret_cast<unsigned long long>(t.data) % 32 == 0;
  for (index_t d = 0; d < t.dims; ++d) {
    const long_index_t bytes = t.strides[d] * long_index_t(sizeof(T));
    all = all && (t.lengths[d] == 1 || t.strides[d] == 1 || bytes % 32 == 0);
  }
  return all;
}

}  // namespace detail

/// y = x, element by element, for tensors of up to six dimensions whose strides order the dimensions in any way. T: 1,
/// 2, 4 or 8 bytes. Tiles through LDS where x and y are contiguous along different dimensions: of aligned vectors where
/// rows of y start at sectors of 32 bytes, else of vectors that start anywhere. What is no tile is moved by map_tensor.
/// Throws launch_error with map_tensor's error message where the tensors do not fit.
template <class Arch, class T>
void launch_permute(const map_args<T, T>& args, const launch_options& options = {}) {
  constexpr index_t vector = sizeof(T) == 1 ? 8 : 16 / index_t(sizeof(T));
  const auto start = [&]<class Kernel>(Kernel) {
    if (Kernel::check(args) || !Kernel::is_worth_it(Kernel::prepare(args, 0))) return false;
    launch<Kernel>(args, options);
    return true;
  };
  const auto start_any = [&]<class Offset>(Offset) {
    using aligned = permute<Arch, T, vector, Offset>;
    using unaligned = permute_unaligned<Arch, T, Offset>;
    const bool is_aligned = detail::starts_at_sectors(args.y) && aligned::has_full_tiles(aligned::prepare(args, 0));
    return (is_aligned && start(aligned{})) || start(permute_runs<Arch, T, Offset>{}) ||
           (unaligned::has_full_tiles(unaligned::prepare(args, 0)) && start(unaligned{})) || start(aligned{}) ||
           start(unaligned{}) || start(permute<Arch, T, 1, Offset>{});
  };
  const bool is_near = detail::is_near(args.x) && detail::is_near(args.y);
  if (!(is_near ? start_any(index_t{}) : start_any(long_index_t{}))) launch<map_tensor<Arch, T>>(args, options);
}

/// y = the inputs one after another along dimension dim, one launch for each. Throws launch_error, before anything is
/// queued, if a tensor does not fit.
template <class Arch, class T>
void launch_concatenate(std::initializer_list<strided_tensor<const T>> inputs, const strided_tensor<T>& y, index_t dim,
                        const launch_options& options = {}) {
  for (const bool starts : {false, true}) {
    long_index_t first = 0;
    for (const strided_tensor<const T>& x : inputs) {
      if (dim < 0 || dim >= x.dims || x.dims > x.max_dims || x.lengths[dim] < 1 ||
          y.lengths[dim] - first < x.lengths[dim])
        throw launch_error("concatenate: dim must exist, and the lengths of the inputs along it add up to that of y");
      const map_args<T, T> part{x, y.slice(dim, first, x.lengths[dim])};
      first += x.lengths[dim];
      if (starts) {
        launch_permute<Arch, T>(part, options);
      } else if (const char* why = map_tensor<Arch, T>::check(part)) {
        throw launch_error(why);
      }
    }
    if (first != y.lengths[dim]) throw launch_error("concatenate: the inputs are shorter than y");
  }
}

}  // namespace tilewright
