// SPDX-License-Identifier: MIT
// Accesses through buffer descriptors, and scalar loads.
#include <unordered_map>

#include "findings.hpp"
#include "memory.hpp"
#include "valu.hpp"

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
  if (L.globals && b && b->owned) L.cells = L.mem->cells_of(*b), check_global(w, i, 0, a, n, false);
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

void buffer_access(wave& w, const inst& i) {
  const u64 lanes = w.exec();
  u8 data[64][16];
  const u32* d = w.s + i.rsrc.reg;
  const bool g9 = w.fam == family::gfx9;
  const buffer_range range = range_of(w, d);
  const u64 base = range.base, records = range.records;
  u32 stride = range.stride;
  // gfx9 swizzles by the index of a lane; without one the address is linear.
  const u32 swizzle = w.gfx1250 ? 0
                      : g9      ? ((i.idxen || d[3] >> 23 & 1) ? d[1] >> 31 : 0)
                                : d[1] >> 30 & 3,
            add_tid = w.gfx1250 ? 0 : d[3] >> 23 & 1, so = w.rs32(i.soff);
  const u32 check = w.gfx1250 ? (stride ? 1 : 3) : d[3] >> 28 & 3;
  if (w.gfx1250 && d[3] >> 26) w.refuse(i, "flags of a buffer descriptor are not implemented");
  if (add_tid && g9) stride |= (d[3] >> 15 & 15) << 14;
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    const u64 idx = (i.idxen ? w.v(i.vaddr.reg)[l] : 0) + (add_tid ? l : 0);
    const u64 o =
        (i.offen ? w.v(i.vaddr.reg + (i.idxen ? 1 : 0))[l] : 0) + static_cast<u64>(static_cast<i64>(i.offset));
    if (add_tid && swizzle && g9) {  // the gfx90a private segment: our layout is one linear block per lane
      access(w, i, l, scratch_at(w, i, l, static_cast<u32>(o + so / w.lanes)), data[l]);
      continue;
    }
    u64 bo = idx * stride + o;
    if (swizzle) {
      const u32 is = 8u << (d[3] >> 21 & 3), es = g9             ? 2u << (d[3] >> 19 & 3)
                                                  : swizzle == 1 ? 4
                                                  : swizzle == 2 ? 8
                                                                 : 16;
      bo = (idx / is * stride + o / es * es) * is + idx % is * es + o % es;
    }
    // Range checks apply to each dword; reads out of range give 0, writes are dropped.
    const auto outside = [&](u32 k, u32 n) {
      if (g9)
        return stride && swizzle
                   ? idx >= records
                   : bo + k + n > static_cast<u64>(records) * (stride ? stride : 1) - std::min<u64>(so, records);
      switch (check) {
        case 0: return idx >= records || o + k + n > stride;
        case 1: return idx >= records;
        case 2: return records == 0;
        default: return (swizzle ? o : bo) + k + n > records;
      }
    };
    const u64 a = base + so + bo;
    if (i.atomic) {
      if (!outside(0, i.bytes))
        access(w, i, l, global_at(w, i, l, a, i.bytes), data[l]);
      else
        std::memset(data[l], 0, i.bytes), follow_outside(w, i, l);
      continue;
    }
    const u32 step = std::min<u32>(i.bytes, 4);
    if (!outside(0, i.bytes)) {
      access(w, i, l, global_at(w, i, l, a, i.bytes), data[l]);
      continue;
    }
    follow_outside(w, i, l);
    u8 tmp[16] = {};
    if (i.store) reg_to_mem(w, i, i.data, l, tmp);
    for (u32 k = 0; k < i.bytes; k += step) {
      if (outside(k, step)) {
        std::memset(data[l] + k, 0, step);
        continue;
      }
      u8* p = global_at(w, i, l, a + k, step);
      if (w.launch->state && i.store) std::memset(w.launch->state, written, step);
      if (i.store)
        std::memcpy(p, tmp + k, step);
      else
        std::memcpy(data[l] + k, p, step);
    }
  }
  finish(w, i, lanes, data);
}
}  // namespace emu
