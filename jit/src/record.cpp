// SPDX-License-Identifier: MIT
// The layout of a record: magic, sizes of name and data, checksum (8 bytes each, little-endian), key, name, data.
#include "record.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace tilewright::jit {
namespace {

constexpr std::string_view magic = "TWKERN1\n";
constexpr std::size_t header_bytes = 8 + 8 + 8 + 8 + 32;

std::string to_bytes(std::uint64_t n) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += char(n >> (8 * i));
  return text;
}
std::uint64_t read_number(std::string_view text) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 8; ++i) n |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return n;
}

/// Each step can be undone, so a change within eight bytes always changes the result. A record is as large as its code,
/// and SHA-256 would take most of the time of a load.
std::uint64_t add_to(std::uint64_t sum, std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(8, text.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
    sum = std::rotl((sum ^ word) * 0x9e3779b97f4a7c15u, 29);
  }
  return sum;
}
std::uint64_t checksum_of(const digest& key, std::string_view name, std::string_view data) {
  const std::uint64_t sizes = (name.size() << 40) ^ data.size();
  return add_to(add_to(add_to(sizes, raw_bytes(key)), name), data);
}

}  // namespace

bool record::is_intact() const { return checksum == checksum_of(key, name, data); }

std::string to_bytes(const digest& key, std::string_view name, std::string_view data) {
  std::string text(magic);
  text.append(to_bytes(name.size())).append(to_bytes(data.size())).append(to_bytes(checksum_of(key, name, data)));
  text.append(raw_bytes(key)).append(name).append(data);
  return text;
}

std::optional<record> take_record(std::string_view& text) {
  if (text.size() < header_bytes || !text.starts_with(magic)) return std::nullopt;
  const std::size_t room = text.size() - header_bytes;
  const std::size_t name = read_number(text.substr(8)), data = read_number(text.substr(16));
  if (name > room || data > room - name) return std::nullopt;
  record r;
  r.checksum = read_number(text.substr(24));
  std::memcpy(r.key.data(), text.data() + 32, 32);
  r.name = text.substr(header_bytes, name);
  r.data = text.substr(header_bytes + name, data);
  text.remove_prefix(header_bytes + name + data);
  return r;
}

}  // namespace tilewright::jit
