// SPDX-License-Identifier: MIT
// A record: a named piece of data with its key and checksum. A cache entry is one record, an archive a row of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sha256.hpp"

namespace tilewright::jit {

/// Name and data refer to the text that the record was read from.
struct record {
  digest key{};
  std::string_view name, data;
  std::uint64_t checksum = 0;  // of key, name and data

  bool is_intact() const;
};

std::string to_bytes(const digest& key, std::string_view name, std::string_view data);

/// Takes a record off the front of a text; nothing if there is no whole record. Does not compute its checksum.
std::optional<record> take_record(std::string_view& text);

}  // namespace tilewright::jit
