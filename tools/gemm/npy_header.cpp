// SPDX-License-Identifier: MIT
// The header of a NumPy .npy file that holds a matrix, or a batch of them.
#include "npy_header.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "../program/text.hpp"

namespace gemm_program {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& file_name, const std::string& reason) {
  throw refusal(file_name + " cannot be used: " + reason);
}

std::string shown(std::string_view text) { return program::printable(text.substr(0, 32)); }

/// Reads the Python dictionary of a header: {'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }
class dictionary_parser {
 public:
  dictionary_parser(std::string_view text, const std::string& file_name) : text_(text), file_name_(file_name) {}

  void parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) fail("nothing after the dictionary");
    if (!descr) refuse(file_name_, "its header lacks 'descr'");
    if (!fortran_order) refuse(file_name_, "its header lacks 'fortran_order'");
    if (!shape) refuse(file_name_, "its header lacks 'shape'");
  }

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    refuse(file_name_, "byte " + std::to_string(position_) + " of its header dictionary should be " + wanted);
  }

  void skip_space() { position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size()); }

  bool accept(char wanted) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("'") + wanted + "'");
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string parse_string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("part of a string that ends");
    const std::string result(text_.substr(position_, end - position_));
    position_ = end + 1;
    return result;
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("True or False");
  }

  std::int64_t parse_size() {
    if (accept('-')) refuse(file_name_, "its shape has a negative size");
    skip_space();
    const std::size_t begin = position_;
    std::int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[position_] - '0', &value))
        refuse(file_name_, "its shape has a size beyond 64 bits");
    if (position_ == begin) fail("a size");
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // as Python 2 wrote it
    return value;
  }

  std::vector<std::int64_t> parse_shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(parse_size());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  template <class T>
  void set(std::optional<T>& entry, T value, const std::string& key) {
    if (entry) refuse(file_name_, "its header gives '" + key + "' twice");
    entry = std::move(value);
  }

  void parse_entry() {
    const std::string key = parse_string();
    expect(':');
    if (key == "descr") {
      skip_space();
      if (text_.substr(position_, 1) == "[") refuse(file_name_, "its elements are records, not numbers");
      set(descr, parse_string(), key);
    } else if (key == "fortran_order") {
      set(fortran_order, parse_bool(), key);
    } else if (key == "shape") {
      set(shape, parse_shape(), key);
    } else {
      refuse(file_name_, "its header has the unknown entry '" + shown(key) + "'");
    }
  }

  std::string_view text_;
  const std::string& file_name_;
  std::size_t position_ = 0;
};

npy_scalar scalar_of(const std::string& descr, const std::string& file_name) {
  if (descr == "<f2") return npy_scalar::f16;
  if (descr == "<f4") return npy_scalar::f32;
  for (const char* name : {"<V2", "|V2", "V2", "bfloat16", "<u2"})
    if (descr == name) return npy_scalar::bf16;
  for (const char* name : {"<V1", "|V1", "V1", "|u1", "<u1"})
    if (descr == name) return npy_scalar::byte;
  if (descr == "|i1" || descr == "<i1") return npy_scalar::i8;
  if (descr == "<i4") return npy_scalar::i32;
  refuse(file_name, "its elements are '" + shown(descr) +
                        "'; float16 '<f2', bfloat16 '<V2' or '<u2', float32 '<f4', float8 '|V1' or '|u1', int8 '|i1' "
                        "and int32 '<i4' can be "
                        "read");
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

npy_header parse_npy_header(std::string_view start, std::int64_t file_bytes, const std::string& file_name) {
  if (start.substr(0, magic.size()) != magic) refuse(file_name, "it is not a .npy file (its first bytes say so)");
  if (start.size() < 12) refuse(file_name, "it ends inside its header");
  const unsigned major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(file_name, "its format is " + std::to_string(major) + "." + std::to_string(minor) + ", not 1.0, 2.0 or 3.0");

  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t text_begin = 8 + length_bytes;
  const std::size_t text_bytes = little_endian(start.substr(8, length_bytes));
  if (text_bytes > npy_header_limit)
    refuse(file_name, "its header claims to be " + std::to_string(text_bytes) + " bytes long");
  if (text_begin + text_bytes > start.size()) refuse(file_name, "it ends inside its header");

  dictionary_parser dictionary(start.substr(text_begin, text_bytes), file_name);
  dictionary.parse();

  npy_header header;
  header.scalar = scalar_of(*dictionary.descr, file_name);
  header.storage = *dictionary.fortran_order ? order::col_major : order::row_major;
  header.data_offset = static_cast<std::int64_t>(text_begin + text_bytes);
  const std::vector<std::int64_t>& shape = *dictionary.shape;
  if (shape.size() != 2 && shape.size() != 3)
    refuse(file_name, "it has " + std::to_string(shape.size()) + " dimensions; a matrix has 2, a batch of matrices 3");
  header.rows = shape[shape.size() - 2];
  header.cols = shape[shape.size() - 1];
  header.batch = shape.size() == 3 ? shape[0] : 1;
  if (shape.size() == 3 && header.storage == order::col_major)
    refuse(file_name,
           "it is a batch in Fortran's order, whose matrices do not follow each other; store it in C's order");

  std::string shape_text = std::to_string(header.rows) + " x " + std::to_string(header.cols);
  if (shape.size() == 3) shape_text = std::to_string(header.batch) + " x " + shape_text;
  if (header.rows < 1 || header.cols < 1 || header.batch < 1)
    refuse(file_name, "it is " + shape_text + "; a matrix needs at least 1 x 1");
  std::int64_t data_bytes = 0;
  if (__builtin_mul_overflow(header.rows, header.cols, &data_bytes) ||
      __builtin_mul_overflow(data_bytes, header.batch, &data_bytes) ||
      __builtin_mul_overflow(data_bytes, header.scalar_bytes(), &data_bytes))
    refuse(file_name, "it claims to be " + shape_text + ", more than 64 bits can count");
  const std::int64_t available = file_bytes - header.data_offset;
  if (available < data_bytes)
    refuse(file_name, "it is truncated: " + shape_text + " elements take " + std::to_string(data_bytes) +
                          " bytes, and it has " + std::to_string(available));
  if (available > data_bytes)
    refuse(file_name, std::to_string(available - data_bytes) + " bytes follow its " + shape_text + " elements");
  return header;
}

std::string make_npy_header(element type, order storage, std::int64_t rows, std::int64_t cols, std::int64_t batch) {
  const auto descr = [type]() -> const char* {
    switch (type) {
      case element::f16: return "<f2";
      case element::bf16: return "<V2";
      case element::f32: return "<f4";
      case element::i8: return "|i1";
      case element::i32: return "<i4";
      default: return "|V1";
    }
  };
  std::string text = std::string("{'descr': '") + descr() +
                     "', 'fortran_order': " + (storage == order::col_major ? "True" : "False") + ", 'shape': (" +
                     (batch > 1 ? std::to_string(batch) + ", " : "") + std::to_string(rows) + ", " +
                     std::to_string(cols) + "), }";
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  const char prefix[] = {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return std::string(magic) + std::string(prefix, sizeof prefix) + text;
}

}  // namespace gemm_program
