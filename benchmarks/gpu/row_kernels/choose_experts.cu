// SPDX-License-Identifier: MIT
// Routing for rows.py: logits to experts and weights.
#include "library.hpp"

#include <tilewright/kernels/routing/choose_experts.hpp>

namespace row_kernels {
namespace {

/// The kernel with the MostExperts that choose_most_experts chooses, of those with Vector elements in an access.
template <class T, index_t Vector, index_t Experts = 32>
const char* start_choose_up_to(const tw::choose_experts_args<T>& args, const call& c) {
  constexpr index_t more = tw::choose_most_experts(Experts + 1, Vector);
  if constexpr (more <= 512) {
    if (args.experts > Experts) return start_choose_up_to<T, Vector, more>(args, c);
  }
  return start<tw::choose_experts<arch, T, Experts, Vector>>(args, c);
}

/// logits, expert, weight.
template <class T>
const char* start_choose(const call& c) {
  const tw::choose_experts_args<T> args{.x = c.data<const T>(0),
                                        .expert = c.data<index_t>(1),
                                        .weight = c.data<float>(2),
                                        .tokens = c[0].rows(),
                                        .experts = c[0].cols(),
                                        .choices = c[1].cols(),
                                        .x_stride = c[0].row_stride()};
  constexpr index_t vector = 16 / sizeof(T);
  if (args.experts % vector == 0) return start_choose_up_to<T, vector>(args, c);
  if (args.experts % 2 == 0) return start_choose_up_to<T, 2>(args, c);
  return start_choose_up_to<T, 1>(args, c);
}

const registered chosen[] = {{"choose_experts_f32", start_choose<float>},
                             {"choose_experts_bf16", start_choose<tw::bfloat16_t>}};

}  // namespace
}  // namespace row_kernels
