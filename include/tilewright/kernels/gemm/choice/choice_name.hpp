// SPDX-License-Identifier: MIT
// The names of choices: a tile, and how k is split, as in "128x128, split_k 4".
#pragma once

#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/types.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// How k is split, as in hopper_gemm_choice: 0: "", else "split_k 4"; 1: k is whole.
inline std::string name_of_split_k(index_t split_k) { return split_k == 0 ? "" : "split_k " + std::to_string(split_k); }

/// What the name of a choice says.
struct choice_name {
  std::string tile;       ///< "128x128", "ping_pong"
  index_t split_k = 0;    ///< as name_of_split_k takes them; 0: the name says nothing
  bool stream_k = false;  ///< split_k is the number of blocks of stream_k_gemm; then it is not 0

  /// "128x128, split_k 4" or "128x128, stream_k 304".
  std::string text() const {
    if (stream_k) return tile + ", stream_k " + std::to_string(split_k);
    return tile + (split_k == 0 ? "" : ", " + name_of_split_k(split_k));
  }
  /// Nothing, if the text after the tile is none that name_of_split_k makes, nor one of tuning files of earlier
  /// versions: "128x128, k whole" and "128x128, k in 4 parts" say split_k 1 and 4.
  static std::optional<choice_name> parse(std::string_view text) {
    const std::size_t comma = text.find(',');
    choice_name name{std::string(text.substr(0, comma))};
    if (comma == std::string_view::npos) return name;
    const std::string_view split = text.substr(comma);
    const std::size_t digit = split.find_first_of("0123456789"), first = digit < split.size() ? digit : split.size();
    std::from_chars(split.data() + first, split.data() + split.size(), name.split_k);
    if (split == ", k whole") name.split_k = 1;
    name.stream_k = split.starts_with(", stream_k");
    const std::string earlier = name.split_k == 1 ? ", k whole" : ", k in " + std::to_string(name.split_k) + " parts";
    return name.split_k > 0 && (split == earlier || name.text() == text) ? std::optional(name) : std::nullopt;
  }
};

}  // namespace tilewright
