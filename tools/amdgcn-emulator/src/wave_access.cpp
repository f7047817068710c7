// SPDX-License-Identifier: MIT
#include "wave_access.hpp"

#include "fastest.hpp"

namespace emu {
namespace {
typedef u32 quad __attribute__((vector_size(16)));
EMU_INLINE void transpose(quad* q) {
  const quad a = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5), b = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5),
             c = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7), d = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
  q[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5), q[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  q[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5), q[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}
template <class F>
EMU_INLINE void each(u64 lanes, F f) {
  if (lanes == ~0ull) {
    EMU_UNROLL for (u32 l = 0; l < 64; ++l) f(l);
    return;
  }
  for (u64 m = lanes; m; m &= m - 1) f(static_cast<u32>(std::countr_zero(m)));
}
template <u32 N>
EMU_INLINE void load_dwords(wave& w, u32 reg, const wave_access& a) {
  u32* const d = w.v(reg);
  for (u32 g = 0; g < w.lanes; g += 4) {
    const u64 here = a.lanes >> g & 15;
    if (N == 4 && here == 15) {
      quad q[4];
      EMU_UNROLL for (u32 l = 0; l < 4; ++l) std::memcpy(&q[l], a.memory + a.address[g + l], 16);
      transpose(q);
      EMU_UNROLL for (u32 k = 0; k < 4; ++k) std::memcpy(d + 64 * k + g, &q[k], 16);
      continue;
    }
    each(here, [&](u32 l) {
      u32 x[N];
      std::memcpy(x, a.memory + a.address[g + l], sizeof x);
      for (u32 k = 0; k < N; ++k) d[64 * k + g + l] = x[k];
    });
  }
}
/// The bytes that a store writes, by lane.
template <u32 N>
EMU_INLINE void stored_dwords(wave& w, u32 reg, u64 lanes, u8 (*data)[16]) {
  const u32* const s = w.v(reg);
  for (u32 g = 0; g < w.lanes; g += 4) {
    const u64 here = lanes >> g & 15;
    if (N == 4 && here == 15) {
      quad q[4];
      EMU_UNROLL for (u32 k = 0; k < 4; ++k) std::memcpy(&q[k], s + 64 * k + g, 16);
      transpose(q);
      std::memcpy(data[g], q, sizeof q);
      continue;
    }
    each(here, [&](u32 l) {
      u32 x[N];
      for (u32 k = 0; k < N; ++k) x[k] = s[64 * k + g + l];
      std::memcpy(data[g + l], x, sizeof x);
    });
  }
}
// Aligned dwords that another workgroup may change.
EMU_INLINE void load_shared_dwords(wave& w, u32 reg, const wave_access& a) {
  u32* const d = w.v(reg);
  each(a.lanes,
       [&](u32 l) { d[l] = __atomic_load_n(reinterpret_cast<const u32*>(a.memory + a.address[l]), __ATOMIC_RELAXED); });
}
EMU_INLINE void load(wave& w, const inst& i, const wave_access& a, const operand& o, u32 first, bool shared) {
  switch (i.bytes) {
    case 4: return shared ? load_shared_dwords(w, o.reg + first, a) : load_dwords<1>(w, o.reg + first, a);
    case 8: return load_dwords<2>(w, o.reg + first, a);
    case 12: return load_dwords<3>(w, o.reg + first, a);
    case 16: return load_dwords<4>(w, o.reg + first, a);
    default: each(a.lanes, [&](u32 l) { mem_to_reg(w, i, o, first, l, a.memory + a.address[l]); });
  }
}
EMU_INLINE void stored(wave& w, const inst& i, const wave_access& a, const operand& o, u8 (*data)[16]) {
  switch (i.bytes) {
    case 4: return stored_dwords<1>(w, o.reg, a.lanes, data);
    case 8: return stored_dwords<2>(w, o.reg, a.lanes, data);
    case 12: return stored_dwords<3>(w, o.reg, a.lanes, data);
    case 16: return stored_dwords<4>(w, o.reg, a.lanes, data);
    default: each(a.lanes, [&](u32 l) { reg_to_mem(w, i, o, l, data[l]); });
  }
}
template <u32 Bytes>
EMU_INLINE u64 changed_lanes(const wave_access& a, const u8 (*data)[16]) {
  u64 changed = 0;
  each(a.lanes, [&](u32 l) {
    u8 now[Bytes];
    load_shared(now, a.memory + a.address[l], Bytes);
    changed |= static_cast<u64>(std::memcmp(data[l], now, Bytes) != 0) << l;
  });
  return changed;
}
/// Lanes whose stores change memory, or write what was not written before.
EMU_INLINE u64 changed_lanes(const inst& i, const wave_access& a, const u8 (*data)[16]) {
  switch (i.bytes) {
    case 1: return changed_lanes<1>(a, data);
    case 2: return changed_lanes<2>(a, data);
    case 4: return changed_lanes<4>(a, data);
    case 8: return changed_lanes<8>(a, data);
    case 12: return changed_lanes<12>(a, data);
    default: return changed_lanes<16>(a, data);
  }
}
template <class T>
EMU_INLINE bool all_written(const wave_access& a, u32 bytes) {
  T any = {};
  each(a.lanes, [&](u32 l) {
    for (u32 k = 0; k < bytes; k += sizeof(T)) {
      T x;
      std::memcpy(&x, a.state + a.address[l] + k, sizeof x);
      any |= x;
    }
  });
  T none = {};
  return std::memcmp(&any, &none, sizeof any) == 0;  // byte_state::written is 0
}
EMU_INLINE bool all_written(const wave_access& a, u32 bytes) {
  switch (bytes) {
    case 1: return all_written<u8>(a, 1);
    case 2: return all_written<u16>(a, 2);
    case 4: return all_written<u32>(a, 4);
    case 8: return all_written<u64>(a, 8);
    case 12: return all_written<u32>(a, 12);
    default: return all_written<quad>(a, 16);
  }
}
template <u32 Bytes>
EMU_INLINE void set_written(const wave_access& a) {
  each(a.lanes, [&](u32 l) { std::memset(a.state + a.address[l], written, Bytes); });
}
EMU_INLINE void set_written(const wave_access& a, u32 bytes) {
  switch (bytes) {
    case 1: return set_written<1>(a);
    case 2: return set_written<2>(a);
    case 4: return set_written<4>(a);
    case 8: return set_written<8>(a);
    case 12: return set_written<12>(a);
    default: return set_written<16>(a);
  }
}
template <u32 Bytes>
EMU_INLINE void write_lanes(const wave_access& a, const u8 (*data)[16]) {
  each(a.lanes, [&](u32 l) { store_shared(a.memory + a.address[l], data[l], Bytes); });
}
EMU_INLINE void write_lanes(const wave_access& a, const u8 (*data)[16], u32 bytes) {
  switch (bytes) {
    case 1: return write_lanes<1>(a, data);
    case 2: return write_lanes<2>(a, data);
    case 4: return write_lanes<4>(a, data);
    case 8: return write_lanes<8>(a, data);
    case 12: return write_lanes<12>(a, data);
    default: return write_lanes<16>(a, data);
  }
}
/// The state of the operand's registers, from number `first`: whether any lane is undefined.
EMU_INLINE bool any_undefined(const wave& w, const inst& i, u64 lanes, const operand& o) {
  u64 any = 0;
  for (u32 k = 0; k < (i.bytes + 3u) / 4; ++k) any |= w.undefined->vector[o.reg + k];
  return any & lanes;
}
EMU_INLINE void define(wave& w, const inst& i, u64 lanes, const operand& o, u32 first) {
  for (u32 k = 0; k < (i.bytes + 3u) / 4; ++k)
    w.undefined->vector[o.reg + first + k] &= ~lanes, w.undefined->computed[o.reg + first + k] &= ~lanes;
}
/// Whether the accesses of these lanes race with none; then they are noted.
EMU_INLINE bool noted(wave& w, const inst& i, wave_access& a, access_space space, u64 lanes, bool write) {
  if (space == in_lds) return lds_orderly(w, i, a, lanes, write);
  a.find_runs(lanes, i.bytes);
  return global_orderly(w, i, *w.launch->last.buffer, a, write);
}
EMU_INLINE bool store_together(wave& w, const inst& i, wave_access& a, access_space space, const operand& o,
                               bool raced) {
  if (w.undefined && any_undefined(w, i, a.lanes, o)) return false;
  u8 data[64][16];
  stored(w, i, a, o, data);
  if (raced) {
    // With findings collected, stores of what is there already count as no write.
    u64 changed = a.lanes;
    if (w.launch->opt->collect && (space == in_global || w.undefined)) {
      changed = changed_lanes(i, a, data);
      if (space == in_lds) {
        each(a.lanes & ~changed, [&](u32 l) { changed |= static_cast<u64>(a.state[a.address[l]] != written) << l; });
        if (const u64 same = a.lanes & ~changed; same && !lds_unread(w, i, a, same)) return false;
      }
    }
    if (!noted(w, i, a, space, changed, true)) return false;
  }
  write_lanes(a, data, i.bytes);
  if (a.state) set_written(a, i.bytes);
  return true;
}
bool together(wave& w, const inst& i, wave_access& a, access_space space, const operand& o, u32 first) {
  const launch_state& L = *w.launch;
  const bool raced =
      space == in_lds ? L.race : space == in_global && L.globals && L.last.buffer && L.last.buffer->owned;
  if (raced && i.bytes % 4) return false;
  if (raced) {
    u64 misaligned = 0;
    each(a.lanes, [&](u32 l) { misaligned |= a.address[l] & 3; });
    if (misaligned) return false;
  }
  if (i.store) return store_together(w, i, a, space, o, raced);
  if (a.state && !all_written(a, i.bytes)) return false;
  if (raced && !noted(w, i, a, space, a.lanes, false)) return false;
  load(w, i, a, o, first, raced && space == in_global);
  if (w.undefined) define(w, i, a.lanes, o, first);
  return true;
}
}  // namespace

void wave_access::find_runs(u64 of_lanes, u32 bytes) {
  const u32 n = static_cast<u32>(std::countr_one(of_lanes));
  if (n && !(of_lanes >> (n - 1) >> 1)) {  // the lanes 0 to n - 1
    u64 apart = 0;
    for (u32 l = 1; l < n; ++l) apart |= address[l] - address[l - 1] - bytes;
    if (!apart) {
      runs[0] = {address[0], u64{n} * bytes}, num_runs = 1;
      return;
    }
  }
  num_runs = 0;
  each(of_lanes, [&](u32 l) {
    if (num_runs && runs[num_runs - 1].first + runs[num_runs - 1].bytes == address[l])
      runs[num_runs - 1].bytes += bytes;
    else
      runs[num_runs++] = {address[l], bytes};
  });
}

bool access_together(wave& w, const inst& i, wave_access& a, access_space space, const operand& o, u32 first) {
  static const auto f = fastest<&together>();
  return f(w, i, a, space, o, first);
}

bool access_global_together(wave& w, const inst& i, wave_access& a) {
  launch_state& L = *w.launch;
  if (!a.lanes || i.atomic || i.lds || i.tr || (i.coherent && (L.globals || L.concurrent))) return false;
  u64 lo = ~0ull, hi = 0;
  each(a.lanes, [&](u32 l) { lo = std::min(lo, a.address[l]), hi = std::max(hi, a.address[l]); });
  if (hi - lo > (1ull << 40) || !L.in_range(lo, hi - lo + i.bytes)) return false;
  a.memory = nullptr, a.state = nullptr;
  const buffer_state* b = L.last.buffer;
  if (w.undefined && b && !b->state.empty()) a.state = const_cast<u8*>(b->state.data()) - b->lo;
  return access_together(w, i, a, in_global, i.store ? i.data : i.dst[0], 0);
}
}  // namespace emu
