// SPDX-License-Identifier: MIT
// call: an operation after its tensors were validated, and the one way in which all of them run.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/ops/explain.hpp>
#include <tilewright/ops/operation_error.hpp>

#include "call_key.hpp"

namespace tilewright::ops {

/// A kernel that can compute a call.
struct candidate {
  std::string kernel = {};           ///< its name in the registry of compiled kernels
  std::string choice = {};           ///< as explanation::choice
  std::string reason = {};           ///< as explanation::reason
  jit::kernel_request source = {};   ///< for jit; empty: only compiled kernels can do this
  bool is_for_archives = false;      ///< taken where an archive holds it, and never compiled
  index_t splits = 1;                ///< what call::splits becomes
  long_index_t workspace_bytes = 0;  ///< 0: none
  bool counts_in_workspace = false;  ///< its first bytes are 0 before and after the kernel
};

/// What a chooser may ask.
struct device_facts {
  std::string target;           // "gfx942", "sm_90a"
  int SMs = 0;                  // 0: unknown
  jit::compiler* by = nullptr;  // null: the CPU emulator
  bool is_emulated() const { return by == nullptr; }
};

/// A call whose tensors are right. Everything that `choose` reads of `problem` is in the key.
struct call {
  const char* operation;
  call_key key;
  void* args;  // the kernel's, with all pointers but the workspace
  std::size_t args_bytes;
  void* stream = nullptr;
  void** workspace = nullptr;  // the member of the arguments that takes it; null: no kernel of this operation needs one
  index_t* splits = nullptr;   // the member that takes the number of splits; null: there is none
  void* given_workspace = nullptr;
  long_index_t given_bytes = 0;
  /// The kernels that can do it, the best first. Throws operation_error if there is none.
  std::vector<candidate> (*choose)(const void* problem, const device_facts& on) = nullptr;
  const void* problem = nullptr;
  const char* expression = nullptr;  // C++ of the caller in the kernel: if that does not compile, the call is wrong
};

/// Finds the kernel, and queues it; under explain() only finds it.
void run(const call& c);

/// While one exists, run() of this thread finds kernels and checks their arguments, but queues none.
struct rehearsal {
  rehearsal();
  ~rehearsal();
  rehearsal(const rehearsal&) = delete;
  rehearsal& operator=(const rehearsal&) = delete;
};
/// Whether one exists.
bool is_rehearsing();

/// Runs the kernels of an operation that has several: none is queued if one is refused.
template <class Steps>
void run_steps(Steps steps) {
  {
    const rehearsal checked;
    steps();
  }
  steps();
}

/// Scratch memory of a stream. No other thread gets it until this ends, by when its kernels are queued.
struct held_workspace {
  std::shared_ptr<void> owner = {};
  std::unique_lock<std::mutex> lock = {};
  void* data = nullptr;
};

/// Memory of `bytes` bytes: `given`, which has given_bytes, or the library's. Under explain(), an address that is not
/// memory.
held_workspace hold_workspace(const char* operation, void* stream, long_index_t bytes, void* given,
                              long_index_t given_bytes);

/// Until the next call of this, run() only explains what it would do, and adds that to the list; null: it runs.
/// Of this thread. Returns what was set before.
std::vector<explanation>* collect_explanations(std::vector<explanation>* list);
/// Whether there is such a list.
bool is_explaining();

/// A call that is wrong.
[[noreturn]] inline void refuse(const char* operation, const std::string& sentence) {
  throw operation_error(fault_kind::wrong_call, std::string(operation) + ": " + sentence);
}

}  // namespace tilewright::ops
