// SPDX-License-Identifier: MIT
// Vector loads, stores and atomics through flat, global and scratch instructions, and how memory instructions are
// bound.
#include "memory.hpp"

#include "findings.hpp"

#include "valu.hpp"
#include "wave_access.hpp"

namespace emu {
u8* nowhere(launch_state& L) {
  std::memset(L.nowhere, 0, sizeof L.nowhere);
  std::memset(L.nowhere_state, written, sizeof L.nowhere_state);  // the access was reported: its value counts as known
  L.raced = nullptr, L.state = L.follow ? L.nowhere_state : nullptr;
  return L.nowhere;
}
namespace {
// Load-to-LDS: lane l writes at M0 + offset + l * width, asynchronous loads of gfx1250 at an address of its own.
void deposit(wave& w, const inst& i, u64 lanes, const u8 (*data)[16]) {
  const u32 step = i.cnt != c_async && i.bytes < 4 ? 4u : i.bytes, base = w.s[s_m0] & 0x3ffff;
  u32 addr[64] = {};
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    const u32 a = addr[l] = (i.cnt == c_async ? w.v(i.data.reg)[l] : base + l * step) + static_cast<u32>(i.offset);
    if (static_cast<u64>(a) + step > w.wg->lds_size) {
      report(
          w, i, finding_kind::out_of_bounds,
          [&] { return "load to LDS outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(a); },
          static_cast<int>(l));
      continue;
    }
    if (w.launch->race) race_check(w, i, a, step, true);
    if (w.undefined) std::memset(w.wg->state.data() + a, written, step);
    u32 v = 0;
    if (i.bytes >= 4 || i.cnt == c_async)
      std::memcpy(w.wg->lds.data() + a, data[l], i.bytes);
    else {
      std::memcpy(&v, data[l], i.bytes);
      if (i.sext) v = static_cast<u32>(sign_extend(v, 8 * i.bytes));
      std::memcpy(w.wg->lds.data() + a, &v, 4);
    }
  }
  if (w.launch->stats) log_lds(w, i, 0, true, step, lanes, addr);
  for (u64 m = lanes; m; m &= m - 1)  // lanes outside of LDS wrote nothing
    if (const u32 l = static_cast<u32>(std::countr_zero(m)); static_cast<u64>(addr[l]) + step > w.wg->lds_size)
      lanes &= ~(1ull << l);
  if (w.launch->waits) issue(w, i, lanes, addr, nullptr, step, false, true, true);
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
u8* lds_at(wave& w, const inst& i, u32 l, u64 a) {
  w.launch->raced = nullptr, w.launch->state = nullptr;
  if (a + i.bytes > w.wg->lds_size) {
    report(
        w, i, finding_kind::out_of_bounds,
        [&] { return "flat access outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(a); },
        static_cast<int>(l));
    return nowhere(*w.launch);
  }
  if (w.undefined) w.launch->state = w.wg->state.data() + a;
  if (w.wg->dma_bytes) dma_check(w, i, static_cast<u32>(a), i.bytes, l);
  if (w.launch->race && !i.atomic) race_check(w, i, static_cast<u32>(a), i.bytes, i.store);
  return w.wg->lds.data() + a;
}
}  // namespace

// What is known of the bytes at launch_state::state, before the access.
void follow_access(wave& w, const inst& i, u32 l) {
  u8* const state = w.launch->state;
  if (i.atomic) {
    if (state[0] != written && i.op != at_swap)
      report(
          w, i, finding_kind::uninitialised, [] { return "an atomic operation changes memory that was never written"; },
          static_cast<int>(l));
    std::memset(state, written, i.bytes);
    if (i.ret) follow_load(w, i, i.dst[0], 0, l, i.bytes, nullptr);
  } else if (i.store) {
    follow_store(w, i, i.data, l, i.bytes, state);
  } else if (!i.lds) {
    follow_load(w, i, i.dst[0], 0, l, i.bytes, state);
  }
}
// One lane's access; `p` is host memory.
void access(wave& w, const inst& i, u32 l, u8* p, u8* loaded) {
  launch_state& L = *w.launch;
  if (L.raced) {
    u8 now[16], before[16];
    bool changes = !i.atomic && i.store;
    if (changes) {
      reg_to_mem(w, i, i.data, l, now), load_shared(before, p, i.bytes);
      changes = std::memcmp(now, before, i.bytes) != 0;
    }
    if (!i.store || i.atomic || changes || i.coherent)
      check_global(w, i, l, reinterpret_cast<u64>(p), i.bytes, changes);
  }
  // Atomics of several threads exclude each other and coherent accesses, in the memory and in what is known of it.
  const auto lock =
      i.atomic || i.coherent ? L.lock_memory(reinterpret_cast<u64>(p) / 4) : std::unique_lock<std::mutex>();
  if (L.state) follow_access(w, i, l);
  if (i.atomic) {
    u64 o = 0, d = 0, cmp = 0;
    load_shared(&o, p, i.bytes);
    reg_to_mem(w, i, i.data, l, reinterpret_cast<u8*>(&d));
    if (i.op == at_cmpswap) {
      operand c = i.data;
      c.reg = static_cast<u16>(c.reg + i.bytes / 4);
      reg_to_mem(w, i, c, l, reinterpret_cast<u8*>(&cmp));
    }
    const u64 r = atomic_result(i.op, i.bytes, o, d, cmp);
    store_shared(p, &r, i.bytes);
    if (i.ret) std::memcpy(loaded, &o, i.bytes);
  } else if (i.store) {
    u8 data[16];
    reg_to_mem(w, i, i.data, l, data), store_shared(p, data, i.bytes);
  } else {
    load_shared(loaded, p, i.bytes);
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
  w.launch->raced = nullptr, w.launch->state = nullptr;
  if (a + i.bytes > w.launch->scratch_bytes) {
    report(
        w, i, finding_kind::out_of_bounds,
        [&] {
          return "scratch access outside of the " + std::to_string(w.launch->scratch_bytes) + " bytes of a lane at " +
                 hex(a);
        },
        static_cast<int>(l));
    return nowhere(*w.launch);
  }
  if (w.undefined) w.launch->state = w.undefined->scratch.data() + static_cast<u64>(l) * w.launch->scratch_bytes + a;
  return w.scratch.data() + static_cast<u64>(l) * w.launch->scratch_bytes + a;
}
void report_outside(wave& w, const inst& i, int lane, u64 a, u32 n) {
  const buffer_state* b = w.launch->mem ? w.launch->mem->nearest(a) : nullptr;
  const bool freed = b && b->freed && a >= b->lo && a < b->hi;
  report(
      w, i, freed ? finding_kind::use_after_free : finding_kind::out_of_bounds,
      [&] {
        return std::string(i.store    ? "store"
                           : i.atomic ? "atomic"
                           : lane < 0 ? "scalar load"
                                      : "load") +
               " of " + std::to_string(n) + " bytes " + (freed ? "in freed memory" : "outside of all buffers") +
               " at " + hex(a);
      },
      lane, a);
}
u8* global_at(wave& w, const inst& i, u32 l, u64 a, u32 n) {
  launch_state& L = *w.launch;
  if (!L.in_range(a, n)) return report_outside(w, i, static_cast<int>(l), a, n), nowhere(L);
  if (i.atomic && a % n) {
    report(w, i, finding_kind::misaligned, [&] { return "misaligned atomic at " + hex(a); }, static_cast<int>(l));
    return nowhere(L);
  }
  buffer_state* const b = L.last.buffer;
  L.raced = L.globals && b && b->owned ? b : nullptr;
  L.state = nullptr;
  if (w.undefined) {
    if (b && !b->state.empty())
      L.state = b->state.data() + (a - b->lo);
    else if (!i.store && !i.atomic && !i.lds)
      follow_load(w, i, i.dst[0], 0, l, i.bytes, nullptr);
  }
  return reinterpret_cast<u8*>(a);
}

namespace {
u8* flat_at(wave& w, const inst& i, u32 l, u64 a) {
  if (i.x == scratch || (i.x == flat && a >> 32 == 0x20000)) return scratch_at(w, i, l, a & 0xffffffff);
  if (i.x == flat && a >> 32 == 0x10000) return lds_at(w, i, l, a & 0xffffffff);
  return global_at(w, i, l, a, i.bytes);
}
void flat_one_by_one(wave& w, const inst& i, const wave_access& a) {
  u8 data[64][16];
  if (i.tr) std::memset(data, 0, sizeof data);  // inactive lanes
  u64 in_lds = 0;
  u32 lds_addr[64];
  for (u64 m = a.lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    if (i.x == flat && a.address[l] >> 32 == 0x10000) in_lds |= 1ull << l, lds_addr[l] = static_cast<u32>(a.address[l]);
    access(w, i, l, flat_at(w, i, l, a.address[l]), data[l]);
  }
  if (in_lds && w.launch->stats) log_lds(w, i, 0, i.store, i.bytes, in_lds, lds_addr);
  finish(w, i, a.lanes, data);
}
bool scratch_together(wave& w, const inst& i, const wave_access& a) {
  const u64 limit = w.launch->scratch_bytes;
  wave_access s;
  s.lanes = a.lanes, s.memory = w.scratch.data(), s.state = w.undefined ? w.undefined->scratch.data() : nullptr;
  for (u64 m = a.lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    if ((a.address[l] & 0xffffffff) + i.bytes > limit) return false;
    s.address[l] = l * limit + (a.address[l] & 0xffffffff);
  }
  return !i.atomic && !i.lds && access_together(w, i, s, in_scratch, i.store ? i.data : i.dst[0], 0);
}
void flat_access(wave& w, const inst& i) {
  wave_access a;
  a.lanes = w.exec();
  const u64 base =
      (i.saddr.kind == operand::sgpr && i.saddr.reg != s_null ? (i.x == scratch ? w.rs32(i.saddr) : w.rs64(i.saddr))
                                                              : 0) +
      static_cast<u64>(static_cast<i64>(i.offset));
  if (i.vaddr.is_vgpr()) {
    const u32 *lo = w.v(i.vaddr.reg), *hi = w.v(i.vaddr.reg + 1);
    const u64 step = i.scales_offset ? i.bytes : 1;
    if (i.vaddr.count == 2)
      each_lane(w, [&](u64 l) { a.address[l] = base + (lo[l] | static_cast<u64>(hi[l]) << 32) * step; });
    else
      each_lane(w, [&](u64 l) { a.address[l] = base + static_cast<u64>(lo[l]) * step; });
  } else {
    each_lane(w, [&](u64 l) { a.address[l] = base; });
  }
  if (!(i.x == scratch ? scratch_together(w, i, a) : access_global_together(w, i, a))) return flat_one_by_one(w, i, a);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}
void fence(wave& w, const inst& i) {
  if (w.launch->concurrent) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (w.launch->globals) on_fence(w, i);
}
void place_memory_operands(inst& i) {
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
    i.fn = buffer_handler();
  } else {
    i.ret = i.atomic && i.ops.size() == (i.x == flat ? 3u : 4u);
    if (((!i.store && !i.atomic) || i.ret) && !i.lds) take(i.dst[0]), i.ndst = 1;
    if (i.cnt == c_async) take(i.data);
    take(i.vaddr);
    if (i.store || i.atomic) take(i.data);
    if (i.x != flat) take(i.saddr);
    i.fn = fastest<&flat_access>();
  }
  if (o != i.ops.end()) throw std::runtime_error("too many operands");
}
}  // namespace

bool bind_memory(inst& i, const code_object& co) {
  std::string n = i.name;
  const auto eat = [&](const char* p) {
    if (n.rfind(p, 0)) return false;
    n = n.substr(std::string_view(p).size());
    return true;
  };
  const bool g9 = co.fam == family::gfx9;
  if (eat("s_")) {
    const bool from_buffer = eat("buffer_");
    return eat("load_") && bind_scalar_load(i, n, from_buffer, co);
  }
  i.cnt = c_vm, i.order = 1;
  if (n.find("_inv") != n.npos || n.find("_wb") != n.npos) {
    i.fn = &no_operation, i.cnt = c_none;
    const bool gpu = i.text.find("sc1") != i.text.npos || i.text.find("SCOPE_DEV") != i.text.npos ||
                     i.text.find("SCOPE_SYS") != i.text.npos ||
                     (co.fam != family::gfx12 && co.target != "gfx942" && co.target != "gfx950");
    if (gpu) i.fence = n.find("_wb") != n.npos ? (n.find("inv") != n.npos ? 3 : 1) : 2, i.fn = &fence;
    return true;
  }
  i.coherent = i.text.find("sc1") != i.text.npos || i.text.find("SCOPE_DEV") != i.text.npos ||
               i.text.find("SCOPE_SYS") != i.text.npos ||
               (co.target != "gfx942" && co.target != "gfx950" && i.text.find("glc") != i.text.npos);
  if (eat("cluster_")) n = "global_" + n;  // the mask of workgroups changes what is shared on the way, not what arrives
  i.x = eat("global_") ? global : eat("scratch_") ? scratch : eat("flat_") ? flat : eat("buffer_") ? buffer : -1;
  if (i.x < 0) return false;
  if (n.rfind("prefetch", 0) == 0) return i.fn = &no_operation, i.cnt = c_none, true;
  const counter lds_counter = co.fam == family::gfx12 ? c_ds : c_lgkm;
  if (i.x == flat)
    i.order = g9 ? 0 : 1, i.cnt2 = lds_counter, i.order2 = g9 ? 0 : 2;  // flat counts as both, in order since gfx10
  if (eat("load_")) {
    if (eat("lds_")) i.lds = true;
    if (eat("async_to_lds_")) i.lds = true, i.cnt = c_async;
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
  place_memory_operands(i);
  if (i.atomic) {
    i.is_load = i.ret;
    if (!g9 && !i.ret) i.cnt = i.x == flat ? lds_counter : c_none, i.order = 2, i.cnt2 = c_none;
  }
  return true;
}
}  // namespace emu
