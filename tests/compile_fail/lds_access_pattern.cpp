// SPDX-License-Identifier: MIT
// Walks of a layout, and of a distribution, that are gone when the expression ends.
// EXPECT(2): lds_access_pattern: it refers to the layout and to the distribution; give names to both
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/lds_access_pattern.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<16>{}, tw::number<16>{}));
constexpr tw::distribution_encoding operand = tw::encoding_of(describe(tw::arch::matrix_op::mfma_16x16x16).a);
constexpr tw::lds_access_pattern pattern(tw::graph_of(plain), operand, 2);
constexpr tw::lds_access_pattern other(plain.graph, tw::encoding_of(describe(tw::arch::matrix_op::mfma_16x16x16).b), 2);
