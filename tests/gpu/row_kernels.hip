// SPDX-License-Identifier: MIT
// Softmax and RMSNorm of tests/device/row_kernels.hpp on a GPU, against double precision.
//   nvcc -x cu -std=c++20 -arch=sm_90a -I include tests/gpu/row_kernels.hip -o row_kernels && ./row_kernels
#include <tilewright/exec/exec.hpp>

#include "../../tools/gpu/runtime.hpp"
#include "../device/row_kernels_problem.hpp"

#include <cstdio>

TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void softmax([[maybe_unused]] row_kernels::softmax_args args) {
#if TILEWRIGHT_DEVICE_PASS
  row_kernels::softmax<tilewright::arch::current::value.wave_size>{}(args);
#endif
}
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void rms_norm([[maybe_unused]] row_kernels::rms_norm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  row_kernels::rms_norm<tilewright::arch::current::value.wave_size>{}(args);
#endif
}

namespace {

template <class Args>
void run(void (*kernel)(Args), int rows_per_block, std::size_t lds_bytes, Args args) {
  void* arguments[] = {&args};
  const unsigned blocks = unsigned((args.rows + rows_per_block - 1) / rows_per_block);
  gpu::launch(reinterpret_cast<const void*>(kernel), dim3(blocks), 256, lds_bytes, arguments);
  gpu::check(TILEWRIGHT_GPU(DeviceSynchronize)(), "running a kernel");
}

bool report(const char* name, double error, double allowed) {
  std::printf("%-9s %s  error %.2e, allowed %.2e\n", name, error <= allowed ? "PASS" : "FAIL", error, allowed);
  return error <= allowed;
}

}  // namespace

int main() {
  using row_kernels::half_t;
  row_kernels::softmax_problem s;
  const gpu::buffer<half_t> sx(s.x.data(), s.x.size()), sy(s.y.data(), s.y.size());
  run(&softmax, 8, 0, row_kernels::softmax_args{sx.data(), sy.data(), row_kernels::rows});
  sy.download(s.y.data());

  row_kernels::rms_norm_problem r;
  const gpu::buffer<half_t> x(r.x.data(), r.x.size()), weight(r.weight.data(), r.weight.size()),
      residual(r.residual.data(), r.residual.size()), y(r.y.data(), r.y.size());
  constexpr std::size_t lds_bytes = 256 * 2 * 4;  // a number for each thread and row
  run(&rms_norm, 2, lds_bytes,
      row_kernels::rms_norm_args{x.data(), weight.data(), residual.data(), y.data(), row_kernels::rows});
  residual.download(r.residual.data());
  y.download(r.y.data());

  const bool softmax_right = report("softmax", s.error(), row_kernels::softmax_tolerance);
  return report("rms_norm", r.error(), row_kernels::rms_norm_tolerance) && softmax_right ? 0 : 1;
}
