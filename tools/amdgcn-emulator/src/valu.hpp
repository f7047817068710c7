// SPDX-License-Identifier: MIT
// Operand fetch and result write-back of vector instructions, and the templates that turn a function of scalars into an
// instruction.
#pragma once

#include "state.hpp"

namespace emu {
struct half {
  float v;
};  // tags: how 16-bit operands are read and results rounded
struct bhalf {
  float v;
};

enum class kind : u8 { i16, i32, i64, f16, bf16, f32, f64 };
template <class T>
constexpr kind kind_of() {
  if constexpr (std::is_same_v<T, half>)
    return kind::f16;
  else if constexpr (std::is_same_v<T, bhalf>)
    return kind::bf16;
  else if constexpr (std::is_same_v<T, float>)
    return kind::f32;
  else if constexpr (std::is_same_v<T, double>)
    return kind::f64;
  else
    return sizeof(T) == 8 ? kind::i64 : sizeof(T) == 2 ? kind::i16 : kind::i32;
}
struct row {
  const u32* lo;
  const u32* hi;
  alignas(64) u32 tlo[64], thi[64];
};
void fetch(wave& w, const inst& i, int k, kind t, row& r);
// Lanes that this instruction acts on: EXEC, less those that DPP turns off.
u64 active(wave& w, const inst& i);
void store32(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes);
void store64(wave& w, const inst& i, const operand& d, const u32* lo, const u32* hi, u64 lanes);
void store16(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes);
u64 const_bits(const operand& o, kind t);

template <class T>
T load(const row& r, u32 l) {
  if constexpr (std::is_same_v<T, half>)
    return half{f16_to_f32(static_cast<u16>(r.lo[l]))};
  else if constexpr (std::is_same_v<T, bhalf>)
    return bhalf{bf16_to_f32(static_cast<u16>(r.lo[l]))};
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(r.lo[l] | static_cast<u64>(r.hi[l]) << 32);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(r.lo[l]);
  else
    return static_cast<T>(r.lo[l]);
}
template <class T>
auto plain(T x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bhalf>)
    return x.v;
  else
    return x;
}
template <class F>
F modify_output(F x, const inst& i, bool ieee_nan_to_zero) {
  if (i.omod) x *= i.omod == 1 ? F(2) : i.omod == 2 ? F(4) : F(0.5);
  if (i.clamp) x = x > F(0) ? (x < F(1) ? x : F(1)) : (x != x && !ieee_nan_to_zero ? x : F(0));
  return x;
}
inline float flush(float x) { return (bits(x) & 0x7f800000) ? x : as_f32(bits(x) & 0x80000000u); }

// Writes a row of results of type D. `get(l)` is evaluated for every lane, active or not.
template <class D, class G>
void store_results(wave& w, const inst& i, u64 lanes, G get) {
  alignas(64) u32 lo[64], hi[64];
  const u32 n = w.lanes;
  const bool dx10 = w.mode >> 8 & 1;
  if constexpr (std::is_same_v<D, half> || std::is_same_v<D, bhalf>) {
    for (u32 l = 0; l < n; ++l) {
      auto x = get(l);
      if (i.omod || i.clamp) x = modify_output(x, i, dx10);
      if constexpr (std::is_same_v<decltype(x), double>)
        x = f64_to_f32_odd(x),
        lo[l] = std::is_same_v<D, half> ? f32_to_f16(static_cast<float>(x)) : f32_to_bf16(static_cast<float>(x));
      else
        lo[l] = std::is_same_v<D, half> ? f32_to_f16(x) : f32_to_bf16(x);
    }
    store16(w, i, i.dst[0], lo, lanes);
  } else if constexpr (std::is_same_v<D, float>) {
    for (u32 l = 0; l < n; ++l) lo[l] = bits(static_cast<float>(get(l)));
    if (i.omod || i.clamp)
      for (u32 l = 0; l < n; ++l) lo[l] = bits(modify_output(as_f32(lo[l]), i, dx10));
    if (w.flush_f32_out() && i.is_float)
      for (u32 l = 0; l < n; ++l) lo[l] = bits(flush(as_f32(lo[l])));
    store32(w, i, i.dst[0], lo, lanes);
  } else if constexpr (sizeof(D) == 8) {
    for (u32 l = 0; l < n; ++l) {
      D x = get(l);
      if constexpr (std::is_same_v<D, double>)
        if (i.omod || i.clamp) x = modify_output(x, i, dx10);
      const u64 b = std::bit_cast<u64>(x);
      lo[l] = static_cast<u32>(b), hi[l] = static_cast<u32>(b >> 32);
    }
    store64(w, i, i.dst[0], lo, hi, lanes);
  } else if constexpr (sizeof(D) == 4) {
    for (u32 l = 0; l < n; ++l) lo[l] = std::bit_cast<u32>(static_cast<D>(get(l)));
    store32(w, i, i.dst[0], lo, lanes);
  } else {
    for (u32 l = 0; l < n; ++l) lo[l] = static_cast<u16>(get(l));
    store16(w, i, i.dst[0], lo, lanes);
  }
}

template <class D, class A, class F>
void vop1(wave& w, const inst& i) {
  row a;
  fetch(w, i, 0, kind_of<A>(), a);
  store_results<D>(w, i, active(w, i), [&](u32 l) { return F{}(plain(load<A>(a, l))); });
}
template <class D, class A, class B, class F>
void vop2(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind_of<A>(), a), fetch(w, i, 1, kind_of<B>(), b);
  store_results<D>(w, i, active(w, i), [&](u32 l) { return F{}(plain(load<A>(a, l)), plain(load<B>(b, l))); });
}
template <class D, class A, class B, class C, class F>
void vop3(wave& w, const inst& i) {
  row a, b, c;
  fetch(w, i, 0, kind_of<A>(), a), fetch(w, i, 1, kind_of<B>(), b), fetch(w, i, 2, kind_of<C>(), c);
  store_results<D>(w, i, active(w, i),
                   [&](u32 l) { return F{}(plain(load<A>(a, l)), plain(load<B>(b, l)), plain(load<C>(c, l))); });
}
template <class T>
inline constexpr bool is_fp =
    std::is_same_v<T, half> || std::is_same_v<T, bhalf> || std::is_same_v<T, float> || std::is_same_v<T, double>;

// Registration: names separated by blanks.
template <class D, class A, class F>
void reg1(const char* names, F);
void for_names(const char* names, const op_entry& e);
template <class D, class A, class F>
void reg1(const char* names, F) {
  for_names(names, {&vop1<D, A, F>, 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class F>
void reg2(const char* names, F) {
  for_names(names, {&vop2<D, A, B, F>, 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class C = A, class F>
void reg3(const char* names, F) {
  for_names(names, {&vop3<D, A, B, C, F>, 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class C = D, class F>
void reg_acc(const char* names, F) {
  for_names(names, {&vop3<D, A, B, C, F>, 1, 0, is_fp<D>, true});
}

void register_salu_int();
void register_salu_control();
void register_salu_float();
void register_valu_float();
void register_valu_functions();
void register_valu_int();
void register_valu_bits();
void register_valu_cvt();
void register_valu_packed();
void register_valu_lane();
void register_valu_gfx1250();
bool bind_memory(inst& i, const code_object& co);  // parses loads, stores and atomics
bool bind_lds(inst& i, const code_object& co);
bool bind_matrix(inst& i, const code_object& co);
}  // namespace emu
