// SPDX-License-Identifier: MIT
#include "shared_library.hpp"

#include <dlfcn.h>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {

shared_library::shared_library(std::initializer_list<const char*> names) {
  std::string tried;
  for (const char* name : names) {
    if (name == nullptr || *name == 0) continue;
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    name_ = name;
    if (handle_ != nullptr) return;
    tried += (tried.empty() ? "" : ", ") + name_;
  }
  throw error("none of these libraries can be loaded: " + tried);
}

bool shared_library::has(const char* name) const { return ::dlsym(handle_, name) != nullptr; }

void* shared_library::symbol(const char* name) const {
  void* const found = ::dlsym(handle_, name);
  if (found == nullptr) throw error(name_ + " has no function " + name + "; it is too old");
  return found;
}

}  // namespace tilewright::jit
