// SPDX-License-Identifier: MIT
// What a jit::kernel refers to.
#pragma once

#include <memory>
#include <string>

#include <tilewright/jit/kernel.hpp>
#include <tilewright/jit/kernel_source.hpp>

#include "gpu.hpp"

namespace tilewright::jit {

struct kernel::state {
  /// Loads the code; throws error with the message of check() if the kernel was compiled for a problem that it
  /// refuses.
  state(std::shared_ptr<gpu> on, const kernel_source& source, const std::string& code_object);
  ~state() { device->unload(module); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Of a launch, without its grid.
  launch_shape shape() const;
  /// The same of followed_by, and of what follows that.
  launch_shape shape_of_follower(int i) const;

  std::shared_ptr<gpu> device;
  std::string name;
  kernel_facts facts;
  host_half host;
  launch_facts known, known_of_followers[2];  // for prepare(): asked once, which takes longer than a launch
  void *module = nullptr, *function = nullptr, *followers[2] = {};
};

}  // namespace tilewright::jit
