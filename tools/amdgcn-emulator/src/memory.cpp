// SPDX-License-Identifier: MIT
// Scalar loads, and vector loads, stores and atomics through flat, global, scratch and buffer instructions.
#include "memory.hpp"

#include <unordered_map>

#include "valu.hpp"

namespace emu {
u64 atomic_result(u32 op, u32 n, u64 o, u64 d, u64 cmp) {
  const u64 mask = n == 8 ? ~0ull : 0xffffffffull;
  const i64 so = n == 8 ? static_cast<i64>(o) : static_cast<i32>(o),
            sd = n == 8 ? static_cast<i64>(d) : static_cast<i32>(d);
  const auto f32 = [](u64 x) { return as_f32(static_cast<u32>(x)); };
  switch (op) {
    case at_swap: return d;
    case at_cmpswap: return o == cmp ? d : o;
    case at_add: return (o + d) & mask;
    case at_sub: return (o - d) & mask;
    case at_rsub: return (d - o) & mask;
    case at_smin: return so < sd ? o : d;
    case at_smax: return so > sd ? o : d;
    case at_umin: return std::min(o, d);
    case at_umax: return std::max(o, d);
    case at_and: return o & d;
    case at_or: return o | d;
    case at_xor: return o ^ d;
    case at_inc: return o >= d ? 0 : o + 1;
    case at_dec: return o == 0 || o > d ? d : o - 1;
    case at_subclamp: return o < d ? 0 : o - d;
    case at_condsub: return o >= d ? o - d : o;
    case at_addf: return n == 8 ? bits(as_f64(o) + as_f64(d)) : bits(f32(o) + f32(d));
    case at_minf: return n == 8 ? bits(std::fmin(as_f64(o), as_f64(d))) : bits(std::fmin(f32(o), f32(d)));
    case at_maxf: return n == 8 ? bits(std::fmax(as_f64(o), as_f64(d))) : bits(std::fmax(f32(o), f32(d)));
    case at_pkh: {
      const auto h = [](u64 a, u64 b) {
        return static_cast<u32>(f32_to_f16(f16_to_f32(static_cast<u16>(a)) + f16_to_f32(static_cast<u16>(b))));
      };
      return h(o, d) | h(o >> 16, d >> 16) << 16;
    }
    case at_pkb: {
      const auto h = [](u64 a, u64 b) {
        return static_cast<u32>(f32_to_bf16(bf16_to_f32(static_cast<u16>(a)) + bf16_to_f32(static_cast<u16>(b))));
      };
      return h(o, d) | h(o >> 16, d >> 16) << 16;
    }
  }
  return o;
}
void reg_to_mem(wave& w, const inst& i, const operand& o, u32 lane, u8* p) {
  if (i.bytes >= 4) {
    for (u32 k = 0; k < i.bytes / 4u; ++k) std::memcpy(p + 4 * k, &w.v(o.reg + k)[lane], 4);
    return;
  }
  u32 v = w.v(o.reg)[lane];
  if (i.d16_hi || o.half == 2) v >>= 16;
  std::memcpy(p, &v, i.bytes);
}
void mem_to_reg(wave& w, const inst& i, const operand& o, u32 first, u32 lane, const u8* p) {
  if (i.bytes >= 4) {
    for (u32 k = 0; k < i.bytes / 4u; ++k) std::memcpy(&w.v(o.reg + first + k)[lane], p + 4 * k, 4);
    return;
  }
  u32 v = i.bytes == 1 ? p[0] : static_cast<u32>(p[0] | p[1] << 8);
  if (i.sext) v = static_cast<u32>(sign_extend(v, 8 * i.bytes));
  u32& d = w.v(o.reg)[lane];
  if (!i.d16)
    d = v;
  else if (i.d16_hi || o.half == 2)
    d = (w.fam == family::gfx9 ? 0 : d & 0xffff) | v << 16;  // gfx9 with SRAM ECC clears the other half
  else
    d = (w.fam == family::gfx9 ? 0 : d & 0xffff0000u) | (v & 0xffff);
}

bool parse_shape(inst& i, const std::string& s, bool store) {
  struct shape {
    u8 bytes;
    bool sext, d16, hi;
  };
  static const std::unordered_map<std::string, shape> loads{
      {"ubyte", {1, 0, 0, 0}},      {"u8", {1, 0, 0, 0}},         {"sbyte", {1, 1, 0, 0}},
      {"i8", {1, 1, 0, 0}},         {"ushort", {2, 0, 0, 0}},     {"u16", {2, 0, 0, 0}},
      {"sshort", {2, 1, 0, 0}},     {"i16", {2, 1, 0, 0}},        {"short_d16", {2, 0, 1, 0}},
      {"d16_b16", {2, 0, 1, 0}},    {"u16_d16", {2, 0, 1, 0}},    {"short_d16_hi", {2, 0, 1, 1}},
      {"d16_hi_b16", {2, 0, 1, 1}}, {"u16_d16_hi", {2, 0, 1, 1}}, {"ubyte_d16", {1, 0, 1, 0}},
      {"d16_u8", {1, 0, 1, 0}},     {"u8_d16", {1, 0, 1, 0}},     {"ubyte_d16_hi", {1, 0, 1, 1}},
      {"d16_hi_u8", {1, 0, 1, 1}},  {"u8_d16_hi", {1, 0, 1, 1}},  {"sbyte_d16", {1, 1, 1, 0}},
      {"d16_i8", {1, 1, 1, 0}},     {"i8_d16", {1, 1, 1, 0}},     {"sbyte_d16_hi", {1, 1, 1, 1}},
      {"d16_hi_i8", {1, 1, 1, 1}},  {"i8_d16_hi", {1, 1, 1, 1}}};
  static const std::unordered_map<std::string, shape> stores{
      {"byte", {1, 0, 0, 0}},      {"b8", {1, 0, 0, 0}},           {"short", {2, 0, 0, 0}},
      {"b16", {2, 0, 0, 0}},       {"byte_d16_hi", {1, 0, 0, 1}},  {"d16_hi_b8", {1, 0, 0, 1}},
      {"b8_d16_hi", {1, 0, 0, 1}}, {"short_d16_hi", {2, 0, 0, 1}}, {"d16_hi_b16", {2, 0, 0, 1}},
      {"b16_d16_hi", {2, 0, 0, 1}}};
  static const std::unordered_map<std::string, u8> both{{"dword", 4},    {"b32", 4},  {"dwordx2", 8},  {"b64", 8},
                                                        {"dwordx3", 12}, {"b96", 12}, {"dwordx4", 16}, {"b128", 16}};
  if (auto b = both.find(s); b != both.end()) return i.bytes = b->second, true;
  const auto& t = store ? stores : loads;
  auto it = t.find(s);
  if (it == t.end()) return false;
  i.bytes = it->second.bytes, i.sext = it->second.sext, i.d16 = it->second.d16, i.d16_hi = it->second.hi;
  return true;
}
bool parse_atomic(inst& i, std::string s) {
  static const std::unordered_map<std::string, u8> ops{{"swap", at_swap},
                                                       {"wrxchg", at_swap},
                                                       {"storexchg", at_swap},
                                                       {"cmpswap", at_cmpswap},
                                                       {"cmpst", at_cmpswap},
                                                       {"cmpstore", at_cmpswap},
                                                       {"add", at_add},
                                                       {"sub", at_sub},
                                                       {"rsub", at_rsub},
                                                       {"smin", at_smin},
                                                       {"umin", at_umin},
                                                       {"smax", at_smax},
                                                       {"umax", at_umax},
                                                       {"and", at_and},
                                                       {"or", at_or},
                                                       {"xor", at_xor},
                                                       {"inc", at_inc},
                                                       {"dec", at_dec},
                                                       {"sub_clamp", at_subclamp},
                                                       {"cond_sub", at_condsub}};
  if (s == "pk_add_f16" || s == "pk_add_rtn_f16") return i.op = at_pkh, i.bytes = 4, true;
  if (s == "pk_add_bf16" || s == "pk_add_rtn_bf16") return i.op = at_pkb, i.bytes = 4, true;
  i.bytes = 4;
  char type = 0;
  const auto n = s.size();
  if (n > 3 && s.compare(n - 3, 3, "_x2") == 0)
    i.bytes = 8, s.resize(n - 3);
  else if (n > 4 && s[n - 4] == '_' && (s.compare(n - 2, 2, "32") == 0 || s.compare(n - 2, 2, "64") == 0))
    type = s[n - 3], i.bytes = s[n - 2] == '6' ? 8 : 4, s.resize(n - 4);
  if (auto p = s.find("_rtn"); p != s.npos) s.erase(p, 4);
  if (auto p = s.find("_num"); p != s.npos) s.erase(p, 4);
  if (s == "min" || s == "max") s = (type == 'u' ? "u" : type == 'i' ? "s" : "f") + s;
  if (type == 'f' && s == "add") return i.op = at_addf, true;
  if (s == "fmin") return i.op = at_minf, true;
  if (s == "fmax") return i.op = at_maxf, true;
  auto it = ops.find(s);
  if (it == ops.end()) return false;
  return i.op = it->second, true;
}

namespace {
enum segment { flat, scratch, global, buffer };

void scalar_load(wave& w, const inst& i) {
  const u64 base = w.rs64(i.src[0]);
  u32 out[16];
  const bool buf = i.x == 1;
  u64 off = static_cast<u64>(static_cast<i64>(i.offset));
  if (i.soff.kind != operand::none && !(i.soff.kind == operand::sgpr && i.soff.reg == s_null))
    off += i.soff.kind == operand::sgpr
               ? w.rs32(i.soff)
               : static_cast<u64>(sign_extend(i.soff.bits & 0xffffffff, i.soff.bits >> 31 & 1 ? 32 : 33));
  u32 n = i.y;
  if (i.bytes < 4) {
    const u64 a = (buf ? base & 0xffffffffffffull : base) + off;
    if (!w.launch->in_range(a, i.bytes)) w.die(i, "scalar load outside of all buffers at " + hex(a));
    u32 v = 0;
    std::memcpy(&v, reinterpret_cast<const void*>(a), i.bytes);
    out[0] = i.sext ? static_cast<u32>(sign_extend(v, 8 * i.bytes)) : v;
    n = 1;
  } else if (buf) {
    const u16 r = i.src[0].reg;
    const u32 stride = w.s[r + 1] >> 16 & 0x3fff, records = w.s[r + 2];
    const u64 limit = stride ? static_cast<u64>(stride) * records : records;
    off &= ~3ull;
    for (u32 k = 0; k < n; ++k) {
      const u64 o = off + 4 * k, a = (base & 0xffffffffffffull) + o;
      out[k] = 0;
      if (o + 4 > limit) continue;
      if (!w.launch->in_range(a, 4)) w.die(i, "scalar buffer load outside of all buffers at " + hex(a));
      std::memcpy(&out[k], reinterpret_cast<const void*>(a), 4);
    }
  } else {
    const u64 a = (base + off) & ~3ull;
    if (!w.launch->in_range(a, 4 * n)) w.die(i, "scalar load outside of all buffers at " + hex(a));
    std::memcpy(out, reinterpret_cast<const void*>(a), 4 * n);
  }
  for (u32 k = 0; k < n; ++k)
    if (i.dst[0].reg != s_null) w.s[i.dst[0].reg + k] = out[k];
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}

// Load-to-LDS: lane l writes at M0 + offset + l * width.
void deposit(wave& w, const inst& i, u64 lanes, const u8 (*data)[16]) {
  const u32 step = i.bytes < 4 ? 4u : i.bytes, base = (w.s[s_m0] & 0x3ffff) + static_cast<u32>(i.offset);
  u32 addr[64] = {};
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m)), a = addr[l] = base + l * step;
    if (a + step > w.wg->lds_size)
      w.die(i, "load to LDS outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(a),
            static_cast<int>(l));
    if (w.launch->race) race_check(w, i, a, step, true);
    u32 v = 0;
    if (i.bytes >= 4)
      std::memcpy(w.wg->lds.data() + a, data[l], i.bytes);
    else {
      std::memcpy(&v, data[l], i.bytes);
      if (i.sext) v = static_cast<u32>(sign_extend(v, 8 * i.bytes));
      std::memcpy(w.wg->lds.data() + a, &v, 4);
    }
  }
  if (w.launch->stats) log_lds(w, i, 0, true, step, lanes, addr);
  if (w.launch->waits) issue(w, i, lanes, addr, nullptr, step, false, true, true);
}

// One lane's access; `p` is host memory.
void access(wave& w, const inst& i, u32 l, u8* p, u8* loaded) {
  if (i.atomic) {
    u64 o = 0, d = 0, cmp = 0;
    std::memcpy(&o, p, i.bytes);
    reg_to_mem(w, i, i.data, l, reinterpret_cast<u8*>(&d));
    if (i.op == at_cmpswap) {
      operand c = i.data;
      c.reg = static_cast<u16>(c.reg + i.bytes / 4);
      reg_to_mem(w, i, c, l, reinterpret_cast<u8*>(&cmp));
    }
    const u64 r = atomic_result(i.op, i.bytes, o, d, cmp);
    std::memcpy(p, &r, i.bytes);
    if (i.ret) std::memcpy(loaded, &o, i.bytes);
  } else if (i.store) {
    reg_to_mem(w, i, i.data, l, p);
  } else {
    std::memcpy(loaded, p, i.bytes);
  }
}
// Transposing loads of gfx12: 8 lanes read 8 rows of 8 elements, and each receives a column.
void transpose_eights(u32 lanes, u8 (*data)[16]) {
  u16 rows[8][8], columns[8][8];
  for (u32 first = 0; first < lanes; first += 8) {
    std::memcpy(rows, data[first], sizeof rows);
    for (u32 l = 0; l < 8; ++l)
      for (u32 j = 0; j < 8; ++j) columns[l][j] = rows[j][l];
    std::memcpy(data[first], columns, sizeof columns);
  }
}
void finish(wave& w, const inst& i, u64 lanes, u8 (*data)[16]) {
  if (i.tr) transpose_eights(w.lanes, data);
  if (i.lds) return deposit(w, i, lanes, data);
  if (!i.store && (!i.atomic || i.ret))
    for (u64 m = lanes; m; m &= m - 1)
      mem_to_reg(w, i, i.dst[0], 0, static_cast<u32>(std::countr_zero(m)), data[std::countr_zero(m)]);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}
u8* scratch_at(wave& w, const inst& i, u32 l, u64 a) {
  if (a + i.bytes > w.launch->scratch_bytes)
    w.die(i,
          "scratch access outside of the " + std::to_string(w.launch->scratch_bytes) + " bytes of a lane at " + hex(a),
          static_cast<int>(l));
  return w.scratch.data() + static_cast<u64>(l) * w.launch->scratch_bytes + a;
}
u8* lds_at(wave& w, const inst& i, u32 l, u64 a) {
  if (a + i.bytes > w.wg->lds_size)
    w.die(i, "flat access outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(a),
          static_cast<int>(l));
  if (w.wg->dma_bytes) dma_check(w, i, static_cast<u32>(a), i.bytes, l);
  if (w.launch->race && !i.atomic) race_check(w, i, static_cast<u32>(a), i.bytes, i.store);
  return w.wg->lds.data() + a;
}
u8* global_at(wave& w, const inst& i, u32 l, u64 a, u32 n) {
  if (!w.launch->in_range(a, n))
    w.die(i,
          std::string(i.store    ? "store"
                      : i.atomic ? "atomic"
                                 : "load") +
              " outside of all buffers at " + hex(a),
          static_cast<int>(l));
  if (i.atomic && a % n) w.die(i, "misaligned atomic at " + hex(a), static_cast<int>(l));
  return reinterpret_cast<u8*>(a);
}
void flat_access(wave& w, const inst& i) {
  const u64 lanes = w.exec();
  u8 data[64][16];
  if (i.tr) std::memset(data, 0, sizeof data);  // inactive lanes
  const u64 sbase =
      i.saddr.kind == operand::sgpr && i.saddr.reg != s_null ? (i.x == scratch ? w.rs32(i.saddr) : w.rs64(i.saddr)) : 0;
  u64 in_lds = 0;
  u32 lds_addr[64];
  const u32 *lo = i.vaddr.is_vgpr() ? w.v(i.vaddr.reg) : nullptr,
            *hi = i.vaddr.count == 2 ? w.v(i.vaddr.reg + 1) : nullptr;
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    u64 a = sbase + static_cast<u64>(static_cast<i64>(i.offset));
    if (lo) a += lo[l] | (hi ? static_cast<u64>(hi[l]) << 32 : 0);
    u8* p;
    if (i.x == scratch)
      p = scratch_at(w, i, l, a & 0xffffffff);
    else if (i.x == flat && a >> 32 == 0x10000)
      p = lds_at(w, i, l, a & 0xffffffff), in_lds |= 1ull << l, lds_addr[l] = static_cast<u32>(a);
    else if (i.x == flat && a >> 32 == 0x20000)
      p = scratch_at(w, i, l, a & 0xffffffff);
    else
      p = global_at(w, i, l, a, i.bytes);
    access(w, i, l, p, data[l]);
  }
  if (in_lds && w.launch->stats) log_lds(w, i, 0, i.store, i.bytes, in_lds, lds_addr);
  finish(w, i, lanes, data);
}
void buffer_access(wave& w, const inst& i) {
  const u64 lanes = w.exec();
  u8 data[64][16];
  const u32* d = w.s + i.rsrc.reg;
  const bool g9 = w.fam == family::gfx9;
  const u64 base = d[0] | static_cast<u64>(d[1] & 0xffff) << 32;
  u32 stride = d[1] >> 16 & 0x3fff;
  const u32 records = d[2], swizzle = g9 ? d[1] >> 31 : d[1] >> 30 & 3, add_tid = d[3] >> 23 & 1, so = w.rs32(i.soff);
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
      switch (d[3] >> 28 & 3) {
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
        std::memset(data[l], 0, i.bytes);
      continue;
    }
    const u32 step = std::min<u32>(i.bytes, 4);
    if (!outside(0, i.bytes)) {
      access(w, i, l, global_at(w, i, l, a, i.bytes), data[l]);
      continue;
    }
    u8 tmp[16] = {};
    if (i.store) reg_to_mem(w, i, i.data, l, tmp);
    for (u32 k = 0; k < i.bytes; k += step) {
      if (outside(k, step)) {
        std::memset(data[l] + k, 0, step);
        continue;
      }
      u8* p = global_at(w, i, l, a + k, step);
      if (i.store)
        std::memcpy(p, tmp + k, step);
      else
        std::memcpy(data[l] + k, p, step);
    }
  }
  finish(w, i, lanes, data);
}
}  // namespace

std::string hex(u64 v) {
  char b[32];
  std::snprintf(b, sizeof b, "0x%llx", static_cast<unsigned long long>(v));
  return b;
}

bool bind_memory(inst& i, const code_object& co) {
  std::string n = i.name;
  const auto eat = [&](const char* p) {
    if (n.rfind(p, 0)) return false;
    n = n.substr(std::string_view(p).size());
    return true;
  };
  const bool g9 = co.fam == family::gfx9;
  if (eat("s_")) {
    i.x = eat("buffer_");
    if (!eat("load_")) return false;
    static const std::unordered_map<std::string, int> sizes{
        {"dword", 1}, {"dwordx2", 2}, {"dwordx4", 4}, {"dwordx8", 8}, {"dwordx16", 16}, {"b32", 1},
        {"b64", 2},   {"b96", 3},     {"b128", 4},    {"b256", 8},    {"b512", 16}};
    i.bytes = 4;
    if (auto it = sizes.find(n); it != sizes.end())
      i.y = it->second;
    else if (n == "u8" || n == "i8" || n == "u16" || n == "i16")
      i.bytes = n[1] == '8' ? 1 : 2, i.sext = n[0] == 'i', i.y = 1;
    else
      return false;
    if (i.ops.size() < 3) throw std::runtime_error("unexpected number of operands");
    i.ndst = 1, i.dst[0] = i.ops[0], i.src[0] = i.ops[1], i.soff = i.ops[2];
    if (i.soff.kind != operand::sgpr) i.offset += static_cast<i32>(i.soff.bits), i.soff = operand();
    i.fn = &scalar_load, i.is_load = true, i.cnt = co.fam == family::gfx12 ? c_km : c_lgkm, i.order = 0;
    return true;
  }
  i.cnt = c_vm, i.order = 1;
  if (n.find("_inv") != n.npos || n.find("_wb") != n.npos) {
    i.fn = &no_operation, i.cnt = c_none;
    return true;
  }
  i.x = eat("global_") ? global : eat("scratch_") ? scratch : eat("flat_") ? flat : eat("buffer_") ? buffer : -1;
  if (i.x < 0) return false;
  if (n.rfind("prefetch", 0) == 0) return i.fn = &no_operation, i.cnt = c_none, true;
  const counter lds_counter = co.fam == family::gfx12 ? c_ds : c_lgkm;
  if (i.x == flat)
    i.order = g9 ? 0 : 1, i.cnt2 = lds_counter, i.order2 = g9 ? 0 : 2;  // flat counts as both, in order since gfx10
  if (eat("load_")) {
    if (eat("lds_")) i.lds = true;
    if (n == "tr_b64") throw std::runtime_error("which lane receives what is not known for 8-bit elements");
    if (eat("tr_")) i.tr = 16;
    if (!parse_shape(i, n, false)) return false;
    i.is_load = true;
  } else if (eat("store_")) {
    if (!parse_shape(i, n, true)) return false;
    i.store = true;
    if (!g9) i.cnt = i.x == flat ? lds_counter : c_none, i.order = 2, i.cnt2 = c_none;
  } else if (eat("atomic_")) {
    if (!parse_atomic(i, n)) return false;
    i.atomic = true;
  } else {
    return false;
  }
  auto o = i.ops.begin();
  const auto take = [&](operand& d) {
    if (o == i.ops.end()) throw std::runtime_error("too few operands");
    d = *o++;
  };
  if (i.x == buffer) {
    i.ret = i.atomic && i.glc;
    if (!i.lds) take(i.data);
    take(i.vaddr), take(i.rsrc), take(i.soff);
    if (!i.store && !i.lds && (!i.atomic || i.ret)) i.dst[0] = i.data, i.ndst = 1;
    if (i.atomic && i.op == at_cmpswap && i.ret) i.dst[0].count = static_cast<u8>(i.bytes / 4);
    i.fn = &buffer_access;
  } else {
    i.ret = i.atomic && i.ops.size() == (i.x == flat ? 3u : 4u);
    if (((!i.store && !i.atomic) || i.ret) && !i.lds) take(i.dst[0]), i.ndst = 1;
    take(i.vaddr);
    if (i.store || i.atomic) take(i.data);
    if (i.x != flat) take(i.saddr);
    i.fn = &flat_access;
  }
  if (o != i.ops.end()) throw std::runtime_error("too many operands");
  if (i.atomic) {
    i.is_load = i.ret;
    if (!g9 && !i.ret) i.cnt = i.x == flat ? lds_counter : c_none, i.order = 2, i.cnt2 = c_none;
  }
  return true;
}
}  // namespace emu
