// SPDX-License-Identifier: MIT
// Vector instructions that move data between lanes or between scalar and vector registers.
#include "valu.hpp"

namespace emu {
namespace {
u32 lane_value(wave& w, const operand& o, u32 lane) {
  return o.kind == operand::vgpr   ? w.v(o.reg)[lane]
         : o.kind == operand::sgpr ? w.rs32(o)
                                   : static_cast<u32>(const_bits(o, kind::i32));
}
void readfirstlane(wave& w, const inst& i) {
  const u64 e = w.exec();
  w.ws32(i.dst[0], lane_value(w, i.src[0], e ? static_cast<u32>(std::countr_zero(e)) : 0));
}
void readlane(wave& w, const inst& i) { w.ws32(i.dst[0], lane_value(w, i.src[0], w.rs32(i.src[1]) & (w.lanes - 1))); }
void writelane(wave& w, const inst& i) { w.v(i.dst[0].reg)[w.rs32(i.src[1]) & (w.lanes - 1)] = w.rs32(i.src[0]); }
// x: 1 = permlanex16
void permlane16(wave& w, const inst& i) {
  const u64 e = w.exec();
  const bool fi = i.op_sel & 1, bc = i.op_sel & 2;
  const u32 *s = w.v(i.src[0].reg), *d = w.v(i.dst[0].reg);
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) {
    u32 sel;
    if (i.y)
      sel = w.v(i.src[1].reg)[l] & 15;  // v_permlane16_var
    else
      sel = w.rs32(i.src[l & 8 ? 2 : 1]) >> 4 * (l & 7) & 15;
    const u32 k = ((l & ~15u) ^ (i.x ? 16 : 0)) | sel;
    r[l] = fi || (e >> k & 1) ? s[k] : bc ? 0 : d[l];
  }
  store32(w, i, i.dst[0], r, e);
}
void permlane64(wave& w, const inst& i) {
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) r[l] = w.v(i.src[0].reg)[w.lanes == 64 ? l ^ 32 : l];
  store32(w, i, i.dst[0], r, w.exec());
}
// v_permlane{16,32}_swap: odd rows of the first register trade places with even rows of the second.
void permlane_swap(wave& w, const inst& i) {
  const u32 h = static_cast<u32>(i.x);
  u32 *d = w.v(i.ops[0].reg), *s = w.v(i.ops[1].reg);
  for (u32 g = 0; g < w.lanes; g += 2 * h)
    for (u32 l = 0; l < h; ++l) std::swap(d[g + h + l], s[g + l]);
}
// v_movrels / v_movreld: register number plus M0.
void movrel(wave& w, const inst& i) {
  const u32 m = w.s[s_m0];
  operand d = i.dst[0], s = i.src[0];
  if (i.x & 1 && s.kind == operand::vgpr) s.reg = static_cast<u16>(s.reg + m);
  if (i.x & 2) d.reg = static_cast<u16>(d.reg + m);
  if (d.reg > 255 || (s.kind == operand::vgpr && s.reg > 255)) w.die(i, "indirect register number is out of range");
  u32 r[64];
  for (u32 l = 0; l < w.lanes; ++l) r[l] = lane_value(w, s, l);
  store32(w, i, d, r, w.exec());
}
}  // namespace

void register_valu_lane() {
  for_names("v_readfirstlane_b32", {&readfirstlane});
  for_names("v_readlane_b32", {&readlane});
  for_names("v_writelane_b32", {&writelane});
  for_names("v_permlane16_b32", {&permlane16});
  for_names("v_permlanex16_b32", {&permlane16, 1, 1});
  for_names("v_permlane64_b32", {&permlane64});
  for_names("v_permlane16_swap_b32", {&permlane_swap, 0, 16});
  for_names("v_permlane32_swap_b32", {&permlane_swap, 0, 32});
  for_names("v_movrels_b32", {&movrel, 1, 1});
  for_names("v_movreld_b32", {&movrel, 1, 2});
  for_names("v_movrelsd_b32", {&movrel, 1, 3});
  for_names("v_nop v_clrexcp", {&no_operation, 0});
}
}  // namespace emu
