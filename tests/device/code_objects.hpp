// SPDX-License-Identifier: MIT
// The code objects that CMake compiled for an emulator test.
#pragma once

#include <tilewright/core/arch/arch.hpp>

#include <amdgcn_emulator.hpp>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

struct code_object {
  std::string arch;  // for instance gfx942
  std::string path;

  friend std::ostream& operator<<(std::ostream& out, const code_object& object) { return out << object.arch; }
};

/// One for each AMD target that the compiler knows.
inline std::vector<code_object> code_objects() {
  std::vector<code_object> objects;
  const std::string list = TILEWRIGHT_CODE_OBJECTS;  // arch=path,arch=path
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t equals = list.find('=', begin);
    const std::size_t end = std::min(list.find(',', equals), list.size());
    objects.push_back({list.substr(begin, equals - begin), list.substr(equals + 1, end - equals - 1)});
    begin = end + 1;
  }
  return objects;
}

/// Calls f.template operator()<Arch>() for each AMD target that code objects were compiled for.
template <class F>
void for_each_target(F f) {
  const auto call = [&]<class Arch>() {
    constexpr std::string_view list = TILEWRIGHT_CODE_OBJECTS, name = Arch::value.name;
    constexpr std::size_t found = list.find(name);
    if constexpr (found != list.npos) f.template operator()<Arch>();
  };
  [&]<class... Known>(tilewright::arch::target_list<Known...>) {
    (call.template operator()<Known>(), ...);
  }(tilewright::arch::amd_targets{});
}

/// The code object, read once for all tests of a program; kernels may not touch any memory yet.
inline emu::module& load(const code_object& object) {
  static std::map<std::string, emu::module> modules;
  emu::module& code = modules.try_emplace(object.path, object.path).first->second;
  code.forbid_all();
  return code;
}
