// SPDX-License-Identifier: MIT
// Members of a kernel's arguments that become constants, as C++ text.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::jit {

class constants {
 public:
  /// The member `name`, or the member `part` of it, has this value in every launch.
  constants& set(std::string_view name, long long value) { return set(name, {}, value); }
  constants& set(std::string_view name, std::string_view part, long long value);
  constants& set_float(std::string_view name, float value);
  /// A pointer that is not null: it must not be one in the evaluated problem either.
  constants& points(std::string_view name);

  /// An expression: `type` with these members.
  std::string initializer(std::string_view type) const;
  /// A struct that derives from `general`, a ready kernel, and runs it with these members.
  std::string kernel(std::string_view name, std::string_view general) const;

 private:
  std::string values_, pointers_;  // assignments to members of `args`
};

}  // namespace tilewright::jit
