// SPDX-License-Identifier: MIT
// Groups along k with an A that is contiguous along k: it cannot be cut where a group ends.
// EXPECT: grouped_gemm_kernel: A must be contiguous along k where groups divide rows; where they divide k, A must be contiguous along m and B along n
#include <tilewright/gemm/grouped_choice.hpp>
#include <tilewright/gemm/specialized_choice.hpp>

namespace tw = tilewright;
using policy = tw::gemm_specialized<tw::half_t, tw::operand_major::k, tw::operand_major::mn, tw::specialized_tiles[1]>;
constexpr int lds = tw::grouped_gemm_kernel<tw::grouped<policy, tw::group_kind::k>>::lds_bytes;
