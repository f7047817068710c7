// SPDX-License-Identifier: MIT
// What memory instructions do with values: registers to bytes and back, atomic operations, the shapes in their names.
#include <unordered_map>

#include "memory.hpp"
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
std::string hex(u64 v) {
  char b[32];
  std::snprintf(b, sizeof b, "0x%llx", static_cast<unsigned long long>(v));
  return b;
}
}  // namespace emu
