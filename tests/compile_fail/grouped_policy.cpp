// SPDX-License-Identifier: MIT
// The kernel for grouped products with a policy of dense ones.
// EXPECT: grouped_gemm_kernel: the policy's products are not grouped; name it grouped<Policy, group_kind::rows>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/kernels/gemm/grouped/check_grouped.hpp>

namespace tw = tilewright;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::k, tw::operand_major::k, 8>;
struct dense : policy {
  using args_type = tw::grouped_args;
};
const char* why = tw::check_grouped<dense>({}, {8, 2});
