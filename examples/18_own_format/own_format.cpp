// SPDX-License-Identifier: MIT
// Weights in a format of the user's: signed powers of two in 4 bits, with a scale for each 128. On the CPU emulator.
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/launch/launch.hpp>

#include <cstdio>
#include <vector>

namespace tw = tilewright;

/// A sign, and an exponent from -3 to 3; the code 0 is 0.
struct log2_format : tw::operand_format<unsigned, 8, float, 128> {
  template <class T>
  TILEWRIGHT_HD static tw::array<T, 8> decode(unsigned word) {
    constexpr bool f16 = __is_same(T, tw::half_t);
    const tw::array<T, 2> factor{T(f16 ? 0x1p11f : 0x1p123f), T(f16 ? 0x1p11f : 0x1p123f)};
    tw::array<unsigned, 4> pairs;
    for (unsigned i = 0; i < 4; ++i) {  // two codes to the lowest bits of two halves, then to exponents and signs
      const unsigned codes = (word >> 8 * i & 255) * 0x1001;
      pairs[int(i)] = tw::exec::multiply_halves<T>((codes & 0x70007) << (f16 ? 10 : 7) | (codes & 0x80008) << 12,
                                                   tw::bit_cast<unsigned>(factor));
    }
    return tw::bit_cast<tw::array<T, 8>>(pairs);
  }
};

int main() {
  constexpr int m = 4, n = 256, k = 512;
  std::vector<tw::bfloat16_t> a(m * k, tw::bfloat16_t(1.0f)), c(m * n);
  std::vector<unsigned> weights(n * k / 8, 0x7654fedcu);  // -1 -2 -4 -8 1 2 4 8: they add up to 0
  std::vector<float> scales(n * k / 128, 0.5f);
  weights[0] = 0x00000001u;  // column 0: 0.125
  tw::narrow_args args{};
  args.m = m, args.n = n, args.k = args.lda = args.ldb = k, args.ldc = n;
  args.a = a.data(), args.b = weights.data(), args.c = c.data(), args.b_scales = scales.data();
  using kernel = tw::small_m_gemm<tw::narrow_policy<tw::bfloat16_t, log2_format, 8>>;
  if (const char* why = kernel::check(args)) return std::puts(why);
  tw::launch<kernel>(args);
  std::printf("%g %g\n", double(float(c[0])), double(float(c[1])));
}
