// SPDX-License-Identifier: MIT
// jit::kernel: a compiled kernel on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/launch/kernel_facts.hpp>

namespace tilewright::jit {

/// A launch whose arguments were checked and prepared once.
class bound_kernel {
 public:
  /// Queues the kernel, and those that follow it, on a stream (cudaStream_t, CUstream, hipStream_t). Throws error
  /// with the driver's message.
  void operator()(void* stream = nullptr) const;

 private:
  friend class kernel;
  struct state;
  std::shared_ptr<const state> state_;
};

/// Copies share the loaded code, which lives as long as one of them or the compiler.
class kernel {
 public:
  const std::string& name() const;
  const kernel_facts& facts() const;
  /// Blocks, or clusters of them, that the GPU runs at the same time.
  index_t resident_clusters() const;

  /// Queues the kernel. Args: its args_type. Throws error, before anything is queued, if the size of the arguments or
  /// the grid is wrong, or with the message of the kernel's check().
  template <class Args>
  void operator()(const Args& args, void* stream = nullptr, const block_grid& grid = {}) const {
    static_assert(std::is_trivially_copyable_v<Args>, "jit: arguments are copied to the GPU byte by byte");
    launch_bytes(&args, sizeof(Args), stream, grid);
  }
  /// The same for arguments of a type that is known at run time only.
  void launch_bytes(const void* args, std::size_t bytes, void* stream = nullptr, const block_grid& grid = {}) const;
  /// Throws what a launch with these arguments would throw because of the kernel's check().
  void check_bytes(const void* args) const;
  template <class Args>
  bound_kernel bind(const Args& args, const block_grid& grid = {}) const {
    static_assert(std::is_trivially_copyable_v<Args>, "jit: arguments are copied to the GPU byte by byte");
    return bind(&args, sizeof(Args), grid);
  }

 private:
  friend class compiler;
  friend class bound_kernel;
  struct state;
  bound_kernel bind(const void* args, std::size_t bytes, const block_grid& grid) const;
  std::shared_ptr<const state> state_;
};

}  // namespace tilewright::jit
