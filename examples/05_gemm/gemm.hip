// SPDX-License-Identifier: MIT
// One source for every machine: compiled as HIP or CUDA this program multiplies on the GPU, compiled as C++ on the CPU,
// which emulates a target.   gemm [M N K] [--arch TARGET]
#include <tilewright/launch/launch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device_vector.hpp"
#include "gemm_kernel.hpp"

namespace gemm_example {

using tw::half_t, tw::index_t;

struct problem {
  index_t m = 200, n = 136, k = 72;
  const char* arch = "gfx942";  // on the CPU
};

problem read_problem(int argc, char** argv) {
  problem p;
  index_t* const sizes[] = {&p.m, &p.n, &p.k};
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    char* end = argv[i];
    const long size = std::strtol(argv[i], &end, 10);
    if (std::strcmp(argv[i], "--arch") == 0 && i + 1 < argc) {
      p.arch = argv[++i];
    } else if (count < 3 && 0 < size && size <= 8192 && *end == '\0') {
      *sizes[count++] = index_t(size);
    } else {
      throw tw::launch_error("usage: gemm [M N K] [--arch TARGET], with sizes of up to 8192");
    }
  }
  return p;
}

/// Small integers, so that every sum is exact.
std::vector<half_t> numbers(index_t count, index_t step) {
  std::vector<half_t> values;
  for (index_t i = 0; i < count; ++i) values.push_back(half_t(float(i * step % 5 - 2)));
  return values;
}

/// Launches the kernel for this machine. Throws launch_error if it cannot compute the problem.
void launch([[maybe_unused]] const problem& p, const tw::gemm_args& args) {
#if TILEWRIGHT_CPU_PASS
  const tw::arch::target* const target = tw::arch::find_target(p.arch);
  if (!target)
    throw tw::launch_error("'" + std::string(p.arch) + "' is no target; --arch takes gfx942, gfx1201 and sm_90");
  using namespace tw::arch;
  const tw::emulator::launch_report report =
      tw::launch<kernel, gfx942, gfx1201, sm90>(args, {.emulate = *target, .check_lds = tw::emulator::lds_checks::on});
  std::printf("%s: %lld LDS conflicts, ", target->name, static_cast<long long>(report.totals.conflicts));
#else
  tw::launch<kernel>(args, {.stream = nullptr});
  std::printf("GPU: ");
#endif
}

/// How many elements of C are not relu(A B + bias).
index_t count_wrong(const problem& p, const std::vector<half_t>& a, const std::vector<half_t>& b,
                    const std::vector<half_t>& bias, const std::vector<half_t>& c) {
  index_t wrong = 0;
  for (index_t i = 0; i < p.m; ++i) {
    for (index_t j = 0; j < p.n; ++j) {
      float sum = float(bias[std::size_t(j)]);
      for (index_t l = 0; l < p.k; ++l) sum += float(a[std::size_t(i * p.k + l)]) * float(b[std::size_t(j * p.k + l)]);
      wrong += float(c[std::size_t(i * p.n + j)]) != std::max(sum, 0.0f);
    }
  }
  return wrong;
}

int multiply(const problem& p) {
  const std::vector<half_t> a = numbers(p.m * p.k, 3), b = numbers(p.n * p.k, 7), bias = numbers(p.n, 11);
  device_vector a_there(a), b_there(b), bias_there(bias), c_there(std::vector<half_t>(std::size_t(p.m * p.n)));
  launch(p, {.a = a_there.data(),
             .b = b_there.data(),
             .c = c_there.data(),
             .m = p.m,
             .n = p.n,
             .k = p.k,
             .lda = p.k,
             .ldb = p.k,
             .ldc = p.n,
             .bias = bias_there.data()});
  const index_t wrong = count_wrong(p, a, b, bias, c_there.to_host());
  std::printf("%d of %d elements wrong\n", wrong, p.m * p.n);
  return wrong == 0 ? 0 : 1;
}

}  // namespace gemm_example

int main(int argc, char** argv) {
  try {
    return gemm_example::multiply(gemm_example::read_problem(argc, argv));
  } catch (const tilewright::launch_error& error) {
    std::fprintf(stderr, "gemm: %s\n", error.what());
    return 2;
  }
}
