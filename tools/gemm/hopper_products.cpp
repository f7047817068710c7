// SPDX-License-Identifier: MIT
// The list of the Hopper kernels.
#include "hopper_kernels.hpp"

namespace gemm_program {

std::vector<hopper_product> all_hopper_products() {
  using enum tw::operand_major;
  std::vector<hopper_product> list;
  add_hopper_product<f16_elements, k, k, false>(list);
  add_hopper_product<f16_elements, k, mn, false>(list);
  add_hopper_product<f16_elements, mn, k, false>(list);
  add_hopper_product<f16_elements, mn, mn, false>(list);
  add_hopper_product<bf16_elements, k, k, false>(list);
  add_hopper_product<bf16_elements, k, mn, false>(list);
  add_hopper_product<bf16_elements, mn, k, false>(list);
  add_hopper_product<bf16_elements, mn, mn, false>(list);
  add_hopper_product<other_elements, k, k, false>(list);
  add_hopper_product<f16_elements, k, k, true>(list);
  add_hopper_product<bf16_elements, k, k, true>(list);
  add_hopper_product<other_elements, k, k, true>(list);
  return list;
}

}  // namespace gemm_program
