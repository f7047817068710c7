// SPDX-License-Identifier: MIT
// What docs/windows.md shows.
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number;

namespace {

// The operand tiles of gfx942's default kernel: 128 x 64 halves, written by 256 threads, read for matrix instructions.
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::k, tw::operand_major::k, 8>;
constexpr auto layout = tw::make_lds_descriptor<policy::a_layout.layout>();
constexpr auto writing = tw::access_plan<layout.graph, policy::a_copy, 2>::list;
constexpr auto reading = tw::access_plan<layout.graph, tw::detail::a_encoding(policy::tile), 2>::list;

static_assert(writing.rule == tw::address_rule::xor_groups);
static_assert(writing.base.size() == 4 && writing.num_bases == 1);  // four accesses, one address register
static_assert(reading.base.size() == 8 && reading.num_bases == 4);  // the quarters of k differ in bits that are XORed

// Rows whose pitch is known only at run time: the steps are the same for all threads, but no constants.
constexpr auto rows = tw::make_naive_tensor_descriptor(make_tuple(index_t{100}, number<32>{}),
                                                       make_tuple(index_t{40}, number<1>{}), number<8>{});
constexpr auto loading = tw::access_plan<rows.graph, policy::a_copy, 2>::list;
static_assert(loading.rule == tw::address_rule::uniform_steps && loading.vector.length == 8);

}  // namespace
