// SPDX-License-Identifier: MIT
// The compiled test kernels, and what the tests of the emulator share.
#pragma once

#include <amdgcn_emulator.hpp>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "numeric.hpp"

inline std::string path_of(const std::string& name, const std::string& target) {
  return TILEWRIGHT_KERNELS "/" + name + "-" + target + ".co";
}
inline bool exists(const std::string& name, const std::string& target) {
  return std::filesystem::exists(path_of(name, target));
}
inline bool is_cdna(const std::string& target) { return target.starts_with("gfx9"); }
inline unsigned wave_size(const std::string& target) { return is_cdna(target) ? 64 : 32; }

template <class T>
void allow(emu::module& code, std::vector<T>& memory) {
  code.allow(memory.data(), memory.size() * sizeof(T));
}

inline std::mt19937& random_numbers() {
  static std::mt19937 generator(12345);
  return generator;
}
inline std::vector<int> random_ints(std::size_t size) {
  std::vector<int> values(size);
  for (int& value : values) value = int(random_numbers()());
  return values;
}

/// The text of the fault that f ends with; empty if there is none.
template <class F>
std::string fault_of(F f) {
  try {
    f();
  } catch (const emu::fault& fault) {
    return fault.what();
  }
  return {};
}
inline std::string first_race(const emu::result& result) {
  return result.races.empty() ? std::string() : result.races[0].message;
}

/// Every kernel of the code object can be executed.
inline void expect_supported(const emu::module& code) {
  for (const emu::kernel_summary& kernel : code.kernels())
    EXPECT_TRUE(kernel.unsupported.empty()) << kernel.name << ": " << kernel.unsupported[0];
}

/// A code object by name and target: the parameter of tests that run on several.
struct emulated_object {
  std::string name, target;

  friend std::ostream& operator<<(std::ostream& out, const emulated_object& object) {
    return out << object.name << " for " << object.target;
  }
};
inline std::vector<emulated_object> objects_named(std::initializer_list<const char*> names,
                                                  std::initializer_list<const char*> targets = {
                                                      "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201",
                                                      "gfx1250"}) {
  std::vector<emulated_object> objects;
  for (const char* name : names)
    for (const char* target : targets)
      if (exists(name, target)) objects.push_back({name, target});
  return objects;
}
/// The loaded code object, which tests share: reading it takes longer than most of them.
inline emu::module& loaded(const emulated_object& object) {
  static std::map<std::string, emu::module> modules;
  const std::string path = path_of(object.name, object.target);
  return modules.try_emplace(path, path).first->second;
}

class emulated_test : public testing::TestWithParam<emulated_object> {
 protected:
  emulated_test() { code_.forbid_all(); }
  const std::string& target() const { return GetParam().target; }
  emu::module& code_ = loaded(GetParam());
};
