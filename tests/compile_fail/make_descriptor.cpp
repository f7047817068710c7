// SPDX-License-Identifier: MIT
// Plain descriptors.
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;
using tw::make_tuple;

// Alignments that are none.
// EXPECT: make_naive_tensor_descriptor_aligned: the alignment must be number<N>{} or an integer
// EXPECT: make_naive_tensor_descriptor_aligned: the alignment must be positive
constexpr auto word = tw::make_naive_tensor_descriptor_aligned(make_tuple(8), "sixteen");
constexpr auto zero = tw::make_naive_tensor_descriptor_aligned(make_tuple(8), tw::number<0>{});

// The length of a dimension that is not there, and an index of three for two dimensions.
// EXPECT: tensor_descriptor: there is no such dimension
// EXPECT: tensor_descriptor: one index is needed for each dimension
constexpr auto descriptor_dimension = tw::make_naive_tensor_descriptor_packed(make_tuple(4, 8));
auto length = descriptor_dimension.get_length<2>();
auto offset = descriptor_dimension.calculate_offset(make_tuple(1, 2, 3));

// Two lengths with three strides.
// EXPECT: make_naive_tensor_descriptor: as many strides as lengths are needed
// EXPECT: embed: as many strides as lengths are needed
constexpr auto descriptor_strides = tw::make_naive_tensor_descriptor(make_tuple(4, 8), make_tuple(64, 8, 1));
