// SPDX-License-Identifier: MIT
// C = relu(A B + bias) by one call. On the CPU emulator tensors are memory of the program, on a GPU memory of the
// device.
#include <tilewright/ops.hpp>

#include <cstdio>
#include <vector>

namespace tw = tilewright::ops;
using tilewright::half_t;

int main() try {
  constexpr int m = 100, n = 72, k = 64;
  std::vector<half_t> a(m * k, half_t(0.5f)), b(k * n, half_t(0.25f)), bias(n, half_t(-1.0f)), c(m * n);
  const tw::tensor c_there = tw::packed(c.data(), tw::element::f16, {m, n});
  const tw::tensor a_there = tw::packed(a.data(), tw::element::f16, {m, k});
  const tw::tensor b_there = tw::packed(b.data(), tw::element::f16, {k, n});

  tw::gemm(c_there, a_there, b_there,
           {.bias = tw::packed(bias.data(), tw::element::f16, {n}), .activate = tilewright::activation::relu});

  std::printf("c[0] is %g, c[%d] is %g\n", double(float(c[0])), m * n - 1, double(float(c.back())));
} catch (const tw::operation_error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
