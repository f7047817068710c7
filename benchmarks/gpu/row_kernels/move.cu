// SPDX-License-Identifier: MIT
// Copies, casts, permutations and element-wise functions for rows.py: x, x2 (of functions of two elements), y.
#include "library.hpp"

#include <tilewright/kernels/tensor/launch_permute.hpp>

namespace row_kernels {
namespace {

template <class T>
const char* start_permute(const call& c) {
  tw::launch_permute<arch, T>({c.strided<const T>(0), c.strided<T>(1)}, {.stream = c.stream});
  return nullptr;
}

const char* start_concatenate(const call& c) {
  using element = unsigned short;
  tw::launch_concatenate<arch, element>({c.strided<const element>(0), c.strided<const element>(1)},
                                        c.strided<element>(2), index_t(c.numbers[0]), {.stream = c.stream});
  return nullptr;
}

template <class T, class Result = T, class Function = tw::copy_function>
const char* start_map(const call& c) {
  using kernel = tw::map_tensor<arch, T, Result, Function>;
  constexpr int y = kernel::has_two ? 2 : 1;
  return start<kernel>({c.strided<const T>(0), c.strided<Result>(y), c.strided<const T>(y - 1)}, c);
}

const registered moves[] = {
    {"permute_8", start_permute<unsigned char>},
    {"permute_16", start_permute<unsigned short>},
    {"permute_32", start_permute<unsigned>},
    {"permute_64", start_permute<unsigned long long>},
    {"concatenate_16", start_concatenate},
    {"copy_bf16", start_map<tw::bfloat16_t>},
    {"cast_f32_bf16", start_map<float, tw::bfloat16_t>},
    {"cast_bf16_f32", start_map<tw::bfloat16_t, float>},
    {"cast_f16_bf16", start_map<tw::half_t, tw::bfloat16_t>},
    {"cast_bf16_e4m3", start_map<tw::bfloat16_t, tw::fp8_ocp_t>},
    {"cast_e4m3_bf16", start_map<tw::fp8_ocp_t, tw::bfloat16_t>},
    {"cast_f32_int8", start_map<float, tw::int8_t>},
    {"gelu_bf16", start_map<tw::bfloat16_t, tw::bfloat16_t, tw::gelu_function>},
    {"swiglu_bf16", start_map<tw::bfloat16_t, tw::bfloat16_t, tw::swiglu_function>},
};

}  // namespace
}  // namespace row_kernels
