// SPDX-License-Identifier: MIT
// clang prints a long condition in front of the words; g++ prints none, so it is asked for words that it does not say.
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
