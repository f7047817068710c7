// SPDX-License-Identifier: MIT
// Attention on the GPU, through HIP or CUDA.
#include <deque>

#include "../gpu/runtime.hpp"
#include "machine.hpp"

namespace attention_program {

std::optional<outcome> attend_on_gpu(inputs& data, const options& o) try {
  const gpu::device_facts device = gpu::device();
  quantise(data, device.target, o.kernel);
  host_tensors tensors = kernel_tensors(data);
  std::deque<gpu::buffer<unsigned char>> buffers;
  std::array<void*, num_tensors> places{};
  for (std::size_t i = 0; i < num_tensors; ++i)
    places[i] = buffers.emplace_back(tensors[i].data(), tensors[i].size()).data();
  const tw::attention_backward_args args = arguments_of(data, places);
  const bool is_hopper = device.target == "sm_90";
  if (o.kernel == kernel_kind::hopper && !is_hopper)
    throw refusal("the kernel for Hopper does not run on " + device.target + "; leave --kernel out");
  const bool is_fp8 = gemm_program::is_fp8(data.q.type);
  kernel_choice choice{data.q.type == element::f16, is_fp8, int(kernel_dim(data)),
                       is_hopper && o.kernel != kernel_kind::portable};
  const auto queue = [&] {
    if (const std::string why = queue_attention(choice, args); !why.empty()) throw refusal(why);
  };
  if (data.has_gradients()) queue();
  choice.backward = data.has_gradients();
  outcome result{device.name + " (" + device.target + ")" + (choice.for_hopper ? ", the kernel for Hopper" : ""), {}};
  gpu::event begin, end;
  for (int i = 0; i < o.repeat; ++i) {
    begin.record();
    queue();
    end.record();
    result.seconds.push_back(end.seconds_since(begin));
    gpu::check(TILEWRIGHT_GPU(GetLastError)(), "running the kernel");
  }
  for (std::size_t i = 0; i < num_tensors; ++i) buffers[i].download(tensors[i].data());
  take_results(data, tensors);
  return result;
} catch (const gpu::unusable& error) {
  throw refusal(std::string(error.what()) + "; use --device host to run on the CPU");
}

}  // namespace attention_program
