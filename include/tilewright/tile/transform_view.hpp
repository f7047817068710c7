// SPDX-License-Identifier: MIT
// Applies coordinate transforms to a tensor view.
#pragma once

#include <tilewright/descriptor/transform_descriptor.hpp>
#include <tilewright/tile/tensor_view.hpp>

namespace tilewright {

/// The view with its descriptor transformed; see transform_tensor_descriptor.
template <address_space_enum Space, class T, class Descriptor, class Transforms, class Lower, class Upper>
TILEWRIGHT_HD constexpr auto transform_tensor_view(const tensor_view<Space, T, Descriptor>& view,
                                                   const Transforms& transforms, Lower lower, Upper upper) {
  const auto descriptor = transform_tensor_descriptor(view.descriptor, transforms, lower, upper);
  return tensor_view<Space, T, detail::remove_const_t<decltype(descriptor)>>{view.buffer, descriptor};
}

}  // namespace tilewright
