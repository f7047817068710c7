// SPDX-License-Identifier: MIT
// Templates that turn a function of scalars into a scalar instruction.
#pragma once

#include "valu.hpp"

namespace emu {
template <class T>
T rs(const wave& w, const operand& o) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(w.rs64(o));
  else
    return static_cast<T>(w.rs32(o));
}
template <class T>
void ws(wave& w, const operand& o, T x) {
  if constexpr (sizeof(T) == 8)
    w.ws64(o, static_cast<u64>(x));
  else
    w.ws32(o, static_cast<u32>(x));
}
template <class T, class F>
void sop1(wave& w, const inst& i) {
  ws(w, i.dst[0], F{}(rs<T>(w, i.src[0])));
}
// Result, SCC = result is not zero
template <class T, class F>
void bit1(wave& w, const inst& i) {
  const auto r = F{}(rs<T>(w, i.src[0]));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
template <class T, class F>
void bit2(wave& w, const inst& i) {
  const T r = static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1])));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
template <class T, class F>
void shift(wave& w, const inst& i) {
  const T r = static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<u32>(w, i.src[1])));
  ws(w, i.dst[0], r), w.scc() = r != 0;
}
// Function with access to SCC
template <class T, class F>
void alu2(wave& w, const inst& i) {
  ws<T>(w, i.dst[0], static_cast<T>(F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1]), w.scc())));
}
template <class T, class F>
void cmp(wave& w, const inst& i) {
  w.scc() = F{}(rs<T>(w, i.src[0]), rs<T>(w, i.src[1]));
}
// The same with the 16-bit constant of SOPK, sign- or zero-extended by type
template <class T, class F>
void cmpk(wave& w, const inst& i) {
  const u16 k = static_cast<u16>(i.src[1].bits);
  w.scc() = F{}(rs<T>(w, i.src[0]), std::is_signed_v<T> ? static_cast<T>(static_cast<i16>(k)) : static_cast<T>(k));
}
// x: operation; the saved register gets EXEC, EXEC = f(source, EXEC)
template <class F, bool Wr>
void saveexec(wave& w, const inst& i) {
  const u64 old = w.exec(), s = w.rmask(i.src[0]), n = F{}(s, old) & w.full();
  w.wmask(i.dst[0], Wr ? n : old);
  w.set_exec(n), w.scc() = n != 0;
}

template <class T, class F>
void r1(const char* n, F) {
  for_names(n, {&sop1<T, F>});
}
template <class T, class F>
void rb1(const char* n, F) {
  for_names(n, {&bit1<T, F>});
}
template <class T, class F>
void rb2(const char* n, F) {
  for_names(n, {&bit2<T, F>});
}
template <class T, class F>
void rsh(const char* n, F) {
  for_names(n, {&shift<T, F>});
}
template <class T, class F>
void ra2(const char* n, F) {
  for_names(n, {&alu2<T, F>});
}
template <class T, class F>
void rc(const std::string& n, F) {
  for_names(("s_cmp_" + n).c_str(), {&cmp<T, F>, 0});
  if (sizeof(T) == 4) for_names(("s_cmpk_" + n).c_str(), {&cmpk<T, F>, 0});
}
template <class F>
void rse(const char* n, F) {
  for_names(n, {&saveexec<F, false>});
}
template <class F>
void rwe(const char* n, F) {
  for_names(n, {&saveexec<F, true>});
}
}  // namespace emu
