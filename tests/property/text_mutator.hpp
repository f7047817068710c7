// SPDX-License-Identifier: MIT
// Damages texts and files: the same ones in every run, or, at night, more of others.
#pragma once

#include "setting.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::property {

/// Each call does one to four small damages. Pieces are words that mean something to the reader of the text.
class text_mutator {
 public:
  text_mutator(unsigned seed, std::vector<std::string> pieces)
      : engine_(unsigned(setting("TILEWRIGHT_PROPERTY_SEED", 1)) * 100 + seed), pieces_(std::move(pieces)) {}

  std::string operator()(std::string bytes) {
    for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) damage(bytes);
    return bytes;
  }

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_); }
  const std::string& one_of(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }

 private:
  void damage(std::string& bytes) {
    if (bytes.empty()) bytes.push_back('?');
    const std::size_t place = below(bytes.size());
    const std::string& piece = one_of(pieces_);
    switch (below(7)) {
      case 0: bytes[place] = static_cast<char>(below(256)); break;
      case 1: bytes.resize(place); break;
      case 2: bytes.insert(place, piece); break;
      case 3: bytes.replace(place, std::min(piece.size(), bytes.size() - place), piece); break;
      case 4: bytes.erase(place, 1 + below(8)); break;
      case 5: bytes += std::string(1 + below(64), 'x'); break;
      default: bytes.insert(place, bytes.substr(below(bytes.size()), 1 + below(12))); break;
    }
  }

  std::mt19937 engine_;
  std::vector<std::string> pieces_;
};

}  // namespace tilewright::property
