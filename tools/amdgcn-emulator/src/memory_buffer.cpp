// SPDX-License-Identifier: MIT
// Accesses through buffer descriptors, and scalar loads.
#include <unordered_map>

#include "findings.hpp"
#include "memory.hpp"
#include "valu.hpp"
#include "wave_access.hpp"

namespace emu {
namespace {
// Loads beyond a descriptor's range return zeros.
void follow_outside(wave& w, const inst& i, u32 l) {
  if (w.undefined && i.ndst) follow_load(w, i, i.dst[0], 0, l, i.bytes, nullptr);
}
// What a descriptor in four scalar registers describes.
struct buffer_range {
  u64 base, records;
  u32 stride;
};
buffer_range range_of(const wave& w, const u32* d) {
  if (w.gfx1250)  // 57 bits of address, 45 of length
    return {d[0] | static_cast<u64>(d[1] & 0x1ffffff) << 32,
            static_cast<u64>(d[3] & 63) << 39 | static_cast<u64>(d[2]) << 7 | d[1] >> 25, d[3] >> 12 & 0x3fff};
  return {d[0] | static_cast<u64>(d[1] & 0xffff) << 32, d[2], d[1] >> 16 & 0x3fff};
}
// Reads n bytes to `out`: registers of the destination from number `first`.
void scalar_read(wave& w, const inst& i, u64 a, u32 n, u32 first, u32* out) {
  launch_state& L = *w.launch;
  std::memset(out, 0, n);
  const bool inside = L.in_range(a, n);
  if (inside)
    std::memcpy(out, reinterpret_cast<const void*>(a), n);
  else
    report_outside(w, i, -1, a, n);
  buffer_state* const b = inside ? L.last.buffer : nullptr;
  if (L.globals && b && b->owned) L.raced = b, check_global(w, i, 0, a, n, false);
  if (!w.undefined) return;
  for (u32 k = 0; k < (n + 3) / 4; ++k) {
    const u8* s = b && !b->state.empty() ? b->state.data() + (a - b->lo) + 4 * k : nullptr;
    const bool bad = s && std::all_of(s, s + std::min(4u, n - 4 * k), [](u8 x) { return x != written; });
    if (i.dst[0].reg + first + k >= s_file_size) return;
    w.undefined->scalar[i.dst[0].reg + first + k] = bad ? ~0u : 0;
    if (bad) w.undefined->scalar_origin = L.site(i), w.undefined->any_scalar = true;
  }
}
}  // namespace

void scalar_load(wave& w, const inst& i) {
  const u64 base = w.rs64(i.src[0]);
  u32 out[16];
  const bool buf = i.x == 1;
  u64 off = static_cast<u64>(static_cast<i64>(i.offset));
  if (i.soff.kind != operand::none && !(i.soff.kind == operand::sgpr && i.soff.reg == s_null))
    off += i.soff.kind == operand::sgpr
               ? u64{w.rs32(i.soff)} * (i.scales_offset ? i.bytes < 4 ? i.bytes : 4 * static_cast<u32>(i.y) : 1)
               : static_cast<u64>(sign_extend(i.soff.bits & 0xffffffff, i.soff.bits >> 31 & 1 ? 32 : 33));
  u32 n = i.y;
  if (i.bytes < 4) {
    const u64 a = (buf ? range_of(w, w.s + i.src[0].reg).base : base) + off;
    u32 v = 0;
    scalar_read(w, i, a, i.bytes, 0, &v);
    out[0] = i.sext ? static_cast<u32>(sign_extend(v, 8 * i.bytes)) : v;
    n = 1;
  } else if (buf) {
    const buffer_range range = range_of(w, w.s + i.src[0].reg);
    const u64 limit = range.stride ? range.stride * range.records : range.records;
    off &= ~3ull;
    for (u32 k = 0; k < n; ++k) {
      const u64 o = off + 4 * k, a = range.base + o;
      out[k] = 0;
      if (o + 4 > limit) continue;
      scalar_read(w, i, a, 4, k, &out[k]);
    }
  } else {
    const u64 a = (base + off) & ~3ull;
    scalar_read(w, i, a, 4 * n, 0, out);
  }
  for (u32 k = 0; k < n; ++k)
    if (i.dst[0].reg != s_null) w.s[i.dst[0].reg + k] = out[k];
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}

bool bind_scalar_load(inst& i, const std::string& shape, bool from_buffer, const code_object& co) {
  i.x = from_buffer;
  static const std::unordered_map<std::string, int> sizes{
      {"dword", 1}, {"dwordx2", 2}, {"dwordx4", 4}, {"dwordx8", 8}, {"dwordx16", 16}, {"b32", 1},
      {"b64", 2},   {"b96", 3},     {"b128", 4},    {"b256", 8},    {"b512", 16}};
  i.bytes = 4;
  if (auto it = sizes.find(shape); it != sizes.end())
    i.y = it->second;
  else if (shape == "u8" || shape == "i8" || shape == "u16" || shape == "i16")
    i.bytes = shape[1] == '8' ? 1 : 2, i.sext = shape[0] == 'i', i.y = 1;
  else
    return false;
  if (i.ops.size() < 3) throw std::runtime_error("unexpected number of operands");
  i.ndst = 1, i.dst[0] = i.ops[0], i.src[0] = i.ops[1], i.soff = i.ops[2];
  if (i.soff.kind != operand::sgpr) i.offset += static_cast<i32>(i.soff.bits), i.soff = operand();
  i.fn = &scalar_load, i.is_load = true, i.cnt = co.fam == family::gfx12 ? c_km : c_lgkm, i.order = 0;
  return true;
}

namespace {
/// What the four dwords of a descriptor say.
struct descriptor {
  bool gfx9;
  u64 base, records;
  u32 stride, swizzle, add_tid, offset, index_stride, element_bytes, check;
  descriptor(const wave& w, const inst& i) {
    const u32* d = w.s + i.rsrc.reg;
    const buffer_range range = range_of(w, d);
    gfx9 = w.fam == family::gfx9, base = range.base, records = range.records, stride = range.stride;
    if (w.gfx1250 && d[3] >> 26) w.refuse(i, "flags of a buffer descriptor are not implemented");
    add_tid = w.gfx1250 ? 0 : d[3] >> 23 & 1, offset = w.rs32(i.soff);
    // gfx9 swizzles by the index of a lane; without one the address is linear.
    swizzle = w.gfx1250 ? 0 : gfx9 ? ((i.idxen || add_tid) ? d[1] >> 31 : 0) : d[1] >> 30 & 3;
    check = w.gfx1250 ? (stride ? 1 : 3) : d[3] >> 28 & 3;
    if (add_tid && gfx9) stride |= (d[3] >> 15 & 15) << 14;
    index_stride = 8u << (d[3] >> 21 & 3);
    element_bytes = gfx9 ? 2u << (d[3] >> 19 & 3) : swizzle == 1 ? 4 : swizzle == 2 ? 8 : 16;
  }
  u64 swizzled(u64 index, u64 o) const {
    return (index / index_stride * stride + o / element_bytes * element_bytes) * index_stride +
           index % index_stride * element_bytes + o % element_bytes;
  }
  /// Whether n bytes are out of range; reads give 0 then, and writes are dropped. bo: offset in the buffer, o: in the
  /// record.
  bool outside(u64 index, u64 bo, u64 o, u32 n) const {
    if (gfx9)
      return stride && swizzle ? index >= records
                               : bo + n > records * (stride ? stride : 1) - std::min<u64>(offset, records);
    switch (check) {
      case 0: return index >= records || o + n > stride;
      case 1: return index >= records;
      case 2: return records == 0;
      default: return (swizzle ? o : bo) + n > records;
    }
  }
  /// Where the offset in the buffer alone decides what is out of range: the bytes that are in range; else 0.
  u64 range() const {
    if (gfx9) return stride && swizzle ? 0 : records * (stride ? stride : 1) - std::min<u64>(offset, records);
    return check == 3 && !swizzle ? records : 0;
  }
};
struct lane_offset {
  u64 index, o, bo;
};
struct lane_offsets {
  u64 index[64], o[64], bo[64];
  lane_offset of(u32 l) const { return {index[l], o[l], bo[l]}; }
};
/// Of all lanes. is_private: the memory is one linear block per lane.
EMU_INLINE void find_offsets(wave& w, const inst& i, const descriptor& d, bool is_private, lane_offsets& at) {
  static constexpr u32 zeros[64] = {};
  const u32 *index = i.idxen ? w.v(i.vaddr.reg) : zeros,
            *offset = i.offen ? w.v(i.vaddr.reg + (i.idxen ? 1 : 0)) : zeros;
  const u64 fixed = static_cast<u64>(static_cast<i64>(i.offset)), thread = d.add_tid ? 1 : 0, stride = d.stride;
  each_lane(w, [&](u64 l) { at.index[l] = index[l] + thread * l, at.o[l] = offset[l] + fixed; });
  if (d.swizzle && !is_private)
    each_lane(w, [&](u64 l) { at.bo[l] = d.swizzled(at.index[l], at.o[l]); });
  else
    each_lane(w, [&](u64 l) { at.bo[l] = at.index[l] * stride + at.o[l]; });
}
EMU_INLINE u64 lanes_outside(const wave& w, const descriptor& d, const lane_offsets& at, u32 bytes) {
  if (const u64 range = d.range()) return w.exec() & lanes_where(w, [&](u64 l) { return at.bo[l] + bytes > range; });
  return w.exec() & lanes_where(w, [&](u64 l) { return d.outside(at.index[l], at.bo[l], at.o[l], bytes); });
}
// A lane whose access is, at least in part, out of range: by dwords.
void access_by_dwords(wave& w, const inst& i, const descriptor& d, u32 l, const lane_offset& at, u8* data) {
  follow_outside(w, i, l);
  u8 tmp[16] = {};
  if (i.store) reg_to_mem(w, i, i.data, l, tmp);
  const u32 step = std::min<u32>(i.bytes, 4);
  for (u32 k = 0; k < i.bytes; k += step) {
    if (d.outside(at.index, at.bo + k, at.o + k, step)) {
      std::memset(data + k, 0, step);
      continue;
    }
    u8* p = global_at(w, i, l, d.base + d.offset + at.bo + k, step);
    if (w.launch->state && i.store) std::memset(w.launch->state, written, step);
    if (i.store)
      std::memcpy(p, tmp + k, step);
    else
      std::memcpy(data + k, p, step);
  }
}
void buffer_access(wave& w, const inst& i) {
  const descriptor d(w, i);
  // The gfx90a private segment: our layout is one linear block per lane.
  const bool is_private = d.add_tid && d.swizzle && d.gfx9;
  lane_offsets at;
  find_offsets(w, i, d, is_private, at);
  wave_access a;
  a.lanes = w.exec();
  const u64 first = d.base + d.offset, beyond = lanes_outside(w, d, at, i.bytes);
  each_lane(w, [&](u64 l) { a.address[l] = first + at.bo[l]; });
  if (!is_private && !beyond && access_global_together(w, i, a)) {
    if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
    return;
  }
  u8 data[64][16];
  if (i.tr) std::memset(data, 0, sizeof data);
  for (u64 m = a.lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    if (is_private)
      access(w, i, l, scratch_at(w, i, l, static_cast<u32>(at.o[l] + d.offset / w.lanes)), data[l]);
    else if (!(beyond >> l & 1))
      access(w, i, l, global_at(w, i, l, a.address[l], i.bytes), data[l]);
    else if (i.atomic)
      std::memset(data[l], 0, i.bytes), follow_outside(w, i, l);
    else
      access_by_dwords(w, i, d, l, at.of(l), data[l]);
  }
  finish(w, i, a.lanes, data);
}
}  // namespace
handler buffer_handler() { return fastest<&buffer_access>(); }
}  // namespace emu
