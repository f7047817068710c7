// SPDX-License-Identifier: MIT
// The Hopper kernels: compile this file as CUDA (-x cu) for sm_90a, once for each add_hopper_product of
// all_hopper_products, with GEMM_ELEMENTS, GEMM_A_MAJOR, GEMM_B_MAJOR and GEMM_HAS_EPILOGUE.
#include <tilewright/kernels/gemm/choice/gemm_plan.hpp>

#include <utility>

#include "../gpu/runtime.hpp"
#include "hopper_kernels.hpp"

namespace gemm_program {

namespace {

using tw::operand_major;

template <class Product>
std::function<void()> prepare(const tw::gemm_args& given, const tw::gemm_choice& choice) {
  const auto workspace = std::make_shared<gpu::buffer<char>>(std::size_t(tw::gemm_workspace_bytes<Product>(given)));
  gpu::check(cudaMemset(workspace->data(), 0, tw::hopper_gemm_workspace::counter_bytes), "clearing the workspace");
  tw::gemm_args args = given;
  args.workspace = workspace->data();
  return [launch = tw::gemm_plan<Product>(args, choice), workspace] { launch(); };
}

template <class Elements>
struct types;
template <>
struct types<f16_elements> {
  using operand = tw::half_t;
  using result = tw::half_t;
};
template <>
struct types<bf16_elements> {
  using operand = tw::bfloat16_t;
  using result = tw::bfloat16_t;
};
template <>
struct types<other_elements> {
  using operand = tw::fp8_ocp_t;
  using result = tw::bfloat16_t;
};

}  // namespace

template <class Elements, operand_major AMajor, operand_major BMajor, bool HasEpilogue>
void add_hopper_product(std::vector<hopper_product>& list) {
  using T = typename types<Elements>::operand;
  using R = typename types<Elements>::result;
  using product =
      tw::gemm_operation<T, AMajor, BMajor, R,
                         std::conditional_t<HasEpilogue, tw::epilogue::from_args, tw::epilogue::alpha_beta>>;
  using kernels = tw::gemm_kernels<product>;
  hopper_product p{.type = element_of<T>(),
                   .result = element_of<R>(),
                   .a_major = AMajor,
                   .b_major = BMajor,
                   .has_epilogue = HasEpilogue,
                   .check = tw::gemm_plan<product>::check,
                   .choose = tw::choose_gemm<product>,
                   .prepare = prepare<product>};
  for (tw::index_t kernel = 0; kernel < kernels::size; ++kernel) p.kernels.push_back(kernels::choice(kernel));
  list.push_back(p);
}

template void add_hopper_product<GEMM_ELEMENTS, operand_major::GEMM_A_MAJOR, operand_major::GEMM_B_MAJOR,
                                 GEMM_HAS_EPILOGUE>(std::vector<hopper_product>&);

}  // namespace gemm_program
