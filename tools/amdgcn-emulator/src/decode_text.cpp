// SPDX-License-Identifier: MIT
// Modifiers of instructions.
#include "decode_text.hpp"

#include <charconv>
#include <map>

namespace emu {
std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\n' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}
std::vector<std::string_view> split(std::string_view s, char sep) {
  std::vector<std::string_view> r;
  int depth = 0;
  std::size_t b = 0;
  for (std::size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || (s[i] == sep && !depth)) {
      if (auto t = trim(s.substr(b, i - b)); !t.empty()) r.push_back(t);
      b = i + 1;
    } else if (s[i] == '(' || s[i] == '[') {
      ++depth;
    } else if (s[i] == ')' || s[i] == ']') {
      --depth;
    }
  }
  return r;
}
bool number(std::string_view s, i64& v) {
  bool neg = false;
  if (!s.empty() && s[0] == '-') neg = true, s.remove_prefix(1);
  int base = 10;
  if (s.size() > 2 && s[0] == '0' && s[1] == 'x') base = 16, s.remove_prefix(2);
  u64 u = 0;
  auto [p, e] = std::from_chars(s.data(), s.data() + s.size(), u, base);
  if (e != std::errc() || p != s.data() + s.size()) return false;
  v = neg ? -static_cast<i64>(u) : static_cast<i64>(u);
  return true;
}
bool starts(std::string_view s, std::string_view p) { return s.substr(0, p.size()) == p; }

namespace {
i64 num(std::string_view s) {
  i64 v = 0;
  if (!number(s, v)) throw std::runtime_error("number '" + std::string(s) + "' not understood");
  return v;
}
// [a,b,c] -> bits, first entry in bit 0
u32 bit_list(std::string_view s, u8* n = nullptr) {
  u32 r = 0, k = 0;
  for (auto t : split(s.substr(1, s.size() - 2), ',')) r |= static_cast<u32>(num(t) & 1) << k++;
  if (n) *n = static_cast<u8>(k);
  return r;
}
u8 sdwa_sel(std::string_view s) {
  if (starts(s, "BYTE_")) return static_cast<u8>(s[5] - '0');
  return s == "WORD_0" ? 4 : s == "WORD_1" ? 5 : 6;
}
int wait_index(std::string_view n) {
  static const std::map<std::string_view, int> m{{"vmcnt", c_vm},      {"loadcnt", c_vm}, {"lgkmcnt", c_lgkm},
                                                 {"dscnt", c_ds},      {"kmcnt", c_km},   {"vscnt", c_store},
                                                 {"storecnt", c_store}};
  auto it = m.find(n);
  return it == m.end() ? -1 : it->second;
}

// Modifiers that are one word.
bool plain_modifier(inst& i, std::string_view m) {
  static const char* const plain[] = {
      "nt", "sc1", "slc", "dlc", "gds", "tfe", "lwe", "scc", "r128", "nv", "matrix_a_reuse", "matrix_b_reuse"};
  if (m == "sc0" || m == "glc") return i.glc = true;
  if (m == "lds") return i.lds = true;
  if (m == "scale_offset") return i.scales_offset = true;
  if (m == "offen") return i.offen = true;
  if (m == "idxen") return i.idxen = true;
  if (m == "clamp") return i.clamp = true;
  if (m == "row_mirror") return i.dpp = true, i.dpp_ctrl = 0x140, true;
  if (m == "row_half_mirror") return i.dpp = true, i.dpp_ctrl = 0x141, true;
  for (auto p : plain)
    if (m == p) return (m != "gds" || i.mnemonic.starts_with("ds_gws_")) && m != "tfe" && m != "lwe";
  return false;
}
// Modifiers whose value is a number or a list of bits.
bool number_modifier(inst& i, std::string_view k, std::string_view v) {
  static const std::map<std::string_view, i32 inst::*> numbers{
      {"offset0", &inst::offset0}, {"offset1", &inst::offset1}, {"bitop3", &inst::x}};
  static const std::map<std::string_view, u8 inst::*> small{
      {"cbsz", &inst::cbsz},         {"abid", &inst::abid},         {"blgp", &inst::blgp},
      {"byte_sel", &inst::byte_sel}, {"row_mask", &inst::row_mask}, {"bank_mask", &inst::bank_mask}};
  static const std::map<std::string_view, u8 inst::*> lists{
      {"op_sel_hi", &inst::op_sel_hi}, {"neg_lo", &inst::neg_lo}, {"neg_hi", &inst::neg_hi}, {"neg", &inst::neg_lo}};
  if (auto it = numbers.find(k); it != numbers.end()) return i.*it->second = static_cast<i32>(num(v)), true;
  if (auto it = small.find(k); it != small.end()) return i.*it->second = static_cast<u8>(num(v)), true;
  if (auto it = lists.find(k); it != lists.end()) return i.*it->second = static_cast<u8>(bit_list(v)), true;
  return false;
}
// Operands of WMMA with formats and scales (gfx1250): offset0 of A and offset1 of B are the format of its scales times
// two, plus one where lanes 16-31 have them.
bool matrix_modifier(inst& i, std::string_view k, std::string_view v) {
  static const std::map<std::string_view, i32> values{
      {"MATRIX_FMT_FP8", 0},        {"MATRIX_FMT_BF8", 1},       {"MATRIX_FMT_FP6", 2},    {"MATRIX_FMT_BF6", 3},
      {"MATRIX_FMT_FP4", 4},        {"MATRIX_SCALE_ROW0", 0},    {"MATRIX_SCALE_ROW1", 1}, {"MATRIX_SCALE_FMT_E8", 0},
      {"MATRIX_SCALE_FMT_E5M3", 2}, {"MATRIX_SCALE_FMT_E4M3", 4}};
  const auto it = values.find(v);
  if (it == values.end() || (!starts(k, "matrix_a_") && !starts(k, "matrix_b_"))) return false;
  const bool b = k[7] == 'b';
  if (k.substr(9) == "fmt") return (b ? i.blgp : i.cbsz) = static_cast<u8>(it->second), true;
  return (b ? i.offset1 : i.offset0) |= it->second, true;
}
// DPP and SDWA.
bool lane_modifier(inst& i, std::string_view k, std::string_view v) {
  if (k == "dst_sel") return i.sdwa = true, i.dst_sel = sdwa_sel(v), true;
  if (k == "dst_unused") return i.sdwa = true, i.dst_unused = v == "UNUSED_PAD" ? 0 : v == "UNUSED_SEXT" ? 1 : 2, true;
  if (k == "src0_sel") return i.sdwa = true, i.sel0 = sdwa_sel(v), true;
  if (k == "src1_sel") return i.sdwa = true, i.sel1 = sdwa_sel(v), true;
  if (k == "bound_ctrl") return i.bound_ctrl = true;
  if (k == "fi") return i.fi = num(v) != 0, true;
  if (k == "quad_perm") {
    u32 c = 0, n = 0;
    for (auto t : split(v.substr(1, v.size() - 2), ',')) c |= static_cast<u32>(num(t)) << 2 * n++;
    return i.dpp = true, i.dpp_ctrl = static_cast<u16>(c), true;
  }
  if (k == "dpp8") {
    u32 c = 0, n = 0;
    for (auto t : split(v.substr(1, v.size() - 2), ',')) c |= static_cast<u32>(num(t)) << 3 * n++;
    return i.dpp = true, i.dpp_ctrl = 0xfff, i.dpp8 = c, true;
  }
  static const std::map<std::string_view, int> dpp{{"row_shl", 0x100},   {"row_shr", 0x110},      {"row_ror", 0x120},
                                                   {"row_share", 0x150}, {"row_newbcast", 0x150}, {"row_xmask", 0x160}};
  if (auto it = dpp.find(k); it != dpp.end())
    return i.dpp = true, i.dpp_ctrl = static_cast<u16>(it->second | num(v)), true;
  static const std::map<std::string_view, int> wdpp{
      {"wave_shl", 0x130}, {"wave_rol", 0x134}, {"wave_shr", 0x138}, {"wave_ror", 0x13c}};
  if (auto it = wdpp.find(k); it != wdpp.end()) return i.dpp = true, i.dpp_ctrl = static_cast<u16>(it->second), true;
  if (k == "row_bcast") return i.dpp = true, i.dpp_ctrl = num(v) == 15 ? 0x142 : 0x143, true;
  return false;
}
}  // namespace

bool modifier(inst& i, std::string_view m) {
  if (plain_modifier(i, m)) return true;
  if (auto par = m.find('('); par != m.npos && m.back() == ')') {
    const auto name = m.substr(0, par), arg = m.substr(par + 1, m.size() - par - 2);
    if (int w = wait_index(name); w >= 0) return i.wait[w] = static_cast<i32>(num(arg)), true;
    if (name == "expcnt" || name == "gpr_idx") return true;
  }
  const auto colon = m.find(':');
  if (colon == m.npos) return false;
  const auto k = m.substr(0, colon), v = m.substr(colon + 1);
  if (k == "offset") {
    if (starts(v, "swizzle(")) return i.offset = static_cast<i32>(i.raw[0] & 0xffff), true;
    return i.offset = static_cast<i32>(num(v)), true;
  }
  if (k == "op_sel") return i.op_sel = static_cast<u8>(bit_list(v, &i.op_sel_n)), true;
  if (k == "mul") return i.omod = v == "2" ? 1 : 2, true;
  if (k == "div") return i.omod = 3, true;
  if (k == "th") return i.glc |= v == "TH_ATOMIC_RETURN" || v.find("ATOMIC_RETURN") != v.npos, true;
  if (k == "scope" || k == "wait_exp" || k == "wait_vdst" || k == "wait_va_vdst" || k == "wait_vm_vsrc") return true;
  return number_modifier(i, k, v) || lane_modifier(i, k, v) || matrix_modifier(i, k, v);
}
}  // namespace emu
