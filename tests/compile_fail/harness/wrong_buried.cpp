// SPDX-License-Identifier: MIT
// clang prints a long condition before the words; g++ prints none, so this test expects words that it does not print.
// EXPECT(clang): the condition is long
// EXPECT(gcc): the condition is printed
template <class... Ts>
struct types {};
template <class T>
using twice = types<T, T>;
template <class T>
constexpr bool wrong = false;
template <class T>
void require() {
  static_assert(wrong<T>, "the condition is long");
}
void f() { require<twice<twice<twice<twice<twice<twice<int>>>>>>>(); }
