// SPDX-License-Identifier: MIT
// Alignments that are none.
// EXPECT: make_naive_tensor_descriptor_aligned: the alignment must be number<N>{} or an integer
// EXPECT: make_naive_tensor_descriptor_aligned: the alignment must be positive
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto word = tw::make_naive_tensor_descriptor_aligned(tw::make_tuple(8), "sixteen");
constexpr auto zero = tw::make_naive_tensor_descriptor_aligned(tw::make_tuple(8), tw::number<0>{});
