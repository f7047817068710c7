// SPDX-License-Identifier: MIT
// nvJitLink, loaded at run time: assembles PTX.
#pragma once

#include <cstddef>
#include <string>

#include "shared_library.hpp"

namespace tilewright::jit {

class nvjitlink {
 public:
  /// Throws error if the library is not there or is older than version major.minor of PTX's compiler.
  nvjitlink(int major, int minor);

  /// The cubin of a kernel for `target`. Throws error with the message of the library.
  std::string assemble(const std::string& ptx, const std::string& name, const std::string& target) const;

 private:
  std::string log_of(void* link) const;

  shared_library library_;
  int (*create_)(void**, unsigned, const char**) = nullptr;
  int (*add_)(void*, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete_)(void*) = nullptr;
  int (*size_)(void*, std::size_t*) = nullptr;
  int (*cubin_)(void*, void*) = nullptr;
  int (*log_size_)(void*, std::size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*destroy_)(void**) = nullptr;
};

/// PTX without the variables that nothing in it reads. NVRTC makes a variable of each constant in the headers.
std::string without_unused_variables(std::string ptx);

}  // namespace tilewright::jit
