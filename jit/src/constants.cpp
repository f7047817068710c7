// SPDX-License-Identifier: MIT
#include "constants.hpp"

#include <cstdio>
#include <utility>

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
  std::string text;
  text.reserve(2048);
  text.append("[] {\n    ").append(type).append(" args{};\n");
  for (const member& m : members_) {
    text.append("    args.").append(m.name).append(" = ");
    if (m.is_pointer)
      text.append("jit_somewhere(args.").append(m.name).append(");\n");
    else
      text.append(m.value).append(";\n");
  }
  return text.append("    return args;\n  }()");
}

std::string constants::kernel(const std::string& name, const std::string& general) const {
  std::string text;
  text.reserve(2048);
  text.append("struct ").append(name).append(" : ").append(general).append(
      " {\n  TILEWRIGHT_HD void operator()(const typename ");
  text.append(general).append("::args_type& given) const {\n    auto args = given;\n");
  for (const member& m : members_)
    if (!m.is_pointer) text.append("    args.").append(m.name).append(" = ").append(m.value).append(";\n");
  return text.append("    ").append(general).append("::operator()(args);\n  }\n};\n");
}

}  // namespace tilewright::jit
