// SPDX-License-Identifier: MIT
// kernel_source: a ready kernel as text.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright::jit {

/// A number of blocks.
struct block_grid {
  int x = 0, y = 1, z = 1;  // x = 0: the grid of the problem that the kernel was compiled for
};

/// The host half of a kernel: what a program must know beyond the code object.
struct host_half {
  /// Tells halves apart that belong to the same code.
  std::string name = {};
  /// A sentence about what the kernel cannot do, or nullptr. Empty: any arguments will do.
  std::function<const char*(const void* args)> check = {};
  /// The grid of a launch, for a kernel that was compiled for no problem in particular.
  std::function<block_grid(const void* args)> grid = {};
  struct prepared {
    std::vector<char> device_args;
    block_grid grid;
    std::vector<char> follower_args = {};  // of followed_by, if not what the launch was given
    block_grid follower_grid = {};         // x = 0: it is not launched
    bool starts_alone = false;             // as in a ready kernel
  };
  /// For kernels with device_args.
  std::function<prepared(const void* args, const launch_facts& facts)> prepare = {};
  /// Of followed_by: `grid`, or `prepare`, and `next`. Null: what `prepare` says of it, or the grid that was evaluated
  /// for the problem.
  std::shared_ptr<const host_half> next = {};
};

/// A ready kernel as text. What is known at run time only (lengths, strides, a policy) becomes part of `code` or
/// `kernel`.
struct kernel_source {
  std::string name;    // of the __global__ function, and in messages: letters, digits and underscores
  std::string code;    // C++ that defines the kernel; the library's headers come before it, tw is namespace tilewright
  std::string kernel;  // its type, for instance "scale<4096>"; tw::arch::current is the target
  /// Optional: a constant of the kernel's args_type, pointers null. check() and grid() are evaluated for it when the
  /// kernel is compiled, and launches need not say a grid; nor if host.grid does.
  std::string problem = {};
  /// The library's headers that the code needs, for instance "tile/copy/load_store.hpp"; fewer compile faster. Empty:
  /// all.
  std::vector<std::string> uses = {};
  host_half host = {};
};

/// A kernel whose text depends on the target: what jit::gemm() and jit::attention() return.
using kernel_request = std::function<kernel_source(const std::string& target)>;

}  // namespace tilewright::jit
