// SPDX-License-Identifier: MIT
// A copy to LDS again and again: from LDS; to a layout in which the
// places of a wave's bytes do not add up; and copies beyond the last.
// EXPECT: wave_copy: the window must be in global memory
// EXPECT: wave_copy: what a wave writes must begin at the sum of constants for its number and its instruction
// EXPECT: wave_copy: there are fewer copies; see num_access
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>

#include <type_traits>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence, tw::tuple;

// Wave w holds elements 64 w to 64 w + 63.
using threads = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<4, 64>>, tuple<sequence<1>, sequence<1>>,
                                   tuple<sequence<0>, sequence<1>>, sequence<>, sequence<>>::value>;
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(number<256>{}));
// The waves' parts in the order 0, 2, 1, 3, and the last one further away.
constexpr auto scattered = tw::transform_tensor_descriptor(
    tw::make_naive_tensor_descriptor_packed(make_tuple(number<6>{}, number<64>{})),
    make_tuple(tw::make_indexing_transform(number<4>{}, make_tuple(number<0>{}, number<2>{}, number<1>{}, number<5>{})),
               tw::make_pass_through_transform(number<64>{})),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
constexpr auto merged = tw::transform_tensor_descriptor(
    scattered, make_tuple(tw::make_merge_transform(make_tuple(number<4>{}, number<64>{}))),
    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));

void f(const float* p, tw::exec::lds_pointer lds) {
  const auto lengths = make_tuple(number<256>{});
  const auto in_lds = tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::lds, float>(lds, packed),
                                           lengths, {0}, threads{});
  const auto in_memory =
      tw::make_tile_window(tw::make_tensor_view<tw::address_space_enum::global>(p, packed), lengths, {0}, threads{});
  (void)tw::wave_copy<std::remove_const_t<decltype(in_lds)>, packed.graph>(in_lds, lds);
  (void)tw::wave_copy<std::remove_const_t<decltype(in_memory)>, merged.graph>(in_memory, lds);
  tw::wave_copy<std::remove_const_t<decltype(in_memory)>, packed.graph>(in_memory, lds).issue<1, 2>(0);
}
