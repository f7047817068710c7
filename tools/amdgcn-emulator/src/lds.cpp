// SPDX-License-Identifier: MIT
// LDS instructions, and the cross-lane instructions that use the LDS hardware.
#include <cstring>

#include "findings.hpp"
#include "memory.hpp"
#include "valu.hpp"
#include "wave_access.hpp"

namespace emu {
namespace {
constexpr u32 outside = ~0u;
// The address, or `outside` after a report.
u32 checked(wave& w, const inst& i, u32 a, u32 l) {
  if (static_cast<u64>(a) + i.bytes > w.wg->lds_size) {
    report(
        w, i, finding_kind::out_of_bounds,
        [&] { return "LDS access outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(a); },
        static_cast<int>(l));
    return outside;
  }
  // The runtime of AMD's GPUs lets loads and stores of LDS be unaligned; those of two addresses and atomics must be
  // aligned.
  const u32 align = i.atomic ? i.bytes : i.two ? 4u : 1u;
  if (a % align) {
    report(w, i, finding_kind::misaligned, [&] { return "misaligned LDS access at " + hex(a); }, static_cast<int>(l));
    return outside;
  }
  if (w.wg->dma_bytes) dma_check(w, i, a, i.bytes, l);
  return a;
}
// A store of what is there already, as where several waves clear a flag: with findings collected it conflicts with
// reads only, not with other stores. Inputs where all elements are equal would hide races otherwise.
bool changes_nothing(wave& w, const inst& i, const operand& data, u32 l, u32 a) {
  u8 now[16];
  if (!w.launch->opt->collect || !w.undefined || w.wg->state[a] != written) return false;
  reg_to_mem(w, i, data, l, now);
  return std::memcmp(now, w.wg->lds.data() + a, i.bytes) == 0;
}
// gfx950 transposing reads work on groups of 16 lanes.
void transpose(const inst& i, u32 lanes, u8 (*d)[16]) {
  u8 o[64][16] = {};
  for (u32 l = 0; l < lanes; ++l) {
    const u32 g = l & ~15u, p = l & 15;
    if (i.tr == 16)
      for (u32 j = 0; j < 4; ++j) std::memcpy(o[l] + 2 * j, d[g + 4 * j + p / 4] + 2 * (p % 4), 2);
    else if (i.tr == 8)
      for (u32 j = 0; j < 8; ++j) o[l][j] = d[g + 2 * j + p / 8][p % 8];
    else  // 4 and 6 bits: element p of lane j
      for (u32 j = 0; j < 16; ++j)
        for (u32 b = 0; b < i.tr; ++b) {
          const u32 s = p * i.tr + b, t = j * i.tr + b;
          o[l][t / 8] = static_cast<u8>(o[l][t / 8] | (d[g + j][s / 8] >> s % 8 & 1) << t % 8);
        }
  }
  std::memcpy(d, o, sizeof o);
}
// A kernel that stores LDS which it never wrote has computed nothing: results are as undefined as those of arithmetic.
void follow_lds_load(wave& w, const inst& i, u32 first, u32 lane, const u8* state) {
  follow_load(w, i, i.dst[0], first, lane, i.bytes, state);
  if (*std::max_element(state, state + i.bytes) != never_written) return;
  wave::undefined_values& u = *w.undefined;
  for (u32 r = i.dst[0].reg + first, end = r + (i.bytes + 3) / 4; r < end && r < 512; ++r)
    u.computed[r] |= u.vector[r] & 1ull << lane;
}
// One half of a two-address access, or a whole one: one lane after the other. Returns the lanes whose addresses are in
// LDS.
u64 ds_one_by_one(wave& w, const inst& i, u32 t, u64 lanes, u32* addr, u8 (*data)[16]) {
  u64 ok = lanes;
  const operand& source = t ? i.data2 : i.data;
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m)), a = addr[l] = checked(w, i, addr[l], l);
    if (a == outside) {
      ok &= ~(1ull << l), addr[l] = 0, std::memset(data[l], 0, 16);
      if (w.undefined && !i.store) follow_load(w, i, i.dst[0], t ? i.bytes / 4u : 0, l, i.bytes, nullptr);
      continue;
    }
    u8 *memory = w.wg->lds.data() + a, *state = w.wg->state.data() + a;
    if (w.launch->race) {
      if (i.store && changes_nothing(w, i, source, l, a))
        overwrite_check(w, i, a, i.bytes);
      else
        race_check(w, i, a, i.bytes, i.store);
    }
    if (i.store)
      reg_to_mem(w, i, source, l, memory);
    else
      std::memcpy(data[l], memory, i.bytes);
    if (!w.undefined) continue;
    w.launch->last.buffer = nullptr, w.launch->last.hi = 0;
    if (i.store)
      follow_store(w, i, source, l, i.bytes, state);
    else
      follow_lds_load(w, i, t ? i.bytes / 4u : 0, l, state);
  }
  return ok;
}
bool ds_together(wave& w, const inst& i, u32 t, u64 lanes, const u32* addr) {
  const u32 align = i.two ? 3 : 0, most = w.wg->lds_size - i.bytes;
  if (!lanes || i.tr || w.wg->dma_bytes || w.wg->lds_size < i.bytes) return false;
  wave_access a;
  a.lanes = lanes, a.memory = w.wg->lds.data(), a.state = w.undefined ? w.wg->state.data() : nullptr;
  each_lane(w, [&](u64 l) { a.address[l] = addr[l]; });
  if (lanes & lanes_where(w, [&](u64 l) { return (addr[l] > most) | ((addr[l] & align) != 0); })) return false;
  const operand& o = !i.store ? i.dst[0] : t ? i.data2 : i.data;
  return access_together(w, i, a, in_lds, o, t && !i.store ? i.bytes / 4u : 0);
}
void ds_access(wave& w, const inst& i) {
  const u64 lanes = w.exec();
  u64 ok = lanes, waiting = 0;  // lanes whose addresses are in LDS; halves whose loads are in `data`
  u8 data[2][64][16];
  if (i.tr) std::memset(data[0], 0, sizeof data[0]);  // transpose() moves data of lanes that EXEC leaves out, too
  u32 addr[2][64];
  const u32 halves = i.two ? 2 : 1, *va = w.v(i.vaddr.reg);
  for (u32 t = 0; t < halves; ++t) {
    const u32 off = static_cast<u32>(i.two ? (t ? i.offset1 : i.offset0) * i.y : i.offset);
    each_lane(w, [&](u64 l) { addr[t][l] = va[l] + off; });
  }
  for (u32 t = 0; t < halves; ++t) {
    if (!ds_together(w, i, t, lanes, addr[t]))
      ok &= ds_one_by_one(w, i, t, lanes, addr[t], data[t]), waiting |= 1u << t;
    if (w.launch->stats) log_lds(w, i, static_cast<int>(t), i.store, i.bytes, ok, addr[t]);
  }
  if (!i.store) {
    if (i.tr) transpose(i, w.lanes, data[0]);
    for (u32 t = 0; t < halves; ++t)
      for (u64 m = waiting >> t & 1 ? lanes : 0; m; m &= m - 1) {
        const u32 l = static_cast<u32>(std::countr_zero(m));
        mem_to_reg(w, i, i.dst[0], t ? i.bytes / 4u : 0, l, data[t][l]);
      }
  }
  if (w.launch->waits) issue(w, i, ok, addr[0], i.two ? addr[1] : nullptr, i.bytes, !i.store, i.store);
}
void ds_atomic(wave& w, const inst& i) {
  const u64 lanes = w.exec();
  u32 addr[64] = {};
  for (u64 m = lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m)),
              a = addr[l] = checked(w, i, w.v(i.vaddr.reg)[l] + static_cast<u32>(i.offset), l);
    if (a == outside) {
      addr[l] = 0;
      continue;
    }
    if (w.undefined) {
      w.launch->state = w.wg->state.data() + a;
      follow_access(w, i, l);
    }
    u64 o = 0, d = 0, c = 0;
    std::memcpy(&o, w.wg->lds.data() + a, i.bytes);
    reg_to_mem(w, i, i.data, l, reinterpret_cast<u8*>(&d));
    if (i.op == at_cmpswap) reg_to_mem(w, i, i.data2, l, reinterpret_cast<u8*>(&c));
    const u64 r =
        i.op == at_cmpswap && i.y ? atomic_result(i.op, i.bytes, o, c, d) : atomic_result(i.op, i.bytes, o, d, c);
    std::memcpy(w.wg->lds.data() + a, &r, i.bytes);
    if (i.ret) mem_to_reg(w, i, i.dst[0], 0, l, reinterpret_cast<const u8*>(&o));
  }
  if (w.launch->stats) log_lds(w, i, 0, true, i.bytes, lanes, addr);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}
void permute(wave& w, const inst& i) {  // x: 0 permute, 1 bpermute, 2 swizzle
  const u64 e = w.exec();
  const u32 n = w.lanes, off = static_cast<u32>(i.offset), *a = w.v(i.vaddr.reg), *d = i.x == 2 ? a : w.v(i.data.reg);
  u32 r[64] = {};
  u64 inactive = 0;
  for (u32 l = 0; l < n; ++l) {
    u32 s = 0;
    if (i.x == 0) {
      if (e >> l & 1) r[(a[l] + off) / 4 % n] = d[l];
      continue;
    }
    if (i.x == 1)
      s = (a[l] + off) / 4 % n;
    else if (off >= 0xe000) {  // FFT: not supported, refused when binding
    } else if (off >= 0xc000) {
      const u32 rot = off >> 5 & 31, keep = off & 31, p = l & 31;
      s = (l & ~31u) | (p & keep) | ((off >> 10 & 1 ? p + 32 - rot : p + rot) & 31 & ~keep);
    } else if (off & 0x8000)
      s = (l & ~3u) | (off >> 2 * (l & 3) & 3);
    else
      s = (l & ~31u) | ((((l & 31) & (off & 31)) | (off >> 5 & 31)) ^ (off >> 10 & 31));
    r[l] = e >> s & 1 ? d[s] : 0;
    if (i.x == 1 && !(e >> s & 1)) inactive |= (e >> l & 1) << l;
  }
  if (inactive && w.launch->opt->collect)
    report(
        w, i, finding_kind::inactive_lane, [] { return "a shuffle reads from a lane that is not active"; },
        std::countr_zero(inactive));
  store32(w, i, i.dst[0], r, e);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}
bool eat(std::string& n, const char* p) {
  if (n.rfind(p, 0)) return false;
  n = n.substr(std::string_view(p).size());
  return true;
}
}  // namespace

bool bind_lds(inst& i, const code_object& co) {
  std::string n = i.name;
  eat(n, "ds_");
  i.cnt = co.fam == family::gfx12 ? c_ds : c_lgkm, i.order = 2;
  const auto need = [&](std::size_t k) {
    if (i.ops.size() != k) throw std::runtime_error("unexpected number of operands");
  };
  if (n == "nop") return i.fn = &no_operation, i.cnt = c_none, true;
  if (n == "permute_b32" || n == "bpermute_b32") {
    need(3), i.dst[0] = i.ops[0], i.vaddr = i.ops[1], i.data = i.ops[2], i.ndst = 1, i.is_load = true;
    return i.x = n[0] == 'b', i.fn = &permute, true;
  }
  if (n == "swizzle_b32") {
    if (i.offset >= 0xe000) throw std::runtime_error("the FFT mode of ds_swizzle is not implemented");
    need(2), i.dst[0] = i.ops[0], i.vaddr = i.ops[1], i.ndst = 1, i.is_load = true;
    return i.x = 2, i.fn = &permute, true;
  }
  const std::string whole = n;
  const bool rd = eat(n, "read") || eat(n, "load"), wr = !rd && (eat(n, "write") || eat(n, "store"));
  if ((rd || wr) && whole.find("xchg") == whole.npos) {
    i.store = wr, i.is_load = rd, i.fn = fastest<&ds_access>();
    const bool st64 = eat(n, "2st64_b") || eat(n, "_2addr_stride64_b");
    if (st64 || eat(n, "2_b") || eat(n, "_2addr_b")) {
      if (n != "32" && n != "64") return false;
      i.bytes = n == "32" ? 4 : 8, i.two = true, i.y = i.bytes * (st64 ? 64 : 1);
    } else {
      if (!eat(n, "_")) return false;
      if (auto p = n.find("_tr_b"); p != n.npos) i.tr = static_cast<u8>(std::stoi(n.substr(p + 5))), n.resize(p);
      if (!parse_shape(i, n, wr)) return false;
    }
    if (wr) {
      need(i.two ? 3 : 2), i.vaddr = i.ops[0], i.data = i.ops[1];
      if (i.two) i.data2 = i.ops[2];
    } else {
      need(2), i.dst[0] = i.ops[0], i.vaddr = i.ops[1], i.ndst = 1;
    }
    return true;
  }
  n = whole;
  i.atomic = true, i.fn = &ds_atomic, i.ret = whole.find("_rtn") != whole.npos;
  if (!parse_atomic(i, n)) return false;
  auto o = i.ops.begin();
  const std::size_t want = (i.ret ? 1u : 0u) + 2u + (i.op == at_cmpswap ? 1u : 0u);
  need(want);
  if (i.ret) i.dst[0] = *o++, i.ndst = 1, i.is_load = true;
  i.vaddr = *o++, i.data = *o++;
  if (i.op == at_cmpswap) i.data2 = *o++;
  i.y = whole.rfind("cmpst_", 0) ==
        0;  // gfx9 ds_cmpst: the first data operand is the compare value; ds_cmpstore: the second
  return true;
}
}  // namespace emu
