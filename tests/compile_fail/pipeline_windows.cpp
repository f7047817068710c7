// SPDX-License-Identifier: MIT
// Windows that a pipeline cannot follow: in LDS, of other elements, of another distribution.
// EXPECT: gemm: a pipeline copies its operands from global memory; block_gemm multiplies those in LDS
// EXPECT: gemm: the windows' elements are not the policy's element_type (A) and b_element_type (B)
// EXPECT: gemm: a pipeline's windows have the distributions that the policy copies with
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>

namespace tw = tilewright;
using tw::half_t, tw::make_tuple, tw::number;
using enum tw::address_space_enum;
using enum tw::operand_major;

using policy = tw::gemm_policy<tw::arch::gfx942, half_t, k, k, 8>;
using copy = tw::tile_distribution<policy::a_copy>;
constexpr auto lengths = make_tuple(number<128>{}, number<64>{});

template <tw::address_space_enum Space, class T, class Distribution, class Pointer>
auto window(Pointer p, Distribution distribution) {
  return tw::make_tile_window(tw::make_tensor_view<Space, T>(p, tw::make_naive_tensor_descriptor_packed(lengths)),
                              lengths, {0, 0}, distribution);
}

void f(half_t* p, tw::bfloat16_t* q, tw::exec::lds_pointer l) {
  const auto a = window<global, half_t>(p, copy{});
  tw::require_operand_windows<policy, decltype(window<lds, half_t>(l, copy{})), decltype(a)>();
  tw::require_operand_windows<policy, decltype(window<global, tw::bfloat16_t>(q, copy{})), decltype(a)>();
  const auto read = window<global, half_t>(p, tw::tile_distribution<policy::a_read>{});
  tw::require_operand_windows<policy, decltype(read), decltype(a)>();
}
