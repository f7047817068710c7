// SPDX-License-Identifier: MIT
// Arrays usable in constant expressions, in device code and as template arguments.
#pragma once

#include <tilewright/core/base/index.hpp>

// Loops over {a, b, c} need std::initializer_list, which is a pointer and a length to compilers. NVRTC has it built in.
#if __has_include(<initializer_list>)
#include <initializer_list>
#elif !defined(__CUDACC_RTC__)
namespace std {
template <class T>
class initializer_list {
  const T* first_ = nullptr;
  decltype(sizeof(0)) count_ = 0;

 public:
  /// Elements.
  constexpr auto size() const { return count_; }
  /// The first element.
  constexpr const T* begin() const { return first_; }
  /// Behind the last element.
  constexpr const T* end() const { return first_ + count_; }
};
}  // namespace std
#endif

namespace tilewright {

/// Exactly N values. An aggregate without private members, so that it may be (part of) a template argument.
template <class T, index_t N>
struct array {
  using value_type = T;
  T elements[N];  ///< in order

  /// N.
  TILEWRIGHT_HD static constexpr index_t size() { return N; }
  /// Element i; 0 <= i < N is not checked.
  TILEWRIGHT_HD constexpr T& operator[](index_t i) { return elements[i]; }
  TILEWRIGHT_HD constexpr const T& operator[](index_t i) const { return elements[i]; }
  /// The first element.
  TILEWRIGHT_HD constexpr T* data() { return elements; }
  TILEWRIGHT_HD constexpr const T* data() const { return elements; }
  /// The first element.
  TILEWRIGHT_HD constexpr T* begin() { return elements; }
  /// Behind the last element.
  TILEWRIGHT_HD constexpr T* end() { return elements + N; }
  /// The first element.
  TILEWRIGHT_HD constexpr const T* begin() const { return elements; }
  /// Behind the last element.
  TILEWRIGHT_HD constexpr const T* end() const { return elements + N; }
  friend constexpr bool operator==(const array&, const array&) = default;
};

template <class T>
struct array<T, 0> {
  using value_type = T;

  /// 0.
  TILEWRIGHT_HD static constexpr index_t size() { return 0; }
  /// Must not be called: there is no element.
  TILEWRIGHT_HD constexpr T& operator[](index_t) const { return *data(); }
  /// Null.
  TILEWRIGHT_HD constexpr T* data() const { return nullptr; }
  /// Null.
  TILEWRIGHT_HD constexpr T* begin() const { return nullptr; }
  /// Null.
  TILEWRIGHT_HD constexpr T* end() const { return nullptr; }
  friend constexpr bool operator==(const array&, const array&) = default;
};

/// A position in an N-dimensional tensor.
template <index_t N>
using multi_index = array<index_t, N>;

/// Up to Capacity values. Unused places hold T{}, so that equal contents are equal template arguments.
/// Pushing past the capacity is a compile-time error in a constant expression.
template <class T, index_t Capacity>
struct inplace_vector {
  using value_type = T;
  T elements[Capacity] = {};  ///< the first `count` ones are in the vector
  index_t count = 0;          ///< from 0 to Capacity

  /// Elements.
  TILEWRIGHT_HD constexpr index_t size() const { return count; }
  /// Whether there are none.
  TILEWRIGHT_HD constexpr bool empty() const { return count == 0; }
  /// The most elements that it can hold.
  TILEWRIGHT_HD static constexpr index_t capacity() { return Capacity; }
  /// Element i; 0 <= i < size() is not checked.
  TILEWRIGHT_HD constexpr T& operator[](index_t i) { return elements[i]; }
  TILEWRIGHT_HD constexpr const T& operator[](index_t i) const { return elements[i]; }
  /// The last element; there must be one.
  TILEWRIGHT_HD constexpr T& back() { return elements[count - 1]; }
  TILEWRIGHT_HD constexpr const T& back() const { return elements[count - 1]; }
  /// The first element.
  TILEWRIGHT_HD constexpr T* begin() { return elements; }
  /// Behind the last element.
  TILEWRIGHT_HD constexpr T* end() { return elements + count; }
  /// The first element.
  TILEWRIGHT_HD constexpr const T* begin() const { return elements; }
  /// Behind the last element.
  TILEWRIGHT_HD constexpr const T* end() const { return elements + count; }
  /// Through a pointer: g++ 15 and 16 take elements[0] for an element out of bounds.
  TILEWRIGHT_HD constexpr void push_back(const T& value) { *(elements + count++) = value; }
  friend constexpr bool operator==(const inplace_vector&, const inplace_vector&) = default;
};

namespace detail {

template <class List>
TILEWRIGHT_HD constexpr bool contains(const List& list, const typename List::value_type& value) {
  for (const auto& i : list) {
    if (i == value) return true;
  }
  return false;
}

}  // namespace detail

}  // namespace tilewright
