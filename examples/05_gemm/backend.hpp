// SPDX-License-Identifier: MIT
// What the gemm program asks of a machine that multiplies matrices. gemm.hip implements it once, for every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gemm_example {

enum class element { f16, bf16 };
enum class order { row_major, col_major };

/// C = alpha A B + beta C. A is m x k, B is k x n, C is m x n; every matrix is dense in its order.
struct problem {
  std::int64_t m = 0, n = 0, k = 0;
  element type = element::f16;
  order a_order = order::row_major, b_order = order::row_major, c_order = order::row_major;
  float alpha = 1, beta = 0;
};

/// LDS conflicts of one kind of instruction over the whole launch: extra cycles predicted at compile time for what the kernel
/// executes, and those that the machine counted.
struct lds_line {
  std::string instruction;  // for instance ds_read_b128
  std::int64_t executions = 0;
  std::int64_t predicted_cycles = 0;     // conflicts included; NVIDIA: wavefronts
  std::int64_t predicted_conflicts = 0;
  std::int64_t counted_conflicts = -1;  // -1: this machine does not count
};

struct outcome {
  std::string device;           // for instance "CPU emulating gfx942" or "NVIDIA H100 80GB HBM3"
  std::string kernel;           // the policy that ran
  std::vector<double> seconds;  // one entry per repetition
  std::vector<lds_line> lds;
};

struct run_options {
  std::string target = "gfx942";  // emulated target, for the CPU backend
  int repeat = 1;
  std::function<void(double fraction)> progress;  // called now and then; may be empty
};

/// A machine. run() computes c in place; a, b and c point to 16-bit elements in host memory.
/// Both functions throw gemm_example::refusal with one sentence for what the machine cannot do, before anything is written.
class backend {
 public:
  virtual ~backend() = default;
  virtual outcome run(const problem& p, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c,
                      const run_options& options) = 0;
};

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The CPU backend; the GPU backend of the build, or nullptr where the program was built without one.
std::unique_ptr<backend> make_cpu_backend();
std::unique_ptr<backend> make_gpu_backend();
/// Names of the targets that the CPU backend emulates.
std::vector<std::string> emulated_targets();

}  // namespace gemm_example
