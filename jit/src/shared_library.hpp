// SPDX-License-Identifier: MIT
// A library that is looked for at run time.
#pragma once

#include <initializer_list>
#include <string>

namespace tilewright::jit {

class shared_library {
 public:
  /// The first of these names that can be loaded. It stays loaded. Throws error with the loader's message.
  explicit shared_library(std::initializer_list<const char*> names);

  /// A function; throws error if the library does not have it.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
  }
  bool has(const char* name) const;

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace tilewright::jit
