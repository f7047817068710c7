// SPDX-License-Identifier: MIT
// call_key: all of a call that its kernel may depend on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace tilewright::ops {

/// A list of numbers. Calls with equal keys run the same kernel, with arguments that differ in pointers and factors.
class call_key {
 public:
  explicit call_key(std::string_view operation) { add(operation); }

  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  call_key& add(T value) {
    if (size_ < words_.size()) words_[size_] = static_cast<std::uint64_t>(value);
    ++size_;  // a key that is too long equals no other
    return *this;
  }
  call_key& add(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return add(bits);
  }
  /// What matters of a pointer: whether it is null, and which alignment up to 16 bytes it has.
  call_key& add(const void* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return add(pointer == nullptr ? 0 : 16 + address % 16);
  }
  call_key& add(std::string_view text) {
    add(text.size());
    for (; text.size() > 8; text.remove_prefix(8)) add(word_of(text.substr(0, 8)));
    return add(word_of(text));
  }

  std::size_t hash() const {
    std::uint64_t h = size_;
    for (std::size_t i = 0; i < used(); ++i) {
      h = (h ^ words_[i]) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
    return std::size_t(h);
  }
  friend bool operator==(const call_key& x, const call_key& y) {
    return x.size_ == y.size_ && x.size_ <= x.words_.size() &&
           std::memcmp(x.words_.data(), y.words_.data(), x.used() * sizeof(std::uint64_t)) == 0;
  }

 private:
  static std::uint64_t word_of(std::string_view text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), text.size());
    return word;
  }
  std::size_t used() const { return size_ < words_.size() ? size_ : words_.size(); }

  std::size_t size_ = 0;
  std::array<std::uint64_t, 64> words_;  // only the first size_ are set
};

struct call_key_hash {
  std::size_t operator()(const call_key& k) const { return k.hash(); }
};

}  // namespace tilewright::ops
