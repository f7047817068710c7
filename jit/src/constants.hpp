// SPDX-License-Identifier: MIT
// Members of a kernel's arguments that become constants: as C++ text, and as a check that a launch has the same.
#pragma once

#include <string>
#include <vector>

namespace tilewright::jit {

class constants {
 public:
  /// `name` may be a path such as window.left. In the order of the members, as designated initializers need.
  constants& set(const std::string& name, long long value);
  constants& set_float(const std::string& name, float value);
  /// A pointer that is not null: it must not be one in the evaluated problem either.
  constants& points(const std::string& name);

  /// type{.m = 1, .strides = {.row = 2}}
  std::string initializer(const std::string& type) const;
  /// A struct that derives from `general`, a ready kernel, and runs it with these members.
  std::string kernel(const std::string& name, const std::string& general) const;

 private:
  struct member {
    std::string name, value;
    bool is_pointer;
  };
  std::vector<member> members_;
};

}  // namespace tilewright::jit
