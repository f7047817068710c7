// SPDX-License-Identifier: MIT
// Every matrix instruction against a plain sum of products. The lane layouts are stated here a second time, element by
// element, without using the emulator's code.
#include <cmath>
#include <cstring>

#include "emulated_kernels.hpp"

namespace {
enum kind { f32, f16, bf16, i8, u8, i4, fp8, bf8, fp6, bf6, fp4, f64, i32 };
int bits_of(kind k) {
  static const int n[] = {32, 16, 16, 8, 8, 4, 8, 8, 6, 6, 4, 64, 32};
  return n[k];
}
std::mt19937_64 rng(99);

struct element {
  std::uint64_t bits;
  double value;
};
element random_element(kind k, bool fnuz) {
  for (;;) {
    std::uint64_t b = rng() & (bits_of(k) == 64 ? ~0ull : (1ull << bits_of(k)) - 1);
    const double r = static_cast<double>(static_cast<int>(rng() % 129) - 64) / 32;
    double v = 0;
    switch (k) {
      case f32: b = emu::bits(static_cast<float>(r)), v = r; break;
      case f64: v = static_cast<double>(static_cast<std::int64_t>(rng() >> 11)) * 0x1p-53, b = emu::bits(v); break;
      case f16: b = emu::f32_to_f16(static_cast<float>(r)), v = r; break;
      case bf16:
        b = emu::f32_to_bf16(static_cast<float>(r)), v = emu::bf16_to_f32(static_cast<std::uint16_t>(b));
        break;
      case i8: v = static_cast<std::int8_t>(b); break;
      case u8: v = static_cast<double>(b); break;
      case i4: v = static_cast<double>(b) - (b > 7 ? 16 : 0); break;
      case i32: b &= 0xffff, v = static_cast<double>(b); break;
      case fp8: v = emu::small_to_f32(static_cast<std::uint32_t>(b), fnuz ? emu::fp8_fnuz : emu::fp8_ocp); break;
      case bf8: v = emu::small_to_f32(static_cast<std::uint32_t>(b), fnuz ? emu::bf8_fnuz : emu::bf8_ocp); break;
      case fp6: v = emu::small_to_f32(static_cast<std::uint32_t>(b), emu::fp6_e2m3); break;
      case bf6: v = emu::small_to_f32(static_cast<std::uint32_t>(b), emu::bf6_e3m2); break;
      case fp4: v = emu::small_to_f32(static_cast<std::uint32_t>(b), emu::fp4_e2m1); break;
    }
    if (std::isfinite(v)) return {b, v};
  }
}
void put(std::vector<std::uint8_t>& m, std::size_t bit, std::uint64_t v, int n) {
  for (int k = 0; k < n; ++k)
    m[(bit + k) / 8] =
        static_cast<std::uint8_t>((m[(bit + k) / 8] & ~(1 << (bit + k) % 8)) | (v >> k & 1) << (bit + k) % 8);
}
double get(const std::vector<std::uint8_t>& m, std::size_t at, kind k) {
  const auto read = [&](auto x) {
    std::memcpy(&x, &m[at], sizeof x);
    return x;
  };
  switch (k) {
    case f64: return read(0.0);
    case f32: return read(0.0f);
    case i32: return read(std::int32_t{0});
    case f16: return emu::f16_to_f32(read(std::uint16_t{0}));
    default: return emu::bf16_to_f32(read(std::uint16_t{0}));
  }
}
struct place {
  int lane, element;
};
struct job {
  const char* name;
  std::string target;
  std::size_t size_a, size_b, size_c;
  int M, K, N;
  kind a, b, c;
  bool is_wmma() const { return target[3] == '1'; }
  bool scaled() const { return std::string(name).rfind("scale_", 0) == 0; }
  // element (row i, k) of A, or (column i, k) of B
  place source(kind t, int block, int i, int k) const {
    if (target == "gfx1100") return {i, k};
    if (target == "gfx1201") return {i + 16 * (k / (K / 2)), k % (K / 2)};
    if (target == "gfx1250") {  // 16 bytes of lanes 0-15, then of 16-31; shorter elements: 32 of each
      const int chunk = bits_of(t) >= 8 ? 128 / bits_of(t) : 32;
      return {i + 16 * (k / chunk % 2), k / (2 * chunk) * chunk + k % chunk};
    }
    if (t == f64) return {M == 16 ? i + 16 * k : i + 4 * block + 16 * k, 0};
    if (N > 1) return {i + M * block, k};
    const int groups = 64 / M;
    if (scaled() && bits_of(t) == 8) return {i + M * (k / 16 % groups), k % 16 + k / (16 * groups) * 16};
    return {i + M * (k / (K / groups)), k % (K / groups)};
  }
  place result(int block, int i, int j) const {
    if (target == "gfx1100") return {j + 16 * (i % 2), bits_of(c) == 16 ? i / 2 * 2 : i / 2};
    if (target == "gfx1201" || target == "gfx1250") return {j + 16 * (i / 8), i % 8};
    if (c == f64) return M == 16 ? place{j + 16 * (i % 4), i / 4} : place{j + 4 * block + 16 * i, 0};
    if (M == 32) return {j + 32 * (i / 4 % 2), i % 4 + 4 * (i / 8) + 16 * block};
    if (M == 16) return {j + 16 * (i / 4), i % 4 + 4 * block};
    return {j + 4 * block, i};
  }
};
void run(emu::module& m, const job& t) {
  const int W = t.is_wmma() ? 32 : 64;
  const bool fnuz = t.target == "gfx942";
  std::vector<std::uint8_t> A(W * t.size_a), B(W * t.size_b), C(W * t.size_c), D(W * t.size_c);
  std::vector<double> av(t.N * t.M * t.K), bv(t.N * t.M * t.K);
  const auto fill = [&](std::vector<std::uint8_t>& mem, std::vector<double>& v, kind k, std::size_t size) {
    for (int n = 0; n < t.N; ++n)
      for (int i = 0; i < t.M; ++i)
        for (int q = 0; q < t.K; ++q) {
          const element e = random_element(k, fnuz);
          const place p = t.source(k, n, i, q);
          put(mem, p.lane * size * 8 + static_cast<std::size_t>(p.element) * bits_of(k), e.bits, bits_of(k));
          if (t.target == "gfx1100")
            put(mem, (p.lane + 16) * size * 8 + static_cast<std::size_t>(p.element) * bits_of(k), e.bits, bits_of(k));
          v[(n * t.M + i) * t.K + q] = e.value;
        }
  };
  fill(A, av, t.a, t.size_a), fill(B, bv, t.b, t.size_b);
  const int cb = bits_of(t.c) / 8;
  for (std::size_t i = 0; i < C.size(); i += cb) put(C, 8 * i, random_element(t.c, false).bits, 8 * cb);
  std::vector<int> xa(64), xb(64);
  for (int& x : xa) x = static_cast<int>(0x7f7f7f7f + (rng() % 8) * 0x100 - (rng() % 8) * 0x10000);
  for (int& x : xb) x = static_cast<int>(0x7f7f7f7f + (rng() % 8) * 0x100 - (rng() % 8) * 0x10000);
  m.forbid_all();
  m.allow(A.data(), A.size()), m.allow(B.data(), B.size()), m.allow(C.data(), C.size()), m.allow(D.data(), D.size()),
      m.allow(xa.data(), 256), m.allow(xb.data(), 256);
  m.launch(std::string("matrix_") + t.name, {1}, {static_cast<unsigned>(W)}, 0,
           emu::kernarg().add(A.data()).add(B.data()).add(C.data()).add(D.data()).add(xa.data()).add(xb.data()));
  int bad = 0;
  std::string first;
  for (int n = 0; n < t.N; ++n)
    for (int i = 0; i < t.M; ++i)
      for (int j = 0; j < t.M; ++j) {
        const place p = t.result(n, i, j);
        const std::size_t at = p.lane * t.size_c + static_cast<std::size_t>(p.element) * cb;
        double want = get(C, at, t.c), size = std::fabs(want);
        for (int k = 0; k < t.K; ++k) {
          double x = av[(n * t.M + i) * t.K + k] * bv[(n * t.M + j) * t.K + k];
          if (t.scaled() && t.is_wmma())  // a byte for 32 k; B's in lanes 16-31
            x *= std::ldexp(1.0, (xa[i] >> k / 32 * 8 & 255) - 127 + (xb[j + 16] >> k / 32 * 8 & 255) - 127);
          else if (t.scaled())
            x *=
                std::ldexp(1.0, (xa[i + t.M * (k / 32)] >> 8 & 255) - 127 + (xb[j + t.M * (k / 32)] >> 16 & 255) - 127);
          want += x, size += std::fabs(x);
        }
        const double got = get(D, at, t.c), tol = t.c == i32   ? 0
                                                  : t.c == f64 ? 1e-14 * size
                                                  : t.c == f32 ? 2e-6 * size
                                                               : (t.c == f16 ? 1e-3 : 8e-3) * (size + 1);
        if (!(std::fabs(got - want) <= tol) && !bad++)
          first = " (" + std::to_string(i) + "," + std::to_string(j) + ") got " + std::to_string(got) + " want " +
                  std::to_string(want);
      }
  EXPECT_EQ(bad, 0) << t.name << first;
}
template <int Bytes>
struct bytes {
  char b[Bytes];
};
using v2f = bytes<8>;
using v4f = bytes<16>;
using v8f = bytes<32>;
using v16f = bytes<64>;
using v32f = bytes<128>;
using v4h = bytes<8>;
using v8h = bytes<16>;
using v16h = bytes<32>;
using v2s = bytes<4>;
using v4s = bytes<8>;
using v8s = bytes<16>;
using v16s = bytes<32>;
using v8b = bytes<16>;
using v16b = bytes<32>;
using v2i = bytes<8>;
using v4i = bytes<16>;
using v8i = bytes<32>;
using v16i = bytes<64>;
using v32i = bytes<128>;
using v4d = bytes<32>;

using job_list = std::vector<job>;
#define MAT(name, builtin, TA, TB, TC, M, K, N, ka, kb, kc, ...) \
  jobs.push_back({#name, target, sizeof(TA), sizeof(TB), sizeof(TC), M, K, N, ka, kb, kc});

job_list jobs_of(const std::string& target) {
  job_list jobs;
  if (target == "gfx90a") {
#define ON_gfx90a
#include "matrix.inc"
#undef ON_gfx90a
  } else if (target == "gfx942") {
#define ON_gfx942
#include "matrix.inc"
#undef ON_gfx942
  } else if (target == "gfx950") {
#define ON_gfx950
#include "matrix.inc"
#undef ON_gfx950
  } else if (target == "gfx1100") {
#define ON_gfx1100
#include "matrix.inc"
#undef ON_gfx1100
  } else if (target == "gfx1250") {
#define ON_gfx1250
#include "matrix.inc"
#undef ON_gfx1250
  } else {
#define ON_gfx1201
#include "matrix.inc"
  }
  return jobs;
}
}  // namespace

using Matrix = emulated_test;

TEST_P(Matrix, EveryInstruction) {
  for (const job& j : jobs_of(target())) run(code_, j);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Matrix, testing::ValuesIn(objects_named({"matrix"})));
