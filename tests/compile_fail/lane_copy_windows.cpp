// SPDX-License-Identifier: MIT
// A copy to LDS again and again: from LDS, to global memory, and between windows of two distributions; too many copies.
// EXPECT: lane_copy: the window must be in global memory
// EXPECT: lane_copy: the destination must be in LDS
// EXPECT: lane_copy: both windows must move the same vectors of the same distribution
// EXPECT: lane_copy: there are fewer copies; see num_access
#include <tilewright/tile/lane_copy.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using by_rows = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
using by_columns = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<32>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<0, 0>>, sequence<1>, sequence<1>>::value>;
constexpr auto lengths = make_tuple(number<8>{}, number<32>{});
template <class Distribution>
auto in_memory(const float* p) {
  const auto view = tw::make_naive_tensor_view<tw::address_space_enum::global>(
      p, make_tuple(8, 32), make_tuple(32, number<1>{}), number<4>{});
  return tw::make_tile_window(view, lengths, {0, 0}, Distribution{});
}
template <class Distribution>
auto in_lds(tw::exec::lds_pointer p) {
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::lds, float>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  return tw::make_tile_window(view, lengths, {0, 0}, Distribution{});
}

void f(tw::exec::lds_pointer p, const float* q) {
  const auto from = in_memory<by_rows>(q);
  const auto to = in_lds<by_rows>(p);
  const auto columns = in_lds<by_columns>(p);
  [[maybe_unused]] const tw::lane_copy from_lds(to, to);
  [[maybe_unused]] const tw::lane_copy to_global(from, from);
  [[maybe_unused]] const tw::lane_copy other(from, columns);
  tw::lane_copy(from, to).begin<0, 2>(0);
}
