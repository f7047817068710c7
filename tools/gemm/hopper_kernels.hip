// SPDX-License-Identifier: MIT
// The Hopper kernels: compile this file as CUDA (-x cu) for sm_90a, once for each GEMM_ELEMENTS, GEMM_A_MAJOR and
// GEMM_B_MAJOR.
#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/gemm/warp_specialized_pipeline.hpp>
#include <tilewright/launch/launch.hpp>

#include <utility>

#include "../gpu/runtime.hpp"
#include "hopper_kernels.hpp"

namespace gemm_program {

namespace {

using tw::operand_major;

template <class Policy>
std::function<void()> prepare(const tw::gemm_args& given) {
  const auto workspace = std::make_shared<gpu::buffer<char>>(std::size_t(tw::specialized_workspace::bytes));
  gpu::check(cudaMemset(workspace->data(), 0, tw::specialized_workspace::counter_bytes), "clearing the workspace");
  tw::gemm_args args = given;
  args.workspace = workspace->data();
  return [launch = tw::prepared_launch<tw::gemm_kernel<Policy>>(args), workspace] { launch(); };
}

template <class T, class R, operand_major AMajor, operand_major BMajor, bool HasEpilogue>
void add(std::vector<hopper_entry>& list) {
  [&]<tw::index_t... Tiles>(std::integer_sequence<tw::index_t, Tiles...>) {
    const auto add_tile = [&]<tw::index_t Tile>(tw::number<Tile>) {
      using policy =
          tw::gemm_specialized<T, AMajor, BMajor, tw::specialized_tiles[Tile], R,
                               std::conditional_t<HasEpilogue, tw::epilogue::from_args, tw::epilogue::alpha_beta>>;
      list.push_back({.type = element_of<T>(),
                      .result = element_of<R>(),
                      .a_major = AMajor,
                      .b_major = BMajor,
                      .tile = Tile,
                      .has_epilogue = HasEpilogue,
                      .check = tw::gemm_kernel<policy>::check,
                      .prepare = prepare<policy>});
    };
    (add_tile(tw::number<Tiles>{}), ...);
  }(std::make_integer_sequence<tw::index_t, tw::specialized_tiles.size()>{});
}

}  // namespace

/// Which kernels there are: with every tile of specialized_tiles.
template <class Elements, operand_major AMajor, operand_major BMajor>
void add_hopper_kernels(std::vector<hopper_entry>& list) {
  if constexpr (__is_same(Elements, other_elements)) {
    add<tw::fp8_ocp_t, tw::bfloat16_t, AMajor, BMajor, false>(list);
    add<tw::fp8_ocp_t, tw::bfloat16_t, AMajor, BMajor, true>(list);
  } else {
    using T = std::conditional_t<__is_same(Elements, f16_elements), tw::half_t, tw::bfloat16_t>;
    add<T, T, AMajor, BMajor, false>(list);
    add<T, T, AMajor, BMajor, true>(list);
  }
}

template void add_hopper_kernels<GEMM_ELEMENTS, operand_major::GEMM_A_MAJOR, operand_major::GEMM_B_MAJOR>(
    std::vector<hopper_entry>&);

}  // namespace gemm_program
