// SPDX-License-Identifier: MIT
// The layout of a record: magic, sizes of name and data (8 bytes each, little-endian), key, checksum, name, data.
#include "record.hpp"

#include <cstddef>
#include <cstring>

namespace tilewright::jit {
namespace {

constexpr std::string_view magic = "TWKERN1\n";
constexpr std::size_t header_bytes = 8 + 8 + 8 + 32 + 32;

std::string size_bytes(std::size_t n) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += char(n >> (8 * i));
  return text;
}
std::size_t read_size(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < 8; ++i) n |= std::size_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return n;
}
std::string_view bytes_of(const digest& d) { return {reinterpret_cast<const char*>(d.data()), d.size()}; }

digest checksum_of(const digest& key, std::string_view name, std::string_view data) {
  std::string text(bytes_of(key));
  text.append(size_bytes(name.size())).append(name).append(data);
  return sha256(text);
}

}  // namespace

bool record::is_intact() const { return checksum == checksum_of(key, name, data); }

std::string to_bytes(const digest& key, std::string_view name, std::string_view data) {
  std::string text(magic);
  text.append(size_bytes(name.size())).append(size_bytes(data.size())).append(bytes_of(key));
  text.append(bytes_of(checksum_of(key, name, data))).append(name).append(data);
  return text;
}

std::optional<record> take_record(std::string_view& text) {
  if (text.size() < header_bytes || !text.starts_with(magic)) return std::nullopt;
  const std::size_t room = text.size() - header_bytes;
  const std::size_t name = read_size(text.substr(8)), data = read_size(text.substr(16));
  if (name > room || data > room - name) return std::nullopt;
  record r;
  std::memcpy(r.key.data(), text.data() + 24, 32);
  std::memcpy(r.checksum.data(), text.data() + 56, 32);
  r.name = text.substr(header_bytes, name);
  r.data = text.substr(header_bytes + name, data);
  text.remove_prefix(header_bytes + name + data);
  return r;
}

}  // namespace tilewright::jit
