// SPDX-License-Identifier: MIT
// A GPU, through the CUDA driver or HIP's runtime, which are loaded at run time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/repeated_launch.hpp>
#include <tilewright/launch/ready_kernel.hpp>

namespace tilewright::jit {

/// How a function is launched.
struct launch_shape {
  int grid[3] = {1, 1, 1};
  int block_size = 1, lds_bytes = 0, cluster = 1;
  bool overlaps_previous = false;
};

/// Functions throw error with the driver's message. A stream is a cudaStream_t, CUstream or hipStream_t.
class gpu {
 public:
  virtual ~gpu() = default;
  virtual const std::string& target() const = 0;  // "gfx942", "sm_90a"
  virtual const std::string& name() const = 0;
  virtual int SMs() const = 0;

  virtual void* load(const std::string& code_object) = 0;  // a module
  virtual void unload(void* module) = 0;
  virtual void* function(void* module, const std::string& name, int lds_bytes) = 0;
  virtual void launch(void* function, const launch_shape& shape, const void* args, std::size_t bytes, void* stream) = 0;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void clear(void* memory, std::size_t bytes) = 0;
  virtual void synchronize() = 0;
  /// Seconds that each of these takes, one after another without a pause.
  virtual std::vector<double> time(const std::vector<repeated_launch>&) {
    throw error("launches can be timed on NVIDIA GPUs only");
  }
  /// What prepare() of a kernel gets.
  virtual launch_facts facts(void* function, const launch_shape& shape) = 0;

  /// Makes the GPU current for this thread, if it is not; then leave() must follow. See gpu_in_use.
  virtual bool enter() const { return false; }
  virtual void leave() const {}
};

/// While one exists, this thread may call the driver. Functions of gpu do so by themselves; tensor maps are made by
/// prepare() of a kernel.
class gpu_in_use {
 public:
  explicit gpu_in_use(const gpu& g) : gpu_(g), has_entered_(g.enter()) {}
  ~gpu_in_use() {
    if (has_entered_) gpu_.leave();
  }
  gpu_in_use(const gpu_in_use&) = delete;
  gpu_in_use& operator=(const gpu_in_use&) = delete;

 private:
  const gpu& gpu_;
  bool has_entered_;
};

/// The GPU of a number; -1: the one whose context is current, else the first. Throws error if there is none.
std::shared_ptr<gpu> find_gpu(int device);

/// Throw error if the maker's runtime is not there or has no GPU.
std::shared_ptr<gpu> find_nvidia_gpu(int device);
std::shared_ptr<gpu> find_amd_gpu(int device);

/// As jit::device_of, of one maker's streams.
using device_finder = int (*)(void* stream);
device_finder find_nvidia_devices();
device_finder find_amd_devices();

}  // namespace tilewright::jit
