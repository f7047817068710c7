// SPDX-License-Identifier: MIT
// A program that imports the module, and includes a header of what the module has.
#include <tilewright/core/descriptor/make_descriptor.hpp>

#include <cstdio>

import tilewright;

namespace tw = tilewright;

int main() {
  constexpr auto matrix = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<128>{}, tw::number<64>{}));
  static_assert(matrix.calculate_offset({3, 5}) == 197);

  constexpr tw::lds_use read{tw::encoding_of(tw::arch::describe(tw::arch::matrix_op::mfma_32x32x8_x2).a)};
  constexpr tw::lds_layout_choice choice = tw::choose_lds_layout<tw::arch::gfx942>({32, 64, 2}, read);
  static_assert(choice.is_proven_best);
  std::printf("conflicts of degree %d on %s\n", int(choice.worst_degree), tw::arch::gfx942::value.name);
  return choice.worst_degree == 1 ? 0 : 1;
}
