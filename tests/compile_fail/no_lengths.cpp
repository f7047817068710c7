// SPDX-License-Identifier: MIT
// Lists of no lengths.
// EXPECT: replicate: at least one length is needed
// EXPECT: unmerge: at least one length is needed
// EXPECT: merge: at least one length is needed
// EXPECT: make_naive_tensor_descriptor: at least one dimension is needed
// EXPECT: make_naive_tensor_descriptor_packed: at least one dimension is needed
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto replicate = tw::make_replicate_transform(tw::make_tuple());
constexpr auto unmerge = tw::make_unmerge_transform(tw::make_tuple());
constexpr auto merge = tw::make_merge_transform_v3_division_mod(tw::make_tuple());
constexpr auto naive = tw::make_naive_tensor_descriptor(tw::make_tuple(), tw::make_tuple());
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(tw::make_tuple());
