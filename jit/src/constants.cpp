// SPDX-License-Identifier: MIT
#include "constants.hpp"

#include <charconv>
#include <cstdio>
#include <initializer_list>

namespace tilewright::jit {
namespace {

/// These texts are made for each request, so they are made without intermediate ones.
void append(std::string& to, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) to.append(part);
}

}  // namespace

constants& constants::set(std::string_view name, std::string_view part, long long value) {
  if (values_.empty()) values_.reserve(1024);
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  append(values_, {"args.", name, part.empty() ? "" : ".", part, " = ", {digits, end}, ";\n"});
  return *this;
}
constants& constants::set_float(std::string_view name, float value) {
  char text[48];
  std::snprintf(text, sizeof text, "%af", double(value));
  append(values_, {"args.", name, " = ", text, ";\n"});
  return *this;
}
constants& constants::points(std::string_view name) {
  append(pointers_, {"args.", name, " = jit_somewhere(args.", name, ");\n"});
  return *this;
}

std::string constants::initializer(std::string_view type) const {
  std::string text;
  text.reserve(values_.size() + pointers_.size() + 128);
  append(text, {"[] {\n", type, " args{};\n", values_, pointers_, "return args;\n}()"});
  return text;
}

std::string constants::kernel(std::string_view name, std::string_view general) const {
  std::string text;
  text.reserve(values_.size() + 512);
  append(text, {"struct ", name, " : ", general, " {\nTILEWRIGHT_HD void operator()(const typename ", general,
                "::args_type& given) const {\nauto args = given;\n", values_, general, "::operator()(args);\n}\n};\n"});
  return text;
}

}  // namespace tilewright::jit
