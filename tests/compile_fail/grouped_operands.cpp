// SPDX-License-Identifier: MIT
// Groups along k with an A that is contiguous along k: it cannot be cut where a group ends. A tile that exchanges A
// and B.
// EXPECT: grouped_gemm_kernel: A must be contiguous along k where groups divide rows; where they divide k, A must be contiguous along m and B along n
// EXPECT: grouped_gemm_kernel: swap_ab needs groups of rows, which are not gathered
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>

namespace tw = tilewright;
using policy = tw::gemm_hopper<tw::half_t, tw::operand_major::k, tw::operand_major::mn, tw::hopper_gemm_tiles[1]>;
constexpr int lds = tw::grouped_gemm_kernel<tw::grouped<policy, tw::group_kind::k>>::lds_bytes;
using exchanged = tw::gemm_hopper<tw::half_t, tw::operand_major::mn, tw::operand_major::mn,
                                  tw::hopper_gemm_tile{.n = 80, .swap_ab = true}>;
constexpr int exchanged_lds = tw::grouped_gemm_kernel<tw::grouped<exchanged, tw::group_kind::k>>::lds_bytes;
