// SPDX-License-Identifier: MIT
// Branches, barriers, waits, and the registers that control a wave.
#include "findings.hpp"
#include "grid_barrier.hpp"
#include "salu.hpp"

namespace emu {
namespace {
bool condition(wave& w, int x) {
  switch (x) {
    case 0: return true;
    case 1: return w.scc() == 0;
    case 2: return w.scc() != 0;
    case 3: return w.vcc() == 0;
    case 4: return w.vcc() != 0;
    case 5: return w.exec() == 0;
    default: return w.exec() != 0;
  }
}
void branch(wave& w, const inst& i) {
  if (!condition(w, i.x)) return;
  if (i.target < 0) w.die(i, "branch out of the code object");
  w.next = static_cast<u32>(i.target);
}
void jump(wave& w, const inst& i, u64 address) {
  const u64 off = address - w.launch->co->text_lo;
  const auto& index = w.launch->prog->index;
  if (off / 4 >= index.size() || index[off / 4] == ~0u) w.die(i, "jump out of the code object");
  w.next = index[off / 4];
}
u64 image_base(const wave& w) { return w.launch->co->base(); }
void getpc(wave& w, const inst& i) { w.ws64(i.dst[0], image_base(w) + i.address + i.size); }
// Findings in functions name their calls: a jump to the instruction after the latest call is its return.
void setpc(wave& w, const inst& i) {
  const u64 to = w.rs64(i.src[0]) - image_base(w);
  if (!w.calls.empty()) {
    const inst& latest = w.launch->prog->code[w.calls.back()];
    if (to == latest.address + latest.size) w.calls.pop_back();
  }
  jump(w, i, to);
}
void swappc(wave& w, const inst& i) {
  const u64 t = w.rs64(i.src[0]);
  w.calls.push_back(w.ip);
  w.ws64(i.dst[0], image_base(w) + i.address + i.size);
  jump(w, i, t - image_base(w));
}
void call(wave& w, const inst& i) {
  if (i.target < 0) w.die(i, "call out of the code object");
  w.calls.push_back(w.ip);
  w.ws64(i.dst[0], image_base(w) + i.address + i.size), w.next = static_cast<u32>(i.target);
}
void endpgm(wave& w, const inst&) { w.status = wave::ended; }
void trap(wave& w, const inst& i) {
  stop(w, i, finding_kind::trap, "the kernel executed s_trap", w.exec() ? std::countr_zero(w.exec()) : -1);
}
void wait(wave& w, const inst& i) {
  if (w.launch->waits) apply_wait(w, i);
  if (i.fence && w.launch->concurrent) std::atomic_thread_fence(std::memory_order_seq_cst);
  if (w.launch->globals && i.fence) on_fence(w, i);
}
// Lanes that are not active at a barrier: once they are again, they have not taken part in it.
void remember_lanes(wave& w) { w.barrier = w.ip, w.skipped = w.launch->opt->collect ? w.started & ~w.exec() : 0; }
void barrier(wave& w, const inst&) {
  remember_lanes(w);
  if (w.launch->race) on_signal(w);
  ++w.signals, w.status = wave::at_barrier;
}
constexpr i32 of_workgroup = -1, of_cluster = -3;
void barrier_signal(wave& w, const inst& i) {
  const i32 which = static_cast<i32>(w.rs32(i.src[0]));
  if (which == of_cluster) return cluster_signal(w);
  if (which != of_workgroup)
    w.refuse(i, "only the barriers of the workgroup (-1) and of the cluster (-3) are implemented");
  if (w.launch->race) on_signal(w);
  ++w.signals;
  if (i.x) w.scc() = w.signals > w.wg->signalled;  // s_barrier_signal_isfirst
  w.wg->signalled = std::max(w.wg->signalled, w.signals);
}
void barrier_wait(wave& w, const inst& i) {
  remember_lanes(w);
  if (static_cast<i16>(i.raw[0]) == of_cluster)
    cluster_wait(w);
  else
    w.status = wave::at_barrier;
}
void interrupt(wave& w, const inst& i) {
  if (i.text.find("MSG_INTERRUPT") != i.text.npos && w.launch->interrupt) w.launch->interrupt(*w.launch);
}
void sleep(wave& w, const inst&) { w.yield = true; }  // it waits for another wave
void time(wave& w, const inst& i) {
  w.ws64(i.dst[0], w.launch->executed);
  if (w.launch->waits) issue(w, i, 0, nullptr, nullptr, 0, false, false);
}

// hwreg(NAME, offset, width)
struct hwreg {
  std::string name;
  u32 off = 0, width = 32;
};
hwreg parse_hwreg(const inst& i, const std::string& s) {
  hwreg h;
  const auto b = s.find('('), e = s.rfind(')');
  std::string t = s.substr(b + 1, e - b - 1);
  const auto c = t.find(',');
  h.name = t.substr(0, c);
  if (c != t.npos)
    h.off = static_cast<u32>(std::stoul(t.substr(c + 1))),
    h.width = static_cast<u32>(std::stoul(t.substr(t.find(',', c + 1) + 1)));
  (void)i;
  return h;
}
void getreg(wave& w, const inst& i) {
  const hwreg h = parse_hwreg(i, i.mods.at(1));
  u32 v = 0;
  if (h.name == "HW_REG_MODE")
    v = w.mode;
  else if (h.name == "HW_REG_SHADER_CYCLES" || h.name == "HW_REG_SHADER_CYCLES_LO" || h.name == "29")
    v = static_cast<u32>(w.launch->executed);
  else if (h.name == "HW_REG_SHADER_CYCLES_HI" || h.name == "30")
    v = static_cast<u32>(w.launch->executed >> 32);
  else if (h.name == "HW_REG_HW_ID" || h.name == "HW_REG_HW_ID1" || h.name == "HW_REG_HW_ID2" ||
           h.name == "HW_REG_XCC_ID" || h.name == "HW_REG_STATUS" || h.name == "HW_REG_TRAPSTS" ||
           h.name == "HW_REG_LDS_ALLOC" || h.name == "HW_REG_GPR_ALLOC" || h.name == "HW_REG_WAVE_STATUS" ||
           h.name == "HW_REG_WAVE_HW_ID1")
    v = 0;
  else if (h.name == "HW_REG_IB_STS2")  // as LLVM's code for workgroup ids reads it
    v = w.launch->kernel->cluster_size() == 1 ? 0 : 1u << 6 | w.wg->rank << 21;
  else
    w.refuse(i, "reading " + h.name + " is not implemented");
  w.ws32(i.ops[0], v >> h.off & (h.width == 32 ? ~0u : (1u << h.width) - 1));
}
void setreg(wave& w, const inst& i) {
  const hwreg h = parse_hwreg(i, i.mods.at(0));
  if (h.name != "HW_REG_MODE" && h.name != "HW_REG_WAVE_MODE") w.refuse(i, "writing " + h.name + " is not implemented");
  const u32 mask = (h.width == 32 ? ~0u : (1u << h.width) - 1) << h.off;
  w.mode = (w.mode & ~mask) | (w.rs32(i.ops[1]) << h.off & mask);
  if (w.mode & 15) w.refuse(i, "rounding modes other than to nearest are not implemented");
}
void round_mode(wave& w, const inst& i) {
  if (i.ops[0].bits & 15) w.refuse(i, "rounding modes other than to nearest are not implemented");
}
void denorm_mode(wave& w, const inst& i) { w.mode = (w.mode & ~0xf0u) | (static_cast<u32>(i.ops[0].bits) & 15) << 4; }
void gpr_idx(wave& w, const inst& i) {  // x: 0 on, 1 off, 2 mode, 3 idx
  switch (i.x) {
    case 0:
      w.gpr_idx = (i.raw[0] >> 8 & 15) | 16,
      w.s[s_m0] = (w.s[s_m0] & 0xffff0f00) | (w.rs32(i.ops[0]) & 255) | (w.gpr_idx & 15) << 12;
      break;
    case 1: w.gpr_idx = 0; break;
    case 2: w.gpr_idx = (i.raw[0] & 15) | 16, w.s[s_m0] = (w.s[s_m0] & 0xffff0fff) | (w.gpr_idx & 15) << 12; break;
    case 3: w.s[s_m0] = (w.s[s_m0] & ~255u) | (w.rs32(i.ops[0]) & 255); break;
  }
}
}  // namespace

void register_salu_control() {
  static const char* const branches[] = {"s_branch",        "s_cbranch_scc0",  "s_cbranch_scc1",  "s_cbranch_vccz",
                                         "s_cbranch_vccnz", "s_cbranch_execz", "s_cbranch_execnz"};
  for (int k = 0; k < 7; ++k) for_names(branches[k], {&branch, 0, k});
  for_names("s_getpc_b64 s_get_pc_i64", {&getpc});
  for_names("s_setpc_b64", {&setpc, 0});
  for_names("s_swappc_b64", {&swappc});
  for_names("s_call_b64", {&call});
  for_names(
      "s_nop s_setprio s_clause s_delay_alu s_icache_inv s_incperflevel s_decperflevel s_setkill "
      "s_code_end s_inst_prefetch s_set_inst_prefetch_distance s_wakeup "
      "s_waitcnt_depctr s_wait_alu s_wait_idle s_version s_ttracedata s_ttracedata_imm s_dcache_inv s_dcache_wb "
      "s_gl1_inv s_wait_event s_wait_expcnt s_wait_samplecnt s_wait_bvhcnt s_wait_xcnt s_set_vgpr_msb "
      "s_prefetch_data s_prefetch_inst s_prefetch_inst_pc_rel s_prefetch_data_pc_rel s_waitcnt_expcnt s_setprio_inc_wg "
      "s_sched_barrier s_singleuse_vdst s_sethalt s_dcache_wb_vol s_dcache_inv_vol",
      {&no_operation, 0});
  for_names("s_sleep", {&sleep, 0});
  for_names("s_sendmsg", {&interrupt, 0});
  for_names("s_endpgm s_endpgm_saved", {&endpgm, 0});
  for_names("s_trap", {&trap, 0});
  for_names(
      "s_waitcnt s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_wait_loadcnt s_wait_storecnt s_wait_dscnt "
      "s_wait_kmcnt s_wait_loadcnt_dscnt s_wait_storecnt_dscnt s_wait_asynccnt s_wait_tensorcnt",
      {&wait, 0});
  for_names("s_barrier", {&barrier, 0});
  for_names("s_barrier_signal", {&barrier_signal, 0});
  for_names("s_barrier_signal_isfirst", {&barrier_signal, 0, 1});
  for_names("s_barrier_wait", {&barrier_wait, 0});
  for_names("s_memtime s_memrealtime", {&time});
  for_names("s_getreg_b32", {&getreg, 0});
  for_names("s_setreg_b32 s_setreg_imm32_b32", {&setreg, 0});
  for_names("s_round_mode", {&round_mode, 0});
  for_names("s_denorm_mode", {&denorm_mode, 0});
  static const char* const idx[] = {"s_set_gpr_idx_on", "s_set_gpr_idx_off", "s_set_gpr_idx_mode", "s_set_gpr_idx_idx"};
  for (int k = 0; k < 4; ++k) for_names(idx[k], {&gpr_idx, 0, k});
  for_names("s_movrels_b32", {[](wave& w, const inst& i) { w.ws32(i.dst[0], w.s[(i.src[0].reg + w.s[s_m0]) % 106]); }});
  for_names("s_movreld_b32",
            {[](wave& w, const inst& i) { w.s[(i.dst[0].reg + w.s[s_m0]) % 106] = w.rs32(i.src[0]); }});
}
}  // namespace emu
