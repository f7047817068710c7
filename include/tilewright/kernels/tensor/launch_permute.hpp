// SPDX-License-Identifier: MIT
// launch_permute and launch_concatenate: start the kernels that move permutations, slices and concatenations fastest.
#pragma once

#include <tilewright/kernels/tensor/permute_choice.hpp>
#include <tilewright/launch/launch.hpp>

namespace tilewright {

/// y = x, element by element, for tensors of up to six dimensions whose strides order the dimensions in any way. T: 1,
/// 2, 4 or 8 bytes. Tiles through LDS where x and y are contiguous along different dimensions: of aligned vectors where
/// rows of y start at sectors of 32 bytes, else of vectors that start anywhere. What is no tile is moved by map_tensor.
/// Throws launch_error with map_tensor's error message where the tensors do not fit.
template <class Arch, class T>
void launch_permute(const map_args<T, T>& args, const launch_options& options = {}) {
  choose_permute_kernel<Arch>(args, [&]<class Kernel>(Kernel) { launch<Kernel>(args, options); });
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
