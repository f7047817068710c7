// SPDX-License-Identifier: MIT
// A static tensor of 2^31 + 1 elements, and one with a stride of 2^32: the message has the number.
// EXPECT: tensor descriptor: the offset of the last element does not fit into 32 bits; give a length as an integer instead of a number<>, and reach the tensor through tile windows, whose origin has 64 bits
// EXPECT(clang): 2147483648LL <= largest_index
// EXPECT(gcc): the comparison reduces to '(2147483648 <= 2147483647)'
// EXPECT: tensor descriptor: a stride does not fit into 32 bits; give a length as an integer instead of a number<>
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto strided = tw::make_naive_tensor_descriptor(tw::make_tuple(tw::number<2>{}, tw::number<2>{}),
                                                          tw::make_tuple(tw::number<2147483647>{}, tw::number<1>{}));
constexpr auto packed =
    tw::make_naive_tensor_descriptor_packed_with_offset(tw::make_tuple(2, tw::number<65536>{}, tw::number<65536>{}), 0);
