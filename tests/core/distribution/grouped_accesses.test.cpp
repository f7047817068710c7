// SPDX-License-Identifier: MIT
// Accesses that share an address along linear dimensions, and indices that come from a table.
#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/core/distribution/access_plan.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <tensor_graph Graph, distribution_encoding Encoding, index_t Gathered, unsigned Linear = 0>
using plan = access_plan<Graph, Encoding, 4, address_plan{true, Linear, Gathered, false, 0}>;

TEST(GroupedAccesses, ShareAddressesAlongLinearDimensions) {
  // A thread holds 4 rows of 3 vectors of 4 columns.
  constexpr distribution_encoding encoding =
      tile_distribution_encoding<sequence<>, tuple<sequence<4, 8>, sequence<3, 8, 4>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 1>>, sequence<1, 2, 2>, sequence<0, 0, 2>>::value;
  constexpr auto descriptor =
      make_naive_tensor_descriptor(make_tuple(number<32>{}, number<96>{}), make_tuple(number<100>{}, number<1>{}));
  constexpr tensor_graph graph = descriptor.graph;
  using none = plan<graph, encoding, -1>;
  using columns = plan<graph, encoding, -1, 2>;
  using both = plan<graph, encoding, -1, 3>;
  static_assert(none::list.base.size() == 12 && none::list.num_bases == 12);
  static_assert(columns::list.num_bases == 4 && columns::list.immediate[1] == 32 && columns::list.base[3] == 1);
  static_assert(both::list.num_bases == 1 && both::list.immediate[3] == 800);
  constexpr auto rows = detail::gathered_positions_v<plan<graph, encoding, 0, 2>>;
  static_assert(rows.count == 4 && rows.of_access[5] == 1 && rows.x[2] == 16);
  // Neighbours along the gathered dimension are no vector.
  constexpr auto columns_first =
      make_naive_tensor_descriptor(make_tuple(number<96>{}, number<96>{}), make_tuple(number<1>{}, number<100>{}));
  constexpr distribution_encoding along_columns =
      tile_distribution_encoding<sequence<>, tuple<sequence<3, 8, 4>, sequence<4, 8>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<1, 1>>, sequence<2, 1, 1>, sequence<0, 0, 2>>::value;
  static_assert(plan<columns_first.graph, along_columns, -1>::vector.length == 4 &&
                plan<columns_first.graph, along_columns, 1>::vector.length == 4 &&
                plan<columns_first.graph, along_columns, 0>::vector.length == 1);
  // Rows with a stride that is the first run-time value: each has an address of its own.
  constexpr auto pitched =
      make_naive_tensor_descriptor(make_tuple(number<32>{}, number<96>{}), make_tuple(100, number<1>{}), number<4>{});
  using rows_and_columns = plan<pitched.graph, encoding, -1, 3>;
  static_assert(detail::step_along(pitched.graph, 0).only_slot() == 0 && rows_and_columns::list.num_bases == 4);
}

}  // namespace
}  // namespace tilewright
