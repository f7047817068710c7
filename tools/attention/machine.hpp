// SPDX-License-Identifier: MIT
// The machines that run attention: the CPU, which emulates a target, and the GPU.
#pragma once

#include <array>
#include <functional>

#include "inputs.hpp"
#include "kernel_choice.hpp"

namespace attention_program {

struct outcome {
  std::string device;
  std::vector<double> seconds;  // of each run; empty on the CPU, whose time says nothing
};

/// Targets that the CPU emulates.
std::vector<std::string> emulated_targets();

/// Computes the results in `data` on the CPU, which emulates o.target.
outcome attend_on_cpu(inputs& data, const options& o, const std::function<void(double)>& progress);

/// On the GPU, o.repeat times; nothing where the program has no kernels for GPUs. Throws refusal where there is no GPU
/// that it can use. With gradients, their kernel is the one that is repeated.
std::optional<outcome> attend_on_gpu(inputs& data, const options& o);

/// Tensors as kernels take them, in this order: q, k, v, o, lse, d_o, d_q, d_k, d_v, the workspace, the scales of q, k
/// and v. Rows have kernel_dim(data) elements.
inline constexpr std::size_t num_tensors = 13;
using host_tensors = std::array<std::vector<unsigned char>, num_tensors>;

host_tensors kernel_tensors(const inputs& data);
tw::attention_backward_args arguments_of(const inputs& data, const std::array<void*, num_tensors>& places);
void take_results(inputs& data, const host_tensors& tensors);

}  // namespace attention_program
