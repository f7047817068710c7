// SPDX-License-Identifier: MIT
// The fastest kernel of a product by time: measured once, remembered in a file.
#pragma once

#include <tilewright/kernels/gemm/choice/gemm_plan.hpp>
#include <tilewright/kernels/gemm/choice/tuning_name.hpp>
#include <tilewright/launch/tuning/find_fastest.hpp>
#include <tilewright/launch/tuning/tuning_file.hpp>
#include <tilewright/version.hpp>

#include <memory>

namespace tilewright {

namespace detail {

/// An event that is recorded now.
inline std::shared_ptr<CUevent_st> record_event(gpu_stream stream) {
  cudaEvent_t event = nullptr;
  require_success(cudaEventCreate(&event), "creating an event");
  std::shared_ptr<CUevent_st> owner(event, [](cudaEvent_t e) { (void)cudaEventDestroy(e); });
  require_success(cudaEventRecord(event, stream), "recording an event");
  return owner;
}

inline int num_multiprocessors() {
  int device = 0, count = 0;
  require_success(cudaGetDevice(&device), "looking for a GPU");
  require_success(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                  "asking for the GPU's properties");
  return count;
}

}  // namespace detail

/// The key of the current device.
inline std::string tuning_key() {
  int device = 0;
  cudaDeviceProp properties;
  detail::require_success(cudaGetDevice(&device), "looking for a GPU");
  detail::require_success(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  return tuning_key(properties.name, properties.multiProcessorCount);
}

/// Times the kernels that the models take for the fastest of a product, on `stream`, unless `memory` knows the answer;
/// it is remembered there. `sets`: at least one; operands of several sets of arguments, which differ in their pointers
/// only, are used one after the other, so that the caches are as cold as they will be. Every c is overwritten, also
/// where beta is not 0. Waits for the stream. Throws launch_error if there is no kernel.
template <class Product>
gemm_choice gemm_autotune(const std::vector<gemm_args>& sets, detail::gpu_stream stream = nullptr,
                          tuning_file* memory = nullptr, const tuning_effort& effort = {},
                          std::vector<std::pair<gemm_choice, double>>* times = nullptr) {
  const std::string problem = tuning_name(sets.at(0), arch::matrix_element_v<typename Product::element_type>,
                                          arch::matrix_element_v<typename Product::result_type>,
                                          Product::a_major == operand_major::k, Product::b_major == operand_major::k);
  std::vector<gemm_choice> choices = rank_choices<Product>(sets[0], detail::num_multiprocessors());
  if (choices.empty()) throw launch_error("gemm_autotune: no kernel can compute this GEMM");
  const std::optional<std::string> name = memory ? memory->find(problem) : std::nullopt;
  const std::optional<gemm_choice> known = name ? choice_named(*name) : std::nullopt;
  for (const gemm_choice& c : choices)
    if (known == c) return c;
  choices.resize(std::min(choices.size(), effort.candidates));
  std::vector<std::vector<gemm_plan<Product>>> plans(choices.size());
  std::size_t set = 0;
  const auto measure = [&](const std::vector<tuning_batch>& batches) {
    for (const tuning_batch& batch : batches) {  // plans and kernels are there before time is measured
      auto& plan = plans[batch.contender];
      if (!plan.empty()) continue;
      for (const gemm_args& args : sets) plan.push_back(gemm_plan<Product>(args, choices[batch.contender]));
      plan[0](stream);
    }
    std::vector events{detail::record_event(stream)};
    for (const auto& [contender, launches] : batches) {
      const auto& plan = plans[contender];
      for (int n = 0; n < launches; ++n) plan[set++ % plan.size()](stream);
      events.push_back(detail::record_event(stream));
    }
    detail::require_success(cudaEventSynchronize(events.back().get()), "timing a kernel");
    std::vector<double> seconds;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const auto& [contender, launches] = batches[i];
      float milliseconds = 0;
      detail::require_success(cudaEventElapsedTime(&milliseconds, events[i].get(), events[i + 1].get()),
                              "timing a kernel");
      seconds.push_back(milliseconds * 1e-3);
      if (!times) continue;
      times->resize(choices.size(), {{}, 1e9});
      (*times)[contender] = {choices[contender], seconds[i] / launches};
    }
    return seconds;
  };
  const gemm_choice best = choices[find_fastest(choices.size(), measure, effort)];
  if (memory) memory->remember(problem, name_of(best));
  return best;
}

}  // namespace tilewright
