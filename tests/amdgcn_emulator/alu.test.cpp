// SPDX-License-Identifier: MIT
// Expressions compiled for the GPU and for the host: results agree in every bit.
#include <cmath>
#include <cstring>

#include "emulated_kernels.hpp"

namespace {
constexpr int values = 512;

struct inputs {
  std::vector<int> a = random_ints(values), b = random_ints(values), c = random_ints(values);
  std::vector<float> f = random_floats(), g = random_floats(), h = random_floats();

  inputs() {
    for (int i = 0; i < values; ++i) {
      if (i % 7 == 0) c[i] = a[i];
      if (i % 5 == 0) b[i] = int(random_numbers()() % 64) - 32;
      if (i % 11 == 0) c[i] = 0;
    }
  }

 private:
  static std::vector<float> random_floats() {
    static const float special[] = {0.0f,   -0.0f,  1.0f, -1.0f, 1e-40f,   -3e-39f,   3.4e38f,
                                    -1e30f, 1e-30f, 0.5f, 2.5f,  INFINITY, -INFINITY, NAN};
    std::vector<float> floats;
    auto& random = random_numbers();
    for (int i = 0; i < values; ++i)
      floats.push_back(random() % 4 == 0 ? special[random() % 14]
                                         : float(int(random())) * std::ldexp(1.0f, int(random() % 60) - 50));
    return floats;
  }
};

// What the expressions of alu.inc are written in.
struct operands {
  int a, b, c;
  float f, g, h;
};

template <class T, class Expression>
void compare(emu::module& code, const char* name, inputs& in, Expression expression) {
  std::vector<T> out(values);
  code.forbid_all();
  allow(code, in.a), allow(code, in.b), allow(code, in.c), allow(code, in.f), allow(code, in.g), allow(code, in.h);
  allow(code, out);
  const auto arguments = emu::kernarg()
                             .add(in.a.data())
                             .add(in.b.data())
                             .add(in.c.data())
                             .add(in.f.data())
                             .add(in.g.data())
                             .add(in.h.data())
                             .add(out.data());
  code.launch(std::string("alu_") + name, {values / 256}, {256}, 0, arguments);
  const bool any_zero = std::strcmp(name, "fminmax") == 0;  // C leaves open which of -0 and 0 fmin and fmax return
  int wrong = 0;
  for (int i = 0; i < values; ++i) {
    const T want = expression(operands{in.a[i], in.b[i], in.c[i], in.f[i], in.g[i], in.h[i]}), got = out[i];
    if (std::memcmp(&want, &got, sizeof(T)) == 0 || (want != want && got != got)) continue;
    if (any_zero && want == got) continue;
    if (wrong++ == 0)
      ADD_FAILURE() << name << ": " << +got << " instead of " << +want << " for a " << in.a[i] << ", b " << in.b[i]
                    << ", c " << in.c[i] << ", f " << in.f[i] << ", g " << in.g[i] << ", h " << in.h[i];
  }
  EXPECT_EQ(wrong, 0) << name;
}
}  // namespace

using Alu = emulated_test;

TEST_P(Alu, EveryInstructionIsKnown) { expect_supported(code_); }

TEST_P(Alu, AgreesWithTheHost) {
  inputs in;
#define POPCOUNT(x) __builtin_popcount(x)
#define ALU(name, T, ...)                                                                  \
  compare<T>(code_, #name, in, [](const operands& o) -> T {                                \
    [[maybe_unused]] const int a = o.a, b = o.b, c = o.c;                                  \
    [[maybe_unused]] const unsigned ua = unsigned(a), ub = unsigned(b), uc = unsigned(c);  \
    [[maybe_unused]] const long la = (long)a << 20 ^ b, lb = (long)b << 17 ^ c;            \
    [[maybe_unused]] const unsigned long ula = (unsigned long)la, ulb = (unsigned long)lb; \
    [[maybe_unused]] const float f = o.f, g = o.g, h = o.h;                                \
    [[maybe_unused]] const double d = (double)f * 1.25, e = (double)g + 0.5;               \
    return (T)(__VA_ARGS__);                                                               \
  });
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "alu.inc"
}

INSTANTIATE_TEST_SUITE_P(Kernels, Alu, testing::ValuesIn(objects_named({"alu", "alu_o1"})));
