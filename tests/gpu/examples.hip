// SPDX-License-Identifier: MIT
// Examples 07 (SwiGLU, both pipelines) and 08 (convolution) on a GPU, against loops on the CPU.
//   nvcc -x cu -std=c++20 -gencode=arch=compute_90a,code=sm_90a -I include tests/gpu/examples.hip -o examples &&
//   ./examples
#include <tilewright/launch/launch.hpp>

#include "../../examples/07_swiglu/reference.hpp"
#include "../../examples/08_convolution/reference.hpp"
#include "../../tools/gpu/runtime.hpp"

#include <cstdio>

namespace {

namespace tw = tilewright;
using tw::half_t, tw::index_t;

bool report(const char* name, index_t wrong, index_t of) {
  std::printf("%-26s %s  %d of %d elements wrong\n", name, wrong == 0 ? "PASS" : "FAIL", wrong, of);
  return wrong == 0;
}

/// Calls launch(args) with the problem's arrays in the GPU's memory.
template <class Launch>
bool swiglu_is_right(const char* name, Launch launch) {
  swiglu_example::problem p;
  const gpu::buffer<half_t> a(p.a.data(), p.a.size()), b(p.b.data(), p.b.size()), bias(p.bias.data(), p.bias.size()),
      c(p.c.data(), p.c.size());
  swiglu_example::swiglu_args args = p.args;
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();
  args.up_bias = bias.data();
  launch(args);
  c.download(p.c.data());
  return report(name, p.count_wrong(), p.m * p.n);
}

bool convolution_is_right(const char* name, const convolution_example::convolution_args& shape) {
  convolution_example::problem p(shape);
  const gpu::buffer<half_t> x(p.x.data(), p.x.size()), w(p.w.data(), p.w.size()), y(p.y.data(), p.y.size());
  convolution_example::convolution_args args = p.args;
  args.x = x.data();
  args.w = w.data();
  args.y = y.data();
  tw::launch<convolution_example::kernel>(args, {});
  y.download(p.y.data());
  return report(name, p.count_wrong(), index_t(p.y.size()));
}

}  // namespace

int main() {
  bool right = swiglu_is_right(
      "swiglu", [](const swiglu_example::swiglu_args& args) { tw::launch<swiglu_example::kernel>(args, {}); });
#if defined(__CUDACC__)
  right &= swiglu_is_right("swiglu, warp-specialized", [](const swiglu_example::swiglu_args& args) {
    tw::launch<swiglu_example::hopper_kernel>(args, {});
  });
#endif
  right &= convolution_is_right("convolution, plain", convolution_example::plain);
  right &= convolution_is_right("convolution, general", convolution_example::general);
  return right ? 0 : 1;
}
