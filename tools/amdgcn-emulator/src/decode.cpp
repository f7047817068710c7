// SPDX-License-Identifier: MIT
// Disassembly by llvm-objdump.
#include <cstdio>
#include <cstdlib>

#include "decode_text.hpp"

namespace emu {
namespace {
// gfx1250: "v3 /*v259*/", where s_set_vgpr_msb gives the upper bits of a register's number, becomes "v259".
std::string with_whole_registers(std::string text) {
  for (auto open = text.find(" /*v"); open != text.npos; open = text.find(" /*v")) {
    const auto start = text.find_last_of(" |-(", open - 1) + 1, close = text.find("*/", open);
    text = text.substr(0, start) + text.substr(open + 3, close - open - 3) + text.substr(close + 2);
  }
  return text;
}
}  // namespace

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
  FILE* f = popen(("LD_PRELOAD= " + cmd).c_str(), "r");  // what a checker preloads is for the program
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
    i.text = with_whole_registers(std::string(trim(std::string_view(line).substr(0, c))));
    const std::string_view text = i.text;
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
