// SPDX-License-Identifier: MIT
#include "entry_lines.hpp"

#include <cstddef>
#include <iterator>

#include <nlohmann/json.hpp>

#include <tilewright/jit/error.hpp>

namespace pack {
namespace {

using nlohmann::json;

/// Counts the lines that the parser has read.
struct counting_iterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  int* lines;

  reference operator*() const { return *at; }
  counting_iterator& operator++() {
    *lines += *at++ == '\n';
    return *this;
  }
  counting_iterator operator++(int) {
    const counting_iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const counting_iterator& other) const { return at == other.at; }
  bool operator!=(const counting_iterator& other) const { return at != other.at; }
};

/// Notes the line of each object in a list of the document.
class line_finder final : public json::json_sax_t {
 public:
  line_finder(const int& lines, std::map<std::string, std::vector<int>>& found) : lines_(lines), found_(found) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    if (depth_ == 1) list_ = name;
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_++ == 2) found_[list_].push_back(lines_);
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) override {
    std::string what = e.what();
    const std::string before = "parse error at ";
    if (const std::size_t begin = what.find(before); begin != std::string::npos) what.erase(0, begin + before.size());
    if (const std::size_t end = what.find("; last read"); end != std::string::npos) what.erase(end);  // any bytes
    throw tilewright::jit::error("the list of shapes is no JSON: " + what);
  }

 private:
  const int& lines_;
  std::map<std::string, std::vector<int>>& found_;
  std::string list_;
  int depth_ = 0;
};

}  // namespace

std::map<std::string, std::vector<int>> entry_lines(std::string_view text) {
  int lines = 1;
  std::map<std::string, std::vector<int>> found;
  line_finder finder(lines, found);
  json::sax_parse(counting_iterator{text.data(), &lines}, counting_iterator{text.data() + text.size(), &lines},
                  &finder);
  return found;
}

}  // namespace pack
