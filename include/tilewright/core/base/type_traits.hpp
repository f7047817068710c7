// SPDX-License-Identifier: MIT
// The few type traits that the headers need; the standard's header takes longer to compile than most of these.
#pragma once

namespace tilewright::detail {

template <bool Condition, class Then, class Else>
struct conditional {
  using type = Then;
};
template <class Then, class Else>
struct conditional<false, Then, Else> {
  using type = Else;
};
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;

/// The type without const; the others likewise.
template <class T>
struct without_const {
  using type = T;
};
template <class T>
struct without_const<const T> {
  using type = T;
};
template <class T>
using remove_const_t = typename without_const<T>::type;

template <class T>
struct without_reference {
  using type = T;
};
template <class T>
struct without_reference<T&> {
  using type = T;
};
template <class T>
struct without_reference<T&&> {
  using type = T;
};
template <class T>
using remove_cvref_t = remove_const_t<typename without_reference<T>::type>;

/// T itself, but no argument is deduced from it.
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;
template <class T>
inline constexpr bool is_lvalue_reference_v = false;
template <class T>
inline constexpr bool is_lvalue_reference_v<T&> = true;

/// The unsigned integer of 1, 2 or 4 bytes.
template <int Bytes>
using unsigned_of = conditional_t<Bytes == 1, unsigned char, conditional_t<Bytes == 2, unsigned short, unsigned>>;

/// An expression of type T, for decltype; never called.
template <class T>
T&& declval();

/// T converts to To without being asked.
template <class T, class To>
concept ConvertibleTo = requires(void f(To), T value) { f(static_cast<T&&>(value)); };

/// Types that have a remainder.
template <class T>
concept Integral = requires(T a) { a % a; };

}  // namespace tilewright::detail
