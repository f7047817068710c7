// SPDX-License-Identifier: MIT
// Operand fetch and result write-back of vector instructions, and the templates that turn a function of scalars into an
// instruction.
#pragma once

#include "fastest.hpp"
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
void fetch_modified(wave& w, const inst& i, int k, kind t, row& r);
EMU_INLINE void fetch(wave& w, const inst& i, int k, kind t, row& r) {
  const bool wide = t == kind::i64 || t == kind::f64;
  if (!(i.plain >> k & 1) || w.gpr_idx || (t == kind::f32 && i.is_float && w.flush_f32_in()))
    return fetch_modified(w, i, k, t, r);
  r.lo = w.v(i.src[k].reg), r.hi = w.v(i.src[k].reg + (wide ? 1u : 0u));
}
/// f(lane) for the lanes of a wave. Loops of a constant length become vector code.
template <class F>
EMU_INLINE void each_lane(const wave& w, F f) {
  for (u64 first = 0; first < w.lanes; first += 32)
    for (u64 l = 0; l < 32; ++l) f(first + l);
}
/// The mask of the lanes for which f holds.
template <class F>
EMU_INLINE u64 lanes_where(const wave& w, F f) {
  u64 mask = 0;
  for (u64 first = 0; first < w.lanes; first += 32) {
    u32 half = 0;
    for (u64 l = 0; l < 32; ++l) half |= static_cast<u32>(f(first + l)) << l;
    mask |= static_cast<u64>(half) << first;
  }
  return mask;
}
/// Writes x to the lanes of a register.
EMU_INLINE void put(u32* d, const u32* x, u64 lanes, const wave& w) {
  if (lanes == ~0ull) {
    std::memcpy(d, x, 64 * sizeof *d);
    return;
  }
  for (u32 first = 0; first < w.lanes; first += 32) {
    const u32 half = static_cast<u32>(lanes >> first);
    for (u32 l = 0; l < 32; ++l) d[first + l] = half >> l & 1 ? x[first + l] : d[first + l];
  }
}
// Lanes that this instruction acts on: EXEC, less those that DPP turns off.
u64 active_by_dpp(wave& w, const inst& i);
EMU_INLINE u64 active(wave& w, const inst& i) { return i.dpp ? active_by_dpp(w, i) : w.exec(); }
/// SDWA: the result goes to a part of the register.
void store_part(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes);
EMU_INLINE u32 dst_reg(const wave& w, const operand& d) { return w.gpr_idx & 8 ? d.reg + (w.s[s_m0] & 255) : d.reg; }
EMU_INLINE void store32(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes) {
  if (i.sdwa && i.dst_sel != 6) return store_part(w, i, d, x, lanes);
  put(w.v(dst_reg(w, d)), x, lanes, w);
}
EMU_INLINE void store64(wave& w, const inst&, const operand& d, const u32* lo, const u32* hi, u64 lanes) {
  const u32 r = dst_reg(w, d);
  put(w.v(r), lo, lanes, w), put(w.v(r + 1), hi, lanes, w);
}
EMU_INLINE void store16(wave& w, const inst& i, const operand& d, const u32* x, u64 lanes) {
  if (i.sdwa && i.dst_sel != 6) return store_part(w, i, d, x, lanes);
  u32 *p = w.v(dst_reg(w, d)), merged[64];
  const u32 shift = d.half == 2 || i.dst_hi ? 16 : 0, keep = shift                      ? 0xffffu
                                                             : i.preserve_hi && !i.sdwa ? 0xffff0000u
                                                                                        : 0;
  each_lane(w, [&](u64 l) { merged[l] = (p[l] & keep) | (x[l] & 0xffff) << shift; });
  put(p, merged, lanes, w);
}
u64 const_bits(const operand& o, kind t);

template <class T>
EMU_INLINE T load(const row& r, u32 l) {
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
EMU_INLINE auto plain(T x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bhalf>)
    return x.v;
  else
    return x;
}
template <class F>
EMU_INLINE F modify_output(F x, const inst& i, bool ieee_nan_to_zero) {
  if (i.omod) x *= i.omod == 1 ? F(2) : i.omod == 2 ? F(4) : F(0.5);
  if (i.clamp) x = x > F(0) ? (x < F(1) ? x : F(1)) : (x != x && !ieee_nan_to_zero ? x : F(0));
  return x;
}
EMU_INLINE float flush(float x) { return (bits(x) & 0x7f800000) ? x : as_f32(bits(x) & 0x80000000u); }

// Writes a row of results of type D. `get(l)` is evaluated for every lane, active or not.
template <class D, class G>
EMU_INLINE void store_results(wave& w, const inst& i, u64 lanes, G get) {
  alignas(64) u32 lo[64], hi[64];
  const bool dx10 = w.mode >> 8 & 1;
  if constexpr (std::is_same_v<D, half> || std::is_same_v<D, bhalf>) {
    each_lane(w, [&](u64 l) {
      auto x = get(l);
      if (i.omod || i.clamp) x = modify_output(x, i, dx10);
      if constexpr (std::is_same_v<decltype(x), double>)
        x = f64_to_f32_odd(x),
        lo[l] = std::is_same_v<D, half> ? f32_to_f16(static_cast<float>(x)) : f32_to_bf16(static_cast<float>(x));
      else
        lo[l] = std::is_same_v<D, half> ? f32_to_f16(x) : f32_to_bf16(x);
    });
    store16(w, i, i.dst[0], lo, lanes);
  } else if constexpr (std::is_same_v<D, float>) {
    each_lane(w, [&](u64 l) { lo[l] = bits(static_cast<float>(get(l))); });
    if (i.omod || i.clamp) each_lane(w, [&](u64 l) { lo[l] = bits(modify_output(as_f32(lo[l]), i, dx10)); });
    if (w.flush_f32_out() && i.is_float) each_lane(w, [&](u64 l) { lo[l] = bits(flush(as_f32(lo[l]))); });
    store32(w, i, i.dst[0], lo, lanes);
  } else if constexpr (sizeof(D) == 8) {
    each_lane(w, [&](u64 l) {
      D x = get(l);
      if constexpr (std::is_same_v<D, double>)
        if (i.omod || i.clamp) x = modify_output(x, i, dx10);
      const u64 b = std::bit_cast<u64>(x);
      lo[l] = static_cast<u32>(b), hi[l] = static_cast<u32>(b >> 32);
    });
    store64(w, i, i.dst[0], lo, hi, lanes);
  } else if constexpr (sizeof(D) == 4) {
    each_lane(w, [&](u64 l) { lo[l] = std::bit_cast<u32>(static_cast<D>(get(l))); });
    store32(w, i, i.dst[0], lo, lanes);
  } else {
    each_lane(w, [&](u64 l) { lo[l] = static_cast<u16>(get(l)); });
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
  for_names(names, {fastest<&vop1<D, A, F>>(), 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class F>
void reg2(const char* names, F) {
  for_names(names, {fastest<&vop2<D, A, B, F>>(), 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class C = A, class F>
void reg3(const char* names, F) {
  for_names(names, {fastest<&vop3<D, A, B, C, F>>(), 1, 0, is_fp<D>});
}
template <class D, class A, class B = A, class C = D, class F>
void reg_acc(const char* names, F) {
  for_names(names, {fastest<&vop3<D, A, B, C, F>>(), 1, 0, is_fp<D>, true});
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
bool bind_tensor_move(inst& i);                    // tensor_move.cpp
bool bind_memory(inst& i, const code_object& co);  // parses loads, stores and atomics
bool bind_lds(inst& i, const code_object& co);
bool bind_matrix(inst& i, const code_object& co);
}  // namespace emu
