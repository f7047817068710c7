// SPDX-License-Identifier: MIT
// How long a call of tilewright::ops takes on the host, once its kernel is in memory: the median of batches of calls
// that are queued one after another on this machine's GPU. On NVIDIA GPUs first what the driver alone takes for a
// launch. With TILEWRIGHT_HIP_LIBRARY of tests/ops/stub_hip, or the folder of tests/jit/fake_cuda in LD_LIBRARY_PATH:
// with a driver that does nothing.
#include <tilewright/ops.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>

namespace {

namespace tw = tilewright::ops;

struct gpu_tensors {
  tilewright::jit::compiler gpu{{.cache = {.enabled = false}}};
  std::list<tilewright::jit::buffer> memory = {};

  tw::tensor make(std::initializer_list<tilewright::long_index_t> lengths, tw::element type = tw::element::f16) {
    std::size_t count = 1;
    for (const auto length : lengths) count *= std::size_t(length);
    const tilewright::jit::buffer& b = memory.emplace_back(gpu.allocate(4 * count));
    b.clear();
    return tw::packed(b.data(), type, lengths);
  }
};

/// Calls of a batch are few enough for the driver's queue.
double microseconds_of(gpu_tensors& on, const std::function<void()>& call) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int batch = 0; batch < 50; ++batch) {
    call();
    on.gpu.synchronize();
    const auto start = clock::now();
    for (int i = 0; i < 100; ++i) call();
    times.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count() / 100);
    on.gpu.synchronize();
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

/// CUlaunchAttribute and CUlaunchConfig.
struct launch_attribute {
  int id, padding;
  unsigned value[16];
};
struct launch_config {
  unsigned grid[3], block[3], lds_bytes;
  void* stream;
  launch_attribute* attributes;
  unsigned num_attributes;
};

/// CUDA's driver, of which this program needs no header.
class cuda_driver {
 public:
  template <class Result, class... Args>
  bool find(const char* name, Result (*&function)(Args...)) const {
    function = reinterpret_cast<Result (*)(Args...)>(library_ ? dlsym(library_, name) : nullptr);
    return function != nullptr;
  }

 private:
  void* library_ = dlopen("libcuda.so.1", RTLD_NOW);
};

/// Launches of a kernel that ends at once: one with a pointer, and one with the arguments, LDS and attribute of a GEMM
/// for Hopper. Leaves the GPU's context current in this thread, as programs with CUDA's runtime have it.
void print_driver_alone(gpu_tensors& on) {
  constexpr const char* text =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry small(.param .b64 p) { ret; }\n"
      ".visible .entry large(.param .align 64 .b8 p[768]) { ret; }\n";
  const cuda_driver driver;
  int (*retain)(void**, int) = nullptr;
  int (*push)(void*) = nullptr;
  int (*load)(void**, const void*) = nullptr;
  int (*find)(void**, void*, const char*) = nullptr;
  int (*set)(void*, int, int) = nullptr;
  int (*launch)(const launch_config*, void*, void**, void**) = nullptr;
  void *context = nullptr, *module = nullptr;
  if (!driver.find("cuDevicePrimaryCtxRetain", retain) || !driver.find("cuCtxPushCurrent_v2", push) ||
      !driver.find("cuModuleLoadData", load) || !driver.find("cuModuleGetFunction", find) ||
      !driver.find("cuFuncSetAttribute", set) || !driver.find("cuLaunchKernelEx", launch) || retain(&context, 0) != 0 ||
      push(context) != 0 || load(&module, text) != 0)
    return;
  const auto time = [&](const char* name, unsigned lds_bytes, launch_attribute attribute) {
    void* function = nullptr;
    alignas(64) char args[768] = {};
    void* parameter = args;
    if (find(&function, module, name) != 0 || set(function, 8, int(lds_bytes)) != 0) return;
    const launch_config how{{132, 1, 1}, {384, 1, 1}, lds_bytes, nullptr, &attribute, 1};
    const double us = microseconds_of(on, [&] { (void)launch(&how, function, &parameter, nullptr); });
    std::printf("%-20s %6.2f us\n", (std::string("driver alone, ") + name).c_str(), us);
  };
  time("small", 0, {6, 0, {1}});
  time("large", 200 * 1024, {6, 0, {1}});
}

}  // namespace

int main() {
  gpu_tensors on;
  print_driver_alone(on);
  const tw::tensor a = on.make({256, 512}), b = tw::transposed(on.make({256, 512})), c = on.make({256, 256}),
                   bias = on.make({256}), x = on.make({64, 512}), y = on.make({64, 512}), weight = on.make({512}),
                   q = on.make({1, 128, 4, 64}), k = on.make({1, 128, 4, 64}), v = on.make({1, 128, 4, 64}),
                   o = on.make({1, 128, 4, 64}), q1 = on.make({8, 1, 4, 64}), keys = on.make({8, 512, 4, 64}),
                   o1 = on.make({8, 1, 4, 64});
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"gemm", [&] { tw::gemm(c, a, b); }},
      {"gemm, bias and silu", [&] { tw::gemm(c, a, b, {.bias = bias, .activate = tilewright::activation::silu}); }},
      {"rms_norm", [&] { tw::rms_norm(y, x, weight); }},
      {"softmax", [&] { tw::softmax(y, x); }},
      {"attention", [&] { tw::attention(o, q, k, v, {.causal = true}); }},
      {"attention_decode", [&] { tw::attention_decode(o1, q1, keys, keys); }},
      {"permute", [&] { tw::permute(tw::transposed(y), tw::transposed(x)); }},
  };
  for (const auto& [name, call] : calls) std::printf("%-20s %6.2f us\n", name, microseconds_of(on, call));
}
