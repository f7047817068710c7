// SPDX-License-Identifier: MIT
// exec's functions of floats on a GPU, against double precision; prints the worst errors.
//   nvcc -x cu -std=c++20 -arch=sm_90a -I include tests/gpu/math.hip -o math && ./math
#include <tilewright/machine/exec/exec.hpp>

#include "../../tools/gpu/runtime.hpp"
#include "../device/math_problem.hpp"

#include <cstdio>

TILEWRIGHT_GLOBAL void functions([[maybe_unused]] const float* x, [[maybe_unused]] const float* y,
                                 [[maybe_unused]] float* out) {
#if TILEWRIGHT_DEVICE_PASS
  for (int i = tilewright::exec::thread_id(); i < math_problem::size; i += 256) math_problem::run(x, y, out, i);
#endif
}

int main() {
  math_problem::problem p;
  gpu::buffer<float> x(p.x.size()), y(p.y.size()), out(p.out.size());
  x.upload(p.x);
  y.upload(p.y);
  out.upload(p.out);
  const float *from = x.data(), *and_from = y.data();
  float* to = out.data();
  void* arguments[] = {&from, &and_from, &to};
  gpu::run_block(reinterpret_cast<const void*>(&functions), 256, 0, arguments);
  p.out = out.download();
  bool right = true;
  for (int f = 0; f < math_problem::num_functions; ++f) {
    const auto verdict = judge(p, math_problem::function(f));
    const bool holds = verdict.worst <= 1;
    std::printf("%-12s %s  %.3f ulp, %.3f of what is allowed; worst: %s\n", math_problem::names[f],
                holds ? "PASS" : "FAIL", verdict.worst_ulp, verdict.worst, verdict.what.c_str());
    right = right && holds;
  }
  return right ? 0 : 1;
}
