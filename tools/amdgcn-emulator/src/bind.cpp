// SPDX-License-Identifier: MIT
// From a parsed instruction to the function that executes it.
#include <sstream>
#include <unordered_map>

#include "grid_barrier.hpp"
#include "valu.hpp"

namespace emu {
namespace {
std::unordered_map<std::string, op_entry>& table() {
  static std::unordered_map<std::string, op_entry> t;
  return t;
}
void fill_table() {
  static const bool once =
      (register_salu_int(), register_salu_control(), register_grid_barrier(), register_salu_float(),
       register_valu_float(), register_valu_functions(), register_valu_int(), register_valu_bits(), register_valu_cvt(),
       register_valu_packed(), register_valu_lane(), register_valu_gfx1250(), true);
  (void)once;
}
bool strip(std::string& s, const char* suffix) {
  const std::string_view x(suffix);
  if (s.size() <= x.size() || s.compare(s.size() - x.size(), x.size(), x)) return false;
  s.resize(s.size() - x.size());
  return true;
}
template <class T>
void compare(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind_of<T>(), a), fetch(w, i, 1, kind_of<T>(), b);
  const bool less = i.x & 1, equal = i.x & 2, greater = i.x & 4, unordered = i.x & 8;
  const u64 m = active(w, i) & lanes_where(w, [&](u64 l) {
                  const auto x = plain(load<T>(a, l)), y = plain(load<T>(b, l));
                  return x < y ? less : x == y ? equal : x > y ? greater : unordered;
                });
  if (i.ndst) w.wmask(i.dst[0], m);
  if (i.y) w.set_exec(m);
}
template <class T>
int classify(T x, bool subnormal) {
  const bool s = std::signbit(x);
  if (x != x) return 1;  // quiet; signalling NaNs are handled by the caller
  if (std::isinf(x)) return s ? 2 : 9;
  if (x == 0) return s ? 5 : 6;
  return subnormal ? (s ? 4 : 7) : (s ? 3 : 8);
}
template <class T>
void compare_class(wave& w, const inst& i) {
  row a, b;
  fetch(w, i, 0, kind_of<T>(), a), fetch(w, i, 1, kind::i32, b);
  u64 m = 0;
  for (u32 l = 0; l < w.lanes; ++l) {
    int c;
    if constexpr (std::is_same_v<T, half>) {
      const u16 h = static_cast<u16>(a.lo[l]);
      c = classify(f16_to_f32(h), !(h & 0x7c00));
      if (c == 1 && !(h & 0x200)) c = 0;
    } else if constexpr (std::is_same_v<T, float>) {
      const u32 u = a.lo[l];
      c = classify(as_f32(u), !(u & 0x7f800000));
      if (c == 1 && !(u & 0x400000)) c = 0;
    } else {
      const u64 u = a.lo[l] | static_cast<u64>(a.hi[l]) << 32;
      c = classify(as_f64(u), !(u >> 52 & 0x7ff));
      if (c == 1 && !(u >> 51 & 1)) c = 0;
    }
    m |= static_cast<u64>(b.lo[l] >> c & 1) << l;
  }
  m &= active(w, i);
  if (i.ndst) w.wmask(i.dst[0], m);
  if (i.y) w.set_exec(m);
}
bool bind_compare(inst& i, const code_object& co) {
  std::string n = i.name;
  const bool x = n.rfind("v_cmpx_", 0) == 0;
  if (!x && n.rfind("v_cmp_", 0)) return false;
  n = n.substr(x ? 7 : 6);
  const auto us = n.rfind('_');
  if (us == n.npos) return false;
  const std::string op = n.substr(0, us), ty = n.substr(us + 1);
  static const std::unordered_map<std::string, int> fcodes{
      {"f", 0},   {"lt", 1},   {"eq", 2},   {"le", 3},   {"gt", 4},   {"lg", 5},   {"ge", 6},   {"o", 7}, {"u", 8},
      {"nge", 9}, {"nlg", 10}, {"ngt", 11}, {"nle", 12}, {"neq", 13}, {"nlt", 14}, {"tru", 15}, {"t", 15}};
  static const std::unordered_map<std::string, int> icodes{{"f", 0},  {"lt", 1}, {"eq", 2}, {"le", 3}, {"gt", 4},
                                                           {"ne", 5}, {"lg", 5}, {"ge", 6}, {"t", 7}};
  static const std::unordered_map<std::string, handler> handlers{
      {"f16", fastest<&compare<half>>()}, {"f32", fastest<&compare<float>>()}, {"f64", fastest<&compare<double>>()},
      {"i16", fastest<&compare<i16>>()},  {"u16", fastest<&compare<u16>>()},   {"i32", fastest<&compare<i32>>()},
      {"u32", fastest<&compare<u32>>()},  {"i64", fastest<&compare<i64>>()},   {"u64", fastest<&compare<u64>>()}};
  if (op == "class") {
    i.fn = ty == "f16" ? &compare_class<half> : ty == "f32" ? &compare_class<float> : &compare_class<double>;
  } else {
    const auto& codes = ty[0] == 'f' ? fcodes : icodes;
    auto h = handlers.find(ty);
    auto c = codes.find(op);
    if (h == handlers.end() || c == codes.end()) return false;
    i.fn = h->second, i.x = c->second, i.is_float = ty[0] == 'f';
  }
  i.y = x;
  i.ndst = x && co.fam != family::gfx9 ? 0 : 1;
  return true;
}
void run_dual(wave& w, const inst& i) {  // both halves read before either writes
  const inst &a = i.dual[0], &b = i.dual[1];
  u32 before[32], after[32];
  u32* d = w.v(a.dst[0].reg);
  std::memcpy(before, d, sizeof before);
  a.fn(w, a);
  std::memcpy(after, d, sizeof after);
  std::memcpy(d, before, sizeof before);
  b.fn(w, b);
  std::memcpy(d, after, sizeof after);
}
void place_operands(inst& i, bool acc) {
  u32 k = 0;
  for (; k < i.ndst && k < i.ops.size(); ++k) i.dst[k] = i.ops[k];
  if (k < i.ndst) throw std::runtime_error("too few operands");
  for (; k < i.ops.size() && i.nsrc < 6; ++k) i.src[i.nsrc++] = i.ops[k];
  if (acc) i.src[i.nsrc++] = i.dst[0];
}
}  // namespace

void add_op(const std::string& name, op_entry e) { table()[name] = e; }
const op_entry* find_op(const std::string& name) {
  fill_table();
  auto it = table().find(name);
  return it == table().end() ? nullptr : &it->second;
}
void for_names(const char* names, const op_entry& e) {
  std::istringstream in(names);
  for (std::string n; in >> n;) add_op(n, e);
}

void bind(inst& i, const code_object& co) {
  if (!i.dual.empty()) {
    for (const inst& h : i.dual)
      if (!h.fn) throw std::runtime_error("instruction '" + h.mnemonic + "' is not implemented");
    i.fn = &run_dual;
    collect_regs(i);
    classify(i);
    return;
  }
  i.name = i.mnemonic;
  if (i.name.rfind("v_dual_", 0) == 0) i.name = "v_" + i.name.substr(7);
  strip(i.name, "_dpp"), strip(i.name, "_sdwa"), strip(i.name, "_e64"), strip(i.name, "_e32");
  const std::string& n = i.name;
  const auto is = [&](const char* p) { return n.rfind(p, 0) == 0; };
  bool ok = false;
  if (is("global_") || is("flat_") || is("scratch_") || is("buffer_") || is("cluster_load_async_") || is("s_load_") ||
      is("s_buffer_load_") || is("tbuffer_"))
    ok = bind_memory(i, co);
  else if (is("ds_") && !is("ds_gws_"))
    ok = bind_lds(i, co);
  else if (is("tensor_"))
    ok = bind_tensor_move(i);
  else if (is("v_mfma_") || is("v_wmma_"))
    ok = bind_matrix(i, co);
  else if (is("v_cmp")) {
    if ((ok = bind_compare(i, co))) place_operands(i, false);
  } else {
    const op_entry* e = nullptr;
    if (i.clamp) e = find_op(n + "#clamp");
    if (!e && (e = find_op(n)) && i.clamp && !e->is_float && i.name.rfind("v_", 0) == 0)
      throw std::runtime_error("'clamp' of '" + n + "' is not implemented");
    if (e) {
      i.fn = e->fn, i.ndst = e->ndst, i.is_float = e->is_float;
      if (e->x) i.x = e->x;
      place_operands(i, e->acc);
      if (n == "v_cndmask_b32" && i.nsrc == 2) {  // VOPD: VCC is implied
        bool vcc_ok;
        i.src[i.nsrc++] = parse_operand(co.wave32 ? "vcc_lo" : "vcc", vcc_ok);
      }
      if (n == "v_bitop2_b32") i.src[i.nsrc++].kind = operand::constant;  // v_bitop3 with a zero
      if (is("s_memtime") || is("s_memrealtime")) i.is_load = true, i.cnt = c_lgkm;
      ok = true;
    }
  }
  if (!ok) throw std::runtime_error("instruction '" + i.mnemonic + "' is not implemented");
  if (i.op_sel_n > i.nsrc && i.nsrc) i.dst_hi = i.op_sel >> i.nsrc & 1;
  static const char* const keep[] = {"v_mad_f16",       "v_mad_u16",       "v_mad_i16",
                                     "v_fma_f16",       "v_div_fixup_f16", "v_fma_mixlo_f16",
                                     "v_mad_mixlo_f16", "v_fma_mixhi_f16", "v_mad_mixhi_f16"};
  for (u32 k = 0; k < i.nsrc; ++k) {
    const operand& o = i.src[k];
    const bool changed = o.abs || o.neg || o.half == 2 || (i.op_sel >> k & 1) || (i.dpp && k == 0) || (i.sdwa && k < 2);
    if (o.kind == operand::vgpr && !changed) i.plain |= static_cast<u8>(1u << k);
  }
  i.preserve_hi = co.fam != family::gfx9;
  for (auto k : keep) i.preserve_hi |= n == k;
  collect_regs(i);
  classify(i);
  if (is("s_wait")) bind_wait(i, co.fam);
  i.shared = i.bytes && !is("s_") && !is("scratch_") && !is("buffer_");
  // Where stores need no write-back, the wait for them is what releases them to other workgroups.
  const auto says = [&](const char* part) { return i.text.find(part) != i.text.npos; };
  if (is("s_wait") && co.target != "gfx942" && co.target != "gfx950" &&
      (says("vmcnt(0)") || says("vscnt null, 0x0") || says("s_wait_storecnt 0x0")))
    i.fence = 1;
}
}  // namespace emu
