// SPDX-License-Identifier: MIT
// Two checks: results of memory instructions used before an s_wait* allows it, and LDS accesses that no barrier orders.
#include <map>

#include "memory.hpp"

namespace emu {
namespace {
constexpr u16 scalar_base = 1024;
void add(inst& i, const operand& o, bool write) {
  if (o.kind == operand::vgpr)
    i.regs.push_back({o.reg, o.count, write});
  else if (o.kind == operand::sgpr && o.reg < 128 && o.reg != s_null)
    i.regs.push_back({static_cast<u16>(scalar_base + o.reg), o.count, write});
}
std::string reg_name(u32 r) {
  if (r < 256) return "v" + std::to_string(r);
  if (r < 512) return "a" + std::to_string(r - 256);
  r -= scalar_base;
  return r < 106 ? "s" + std::to_string(r) : r < 108 ? "vcc" : r == s_m0 ? "m0" : "ttmp" + std::to_string(r - s_ttmp);
}
void mark(wave& w, const inst& i, int delta) {
  if (!i.is_load || i.lds) return;
  const operand& d = i.dst[0];
  for (u32 k = 0; k < d.count; ++k) {
    if (d.kind == operand::vgpr)
      w.vbusy[d.reg + k] = static_cast<u8>(w.vbusy[d.reg + k] + delta);
    else if (d.reg + k < 128)
      w.sbusy[d.reg + k] = static_cast<u8>(w.sbusy[d.reg + k] + delta);
  }
}
template <class F>
void each_byte_range(const pending& p, F f) {
  for (u32 t = 0; t < p.nlds; ++t)
    for (u64 m = p.lanes; m; m &= m - 1) f(p.lds_addr[t][std::countr_zero(m)], p.lds_bytes);
}
void stamp(wave& w, u32 a, u32 n, bool write, u64 epoch) {
  const u32 me = w.id + 1, mine = static_cast<u32>(epoch << 8) | me;
  u32* s = (write ? w.wg->sw : w.wg->sr).data() + a;
  for (u32 k = 0; k < n; ++k) {
    if (write || s[k] >> 8 < epoch)
      s[k] = mine;
    else if ((s[k] & 255) != me && s[k] >> 8 == epoch)
      s[k] |= 255;
  }
}
void complete(wave& w, pending& p) {
  mark(w, *p.i, -1);
  if (!p.dma) return;
  each_byte_range(p, [&](u32 a, u32 n) {
    for (u32 k = 0; k < n; ++k)
      if (--w.wg->dma[a + k] == 0) --w.wg->dma_bytes;
    if (w.launch->race) stamp(w, a, n, true, w.signals);
  });
}
// Completes what must have returned when no counter is above `want` (-1: no bound).
void retire(wave& w, const std::array<i32, 5>& want) {
  i32 later[5][4] = {};
  bool any = false;
  for (auto p = w.queue.rbegin(); p != w.queue.rend(); ++p) {
    // With n operations left, one of an in-order class is done when n later ones of its class exist.
    const auto reached = [&](counter c, u8 order) {
      return order ? later[c][order]++ >= want[c] && want[c] >= 0 : want[c] == 0;
    };
    if (!p->done1) p->done1 = reached(p->cnt, p->order);
    if (!p->done2) p->done2 = reached(p->partner, p->order2);
    any |= p->done1 && p->done2;
  }
  if (!any) return;
  for (pending& p : w.queue)
    if (p.done1 && p.done2) complete(w, p);
  std::erase_if(w.queue, [](const pending& p) { return p.done1 && p.done2; });
}
// What the counters can hold: an instruction that would exceed it waits until earlier ones have returned.
std::array<i32, 5> counter_limits(family fam) {
  if (fam == family::gfx9) return {63, 15, -1, -1, -1};
  if (fam == family::gfx12) return {63, -1, 63, 31, 63};
  return {63, 63, -1, -1, 63};
}
}  // namespace

void collect_regs(inst& i) {
  i.regs.clear();
  if (!i.dual.empty()) {
    for (const inst& h : i.dual) i.regs.insert(i.regs.end(), h.regs.begin(), h.regs.end());
    return;
  }
  if (i.name.rfind("s_wait", 0) == 0) return;
  for (std::size_t k = i.ndst; k < i.ops.size(); ++k) add(i, i.ops[k], false);
  for (std::size_t k = 0; k < i.ndst && k < i.ops.size(); ++k) add(i, i.ops[k], true);
  if (i.name.rfind("v_div_fmas", 0) == 0) i.regs.push_back({static_cast<u16>(scalar_base + s_vcc), 2, false});
  if (i.lds) i.regs.push_back({static_cast<u16>(scalar_base + s_m0), 1, false});
}

void issue(wave& w, const inst& i, u64 lanes, const u32* a0, const u32* a1, u32 bytes, bool read, bool write,
           bool dma) {
  const counter c = i.cnt;
  if (c == c_none) return;
  w.queue.emplace_back();
  pending& p = w.queue.back();
  p.i = &i, p.cnt = c, p.order = i.order, p.order2 = i.order2, p.partner = i.cnt2;
  p.done2 = i.cnt2 == c_none;
  if (a0 && (w.launch->race || dma)) {
    p.lanes = lanes, p.lds_bytes = bytes, p.lds_read = read, p.lds_write = write, p.dma = dma;
    p.nlds = a1 ? 2 : 1;
    std::copy(a0, a0 + 64, p.lds_addr[0].begin());
    if (a1) std::copy(a1, a1 + 64, p.lds_addr[1].begin());
    if (dma)
      each_byte_range(p, [&](u32 a, u32 n) {
        for (u32 k = 0; k < n; ++k)
          if (w.wg->dma[a + k]++ == 0) ++w.wg->dma_bytes;
      });
  }
  mark(w, i, 1);
  if (w.queue.size() > 15) retire(w, counter_limits(w.fam));
}

void apply_wait(wave& w, const inst& i) {
  std::array<i32, 5> want = {-1, -1, -1, -1, -1};
  const u32 imm = i.raw[0] & 0xffff;
  const std::string& n = i.name;
  if (n == "s_waitcnt") {
    if (w.fam == family::gfx9)
      want[c_vm] = static_cast<i32>((imm & 15) | (imm >> 14 & 3) << 4), want[c_lgkm] = static_cast<i32>(imm >> 8 & 15);
    else
      want[c_vm] = static_cast<i32>(imm >> 10 & 63), want[c_lgkm] = static_cast<i32>(imm >> 4 & 63);
    if (want[c_vm] == 63) want[c_vm] = -1;
    if (want[c_lgkm] == (w.fam == family::gfx9 ? 15 : 63)) want[c_lgkm] = -1;
  } else if (n == "s_wait_loadcnt" || n == "s_waitcnt_vmcnt")
    want[c_vm] = static_cast<i32>(imm & 63);
  else if (n == "s_wait_dscnt")
    want[c_ds] = static_cast<i32>(imm & 63);
  else if (n == "s_wait_kmcnt")
    want[c_km] = static_cast<i32>(imm & 31);
  else if (n == "s_waitcnt_lgkmcnt")
    want[c_lgkm] = static_cast<i32>(imm & 63);
  else if (n == "s_wait_loadcnt_dscnt")
    want[c_vm] = static_cast<i32>(imm >> 8 & 63), want[c_ds] = static_cast<i32>(imm & 63);
  else if (n == "s_wait_storecnt_dscnt")
    want[c_ds] = static_cast<i32>(imm & 63);
  else
    return;
  retire(w, want);
}

void check_waits(wave& w, const inst& i) {
  for (const reg_range& r : i.regs)
    for (u32 k = r.first; k < static_cast<u32>(r.first + r.count); ++k) {
      const u8 busy = k >= scalar_base ? w.sbusy[k - scalar_base] : w.vbusy[k];
      if (!busy) continue;
      for (const pending& p : w.queue) {
        const operand& d = p.i->dst[0];
        if (!p.i->is_load || p.i->lds || (k >= scalar_base) != (d.kind == operand::sgpr)) continue;
        const u32 n = k >= scalar_base ? k - scalar_base : k;
        if (n < d.reg || n >= static_cast<u32>(d.reg + d.count)) continue;
        // Returns in order: a later load into the same register is harmless.
        if (r.write && i.is_load && !i.lds && i.order && i.order == p.order && i.cnt == p.cnt) continue;
        w.die(i, reg_name(k) + " is " + (r.write ? "overwritten" : "used") + " before a wait for '" + p.i->text +
                     "' (" + w.launch->co->where(p.i->address) + ")");
      }
    }
}

void dma_check(wave& w, const inst& i, u32 a, u32 n, u32 lane) {
  for (u32 k = 0; k < n; ++k)
    if (w.wg->dma[a + k])
      w.die(i, "LDS byte " + hex(a + k) + " is used before the load to LDS that writes it was waited for",
            static_cast<int>(lane));
}

// An access at epoch s (barriers signalled) precedes one of another wave at epoch e (barriers passed) when s < e.
void race_check(wave& w, const inst& i, u32 a, u32 n, bool write) {
  const u32 me = w.id + 1;
  const u64 e = w.waits_done;
  const auto bad = [&](const u32* s) {
    u32 any = 0;
    for (u32 k = 0; k < n; ++k) any |= static_cast<u32>(s[k] && (s[k] & 255) != me && s[k] >> 8 >= e);
    return any != 0;
  };
  const u32 *sw = w.wg->sw.data() + a, *sr = w.wg->sr.data() + a;
  const bool ww = bad(sw), wr = write && bad(sr);
  if (ww || wr) {
    const u32* s = ww ? sw : sr;
    u32 k = 0;
    while (!(s[k] && (s[k] & 255) != me && s[k] >> 8 >= e)) ++k;
    const std::string what = !write ? "read after write" : ww ? "write after write" : "write after read";
    auto& races = w.launch->res->races;
    const std::string key = w.launch->co->where(i.address) + ": " + i.text;
    auto it = std::find_if(races.begin(), races.end(), [&](const race_row& r) {
      return r.message.rfind(key, 0) == 0 && r.message.find(what) != r.message.npos;
    });
    if (it != races.end())
      ++it->count;
    else {
      const u32 o = s[k] & 255;
      races.push_back({1, key + ": " + what + " without a barrier in between at LDS byte " + hex(a + k) + ", wave " +
                              std::to_string(w.id) + " after " +
                              (o == 255 ? std::string("several waves") : "wave " + std::to_string(o - 1)) +
                              ", workgroup (" + std::to_string(w.wg->id[0]) + "," + std::to_string(w.wg->id[1]) + "," +
                              std::to_string(w.wg->id[2]) + ")"});
    }
  }
  stamp(w, a, n, write, w.signals);
}

// At a barrier, LDS operations that were not waited for are not ordered by it.
void on_signal(wave& w) {
  for (const pending& p : w.queue)
    if (p.nlds && !p.dma) each_byte_range(p, [&](u32 a, u32 n) { stamp(w, a, n, p.lds_write, w.signals + 1); });
}
}  // namespace emu
