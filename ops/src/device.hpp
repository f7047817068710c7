// SPDX-License-Identifier: MIT
// device: a GPU, or the CPU emulator, with the kernels and workspaces that calls have used there.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ops/compiled_kernel.hpp>
#include <tilewright/ops/explain.hpp>
#include <tilewright/ops/library_options.hpp>

#include "call.hpp"

namespace tilewright::ops {

/// The kernel of calls with one key.
struct plan {
  explanation what;
  using kernel_type = std::variant<jit::kernel, const compiled_kernel*>;
  kernel_type kernel;
  index_t splits = 1;
  long_index_t workspace_bytes = 0;
  bool counts_in_workspace = false;

  /// Throws operation_error if the kernel refuses the arguments.
  void check(const call& c) const;
  /// Checks, and queues it.
  void launch(const call& c) const;
};

/// Scratch memory of one stream, all 0 when it is new: kernels that count in its first bytes leave them so.
struct workspace {
  std::mutex mutex;                 // held until the kernel that uses it is queued
  std::vector<jit::buffer> on_gpu;  // the last is used; CUDA graphs that were captured before it may use others
  std::unique_ptr<std::byte[]> on_cpu;
  void* data = nullptr;
  long_index_t bytes = 0;
};

class device {
 public:
  /// The GPU of a number; the CPU emulator if a target is given.
  device(const library_options& options, int number, const std::string& emulated);

  std::shared_ptr<const plan> plan_for(const call& c);
  /// `step` of the plan with the memory that the call needs: plan::launch, or plan::check.
  void run(const call& c, const plan& p, void (plan::*step)(const call&) const);
  void release_workspace(void* stream);
  /// Memory of a stream: number 0, or 1 for kernels that count in its first bytes; from 2 on for calls of several
  /// kernels, one for each rank.
  held_workspace hold(const char* operation, void* stream, int number, long_index_t bytes);

 private:
  std::shared_ptr<const plan> make_plan(const call& c);
  /// With a kernel of register_kernel(); null if there is none.
  std::shared_ptr<const plan> plan_of_registered(const call& c, const candidate& e) const;
  std::shared_ptr<const plan> plan_of_loaded(const call& c, candidate e, const jit::kernel_source& source,
                                             const char* provider);
  std::shared_ptr<const plan> plan_of(const call& c, const candidate& e, const char* provider,
                                      plan::kernel_type kernel) const;
  std::shared_ptr<workspace> workspace_of(void* stream, int number);
  void grow(workspace& w, long_index_t bytes);

  std::optional<jit::compiler> compiler_;  // none: the CPU emulator
  device_facts facts_;
  std::shared_mutex plans_mutex_;
  std::unordered_map<call_key, std::shared_ptr<const plan>, call_key_hash> plans_;
  std::mutex workspaces_mutex_;
  std::map<std::pair<void*, int>, std::shared_ptr<workspace>> workspaces_;  // by stream and number
};

/// Refuses a workspace of the caller that is too small.
void require_given(const char* operation, long_index_t given_bytes, long_index_t bytes);

/// The device of a stream under the options that configure() was given. Throws operation_error if there is none.
std::shared_ptr<device> device_for(const char* operation, void* stream);

}  // namespace tilewright::ops
