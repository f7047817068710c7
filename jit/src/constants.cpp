// SPDX-License-Identifier: MIT
#include "constants.hpp"

#include <cstdio>

namespace tilewright::jit {

constants& constants::set(const std::string& name, long long value) {
  members_.push_back({name, std::to_string(value), false});
  return *this;
}
constants& constants::set_float(const std::string& name, float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%af", double(value));
  members_.push_back({name, text, false});
  return *this;
}
constants& constants::points(const std::string& name) {
  members_.push_back({name, "jit_somewhere", true});
  return *this;
}

std::string constants::initializer(const std::string& type) const {
  std::string text = "[] {\n    " + type + " args{};\n";
  for (const member& m : members_)
    text += "    args." + m.name + " = " + (m.is_pointer ? "jit_somewhere(args." + m.name + ")" : m.value) + ";\n";
  return text + "    return args;\n  }()";
}

std::string constants::kernel(const std::string& name, const std::string& general) const {
  std::string text = "struct " + name + " : " + general + " {\n  TILEWRIGHT_HD void operator()(const typename " +
                     general + "::args_type& given) const {\n    auto args = given;\n";
  for (const member& m : members_)
    if (!m.is_pointer) text += "    args." + m.name + " = " + m.value + ";\n";
  return text + "    " + general + "::operator()(args);\n  }\n};\n";
}

}  // namespace tilewright::jit
