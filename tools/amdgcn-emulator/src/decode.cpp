// SPDX-License-Identifier: MIT
// Disassembly by llvm-objdump, and the parsing of its text into `inst`.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "inst.hpp"

namespace emu {
namespace {
std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\n' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}
// Splits at `sep` outside of brackets.
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
i64 num(std::string_view s) {
  i64 v = 0;
  if (!number(s, v)) throw std::runtime_error("number '" + std::string(s) + "' not understood");
  return v;
}
bool starts(std::string_view s, std::string_view p) { return s.substr(0, p.size()) == p; }

// [a,b,c] -> bits, first entry in bit 0
u32 bit_list(std::string_view s, u8* n = nullptr) {
  u32 r = 0, k = 0;
  for (auto t : split(s.substr(1, s.size() - 2), ',')) r |= (num(t) & 1) << k++;
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

// True when `m` is a modifier that was understood (or is known to have no effect here).
bool modifier(inst& i, std::string_view m) {
  static const char* const plain[] = {"nt", "sc1", "slc", "dlc", "gds", "tfe", "lwe", "scc", "r128"};
  if (m == "sc0" || m == "glc") return i.glc = true;
  if (m == "lds") return i.lds = true;
  if (m == "offen") return i.offen = true;
  if (m == "idxen") return i.idxen = true;
  if (m == "clamp") return i.clamp = true;
  if (m == "row_mirror") return i.dpp = true, i.dpp_ctrl = 0x140, true;
  if (m == "row_half_mirror") return i.dpp = true, i.dpp_ctrl = 0x141, true;
  for (auto p : plain)
    if (m == p) return m != "gds" && m != "tfe" && m != "lwe";
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
  if (k == "offset0") return i.offset0 = static_cast<i32>(num(v)), true;
  if (k == "offset1") return i.offset1 = static_cast<i32>(num(v)), true;
  if (k == "op_sel") return i.op_sel = static_cast<u8>(bit_list(v, &i.op_sel_n)), true;
  if (k == "op_sel_hi") return i.op_sel_hi = static_cast<u8>(bit_list(v)), true;
  if (k == "neg_lo") return i.neg_lo = static_cast<u8>(bit_list(v)), true;
  if (k == "neg_hi") return i.neg_hi = static_cast<u8>(bit_list(v)), true;
  if (k == "neg") return i.neg_lo = static_cast<u8>(bit_list(v)), true;
  if (k == "mul") return i.omod = v == "2" ? 1 : 2, true;
  if (k == "div") return i.omod = 3, true;
  if (k == "cbsz") return i.cbsz = static_cast<u8>(num(v)), true;
  if (k == "abid") return i.abid = static_cast<u8>(num(v)), true;
  if (k == "blgp") return i.blgp = static_cast<u8>(num(v)), true;
  if (k == "byte_sel") return i.byte_sel = static_cast<u8>(num(v)), true;
  if (k == "bitop3") return i.x = static_cast<i32>(num(v)), true;
  if (k == "th") return i.glc |= v == "TH_ATOMIC_RETURN" || v.find("ATOMIC_RETURN") != v.npos, true;
  if (k == "scope" || k == "wait_exp" || k == "wait_vdst" || k == "wait_va_vdst" || k == "wait_vm_vsrc") return true;
  if (k == "dst_sel") return i.sdwa = true, i.dst_sel = sdwa_sel(v), true;
  if (k == "dst_unused") return i.sdwa = true, i.dst_unused = v == "UNUSED_PAD" ? 0 : v == "UNUSED_SEXT" ? 1 : 2, true;
  if (k == "src0_sel") return i.sdwa = true, i.sel0 = sdwa_sel(v), true;
  if (k == "src1_sel") return i.sdwa = true, i.sel1 = sdwa_sel(v), true;
  if (k == "row_mask") return i.row_mask = static_cast<u8>(num(v)), true;
  if (k == "bank_mask") return i.bank_mask = static_cast<u8>(num(v)), true;
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

void parse_text(inst& i, std::string_view text) {
  const auto sp = text.find_first_of(" \t");
  i.mnemonic = std::string(text.substr(0, sp));
  std::string_view rest = sp == text.npos ? std::string_view() : trim(text.substr(sp));
  const std::string& m = i.mnemonic;
  if (starts(m, "s_delay_alu") || starts(m, "s_waitcnt_depctr") || starts(m, "s_wait_alu") || starts(m, "s_sendmsg") ||
      starts(m, "s_setreg") || starts(m, "s_getreg")) {
    const auto args = split(rest, ',');
    for (auto a : args) {
      bool ok;
      i.mods.emplace_back(a);
      i.ops.push_back(parse_operand(a, ok));
    }
    return;
  }
  auto args = split(rest, ',');
  if (!args.empty()) {  // modifiers trail the last operand, separated by blanks
    const auto words = split(args.back(), ' ');
    args.pop_back();
    bool first = true;
    for (auto w : words) {
      bool ok = false;
      if (first) {
        parse_operand(w, ok);
        if (ok) args.push_back(w);
      }
      if (!ok && !modifier(i, w)) throw std::runtime_error("operand or modifier '" + std::string(w) + "' is not known");
      first = false;
    }
  }
  for (auto a : args) {
    bool ok = false;
    operand o = parse_operand(a, ok);
    if (!ok && modifier(i, a)) continue;
    if (!ok) throw std::runtime_error("operand '" + std::string(a) + "' is not known");
    i.ops.push_back(o);
  }
}
}  // namespace

operand parse_operand(std::string_view s, bool& ok) {
  operand o;
  ok = true;
  if (starts(s, "-") && s.size() > 1 && !(s[1] >= '0' && s[1] <= '9')) o.neg = true, s.remove_prefix(1);
  if (starts(s, "neg(")) o.neg = true, s = s.substr(4, s.size() - 5);
  if (starts(s, "sext(")) o.sext = true, s = s.substr(5, s.size() - 6);
  if (s.size() > 2 && s[0] == '|' && s.back() == '|') o.abs = true, s = s.substr(1, s.size() - 2);
  if (starts(s, "lit(") || starts(s, "lit64(")) s = s.substr(s.find('(') + 1), s.remove_suffix(1);
  const auto reg = [&](std::string_view t, u16 base, operand::kind_t kind) {
    if (t.empty()) return false;
    o.kind = kind;
    i64 a, b;
    if (t[0] == '[') {
      const auto c = t.find(':');
      if (t.back() != ']') return false;
      t = t.substr(1, t.size() - 2);
      if (c == t.npos + 0 || c > t.size()) {
        if (!number(t, a)) return false;
        b = a;
      } else if (!number(t.substr(0, c - 1), a) || !number(t.substr(c), b)) {
        return false;
      }
    } else {
      if (t.size() > 2 && t[t.size() - 2] == '.') o.half = t.back() == 'h' ? 2 : 1, t.remove_suffix(2);
      if (!number(t, a)) return false;
      b = a;
    }
    o.reg = static_cast<u16>(base + a), o.count = static_cast<u8>(b - a + 1);
    return true;
  };
  if (s.empty()) return ok = false, o;
  const char c0 = s[0], c1 = s.size() > 1 ? s[1] : 0;
  const bool digit = (c1 >= '0' && c1 <= '9') || c1 == '[';
  if (c0 == 'v' && digit && reg(s.substr(1), 0, operand::vgpr)) return o;
  if (c0 == 'a' && digit && reg(s.substr(1), first_agpr, operand::vgpr)) return o;
  if (c0 == 's' && digit && reg(s.substr(1), 0, operand::sgpr)) return o;
  if (starts(s, "ttmp") && reg(s.substr(4), s_ttmp, operand::sgpr)) return o;
  struct named {
    u16 reg;
    u8 count;
  };
  static const std::map<std::string_view, named> names{{"vcc", {s_vcc, 2}},
                                                       {"vcc_lo", {s_vcc, 1}},
                                                       {"vcc_hi", {s_vcc + 1, 1}},
                                                       {"exec", {s_exec, 2}},
                                                       {"exec_lo", {s_exec, 1}},
                                                       {"exec_hi", {s_exec + 1, 1}},
                                                       {"m0", {s_m0, 1}},
                                                       {"null", {s_null, 1}},
                                                       {"flat_scratch", {s_flat_scratch, 2}},
                                                       {"flat_scratch_lo", {s_flat_scratch, 1}},
                                                       {"flat_scratch_hi", {s_flat_scratch + 1, 1}},
                                                       {"xnack_mask", {s_xnack, 2}},
                                                       {"xnack_mask_lo", {s_xnack, 1}},
                                                       {"xnack_mask_hi", {s_xnack + 1, 1}},
                                                       {"scc", {s_scc, 1}},
                                                       {"src_scc", {s_scc, 1}},
                                                       {"vccz", {s_vccz, 1}},
                                                       {"src_vccz", {s_vccz, 1}},
                                                       {"execz", {s_execz, 1}},
                                                       {"src_execz", {s_execz, 1}}};
  if (auto it = names.find(s); it != names.end()) {
    o.kind = operand::sgpr, o.reg = it->second.reg, o.count = it->second.count;
    return o;
  }
  static const std::map<std::string_view, u64> apertures{{"src_shared_base", 0x10000ull << 32},
                                                         {"src_private_base", 0x20000ull << 32},
                                                         {"src_shared_limit", 0x1ffffffffffffull},
                                                         {"src_private_limit", 0x2ffffffffffffull}};
  if (auto it = apertures.find(s); it != apertures.end())
    return o.kind = operand::constant, o.bits = it->second, o.count = 2, o;
  if (s == "off") return o.kind = operand::off, o;
  i64 v;
  if (number(s, v)) {
    o.kind = starts(s, "0x") ? operand::literal : operand::constant;
    o.bits = static_cast<u64>(v);
    return o;
  }
  if ((c0 >= '0' && c0 <= '9') || c0 == '-') {
    const std::string t(s);
    char* e;
    o.value = std::strtod(t.c_str(), &e);
    if (*e == 0) return o.kind = operand::fconst, o;
  }
  return ok = false, o;
}

program decode(code_object& co) {
  const auto quote = [](const std::string& t) {
    std::string q = "'";
    for (char c : t) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return q + "'";
  };
  const char* env = std::getenv("AMDGCN_OBJDUMP");
  const std::string tool = env ? env : "llvm-objdump";
  const std::string run =
      env ? quote(tool) : "$(command -v llvm-objdump-22 || command -v llvm-objdump || echo llvm-objdump)";
  const std::string cmd = run + " -d -z --mcpu=" + co.target +
                          (co.fam != family::gfx9 && !co.wave32 ? " --mattr=-wavefrontsize32,+wavefrontsize64 " : " ") +
                          quote(co.path) + " 2>&1";
  FILE* f = popen(cmd.c_str(), "r");
  if (!f) throw std::runtime_error("cannot run " + tool);
  program p;
  p.index.assign((co.text_hi - co.text_lo) / 4 + 1, ~0u);
  std::string line, first;
  char buf[4096];
  while (std::fgets(buf, sizeof buf, f)) {
    line = buf;
    if (first.empty()) first = std::string(trim(line));
    if (line.empty() || line[0] != '\t') continue;
    const auto c = line.rfind("// ");
    if (c == line.npos) continue;
    inst i;
    std::string_view rest = std::string_view(line).substr(c + 3);
    const auto colon = rest.find(':');
    if (colon == rest.npos) continue;
    i.address = static_cast<u64>(std::strtoull(std::string(rest.substr(0, colon)).c_str(), nullptr, 16));
    u32 n = 0;
    for (auto w : split(rest.substr(colon + 1), ' ')) {
      if (w.size() != 8 || n >= 4) break;
      const u32 v = static_cast<u32>(std::strtoul(std::string(w).c_str(), nullptr, 16));
      if (n < 3) i.raw[n] = v;
      ++n;
    }
    i.size = 4 * std::max(n, 1u);
    const std::string_view text = trim(std::string_view(line).substr(0, c));
    i.text = std::string(text);
    try {
      if (auto d = text.find(" :: "); d != text.npos) {
        inst a = i, b = i;
        parse_text(a, trim(text.substr(0, d)));
        parse_text(b, trim(text.substr(d + 4)));
        i.mnemonic = a.mnemonic;
        bind(a, co), bind(b, co);
        i.dual = {a, b};
      } else {
        parse_text(i, text);
      }
      bind(i, co);
    } catch (const std::exception& e) {
      i.error = e.what();
    }
    if (i.address < co.text_lo || i.address >= co.text_hi) continue;
    p.index[(i.address - co.text_lo) / 4] = static_cast<u32>(p.code.size());
    p.code.push_back(std::move(i));
  }
  if (pclose(f) != 0 || p.code.empty())
    throw std::runtime_error("'" + tool + "' could not disassemble '" + co.path + "': " + first +
                             " (set AMDGCN_OBJDUMP to an llvm-objdump that knows " + co.target + ")");
  for (u32 k = 0; k < p.code.size(); ++k) {
    inst& i = p.code[k];
    const u64 na = (i.address + i.size - co.text_lo) / 4;
    i.next = na < p.index.size() ? p.index[na] : ~0u;
    if (starts(i.mnemonic, "s_cbranch") || i.mnemonic == "s_branch" || i.mnemonic == "s_call_b64") {
      const u64 t = (i.address + 4 + 4 * sign_extend(i.raw[0] & 0xffff, 16) - co.text_lo) / 4;
      i.target = t < p.index.size() && p.index[t] != ~0u ? static_cast<i64>(p.index[t]) : -1;
    }
  }
  return p;
}
}  // namespace emu
