// SPDX-License-Identifier: MIT
// Distribution encodings in one word.
#include "encoding_text.hpp"

#include "words.hpp"

#include <tilewright/viz/text_table.hpp>

#include <algorithm>
#include <cstdint>

namespace tilewright_layout {

using tilewright::viz::concat, tilewright::distribution_encoding, tilewright::detail::encoding_fault, tilewright::rh_id;

namespace {

/// Reads a letter followed by lists in parentheses.
class reader {
 public:
  explicit reader(const std::string& text) : text_(text) {}

  bool takes(char letter) {
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  bool is_at_list() const { return at_ < text_.size() && text_[at_] == '('; }
  bool is_at_end() const { return at_ == text_.size(); }

  std::vector<std::string> list() {
    const std::size_t end = text_.find(')', at_);
    if (!is_at_list() || end == std::string::npos) fail();
    const std::string inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inner.empty() ? std::vector<std::string>{} : split(inner, ',');
  }

  [[noreturn]] void fail() const {
    throw refusal(
        "encoding:" + text_ +
        (at_ < text_.size() ? " cannot be read from '" + text_.substr(at_) + "' on" : " ends too early") +
        "; an encoding looks like H(2,4,16)(4,8)P(1.1)(1.2,2.0)Y(1.0,2.1), with R(2) before it if it replicates");
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

template <class List>
void fill(List& list, const std::vector<std::string>& words, const std::string& what) {
  if (index_t(words.size()) > List::capacity()) {
    throw refusal(what + " has more entries than an encoding holds (" + std::to_string(List::capacity()) + ")");
  }
  for (const std::string& word : words) {
    if constexpr (__is_same(typename List::value_type, rh_id)) {
      const std::vector<std::string> parts = split(word, '.');
      if (parts.size() != 2) throw refusal(what + ": an id is major.minor, as 1.0, not '" + word + "'");
      list.push_back({static_cast<signed char>(number_of(parts[0], what + ": a major", 0, 100)),
                      static_cast<signed char>(number_of(parts[1], what + ": a minor", 0, 100))});
    } else {
      list.push_back(number_of(word, what + ": a factor", 1, 1 << 15));
    }
  }
}

/// Every length is a product of some of the factors; tiles are at most 4096 x 4096, and few of them replicate.
void require_representable_lengths(const distribution_encoding& e) {
  constexpr std::int64_t most = 1 << 28;
  std::int64_t all = 1;
  const auto count = [&](const auto& factors) {
    for (const index_t f : factors) all = std::min(all * f, most + 1);
  };
  count(e.r);
  for (const auto& h : e.h) count(h);
  if (all > most)
    throw refusal("encoding: all factors together make more than " + std::to_string(most) +
                  " elements; take a smaller tile");
}

std::string name_of(rh_id id) { return std::to_string(id.major) + "." + std::to_string(id.minor); }

}  // namespace

distribution_encoding encoding_of_text(const std::string& text) {
  distribution_encoding e;
  reader in(text);
  if (in.takes('R')) fill(e.r, in.list(), "encoding: R");
  if (!in.takes('H')) in.fail();
  while (in.is_at_list()) {
    if (e.h.size() == distribution_encoding::max_x)
      throw refusal("encoding: H has more dimensions than an encoding holds (4)");
    e.h.push_back({});
    fill(e.h.back(), in.list(), "encoding: H");
  }
  if (!in.takes('P')) in.fail();
  while (in.is_at_list()) {
    if (e.p.size() == distribution_encoding::max_p) throw refusal("encoding: P has more lists than wave and lane");
    e.p.push_back({});
    fill(e.p.back(), in.list(), "encoding: P");
  }
  if (!in.takes('Y')) in.fail();
  fill(e.y, in.list(), "encoding: Y");
  if (!in.is_at_end() || e.p.empty() || e.y.empty() || e.h.empty()) in.fail();
  require_representable_lengths(e);
  const tilewright::detail::encoding_check check = tilewright::check_encoding(e);
  const std::string id = "encoding: id " + name_of(check.id);
  switch (check.fault) {
    case encoding_fault::none: break;
    case encoding_fault::unknown_factor: throw refusal(id + " names a factor that does not exist");
    case encoding_fault::owned_twice: throw refusal(id + " has two owners; list it once, in a P or in Y");
    case encoding_fault::owned_by_none: throw refusal(id + " has no owner; list it in a P or in Y");
    case encoding_fault::replicated_per_thread: throw refusal(id + " replicates, but stands in Y; list it in a P");
    case encoding_fault::bad_length: throw refusal(id + " has a length below 1");
  }
  return e;
}

std::string text_of(const distribution_encoding& e) {
  const auto factors = [](const auto& list) {
    std::vector<std::string> words;
    for (const index_t f : list) words.push_back(std::to_string(f));
    return concat('(', joined(words, ","), ')');
  };
  const auto ids = [](const auto& list) {
    std::vector<std::string> words;
    for (const rh_id id : list) words.push_back(name_of(id));
    return concat('(', joined(words, ","), ')');
  };
  std::string text = e.r.empty() ? "" : concat('R', factors(e.r));
  text += "H";
  for (const auto& h : e.h) text += factors(h);
  text += "P";
  for (const auto& p : e.p) text += ids(p);
  return concat(text, 'Y', ids(e.y));
}

}  // namespace tilewright_layout
