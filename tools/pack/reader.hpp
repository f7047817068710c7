// SPDX-License-Identifier: MIT
// reader: takes the members of a JSON object one after another, and names what is wrong with them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tilewright/jit/element.hpp>
#include <tilewright/jit/error.hpp>

namespace pack {

using nlohmann::json;

/// An object whose members are taken one after the other; those that are left at the end are unknown.
class reader {
 public:
  reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is no object");
  }
  /// Throws error if a member was never asked for.
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (!asked_.contains(name)) fail("has the unknown member '" + name + "'");
  }
  template <class T>
  T get(const char* name, T otherwise) {
    asked_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return otherwise;
    if constexpr (std::is_same_v<T, std::string>) {
      if (!found->is_string()) fail(std::string("needs a text as '") + name + "'");
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!found->is_boolean()) fail(std::string("needs true or false as '") + name + "'");
    } else if constexpr (std::is_integral_v<T>) {
      if (!found->is_number_integer() || found->template get<double>() > double(std::numeric_limits<T>::max()) ||
          found->template get<double>() < double(std::numeric_limits<T>::min()))
        fail(std::string("needs a whole number as '") + name + "'");
    } else if (!found->is_number()) {
      fail(std::string("needs a number as '") + name + "'");
    }
    return found->template get<T>();
  }
  template <class T>
  T require(const char* name) {
    if (!object_.contains(name)) fail(std::string("lacks '") + name + "'");
    return get<T>(name, T{});
  }
  const json* list(const char* name) {
    asked_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    if (!found->is_array()) fail(std::string("needs a list as '") + name + "'");
    return &*found;
  }
  /// Numbers, at most `most`; the default if the member is missing.
  template <class T>
  std::vector<T> get_list(const char* name, std::size_t most, std::vector<T> otherwise) {
    const json* const found = list(name);
    if (!found) return otherwise;
    std::vector<T> result;
    for (const json& x : *found) {
      if (!x.is_number_integer()) fail(std::string("needs whole numbers in '") + name + "'");
      result.push_back(x.get<T>());
    }
    if (result.empty() || result.size() > most)
      fail("needs 1 to " + std::to_string(most) + " numbers in '" + name + "'");
    return result;
  }
  std::vector<std::string> get_texts(const char* name, std::vector<std::string> otherwise) {
    const json* const found = list(name);
    if (!found) return otherwise;
    std::vector<std::string> result;
    for (const json& x : *found) {
      if (!x.is_string()) fail(std::string("needs texts in '") + name + "'");
      result.push_back(x.get<std::string>());
    }
    return result;
  }
  /// The number of a text among some.
  int choose(const char* name, std::initializer_list<const char*> texts, const std::string& otherwise) {
    const std::string text = get<std::string>(name, otherwise);
    std::string all;
    int number = 0;
    for (const char* known : texts) {
      if (text == known) return number;
      all += (number == 0 ? "" : number + 1 == int(texts.size()) ? " and " : ", ") + std::string(known);
      ++number;
    }
    fail("has '" + text + "' as '" + name + "'; there are " + all);
  }
  tilewright::jit::element element(const char* name, const std::string& otherwise) {
    return tilewright::jit::element(choose(name, {"f16", "bf16", "f32", "fp8", "bf8", "i8", "i32"}, otherwise));
  }
  /// Which entry this is, for messages.
  const std::string& where() const { return where_; }
  [[noreturn]] void fail(const std::string& what) const { throw tilewright::jit::error(where_ + " " + what); }

 private:
  const json& object_;
  std::string where_;
  std::set<std::string> asked_;
};

}  // namespace pack
