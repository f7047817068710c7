// SPDX-License-Identifier: MIT
// The fastest kernel of a product by time: measured once, remembered in a file.
#pragma once

#include <tilewright/gemm/find_fastest.hpp>
#include <tilewright/gemm/gemm_plan.hpp>
#include <tilewright/gemm/tuning_file.hpp>
#include <tilewright/gemm/tuning_name.hpp>
#include <tilewright/version.hpp>

namespace tilewright {

namespace detail {

/// Two events on a stream.
class gpu_stopwatch {
 public:
  explicit gpu_stopwatch(gpu_stream stream) : stream_(stream) {
    for (cudaEvent_t& e : events_) require_success(cudaEventCreate(&e), "creating an event");
  }
  gpu_stopwatch(const gpu_stopwatch&) = delete;
  ~gpu_stopwatch() {
    for (const cudaEvent_t e : events_) (void)cudaEventDestroy(e);
  }
  /// Seconds of what `work` queues.
  template <class Work>
  double operator()(Work work) const {
    require_success(cudaEventRecord(events_[0], stream_), "recording an event");
    work();
    require_success(cudaEventRecord(events_[1], stream_), "recording an event");
    require_success(cudaEventSynchronize(events_[1]), "timing a kernel");
    float milliseconds = 0;
    require_success(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "timing a kernel");
    return milliseconds * 1e-3;
  }

 private:
  gpu_stream stream_;
  cudaEvent_t events_[2] = {};
};

}  // namespace detail

/// The key of the current device.
inline std::string tuning_key() {
  int device = 0;
  cudaDeviceProp properties;
  detail::require_success(cudaGetDevice(&device), "looking for a GPU");
  detail::require_success(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  return tuning_key(properties.name, properties.multiProcessorCount);
}

/// Times the kernels that can compute a product, on `stream`, unless `memory` knows the answer; it is remembered there.
/// `sets`: at least one; operands of several sets of arguments, which differ in their pointers only, take turns, so
/// that the caches are as cold as they will be. Every c is overwritten, also where beta is not 0. Waits for the stream.
/// Throws launch_error if there is no kernel.
template <class Product>
gemm_choice gemm_autotune(const std::vector<gemm_args>& sets, detail::gpu_stream stream = nullptr,
                          tuning_file* memory = nullptr, const tuning_effort& effort = {},
                          std::vector<std::pair<gemm_choice, double>>* times = nullptr) {
  using kernels = gemm_kernels<Product>;
  const std::vector<gemm_choice> choices = possible_choices<Product>(sets.at(0));
  if (choices.empty()) throw launch_error("gemm_autotune: no kernel can compute this product");
  const std::string problem = tuning_name(sets[0], arch::matrix_element_v<typename Product::element_type>,
                                          arch::matrix_element_v<typename Product::result_type>,
                                          Product::a_major == operand_major::k, Product::b_major == operand_major::k);
  if (memory) {
    const std::optional<std::string> known = memory->find(problem);
    for (const gemm_choice& c : choices)
      if (known && *known == kernels::name(c)) return c;
  }
  std::vector<std::vector<gemm_plan<Product>>> plans(choices.size());
  const detail::gpu_stopwatch seconds_of(stream);
  std::size_t turn = 0;
  const auto measure = [&](std::size_t i, int launches) {
    if (plans[i].empty())
      for (const gemm_args& args : sets) plans[i].push_back(gemm_plan<Product>(args, choices[i]));
    const double seconds = seconds_of([&] {
      for (int n = 0; n < launches; ++n) plans[i][turn++ % plans[i].size()](stream);
    });
    if (times) {
      times->resize(choices.size(), {{}, 1e9});
      (*times)[i] = {choices[i], seconds / launches};
    }
    return seconds;
  };
  const gemm_choice best = choices[find_fastest(choices.size(), measure, effort)];
  if (memory) memory->remember(problem, kernels::name(best));
  return best;
}

}  // namespace tilewright
