// SPDX-License-Identifier: MIT
// Operands and text of one instruction.
#include <cstdlib>
#include <map>

#include "decode_text.hpp"

namespace emu {
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
  if (c0 == 'v' && digit && reg(s.substr(1), 0, operand::vgpr)) {
    if (o.reg + o.count > 512) throw std::runtime_error("registers from v512 on are not implemented");
    return o;
  }
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
}  // namespace emu
