// SPDX-License-Identifier: MIT
// Descriptors and adaptors from transforms.
#include <tilewright/core/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence;

constexpr number<2> two{};

constexpr auto four_by_six = tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<6>{}));

// A descriptor of an adaptor with two bottom dimensions: which of them would be memory?
// EXPECT: tensor_descriptor: the adaptor must have one bottom dimension, which is memory
constexpr auto adaptor_bottom_pair = tw::make_single_stage_tensor_adaptor(
    make_tuple(tw::make_merge_transform(make_tuple(4, 8))), make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
constexpr auto adaptor_bottom_d = tw::make_tensor_descriptor_from_adaptor(adaptor_bottom_pair, 32);

// Eleven bottom dimensions.
// EXPECT: make_single_stage_tensor_adaptor: too many bottom dimensions
constexpr auto six = tw::make_merge_transform(make_tuple(two, two, two, two, two, two));
constexpr auto five = tw::make_merge_transform(make_tuple(two, two, two, two, two));
constexpr auto adaptor_too_many_dims = tw::make_single_stage_tensor_adaptor(
    make_tuple(six, five), make_tuple(sequence<0, 1, 2, 3, 4, 5>{}, sequence<6, 7, 8, 9, 10>{}),
    make_tuple(sequence<0>{}, sequence<1>{}));

// Two top dimensions below one bottom dimension, and a length of 6 below one of 10.
// EXPECT: chain_tensor_adaptors: the lower adaptor needs as many top dimensions as the upper one has bottom dimensions
// EXPECT: tensor transforms: the length given to a transform is not the length of the dimension it is applied to
constexpr auto adaptors_do_not_join =
    tw::make_single_stage_tensor_adaptor(make_tuple(tw::make_unmerge_transform(make_tuple(number<4>{}, number<6>{}))),
                                         make_tuple(sequence<0>{}), make_tuple(sequence<0, 1>{}));
constexpr auto merged =
    tw::make_single_stage_tensor_adaptor(make_tuple(tw::make_merge_transform(make_tuple(number<4>{}, number<10>{}))),
                                         make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
constexpr auto count = tw::chain_tensor_adaptors(adaptors_do_not_join, adaptors_do_not_join);
constexpr auto length = tw::chain_tensor_adaptors(adaptors_do_not_join, merged);

// A merge of 4 x 8 on a matrix of 4 x 6: the message has both lengths.
// EXPECT: tensor transforms: the length given to a transform is not the length of the dimension it is applied to
// EXPECT(gcc): the comparison reduces to '(6 == 8)'
// EXPECT(clang): static assertion failed due to requirement '6 == 8'
constexpr auto chain_length = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_merge_transform(make_tuple(number<4>{}, number<8>{}))),
    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));

// A merge of two dimensions that is given one.
// EXPECT: tensor transforms: a transform needs another number of lower dimensions than its sequence lists
// EXPECT(clang): tensor transforms: a transform needs another number of lower dimensions than its sequence lists
constexpr auto chain_lower_count = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_merge_transform(make_tuple(number<4>{}, number<6>{}))), make_tuple(sequence<0>{}),
    make_tuple(sequence<0>{}));

// Dimensions 2 and 256 of a matrix.
// EXPECT(3): tensor transforms: a lower dimension id is not a dimension of the descriptor
// EXPECT(2): is_dimension_used_well<2>
// EXPECT: is_dimension_used_well<256>
constexpr auto chain_lower_id = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<0>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
constexpr auto e = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<256>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// Dimension -1: numbers do not count from the end.
// EXPECT: tensor transforms: a lower dimension id is not a dimension of the descriptor
// EXPECT: is_dimension_used_well<-1>
constexpr auto chain_lower_id_negative = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<0>{}, sequence<-1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// A dimension that no transform takes.
// EXPECT: tensor transforms: a dimension of the descriptor is used by no transform; pass it through or freeze it
constexpr auto chain_lower_missing =
    tw::transform_tensor_descriptor(four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{})),
                                    make_tuple(sequence<0>{}), make_tuple(sequence<0>{}));

// A dimension that two transforms want.
// EXPECT: tensor transforms: a dimension of the descriptor is used by two transforms
constexpr auto chain_lower_twice = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<4>{})),
    make_tuple(sequence<0>{}, sequence<0>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// A sequence of nine dimensions.
// EXPECT: tensor transforms: a sequence lists more dimensions than a transform may have
constexpr auto chain_sequence_length = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2, 3, 4, 5, 6, 7, 8, 9>{}));

// One sequence for two transforms.
// EXPECT: tensor transforms: one lower and one upper sequence is needed for each transform
constexpr auto chain_sequences = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<0>{}), make_tuple(sequence<0>{}));

// A descriptor of eleven dimensions.
// EXPECT: tensor transforms: more transforms or dimensions than a descriptor holds
constexpr auto chain_too_many_dims = tw::transform_tensor_descriptor(
    tw::make_naive_tensor_descriptor_packed(make_tuple(number<64>{}, number<32>{})),
    make_tuple(tw::make_unmerge_transform(make_tuple(two, two, two, two, two, two)),
               tw::make_unmerge_transform(make_tuple(two, two, two, two, two))),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0, 1, 2, 3, 4, 5>{}, sequence<6, 7, 8, 9, 10>{}));

// Index 6 of a dimension of length 6: the message has both.
// EXPECT: tensor transforms: a transform reaches beyond the end of the dimension it is applied to
// EXPECT(gcc): the comparison reduces to '(6 >= 7)'
// EXPECT(clang): static assertion failed due to requirement '6 >= 7'
constexpr auto chain_too_short = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_freeze_transform(number<6>{})),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<>{}));

// An unmerge into two dimensions that is given one.
// EXPECT: tensor transforms: a transform makes another number of upper dimensions than its sequence lists
constexpr auto chain_upper_count =
    tw::transform_tensor_descriptor(four_by_six,
                                    make_tuple(tw::make_unmerge_transform(make_tuple(number<2>{}, number<2>{})),
                                               tw::make_pass_through_transform(number<6>{})),
                                    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// New dimensions 0 and 2.
// EXPECT: tensor transforms: the upper dimension ids must be 0, 1, ... with each used once
constexpr auto chain_upper_id = tw::transform_tensor_descriptor(
    four_by_six, make_tuple(tw::make_pass_through_transform(number<4>{}), tw::make_pass_through_transform(number<6>{})),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<2>{}));

// An order that leaves out a dimension.
// EXPECT: make_cluster_descriptor: the order must name each dimension once
constexpr auto cluster_order = tw::make_cluster_descriptor(make_tuple(4, 8), sequence<1>{});

// A static tensor of 2^31 + 1 elements, and one with a stride of 2^32: the message has the number.
// EXPECT: tensor descriptor: the offset of the last element does not fit into 32 bits; give a length as an integer instead of a number<>, and reach the tensor through tile windows, whose origin has 64 bits
// EXPECT(clang): 2147483648LL <= largest_index
// EXPECT(gcc): the comparison reduces to '(2147483648 <= 2147483647)'
// EXPECT: tensor descriptor: a stride does not fit into 32 bits; give a length as an integer instead of a number<>
constexpr auto strided = tw::make_naive_tensor_descriptor(make_tuple(number<2>{}, number<2>{}),
                                                          make_tuple(number<2147483647>{}, number<1>{}));
constexpr auto descriptor_offsets =
    tw::make_naive_tensor_descriptor_packed_with_offset(make_tuple(2, number<65536>{}, number<65536>{}), 0);

// Lists of no lengths.
// EXPECT: replicate: at least one length is needed
// EXPECT: unmerge: at least one length is needed
// EXPECT(gcc): failed: merge: at least one length is needed
// EXPECT(clang): ': merge: at least one length is needed
// EXPECT: make_naive_tensor_descriptor: at least one dimension is needed
// EXPECT: make_naive_tensor_descriptor_packed: at least one dimension is needed
constexpr auto replicate = tw::make_replicate_transform(make_tuple());
constexpr auto unmerge = tw::make_unmerge_transform(make_tuple());
constexpr auto merge = tw::make_merge_transform_v3_division_mod(make_tuple());
constexpr auto naive = tw::make_naive_tensor_descriptor(make_tuple(), make_tuple());
constexpr auto no_lengths = tw::make_naive_tensor_descriptor_packed(make_tuple());
