// SPDX-License-Identifier: MIT
// Two checks: results of memory instructions used before an s_wait* allows it, and LDS accesses that no barrier orders.
#include <map>

#include "findings.hpp"
#include "valu.hpp"
#include "wave_access.hpp"

namespace emu {
namespace {
constexpr u16 scalar_base = busy_registers::scalar_base;
void add(inst& i, const operand& o, bool write) {
  if (o.kind == operand::vgpr)
    i.regs.push_back({o.reg, o.count, write});
  else if (o.kind == operand::sgpr && o.reg < 128 && o.reg != s_null)
    i.regs.push_back({static_cast<u16>(scalar_base + o.reg), o.count, write});
}
std::string reg_name(u32 r) {
  if (r < 256) return "v" + std::to_string(r);
  if (r < 512) return "a" + std::to_string(r - 256) + " (gfx1250: v" + std::to_string(r) + ")";
  r -= scalar_base;
  return r < 106 ? "s" + std::to_string(r) : r < 108 ? "vcc" : r == s_m0 ? "m0" : "ttmp" + std::to_string(r - s_ttmp);
}
void mark(wave& w, const inst& i, int delta) {
  if (!i.is_load || i.lds) return;
  const operand& d = i.dst[0];
  for (u32 k = 0; k < d.count; ++k)
    if (d.kind == operand::vgpr)
      w.busy.add(d.reg + k, delta);
    else if (d.reg + k < 128)
      w.busy.add(scalar_base + d.reg + k, delta);
}
template <class F>
void each_byte_range(const wave& w, const pending& p, F f) {
  for (u32 t = 0; t < p.nlds; ++t)
    for (u64 m = p.lanes; m; m &= m - 1)
      f(w.lds_addresses[2u * p.slot + t][static_cast<u32>(std::countr_zero(m))], p.lds_bytes);
}
constexpr u64 several = 127, at_a_barrier = 128;
u64 wave_of(u64 s) { return s & several; }
u64 epoch_of(u64 s) { return (s & 0xffffffff) >> 8; }
u64 cell_of(const wave& w, const inst& i, u64 epoch) { return u64{w.launch->site(i)} << 32 | epoch << 8 | (w.id + 1); }
void stamp(workgroup& wg, u64 mine, u32 a, u32 n, bool write) {
  (write ? wg.writes : wg.reads).change(a, n, [&](u64& cell) {
    if (write || epoch_of(cell) < epoch_of(mine))
      cell = mine;
    else if (wave_of(cell) != wave_of(mine) && epoch_of(cell) == epoch_of(mine))
      cell |= several;
  });
}
// From now on accesses to these lines are looked up in the shadow.
void use_shadow(workgroup& wg, u64 lines, bool write, u64 epoch) {
  lds_window& window = wg.window;
  (write ? window.shadow_written : window.shadow_read) |= lines;
  window.shadow_epoch = std::max(window.shadow_epoch, epoch), window.shadow_used = true;
}
void enter_shadow(workgroup& wg);
void stamp(wave& w, const inst& i, u32 a, u32 n, bool write, u64 epoch, u64 flag = 0) {
  enter_shadow(*w.wg);
  use_shadow(*w.wg, w.wg->window.lines_of(a, n), write, epoch);
  stamp(*w.wg, cell_of(w, i, epoch) | flag, a, n, write);
}
void complete(wave& w, pending& p) {
  mark(w, *p.i, -1);
  if (p.nlds) w.free_slots.push_back(p.slot);
  if (!p.dma) return;
  each_byte_range(w, p, [&](u32 a, u32 n) {
    for (u32 k = 0; k < n; ++k)
      if (--w.wg->dma[a + k] == 0) --w.wg->dma_bytes;
    if (w.launch->race) stamp(w, *p.i, a, n, true, w.signals);
  });
}
// Completes what must have returned when no counter is above `want` (-1: no bound).
void retire(wave& w, const counter_values& want) {
  i32 later[num_counters][4] = {};
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
counter_values counter_limits(family fam) {
  if (fam == family::gfx9) return {63, 15, -1, -1, -1, -1, -1};
  if (fam == family::gfx12) return {63, -1, 63, 31, 63, 63, 63};
  return {63, 63, -1, -1, 63, -1, -1};
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
    if (w.free_slots.empty())
      w.free_slots.push_back(static_cast<u16>(w.lds_addresses.size() / 2)),
          w.lds_addresses.resize(w.lds_addresses.size() + 2);
    p.slot = w.free_slots.back(), w.free_slots.pop_back();
    std::memcpy(w.lds_addresses[2u * p.slot].data(), a0, w.lanes * sizeof *a0);
    if (a1) std::memcpy(w.lds_addresses[2u * p.slot + 1].data(), a1, w.lanes * sizeof *a1);
    if (dma)
      each_byte_range(w, p, [&](u32 a, u32 n) {
        for (u32 k = 0; k < n; ++k)
          if (w.wg->dma[a + k]++ == 0) ++w.wg->dma_bytes;
      });
  }
  mark(w, i, 1);
  if (w.queue.size() > 15) retire(w, counter_limits(w.fam));
}

// What the wait asks of each counter; -1: nothing.
void bind_wait(inst& i, family fam) {
  counter_values& want = i.wait;
  want.fill(-1);
  const u32 imm = i.raw[0] & 0xffff;
  const std::string& n = i.name;
  if (n == "s_waitcnt") {
    if (fam == family::gfx9)
      want[c_vm] = static_cast<i32>((imm & 15) | (imm >> 14 & 3) << 4), want[c_lgkm] = static_cast<i32>(imm >> 8 & 15);
    else
      want[c_vm] = static_cast<i32>(imm >> 10 & 63), want[c_lgkm] = static_cast<i32>(imm >> 4 & 63);
    if (want[c_vm] == 63) want[c_vm] = -1;
    if (want[c_lgkm] == (fam == family::gfx9 ? 15 : 63)) want[c_lgkm] = -1;
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
  else if (n == "s_wait_asynccnt")
    want[c_async] = static_cast<i32>(imm & 63);
  else if (n == "s_wait_tensorcnt")
    want[c_tensor] = static_cast<i32>(imm & 63);
}
void apply_wait(wave& w, const inst& i) {
  const bool asks = std::any_of(i.wait.begin(), i.wait.end(), [](i32 n) { return n >= 0; });
  if (asks && !w.queue.empty()) retire(w, i.wait);
}

void check_waits(wave& w, const inst& i) {
  for (const reg_range& r : i.regs) {
    if (!w.busy.any(r.first, r.count)) continue;
    for (u32 k = r.first; k < static_cast<u32>(r.first + r.count); ++k) {
      if (!w.busy.any(k, 1)) continue;
      for (const pending& p : w.queue) {
        const operand& d = p.i->dst[0];
        if (!p.i->is_load || p.i->lds || (k >= scalar_base) != (d.kind == operand::sgpr)) continue;
        const u32 n = k >= scalar_base ? k - scalar_base : k;
        if (n < d.reg || n >= static_cast<u32>(d.reg + d.count)) continue;
        // Returns in order: a later load into the same register is harmless.
        if (r.write && i.is_load && !i.lds && i.order && i.order == p.order && i.cnt == p.cnt) continue;
        finding* f = report(w, i, finding_kind::missing_wait, [&] {
          return reg_name(k) + " is " + (r.write ? "overwritten" : "used") + " before a wait for '" + p.i->text +
                 "' (" + w.launch->co->where(p.i->address) + ")";
        });
        if (f) f->other = site_of(*w.launch, w.launch->site(*p.i)), f->other_role = "the load";
        complete(w, const_cast<pending&>(p));  // one report is enough
        w.queue.erase(w.queue.begin() + (&p - w.queue.data()));
        break;
      }
    }
  }
}

void dma_check(wave& w, const inst& i, u32 a, u32 n, u32 lane) {
  for (u32 k = 0; k < n; ++k)
    if (w.wg->dma[a + k]) {
      report(
          w, i, finding_kind::missing_wait,
          [&] { return "LDS byte " + hex(a + k) + " is used before the load to LDS that writes it was waited for"; },
          static_cast<int>(lane));
      return;
    }
}

namespace {
struct lds_conflict {
  const char* what;
  u32 byte;
  u64 earlier;  // its shadow
  std::string text(const wave& w) const {
    return std::string(what) + " without a barrier in between at LDS byte " + hex(byte) + ", wave " +
           std::to_string(w.id) + " after " +
           (wave_of(earlier) == several ? std::string("several waves")
                                        : "wave " + std::to_string(wave_of(earlier) - 1));
  }
};
void lds_race(wave& w, const inst& i, const lds_conflict& c) {
  if (w.launch->opt->collect) {
    const bool weak = c.earlier & at_a_barrier;
    finding* f = report(w, i, weak ? finding_kind::in_flight : finding_kind::lds_race, [&] {
      return c.text(w) + (weak ? "; the earlier access is before a barrier, but was not waited for there" : "");
    });
    if (f) f->other = site_of(*w.launch, static_cast<u32>(c.earlier >> 32)), f->other_role = "the earlier access";
    return;
  }
  auto& races = w.launch->res->races;
  const std::string key = w.launch->co->where(i.address) + ": " + i.text;
  auto it = std::find_if(races.begin(), races.end(), [&](const race_row& r) {
    return r.message.rfind(key, 0) == 0 && r.message.find(c.what) != r.message.npos;
  });
  if (it != races.end())
    ++it->count;
  else
    races.push_back({1, key + ": " + c.text(w) + ", workgroup (" + std::to_string(w.wg->id[0]) + "," +
                            std::to_string(w.wg->id[1]) + "," + std::to_string(w.wg->id[2]) + ")"});
}
}  // namespace

namespace {
// Reports the first of n bytes whose access conflicts with one of this wave. An access at epoch s (barriers signalled)
// precedes one of another wave at epoch e (barriers passed) when s < e.
bool look(wave& w, const inst& i, lds_shadow& shadow, u32 a, u32 n, const char* what) {
  bool found = false;
  shadow.each(a, n, [&](u64 cell, u32 byte) {
    if (!cell || wave_of(cell) == w.id + 1 || epoch_of(cell) < w.waits_done) return false;
    return lds_race(w, i, {what, byte, cell}), found = true;
  });
  return found;
}
}  // namespace

void overwrite_check(wave& w, const inst& i, u32 a, u32 n) {
  enter_shadow(*w.wg);
  look(w, i, w.wg->reads, a, n, "write after read");
}
void race_check(wave& w, const inst& i, u32 a, u32 n, bool write) {
  enter_shadow(*w.wg);
  if (!look(w, i, w.wg->writes, a, n, write ? "write after write" : "read after write") && write)
    overwrite_check(w, i, a, n);
  stamp(w, i, a, n, write, w.signals);
}

namespace {
typedef i64 cells __attribute__((vector_size(32)));
EMU_INLINE cells cells_at(const u64* p) {
  cells c;
  std::memcpy(&c, p, sizeof c);
  return c;
}
// The cells, of four neighbours, that may race with an access at epoch e. Cells of byte accesses are always returned.
EMU_INLINE cells may_race(cells c, i64 me, i64 e) {
  const cells low = c & 0xffffffff;
  return (low >= e << 8) & ((c & 127) != me);
}
// An access of 16 bytes a lane is treated lane by lane (`quads`), others by runs.
template <class F>
EMU_INLINE bool all_dwords(const lds_shadow& s, const wave_access& a, u64 quads, F ok) {
  cells bad = {};
  for (u64 m = quads; m; m &= m - 1) bad |= ok(cells_at(s.dwords.data() + a.address[std::countr_zero(m)] / 4));
  for (u32 n = 0; n < a.num_runs; ++n) {
    const u64* p = s.dwords.data() + a.runs[n].first / 4;
    u64 left = a.runs[n].bytes / 4;
    for (; left >= 4; left -= 4, p += 4) bad |= ok(cells_at(p));
    for (; left; --left, ++p) bad |= ok(cells{static_cast<i64>(*p)});
  }
  return !(bad[0] | bad[1] | bad[2] | bad[3]);
}
// The cell after a read in this epoch.
EMU_INLINE cells after_read(cells c, i64 mine, i64 epoch) {
  const cells low = c & 0xffffffff, newer = low < epoch << 8,
              others = (low < (epoch + 1) << 8) & ((c & 127) != (mine & 127));
  return (newer & mine) | (~newer & (c | (others & 127)));
}
EMU_INLINE void note_quad(u64* p, i64 mine, i64 epoch, bool write) {
  const cells c = write ? cells{} + mine : after_read(cells_at(p), mine, epoch);
  std::memcpy(p, &c, sizeof c);
}
EMU_INLINE u64 as_quads(const inst& i, wave_access& a, u64 lanes) {
  a.num_runs = 0;
  if (i.bytes == 16) return lanes;
  a.find_runs(lanes, i.bytes);
  return 0;
}
// A logged access of 16 bytes a lane; false: some dword has cells for its bytes.
EMU_INLINE bool enter_quads(lds_shadow& shadow, const lds_window::access& x) {
  const i64 mine = static_cast<i64>(x.cell), epoch = static_cast<i64>(epoch_of(x.cell));
  cells split = {};
  for (u64 m = x.lanes; m; m &= m - 1)
    split |= cells_at(shadow.dwords.data() + x.address[std::countr_zero(m)] / 4) == -1;
  if (split[0] | split[1] | split[2] | split[3]) return false;
  for (u64 m = x.lanes; m; m &= m - 1)
    note_quad(shadow.dwords.data() + x.address[std::countr_zero(m)] / 4, mine, epoch, x.write);
  return true;
}
void enter(workgroup& wg, const lds_window::access& x) {
  if (x.bytes == 16 && enter_quads(x.write ? wg.writes : wg.reads, x)) return;
  for (u64 m = x.lanes; m; m &= m - 1) stamp(wg, x.cell, x.address[std::countr_zero(m)], x.bytes, x.write);
}
// What was logged enters the shadow.
void enter_shadow(workgroup& wg) {
  static const auto f = fastest<&enter>();
  lds_window& window = wg.window;
  for (const lds_window::access& x : window.log) {
    f(wg, x);
    use_shadow(wg, 0, x.write, epoch_of(x.cell));
  }
  for (const u64 lines : window.read) window.shadow_read |= lines;
  for (const u64 lines : window.written) window.shadow_written |= lines;
  window.log.clear(), window.read.fill(0), window.written.fill(0);
}
/// The lines that the lanes access.
EMU_INLINE u64 lines_of(const wave& w, const wave_access& a, u32 bytes, u64 lanes) {
  const u32 shift = w.wg->window.line_bits;
  u64 lines = 0;
  each_lane(w, [&](u64 l) {
    const u64 on = lanes >> l & 1;
    lines |= on << (a.address[l] >> shift & 63) | on << ((a.address[l] + bytes - 1) >> shift & 63);
  });
  return lines;
}
EMU_INLINE void log_access(wave& w, const inst& i, const wave_access& a, u64 lanes, u64 lines, bool write) {
  lds_window& window = w.wg->window;
  if (window.log.size() == lds_window::most_logged) enter_shadow(*w.wg);
  (write ? window.written : window.read)[w.id] |= lines;
  lds_window::access& x = window.log.emplace_back();
  x.cell = cell_of(w, i, w.signals), x.lanes = lanes, x.bytes = i.bytes, x.write = write;
  each_lane(w, [&](u64 l) { x.address[l] = static_cast<u32>(a.address[l]); });
}
bool orderly(wave& w, const inst& i, wave_access& a, u64 lanes, bool write) {
  const u64 lines = lines_of(w, a, i.bytes, lanes);
  if (w.wg->window.apart(w.id, lines, write)) {
    if (lanes) log_access(w, i, a, lanes, lines, write);
    return true;
  }
  enter_shadow(*w.wg);
  const u64 quads = as_quads(i, a, lanes);
  const i64 me = w.id + 1, e = static_cast<i64>(w.waits_done), epoch = static_cast<i64>(w.signals);
  lds_shadow &writes = w.wg->writes, &reads = w.wg->reads;
  const auto racing = [=](cells c) __attribute__((always_inline)) { return may_race(c, me, e); };
  const auto of_bytes = [](cells c) __attribute__((always_inline)) { return c == -1; };
  if (!all_dwords(writes, a, quads, racing)) return false;
  if (!(write ? all_dwords(reads, a, quads, racing) : all_dwords(reads, a, quads, of_bytes))) return false;
  use_shadow(*w.wg, lines, write, w.signals);
  const i64 mine = static_cast<i64>(cell_of(w, i, w.signals));
  for (u64 m = quads; m; m &= m - 1)
    note_quad((write ? writes : reads).dwords.data() + a.address[std::countr_zero(m)] / 4, mine, epoch, write);
  for (u32 n = 0; n < a.num_runs; ++n) {
    u64* p = (write ? writes : reads).dwords.data() + a.runs[n].first / 4;
    u64 left = a.runs[n].bytes / 4;
    for (; left >= 4; left -= 4, p += 4) note_quad(p, mine, epoch, write);
    for (; left; --left, ++p)
      *p = static_cast<u64>(write ? mine : after_read(cells{static_cast<i64>(*p)}, mine, epoch)[0]);
  }
  return true;
}
bool unread(wave& w, const inst& i, wave_access& a, u64 lanes) {
  if (w.wg->window.apart(w.id, lines_of(w, a, i.bytes, lanes), true)) return true;
  enter_shadow(*w.wg);
  const u64 quads = as_quads(i, a, lanes);
  const i64 me = w.id + 1, e = static_cast<i64>(w.waits_done);
  return all_dwords(w.wg->reads, a, quads, [=](cells c) __attribute__((always_inline)) { return may_race(c, me, e); });
}
}  // namespace
bool lds_unread(wave& w, const inst& i, wave_access& a, u64 lanes) {
  static const auto f = fastest<&unread>();
  return f(w, i, a, lanes);
}
bool lds_orderly(wave& w, const inst& i, wave_access& a, u64 lanes, bool write) {
  static const auto f = fastest<&orderly>();
  return f(w, i, a, lanes, write);
}

// At a barrier, LDS operations that were not waited for are not ordered by it.
void on_signal(wave& w) {
  for (const pending& p : w.queue)
    if (p.nlds && !p.dma)
      each_byte_range(w, p, [&](u32 a, u32 n) { stamp(w, *p.i, a, n, p.lds_write, w.signals + 1, at_a_barrier); });
}
}  // namespace emu
