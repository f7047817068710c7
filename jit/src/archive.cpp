// SPDX-License-Identifier: MIT
// An archive is a first line and records. Texts have the digest of their name as key.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/error.hpp>

#include "files.hpp"
#include "record.hpp"

namespace tilewright::jit {
namespace {

constexpr std::string_view first_line = "tilewright archive 1\n";
constexpr std::string_view text_prefix = "text ";

digest key_of(std::string_view key) {
  digest d{};
  std::memcpy(d.data(), key.data(), std::min(key.size(), d.size()));
  return d;
}

}  // namespace

archive::archive(const std::filesystem::path& path) : name_(path.string()) {
  std::optional<std::string> text = read_trusted_file(path);
  if (!text) throw error("the archive " + name_ + " cannot be read");
  file_ = std::move(*text);
  bytes_ = file_;
  read_entries();
}

archive::archive(std::string_view bytes, std::string name) : name_(std::move(name)), bytes_(bytes) { read_entries(); }

void archive::read_entries() {
  std::string_view rest = bytes_;
  if (!rest.starts_with(first_line)) throw error(name_ + " is no archive of this version of the library");
  rest.remove_prefix(first_line.size());
  while (!rest.empty()) {
    const std::size_t begin = bytes_.size() - rest.size();
    const std::optional<record> r = take_record(rest);
    if (!r) throw error("the archive " + name_ + " is damaged at byte " + std::to_string(begin));
    const entry e{begin, bytes_.size() - rest.size() - begin};
    names_.emplace_back(r->name);
    if (r->name.starts_with(text_prefix))
      texts_[std::string(r->name.substr(text_prefix.size()))] = e;
    else
      entries_[std::string(raw_bytes(r->key))] = e;
  }
}

std::string_view archive::intact_data(const entry& e) const {
  std::string_view text = bytes_.substr(e.begin, e.bytes);
  const std::optional<record> r = take_record(text);
  if (!r || !r->is_intact()) throw error("the archive " + name_ + " is damaged at byte " + std::to_string(e.begin));
  return r->data;
}

std::string_view archive::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::string_view() : intact_data(found->second);
}

std::vector<std::string> archive::names() const { return names_; }

std::string_view archive::text(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::string_view() : intact_data(found->second);
}

void archive_writer::add(std::string_view key, const std::string& name, std::string_view code_object) {
  records_[std::string(key)] = to_bytes(key_of(key), name, code_object);
}

void archive_writer::add_text(const std::string& name, std::string_view text) {
  const std::string full = std::string(text_prefix) + name;
  add(raw_bytes(sha256(full)), full, text);
}

std::string archive_writer::bytes() const {
  std::string text(first_line);
  for (const auto& [key, record] : records_) text += record;
  return text;
}
void archive_writer::write(const std::filesystem::path& path) const {
  std::error_code code;
  const bool is_special = std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code);
  const std::string failed = is_special ? path.string() + " is not a regular file" : replace_file(path, bytes());
  if (!failed.empty()) throw error("the archive was not written: " + failed);
}

}  // namespace tilewright::jit
