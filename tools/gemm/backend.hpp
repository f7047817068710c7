// SPDX-License-Identifier: MIT
// What the gemm program asks of a machine that multiplies matrices.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/block/schedule/grid_order.hpp>
#include <tilewright/core/arch/target.hpp>
#include <tilewright/kernels/gemm/gemm_args.hpp>

#include "../program/refusal.hpp"
#include "elements.hpp"

namespace gemm_program {

namespace tw = tilewright;
using program::refusal;

enum class order { row_major, col_major };

/// What happens to alpha A B before it is written; see namespace tilewright::epilogue.
struct epilogue_request {
  bool scale = false, row_scale = false, column_scale = false, bias = false, residual = false;
  tw::activation activation = tw::activation::none;

  friend bool operator==(const epilogue_request&, const epilogue_request&) = default;
};

/// C = activation(alpha scales A B + bias) + residual + beta C. A is m x k, B is k x n, C and the residual are m x n;
/// every matrix is dense in its order but for `gap` elements after each row (column),
/// and the matrices of a batch follow each other.
struct problem {
  std::int64_t m = 0, n = 0, k = 0;
  element type = element::f16;    // of A and B
  element result = element::f16;  // of C, bias and residual
  order a_order = order::row_major, b_order = order::row_major, c_order = order::row_major;
  float alpha = 1, beta = 0;
  std::int64_t batch = 1;
  epilogue_request epilogue = {};
  std::int64_t gap = 0;
};

/// Which kernel; what is left open is chosen.
struct kernel_request {
  std::optional<std::string> policy;
  std::int64_t split_k = 1;  // parts of k that different blocks add up
  std::optional<tw::grid_curve> grid_order;
};

/// Everything in host memory; what the epilogue does not need is null. C is computed in place.
struct operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const float* scale = nullptr;
  const float* row_scale = nullptr;
  const float* column_scale = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
};

/// LDS conflicts of one kind of instruction over the whole launch: extra cycles predicted at compile time for what the
/// kernel executes, and those that the machine counted.
struct lds_conflicts {
  std::string instruction;  // for instance ds_read_b128
  std::int64_t executions = 0;
  std::int64_t predicted_cycles = 0;  // conflicts included; NVIDIA: wavefronts
  std::int64_t predicted_conflicts = 0;
  std::int64_t counted_conflicts = -1;  // -1: this machine does not count
};

struct outcome {
  std::string device;              // for instance "CPU emulating gfx942" or "NVIDIA H100 80GB HBM3"
  std::string kernel;              // what ran
  std::string reason;              // why that one
  std::vector<double> seconds;     // one entry per repetition
  std::vector<lds_conflicts> lds;  // empty: no prediction
};

struct run_options {
  kernel_request kernel;
  int repeat = 1;
  std::function<void(double fraction)> progress;  // called now and then; may be empty
};

/// A machine. Its functions throw refusal with one sentence for what it cannot do, before anything is written.
class backend {
 public:
  virtual ~backend() = default;
  /// The formats of 8-bit floating-point numbers that its matrix instructions take, and its target's name.
  virtual tw::arch::fp8_kind fp8() const = 0;
  virtual std::string target() const = 0;
  /// Refuses a problem by its sizes, types and options alone: no matrix has been made yet.
  virtual void require(const problem& p, const kernel_request& request) = 0;
  virtual outcome run(const problem& p, const operands& data, const run_options& options) = 0;
};

/// The CPU emulator, emulating a target; the GPU backend of the build,
/// or nullptr where the program was built without one.
std::unique_ptr<backend> make_cpu_emulator(const std::string& target);
std::unique_ptr<backend> make_gpu_backend();
/// This machine's GPU, with kernels that tilewright::jit compiles for each problem.
std::unique_ptr<backend> make_jit_backend();
/// Names of the targets that the CPU emulator emulates.
std::vector<std::string> emulated_targets();

}  // namespace gemm_program
