// SPDX-License-Identifier: MIT
// The names of choices: a tile, and how k is split, as in "128x128, k in 4 parts".
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/types.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// How k is split, as in hopper_gemm_choice: 0: "", 1: "k whole", more: "k in 4 parts".
inline std::string name_of_split_k(index_t split_k) {
  return split_k == 0 ? "" : split_k == 1 ? "k whole" : "k in " + std::to_string(split_k) + " parts";
}

/// What the name of a choice says.
struct choice_name {
  std::string tile;     ///< "128x128", "ping_pong"
  index_t split_k = 0;  ///< as name_of_split_k takes them; 0: the name says nothing

  /// "128x128, k in 4 parts".
  std::string text() const { return tile + (split_k == 0 ? "" : ", " + name_of_split_k(split_k)); }
  /// Nothing, if the text after the tile is none that name_of_split_k makes.
  static std::optional<choice_name> parse(std::string_view text) {
    const std::size_t comma = text.find(',');
    choice_name name{std::string(text.substr(0, comma))};
    if (comma == std::string_view::npos) return name;
    const std::string_view digits = text.substr(0, text.rfind(' '));
    const std::size_t first = digits.rfind(' ') + 1;  // npos + 1 is 0
    if (std::from_chars(digits.data() + first, digits.data() + digits.size(), name.split_k).ec != std::errc{})
      name.split_k = 1;
    return name.split_k > 0 && name.text() == text ? std::optional(name) : std::nullopt;
  }
};

}  // namespace tilewright
