// SPDX-License-Identifier: MIT
// Follows uninitialised values through registers: a bit for each lane of a vector register, and for each bit of a
// scalar one. A value counts as uninitialised where all of its bytes are: what combines halves of registers raises no
// alarm.
#include <numeric>

#include "findings.hpp"
#include "source_lines.hpp"
#include "valu.hpp"

namespace emu {
namespace {
using values = wave::undefined_values;

bool any_of(const std::string& n, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const char* s) { return n.rfind(s, 0) == 0; });
}
bool scalar(const operand& o) { return o.kind == operand::sgpr && o.reg < 136 && o.reg != s_null; }

u32 bits_of(const values& u, const operand& o, u32 k = 0) {
  if (!scalar(o) || o.reg + k >= 136) return 0;
  return u.scalar[o.reg + k];
}
bool any_bits(const values& u, const operand& o) {
  u32 any = 0;
  for (u32 k = 0; k < o.count; ++k) any |= bits_of(u, o, k);
  return any != 0;
}
void set_bits(values& u, const operand& o, u32 k, u32 x) {
  if (!scalar(o) || o.reg + k >= 136) return;
  u.scalar[o.reg + k] = x;
  u.any_scalar |= x != 0;
}
// Lanes of source k that are uninitialised.
u64 lanes_of(const wave& w, const operand& o) {
  const values& u = *w.undefined;
  if (o.kind == operand::sgpr) return any_bits(u, o) ? w.full() : 0;
  if (o.kind != operand::vgpr) return 0;
  u64 m = 0;
  for (u32 k = 0; k < std::max<u32>(o.count, 1) && o.reg + k < 512; ++k) m |= u.vector[o.reg + k];
  return m & w.full();
}
u32 origin_of(const wave& w, const operand& o) {
  const values& u = *w.undefined;
  if (o.kind == operand::sgpr) return u.scalar_origin;
  for (u32 k = 0; k < o.count && o.kind == operand::vgpr && o.reg + k < 512; ++k)
    if (u.vector[o.reg + k]) return u.origin[o.reg + k];
  return 0;
}
struct taint {
  u64 lanes = 0, computed = 0;
  u32 origin = 0;
};
taint of_source(const wave& w, const operand& o) {
  taint t{lanes_of(w, o), 0, 0};
  if (!t.lanes) return t;
  t.origin = origin_of(w, o);
  if (o.kind == operand::vgpr)
    for (u32 k = 0; k < o.count && o.reg + k < 512; ++k) t.computed |= w.undefined->computed[o.reg + k];
  t.computed &= t.lanes;
  return t;
}
void join(taint& t, const taint& o) {
  if (!t.lanes) t.origin = o.origin;
  t.lanes |= o.lanes, t.computed |= o.computed;
}
void set_taint(wave& w, const inst& i, const operand& d, const taint& t, u64 lanes) {
  values& u = *w.undefined;
  if (d.kind == operand::sgpr) {
    for (u32 k = 0; k < d.count; ++k) set_bits(u, d, k, t.lanes ? ~0u : 0);
    if (t.lanes) u.scalar_origin = t.origin;
    return;
  }
  if (d.kind != operand::vgpr) return;
  const bool part = (i.sdwa && i.dst_sel != 6 && i.dst_unused == 2) || i.dst_hi || d.half;
  for (u32 k = 0; k < std::max<u32>(d.count, 1) && d.reg + k < 512; ++k) {
    u64& v = u.vector[d.reg + k];
    const u64 now = part ? v & t.lanes : t.lanes;
    v = (v & ~lanes) | (now & lanes);
    u.computed[d.reg + k] = (u.computed[d.reg + k] & ~lanes) | (t.computed & now & lanes);
    if (now & lanes) u.origin[d.reg + k] = t.origin;
  }
}
operand dword_of(const operand& o, u32 k) {
  operand d = o;
  d.reg = static_cast<u16>(o.reg + k), d.count = 1;
  return d;
}
void tell(wave& w, const inst& i, const std::string& what, u64 lanes, u32 origin) {
  const int lane = lanes ? std::countr_zero(lanes) : -1;
  if (finding* f = report(
          w, i, finding_kind::uninitialised, [&] { return what + " depends on memory that was never written"; },
          lane)) {
    f->other = site_of(*w.launch, origin);
    f->other_role = "the load of the uninitialised value";
  }
}

// Addresses decide; and once reported they count as known.
void check_address(wave& w, const inst& i, const operand& o) {
  if (o.kind != operand::vgpr && o.kind != operand::sgpr) return;
  const u64 bad = lanes_of(w, o) & (o.kind == operand::vgpr ? w.exec() : w.full());
  if (!bad || !w.exec()) return;
  tell(w, i, "an address", o.kind == operand::vgpr ? bad : 0, origin_of(w, o));
  values& u = *w.undefined;
  for (u32 k = 0; k < o.count; ++k) {
    if (o.kind == operand::vgpr)
      u.vector[o.reg + k] &= ~bad;
    else
      set_bits(u, o, k, 0);
  }
}
void follow_branch(wave& w, const inst& i) {
  values& u = *w.undefined;
  u32* bad = nullptr;
  const u64 e = w.exec();
  if (i.x == 1 || i.x == 2) bad = &u.scalar[s_scc];
  if (i.x == 3 || i.x == 4) bad = &u.scalar[s_vcc];
  if (!bad) return;
  const u32 high = bad == &u.scalar[s_vcc] ? u.scalar[s_vcc + 1] : 0;
  if (!*bad && !high) return;
  if (bad == &u.scalar[s_vcc] && !((*bad | u64{high} << 32) & e)) return;
  tell(w, i, "a branch", 0, u.scalar_origin);
  bad[0] = 0;
  if (high) bad[1] = 0;
}
// EXEC from an uninitialised mask: a branch of these lanes.
void check_mask(wave& w, const inst& i, const operand& o) {
  values& u = *w.undefined;
  const u64 bad = (bits_of(u, o, 0) | (o.count == 2 ? u64{bits_of(u, o, 1)} << 32 : 0)) & w.full();
  if (!bad) return;
  tell(w, i, "a branch", bad, u.scalar_origin);
  for (u32 k = 0; k < o.count; ++k) set_bits(u, o, k, 0);
}
void follow_logic(wave& w, const inst& i) {
  values& u = *w.undefined;
  const bool invert_b = i.name.find("n2") != i.name.npos || i.name.find("not1_") != i.name.npos;
  u32 any = 0;
  for (u32 k = 0; k < i.dst[0].count; ++k) {
    const auto value = [&](const operand& o) { return static_cast<u32>(w.rs64(o) >> 32 * k); };
    const u32 ua = bits_of(u, i.src[0], k), ub = bits_of(u, i.src[1], k), a = value(i.src[0]),
              b = invert_b ? ~value(i.src[1]) : value(i.src[1]);
    u32 r = ua | ub;
    if (i.shadow == inst::sh_and) r &= (ua | a) & (ub | b);   // a known 0 decides
    if (i.shadow == inst::sh_or) r &= (ua | ~a) & (ub | ~b);  // a known 1 decides
    set_bits(u, i.dst[0], k, r);
    any |= r;
  }
  u.scalar[s_scc] = any;
  if (scalar(i.dst[0]) && i.dst[0].reg == s_exec) check_mask(w, i, i.dst[0]);
}
void follow_salu(wave& w, const inst& i) {
  values& u = *w.undefined;
  taint t;
  for (u32 k = 0; k < i.nsrc; ++k) join(t, of_source(w, i.src[k]));
  if (i.shadow == inst::sh_scc_select && u.scalar[s_scc]) t.lanes = ~0ull, t.origin = u.scalar_origin;
  for (u32 k = 0; k < i.ndst; ++k) set_taint(w, i, i.dst[k], t, w.full());
  if (i.writes_scc) u.scalar[s_scc] = t.lanes ? 1 : 0;
  if (t.lanes) u.scalar_origin = t.origin, u.any_scalar = true;
  for (u32 k = 0; k < i.ndst; ++k)
    if (scalar(i.dst[k]) && i.dst[k].reg == s_exec) check_mask(w, i, i.dst[k]);
}
void follow_compare(wave& w, const inst& i) {
  values& u = *w.undefined;
  taint t;
  for (u32 k = 0; k < i.nsrc; ++k) join(t, of_source(w, i.src[k]));
  const u64 bad = t.lanes & w.exec();
  if (bad) u.scalar_origin = t.origin;
  if (i.y && bad) tell(w, i, "a branch", bad, t.origin);
  if (i.ndst && !(i.y && i.dst[0].reg == s_exec))
    for (u32 k = 0; k < i.dst[0].count; ++k) set_bits(u, i.dst[0], k, i.y ? 0 : static_cast<u32>(bad >> 32 * k));
}
void follow_select(wave& w, const inst& i) {
  const values& u = *w.undefined;
  const taint a = of_source(w, i.src[0]), b = of_source(w, i.src[1]);
  const u64 mask = w.rmask(i.src[2]),
            bad = bits_of(u, i.src[2]) | (i.src[2].count == 2 ? u64{bits_of(u, i.src[2], 1)} << 32 : 0);
  taint t{(b.lanes & mask) | (a.lanes & ~mask) | bad, (b.computed & mask) | (a.computed & ~mask) | bad, 0};
  t.origin = bad ? u.scalar_origin : b.lanes & mask ? b.origin : a.origin;
  set_taint(w, i, i.dst[0], t, w.exec());
}
// What moves values between lanes: a lane for a lane where that is known, else all if any.
void follow_lanes(wave& w, const inst& i) {
  values& u = *w.undefined;
  const operand &d = i.dst[0], &s = i.nsrc ? i.src[0] : i.data;
  if (i.name == "v_readlane_b32" || i.name == "v_readfirstlane_b32") {
    if (s.kind != operand::vgpr) return set_taint(w, i, d, of_source(w, s), ~0ull);
    const u64 e = w.exec();
    const u32 l = i.nsrc > 1 ? w.rs32(i.src[1]) & (w.lanes - 1) : e ? static_cast<u32>(std::countr_zero(e)) : 0;
    taint t = of_source(w, s);
    t.lanes &= 1ull << l;
    return set_taint(w, i, d, t, ~0ull);
  }
  if (i.name == "v_writelane_b32") {
    const u64 l = 1ull << (w.rs32(i.src[1]) & (w.lanes - 1));
    return set_taint(w, i, d, of_source(w, i.src[0]), l);
  }
  const operand& from = s.kind == operand::none ? i.vaddr : s;
  taint t = of_source(w, from);
  if ((t.lanes & w.exec()) != w.exec()) t.lanes = t.computed = 0;  // which lane is not followed
  if (!i.ndst) {                                                   // a swap of rows
    for (std::size_t k = 0; k < 2 && k < i.ops.size(); ++k)
      if (i.ops[k].kind == operand::vgpr) u.vector[i.ops[k].reg] = 0;
    return;
  }
  set_taint(w, i, d, t, w.exec());
}
void follow_matrix(wave& w, const inst& i) {
  taint t = of_source(w, i.src[2]);
  for (int k = 0; k < 2; ++k) {
    taint s = of_source(w, i.src[k]);
    if (s.lanes == w.full()) join(t, {s.lanes, s.lanes, s.origin});
  }
  set_taint(w, i, i.dst[0], t, w.full());
}
// Two dwords. Wide integers: the low one of the result does not depend on high ones. Packed: each on those that op_sel
// says.
void follow_pair(wave& w, const inst& i) {
  taint t[2];
  for (u32 k = 0; k < 2; ++k)
    for (u32 s = 0; s < i.nsrc; ++s) {
      const operand& o = i.src[s];
      if (o.count < 2)
        join(t[k], of_source(w, o));
      else if (i.shadow == inst::sh_packed)
        join(t[k], of_source(w, dword_of(o, (k ? i.op_sel_hi : i.op_sel) >> s & 1)));
      else
        for (u32 n = 0; n <= k; ++n) join(t[k], of_source(w, dword_of(o, n)));
    }
  for (u32 k = 0; k < 2; ++k) {
    t[k].computed = t[k].lanes;
    set_taint(w, i, dword_of(i.dst[0], k), t[k], active(w, i));
  }
  for (u32 n = 0; i.ndst > 1 && n < i.dst[1].count; ++n) set_bits(*w.undefined, i.dst[1], n, 0);  // the carry
}
// v_mov_b64, and v_pk_mov_b32: op_sel says which dword of source 0 is the low one, and which of source 1 the high one.
void follow_moved_pair(wave& w, const inst& i) {
  const bool packed = i.nsrc > 1;
  taint t[2];
  for (u32 k = 0; k < 2; ++k) {
    const operand& o = i.src[packed ? k : 0];
    t[k] = of_source(w, o.count < 2 ? o : dword_of(o, packed ? i.op_sel >> k & 1 : k));
  }
  for (u32 k = 0; k < 2; ++k) set_taint(w, i, dword_of(i.dst[0], k), t[k], active(w, i));
}
void follow_alu(wave& w, const inst& i) {
  taint t;
  u64 all = ~0ull;
  for (u32 k = 0; k < i.nsrc; ++k) {
    const taint s = of_source(w, i.src[k]);
    if (i.src[k].kind == operand::vgpr || i.src[k].kind == operand::sgpr) all &= s.lanes;
    join(t, s);
  }
  if (i.shadow == inst::sh_pack) t.lanes &= all, t.computed &= all;
  if (i.shadow == inst::sh_compute) t.computed = t.lanes;
  if (i.dpp && (t.lanes & w.exec()) != w.exec()) t.lanes = t.computed = 0;
  for (u32 k = 0; k < i.ndst; ++k) {
    if (i.dst[k].kind == operand::sgpr && k)  // a carry
      for (u32 n = 0; n < i.dst[k].count; ++n)
        set_bits(*w.undefined, i.dst[k], n, static_cast<u32>((t.lanes & w.exec()) >> 32 * n));
    else
      set_taint(w, i, i.dst[k], t, active(w, i));
  }
}
}  // namespace

namespace {
void classify_by_name(inst& i) {
  const std::string& n = i.name;
  i.shadow = inst::sh_none;
  if (n.rfind("s_cbranch", 0) == 0)
    i.shadow = inst::sh_branch;
  else if (n.rfind("s_load", 0) == 0 || n.rfind("s_buffer_load", 0) == 0)
    i.shadow = inst::sh_load;
  else if (i.store || i.atomic)
    i.shadow = i.atomic ? inst::sh_atomic : inst::sh_store;
  else if (i.vaddr.kind != operand::none && i.bytes)
    i.shadow = inst::sh_load;
  else if (any_of(n, {"ds_permute", "ds_bpermute", "ds_swizzle", "v_readlane", "v_readfirstlane", "v_writelane",
                      "v_permlane", "v_movrel"}))
    i.shadow = inst::sh_lanes;
  else if (any_of(n, {"v_mfma", "v_wmma"}))
    i.shadow = inst::sh_matrix;
  else if (n.rfind("v_cmp", 0) == 0)
    i.shadow = inst::sh_compare;
  else if (n == "v_cndmask_b32" && i.nsrc >= 3)
    i.shadow = inst::sh_select;
  else if (any_of(n, {"v_mad_u64", "v_mad_i64", "v_mad_co_u64", "v_mad_nc_u64", "v_mad_nc_i64", "v_lshlrev_b64",
                      "v_lshl_add_u64", "v_add_u64", "v_add_nc_u64"}) &&
           i.dst[0].count == 2)
    i.shadow = inst::sh_wide;
  else if (any_of(n, {"v_mov_b64", "v_pk_mov_b32"}) && i.dst[0].count == 2)
    i.shadow = inst::sh_moved_pair;
  else if (any_of(n, {"v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"}) && i.dst[0].count == 2)
    i.shadow = inst::sh_packed;
  else if (any_of(n, {"v_mov", "v_accvgpr"}))
    i.shadow = inst::sh_move;
  else if (any_of(n, {"v_perm_b32", "v_or", "v_lshl_or", "v_and_or", "v_bfi", "v_pack", "v_alignbit", "v_alignbyte",
                      "v_and", "v_bitop3", "v_cvt_pk", "v_cvt_scale", "v_cvt_sr"}))
    i.shadow = inst::sh_pack;
  else if (n.rfind("v_", 0) == 0 && i.nsrc)
    i.shadow = inst::sh_compute;
  else if (n.find("saveexec") != n.npos || n.find("wrexec") != n.npos)
    i.shadow = inst::sh_saveexec;
  else if (n.rfind("s_cselect", 0) == 0 || n.rfind("s_cmov", 0) == 0)
    i.shadow = inst::sh_scc_select;
  else if (any_of(n, {"s_and_b", "s_andn2_b", "s_and_not1_b"}))
    i.shadow = inst::sh_and;
  else if (any_of(n, {"s_or_b", "s_orn2_b", "s_or_not1_b"}))
    i.shadow = inst::sh_or;
  else if (any_of(n, {"s_xor_b"}))
    i.shadow = inst::sh_xor;
  else if (n.rfind("s_", 0) == 0 && i.nsrc &&
           !any_of(n, {"s_wait", "s_getpc", "s_nop", "s_sleep", "s_setprio", "s_barrier"}))
    i.shadow = inst::sh_salu;
  else if (any_of(n, {"s_getpc", "s_memtime", "s_memrealtime", "s_getreg", "s_swappc", "s_call"}))
    i.shadow = inst::sh_salu;
  i.writes_scc = i.shadow == inst::sh_salu &&
                 !any_of(n, {"s_mov", "s_mul", "s_pack", "s_bitset", "s_sext", "s_brev", "s_ff", "s_flbit", "s_ctz",
                             "s_clz", "s_get", "s_set", "s_swap", "s_call", "s_mem", "s_cvt"});
}
/// The vector registers that decide whether a result, an address or a branch is undefined.
void collect_ranges(inst& i) {
  u32 reads = 0;
  const auto read = [&](const operand& o) {
    if (o.kind == operand::vgpr && reads < std::size(i.reads)) i.reads[reads++] = {o.reg, std::max<u8>(o.count, 1)};
  };
  if (i.shadow == inst::sh_load || i.shadow == inst::sh_store || i.shadow == inst::sh_atomic) return read(i.vaddr);
  for (const inst& half : i.dual)
    for (u32 k = 0; k < half.nsrc; ++k) read(half.src[k]);
  for (u32 k = 0; k < i.nsrc; ++k) read(i.src[k]);
  u32 writes = 0;
  const auto write = [&](const operand& o) {
    if (o.kind == operand::vgpr) i.writes[writes++] = {o.reg, std::max<u8>(o.count, 1)};
  };
  for (const inst& half : i.dual) write(half.dst[0]);
  for (u32 k = 0; k < i.ndst; ++k) write(i.dst[k]);
}
/// The common case: nothing that the instruction reads is undefined, so that nothing that it writes is.
bool all_defined(wave& w, const inst& i) {
  values& u = *w.undefined;
  if (u.any_scalar || i.shadow == inst::sh_lanes) return false;
  u64 any = 0;
  for (const vector_range& r : i.reads)
    for (u32 k = 0; k < r.count; ++k) any |= u.vector[r.first + k];
  if (any & w.full()) return false;
  const u64 lanes = i.shadow == inst::sh_matrix ? w.full() : i.writes[0].count ? active(w, i) : 0;
  for (const vector_range& r : i.writes)
    for (u32 k = 0; k < r.count; ++k) u.vector[r.first + k] &= ~lanes, u.computed[r.first + k] &= ~lanes;
  return true;
}
}  // namespace

void classify(inst& i) {
  if (i.dual.empty()) classify_by_name(i);
  collect_ranges(i);
}

void follow(wave& w, const inst& i) {
  if (all_defined(w, i)) return;
  if (!i.dual.empty()) {
    // Both halves read before either writes; a half writes one register.
    const inst &a = i.dual[0], &b = i.dual[1];
    const u32 d = a.dst[0].reg;
    values& u = *w.undefined;
    const u64 before = u.vector[d], computed = u.computed[d];
    follow(w, a);
    const u64 after = u.vector[d], after_computed = u.computed[d];
    u.vector[d] = before, u.computed[d] = computed;
    follow(w, b);
    if (b.dst[0].reg != d) u.vector[d] = after, u.computed[d] = after_computed;
    return;
  }
  switch (i.shadow) {
    case inst::sh_wide:
    case inst::sh_packed: return follow_pair(w, i);
    case inst::sh_moved_pair: return follow_moved_pair(w, i);
    case inst::sh_compute:
    case inst::sh_move:
    case inst::sh_pack: return follow_alu(w, i);
    case inst::sh_select: return follow_select(w, i);
    case inst::sh_compare: return follow_compare(w, i);
    case inst::sh_lanes: return follow_lanes(w, i);
    case inst::sh_matrix: return follow_matrix(w, i);
    case inst::sh_salu:
    case inst::sh_scc_select:
      if (w.undefined->any_scalar || i.ndst) follow_salu(w, i);
      return;
    case inst::sh_and:
    case inst::sh_or:
    case inst::sh_xor: return follow_logic(w, i);
    case inst::sh_saveexec: {
      check_mask(w, i, i.src[0]);
      if (i.ndst)
        for (u32 k = 0; k < i.dst[0].count; ++k) set_bits(*w.undefined, i.dst[0], k, 0);
      w.undefined->scalar[s_scc] = 0;
      return;
    }
    case inst::sh_branch: return follow_branch(w, i);
    case inst::sh_load:
    case inst::sh_store:
    case inst::sh_atomic:
      for (const operand* o : {&i.vaddr, &i.saddr, &i.rsrc, &i.soff}) check_address(w, i, *o);
      if (i.shadow == inst::sh_load && i.vaddr.kind == operand::none) check_address(w, i, i.src[0]);
      return;
    case inst::sh_none: return;
  }
}

namespace {
// Of a value in memory: 0 when any byte is known, else the worst byte.
u8 value_state(const u8* s, u32 n) {
  u8 worst = 0;
  for (u32 k = 0; k < n; ++k) {
    if (s[k] == written) return written;
    worst = std::max(worst, s[k]);
  }
  return worst;
}
}  // namespace

void follow_load(wave& w, const inst& i, const operand& d, u32 first, u32 lane, u32 bytes, const u8* state) {
  values& u = *w.undefined;
  const u64 bit = 1ull << lane;
  for (u32 k = 0; k < (bytes + 3) / 4; ++k) {
    const u32 r = d.reg + first + k;
    if (r >= 512) return;
    const u8 s = state ? value_state(state + 4 * k, std::min(4u, bytes - 4 * k)) : u8{written};
    if (!s) {
      u.vector[r] &= ~bit, u.computed[r] &= ~bit;
      continue;
    }
    if (i.d16 && !(u.vector[r] & bit)) continue;  // the other half is known
    u.vector[r] |= bit;
    u.computed[r] = s == undefined_result ? u.computed[r] | bit : u.computed[r] & ~bit;
    u.origin[r] = w.launch->site(i);
  }
}
void follow_store(wave& w, const inst& i, const operand& d, u32 lane, u32 bytes, u8* state) {
  values& u = *w.undefined;
  for (u32 k = 0; k < (bytes + 3) / 4; ++k) {
    const u32 n = std::min(4u, bytes - 4 * k), r = d.reg + k;
    u8 s = written;
    if (d.kind == operand::vgpr && r < 512 && u.vector[r] >> lane & 1)
      s = u.computed[r] >> lane & 1 ? undefined_result : undefined_value;
    std::memset(state + 4 * k, s, n);
    buffer_state* b = s == undefined_result ? w.launch->last.buffer : nullptr;
    if (!b || b->state.empty() || state < b->state.data() || state >= b->state.data() + b->state.size()) continue;
    const u64 at = static_cast<u64>(state + 4 * k - b->state.data());
    const code_site store = site_of(*w.launch, w.launch->site(i)), load = site_of(*w.launch, u.origin[r]);
    const auto lock = w.launch->lock(w.launch->shared->reports);
    const std::string where = w.launch->co->where(i.address);
    auto it = std::find_if(b->undefined_stores.begin(), b->undefined_stores.end(),
                           [&](const undefined_store& x) { return x.store.where == where; });
    if (it == b->undefined_stores.end()) {
      b->undefined_stores.push_back({at, at + n, store, load, demangled(w.launch->kernel->name)});
    } else {
      it->lo = std::min(it->lo, at), it->hi = std::max(it->hi, at + n);
    }
  }
}
}  // namespace emu
