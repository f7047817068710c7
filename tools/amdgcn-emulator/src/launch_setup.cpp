// SPDX-License-Identifier: MIT
// Arguments, dispatch packet and initial registers of a launch.
#include "launch_setup.hpp"

namespace emu {
namespace {
constexpr u32 poison_word = 0x7fc0dead;
// Where the workgroup is in its cluster, and the cluster in the grid: as LLVM's code for workgroup ids reads it.
void place_in_cluster(wave& w) {
  const u32 *id = w.wg->id, *n = w.launch->kernel->cluster;
  u32* const t = w.s + s_ttmp;
  t[6] = (w.launch->kernel->cluster_size() - 1) << 24;
  for (int d = 0; d < 3; ++d) t[6] |= id[d] % n[d] << 4 * d | (n[d] - 1) << (12 + 4 * d);
  t[9] = id[0] / n[0], t[7] = (id[1] / n[1] & 0xffff) | id[2] / n[2] << 16;
}
// The user and system SGPRs; where execution starts.
u64 init_scalars(wave& w, const setup& s) {
  const kernel_info& k = s.k;
  std::vector<u32> sg;
  const auto put64 = [&](u64 v) { sg.push_back(static_cast<u32>(v)), sg.push_back(static_cast<u32>(v >> 32)); };
  const u64 ka = reinterpret_cast<u64>(s.kernarg_mem.data());
  if (k.prop(0))
    put64(0x1000ull | 1ull << 63), sg.push_back(0xffffffff),
        sg.push_back((w.lanes == 64 ? 3u : 2u) << 21 | 1u << 23 | 1u << 19);  // swizzled, one lane each
  if (k.prop(1)) put64(reinterpret_cast<u64>(s.packet.data()));
  if (k.prop(2)) put64(0);
  if (k.prop(3)) put64(ka);
  if (k.prop(4)) put64(1);
  if (k.prop(5)) put64(0);
  if (k.prop(6)) sg.push_back(s.scratch);
  u64 entry = k.entry;
  if (const u32 n = k.preload & 0x7f) {
    for (u32 j = 0; j < n; ++j) {
      u32 v;
      std::memcpy(&v, s.kernarg_mem.data() + 4 * (k.preload >> 7) + 4 * j, 4);
      sg.push_back(v);
    }
    entry += 256;  // the prologue that loads them is for firmware that cannot preload
  }
  sg.resize(k.rsrc2 >> 1 & (s.co.target == "gfx1250" ? 63 : 31), 0);
  if (s.co.fam == family::gfx12)
    place_in_cluster(w);
  else
    for (int d = 0; d < 3; ++d)
      if (k.rsrc2 >> (7 + d) & 1) sg.push_back(w.wg->id[d]);
  if (k.rsrc2 >> 10 & 1) sg.push_back(0);
  if ((k.rsrc2 & 1) && (s.co.target == "gfx90a" || s.co.target == "gfx908")) sg.push_back(0);  // scratch wave offset
  if (sg.size() > 106) throw std::runtime_error("kernel '" + k.name + "' asks for too many user SGPRs");
  std::copy(sg.begin(), sg.end(), w.s);
  return entry;
}
}  // namespace

// The kernel arguments followed by the hidden ones of code object version 5 and 6 (4 names a subset).
std::vector<u8> build_kernarg(const kernel_info& k, dim3 grid, dim3 block, std::size_t dyn_lds, const kernarg& args,
                              const options& o) {
  u32 explicit_end = 0;
  for (const kernel_arg& a : k.args)
    if (a.kind.rfind("hidden_", 0)) explicit_end = std::max(explicit_end, a.offset + a.size);
  if (args.bytes.size() < explicit_end || args.bytes.size() > ((explicit_end + 7) & ~7u))
    throw std::runtime_error("kernel '" + k.name + "' takes " + std::to_string(explicit_end) + " bytes of arguments, " +
                             std::to_string(args.bytes.size()) + " were given");
  std::vector<u8> m(std::max<std::size_t>(k.kernarg_bytes, explicit_end) + 256, 0);
  std::copy(args.bytes.begin(), args.bytes.begin() + static_cast<std::ptrdiff_t>(explicit_end), m.begin());
  const u32 g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
  for (const kernel_arg& a : k.args) {
    if (a.kind.rfind("hidden_", 0)) continue;
    u64 v = 0;
    const int axis = a.kind.back() - 'x';
    if (a.kind.rfind("hidden_block_count_", 0) == 0)
      v = g[axis];
    else if (a.kind.rfind("hidden_group_size_", 0) == 0)
      v = b[axis];
    else if (a.kind == "hidden_grid_dims")
      v = g[2] * b[2] > 1 ? 3 : g[1] * b[1] > 1 ? 2 : 1;
    else if (a.kind == "hidden_dynamic_lds_size")
      v = dyn_lds;
    else if (a.kind == "hidden_private_base")
      v = 0x20000;
    else if (a.kind == "hidden_shared_base")
      v = 0x10000;
    else if (a.kind == "hidden_hostcall_buffer")
      v = reinterpret_cast<u64>(o.hostcall);
    else if (a.kind == "hidden_heap_v1")
      v = reinterpret_cast<u64>(o.heap);
    std::memcpy(m.data() + a.offset, &v, std::min<u32>(a.size, 8));
  }
  return m;
}
std::vector<u8> build_packet(dim3 grid, dim3 block, u32 scratch, u64 lds, u64 descriptor,
                             const std::vector<u8>& kernarg) {
  std::vector<u8> packet(64, 0);
  const u16 h[6] = {2, 3, static_cast<u16>(block.x), static_cast<u16>(block.y), static_cast<u16>(block.z), 0};
  const u32 g[5] = {grid.x * block.x, grid.y * block.y, grid.z * block.z, scratch, static_cast<u32>(lds)};
  const u64 q[2] = {descriptor, reinterpret_cast<u64>(kernarg.data())};
  std::memcpy(packet.data(), h, 12), std::memcpy(packet.data() + 12, g, 20), std::memcpy(packet.data() + 32, q, 16);
  return packet;
}
namespace {
// Nothing is known of vector registers, except of the thread's number.
void init_undefined(wave& w) {
  if (!w.undefined) w.undefined = std::make_unique<wave::undefined_values>();
  wave::undefined_values& u = *w.undefined;
  u.vector.fill(~0ull), u.computed.fill(0), u.origin.fill(0), u.scalar.fill(0);
  u.vector[0] = u.vector[1] = u.vector[2] = 0;
  u.scalar_origin = 0, u.any_scalar = false;
  u.scratch.assign(static_cast<std::size_t>(w.launch->scratch_bytes) * w.lanes + 16, never_written);
}
}  // namespace
void init_wave(wave& w, const setup& s, u32 first_thread, u32 threads) {
  const kernel_info& k = s.k;
  const u32 fill = s.opt.poison ? poison_word : 0;
  if (s.opt.collect && s.opt.uninitialised) init_undefined(w);
  const auto fill_rows = [&](u32 first, u32 count) {
    if (first < 512) std::fill_n(w.v(first), 64 * std::min(count, 512 - first), fill);
  };
  fill_rows(0, k.vgprs ? k.vgprs : 512), fill_rows(first_agpr, k.agprs);
  std::fill(w.scratch.begin(), w.scratch.end(), static_cast<u8>(s.opt.poison ? 0xff : 0));
  std::fill(std::begin(w.s), std::end(w.s), fill);
  w.s[s_null] = w.s[s_scc] = 0, w.s[s_vcc] = w.s[s_vcc + 1] = 0;
  w.s[s_m0] = s.opt.poison ? 0xffffffffu : 0;
  w.queue.clear(), w.calls.clear(), w.busy = {};
  w.lds_addresses.clear(), w.free_slots.clear();
  w.signals = w.waits_done = 1, w.cluster_waits = 0, w.status = wave::running, w.gpr_idx = 0;
  w.mode = k.rsrc1 >> 12 & 0xff;
  if (s.co.fam == family::gfx12)
    w.mode |= 1 << 8;  // gfx12 has no DX10_CLAMP and IEEE bits: clamp turns NaN into 0
  else
    w.mode |= (k.rsrc1 >> 21 & 1) << 8 | (k.rsrc1 >> 23 & 1) << 9;
  if (s.co.fam != family::gfx12 && k.rsrc1 >> 26 & 1) w.mode |= 1 << 23;

  const u64 entry = init_scalars(w, s);
  w.set_exec(threads >= 64 ? ~0ull : (1ull << threads) - 1);
  w.started = w.exec(), w.skipped = 0, w.yield = false;
  for (u32 l = 0; l < threads; ++l) {
    const u32 t = first_thread + l, x = t % s.block.x, y = t / s.block.x % s.block.y, z = t / (s.block.x * s.block.y);
    if (s.co.target == "gfx908")
      w.v(0)[l] = x, w.v(1)[l] = y, w.v(2)[l] = z;
    else
      w.v(0)[l] = x | y << 10 | z << 20;
  }
  const u64 at = (entry - s.co.text_lo) / 4;
  w.ip = at < w.launch->prog->index.size() ? w.launch->prog->index[at] : ~0u;
  if (w.ip == ~0u) throw std::runtime_error("kernel '" + k.name + "' has no code at its entry");
}
}  // namespace emu
