// SPDX-License-Identifier: MIT
// Loading, initial state of waves, and the scheduler.
#include <chrono>
#include <cstdio>
#include <mutex>

#include "hip_runner.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace emu {
void wave::die(const inst& i, const std::string& what, int lane) const {
  std::string m = launch->kernel->name + ": " + what + ": '" + i.text + "' at " + launch->co->where(i.address);
  if (lane >= 0) m += ", lane " + std::to_string(lane);
  m += ", wave " + std::to_string(id) + ", workgroup (" + std::to_string(wg->id[0]) + "," + std::to_string(wg->id[1]) +
       "," + std::to_string(wg->id[2]) + ")";
  throw fault(m);
}

struct module::impl {
  explicit impl(const std::string& p) : co(p), prog(decode(co)) {}
  code_object co;
  program prog;
  std::vector<std::pair<u64, u64>> ranges;
};
module::module(const std::string& path) :p_(std::make_unique<impl>(path)) {}
module::~module() = default;
module::module(module&&) noexcept = default;
module& module::operator=(module&&) noexcept = default;
const std::string& module::target() const { return p_->co.target; }
void module::allow(const void* p, std::size_t n) {
  p_->ranges.emplace_back(reinterpret_cast<u64>(p), reinterpret_cast<u64>(p) + n);
}
void module::forbid_all() { p_->ranges.clear(); }
std::vector<kernel_summary> module::kernels() const {
  std::vector<kernel_summary> r;
  for (const auto& [n, k] : p_->co.kernels) {
    kernel_summary s{n,       k.lds_bytes, k.scratch_bytes, k.kernarg_bytes, k.max_workgroup,
                     k.vgprs, k.agprs,     k.sgprs,         k.vgpr_spills,   k.sgpr_spills,
                     {},      {}};
    for (const kernel_arg& a : k.args)
      if (a.kind.rfind("hidden_", 0)) s.args.push_back({a.name, a.kind, a.offset, a.size});
    for (const inst& i : p_->prog.code)
      if (i.address >= k.entry && i.address < k.code_end && !i.fn)
        s.unsupported.push_back(p_->co.where(i.address) + ": " + i.text +
                                (i.error.empty() ? "" : " (" + i.error + ")"));
    r.push_back(s);
  }
  return r;
}

namespace {
constexpr u32 poison_word = 0x7fc0dead;

// The kernel arguments followed by the hidden ones of code object version 5 and 6 (4 names a subset).
std::vector<u8> build_kernarg(const kernel_info& k, dim3 grid, dim3 block, std::size_t dyn_lds, const kernarg& args) {
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
    std::memcpy(m.data() + a.offset, &v, std::min<u32>(a.size, 8));
  }
  return m;
}
struct setup {
  const code_object& co;
  const kernel_info& k;
  const options& opt;
  dim3 grid, block;
  std::vector<u8>& kernarg_mem;
  std::vector<u8>& packet;
  u32 scratch;
};
void init_wave(wave& w, const setup& s, u32 first_thread, u32 threads) {
  const kernel_info& k = s.k;
  const bool g90a = s.co.target == "gfx90a" || s.co.target == "gfx908";
  const u32 fill = s.opt.poison ? poison_word : 0;
  std::fill(w.vfile.begin(), w.vfile.end(), fill);
  std::fill(w.scratch.begin(), w.scratch.end(), static_cast<u8>(s.opt.poison ? 0xa5 : 0));
  std::fill(std::begin(w.s), std::end(w.s), fill);
  w.s[s_null] = w.s[s_scc] = 0, w.s[s_vcc] = w.s[s_vcc + 1] = 0;
  w.s[s_m0] = s.opt.poison ? 0xffffffffu : 0;
  w.queue.clear(), w.vbusy.fill(0), w.sbusy.fill(0);
  w.signals = w.waits_done = 1, w.status = wave::running, w.gpr_idx = 0;
  w.mode = k.rsrc1 >> 12 & 0xff;
  if (s.co.fam == family::gfx12)
    w.mode |= 1 << 8;  // gfx12 has no DX10_CLAMP and IEEE bits: clamp turns NaN into 0
  else
    w.mode |= (k.rsrc1 >> 21 & 1) << 8 | (k.rsrc1 >> 23 & 1) << 9;
  if (s.co.fam != family::gfx12 && k.rsrc1 >> 26 & 1) w.mode |= 1 << 23;

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
  sg.resize(k.rsrc2 >> 1 & 31, 0);
  const u32* id = w.wg->id;
  if (s.co.fam == family::gfx12)
    w.s[s_ttmp + 9] = id[0], w.s[s_ttmp + 7] = (id[1] & 0xffff) | id[2] << 16;
  else
    for (int d = 0; d < 3; ++d)
      if (k.rsrc2 >> (7 + d) & 1) sg.push_back(id[d]);
  if (k.rsrc2 >> 10 & 1) sg.push_back(0);
  if ((k.rsrc2 & 1) && g90a) sg.push_back(0);  // scratch wave offset
  if (sg.size() > 106) throw std::runtime_error("kernel '" + k.name + "' asks for too many user SGPRs");
  std::copy(sg.begin(), sg.end(), w.s);
  w.set_exec(threads >= 64 ? ~0ull : (1ull << threads) - 1);
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

// Runs one wave until it ends, reaches a barrier, or has used up its slice.
void run_wave(wave& w, u64 slice) {
  launch_state& L = *w.launch;
  const inst* code = L.prog->code.data();
  u64* counts = L.counts.empty() ? nullptr : L.counts.data();
  const bool waits = L.waits;
  for (u64 n = 0; n < slice && w.status == wave::running; ++n) {
    if (w.ip == ~0u)
      throw fault(L.kernel->name + ": execution ran out of the code object, wave " + std::to_string(w.id));
    const inst& i = code[w.ip];
    w.next = i.next;
    if (!i.fn) w.die(i, i.error.empty() ? "instruction not implemented" : i.error);
    if (L.trace_left > 0) {
      --L.trace_left;
      std::fprintf(stderr, "wg (%u,%u,%u) wave %u exec %016llx scc %u %-28s %s\n", w.wg->id[0], w.wg->id[1],
                   w.wg->id[2], w.id, static_cast<unsigned long long>(w.exec()), w.s[s_scc],
                   L.co->where(i.address).c_str(), i.text.c_str());
    }
    if (waits && !w.queue.empty()) check_waits(w, i);
    if (w.gpr_idx && i.mnemonic[0] == 'v' && i.mnemonic.rfind("v_mov_b32", 0))
      w.die(i, "only v_mov_b32 is implemented while s_set_gpr_idx is on");
    i.fn(w, i);
    if (counts) ++counts[w.ip];
    ++L.executed;
    w.ip = w.next;
  }
  if (L.executed > L.opt->limit)
    throw fault(L.kernel->name + ": more than " + std::to_string(L.opt->limit) +
                " instructions executed (endless loop?), wave " + std::to_string(w.id) + " at " +
                L.co->where(code[w.ip].address));
}

// Gives every wave of a workgroup one turn and opens barriers; false when the workgroup has ended.
bool step_workgroup(std::vector<wave>& waves, const options& o, std::mt19937_64& rng) {
  const std::size_t n = waves.size();
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < n; ++k) order[k] = o.order == options::reverse ? n - 1 - k : k;
  if (o.order == options::random) std::shuffle(order.begin(), order.end(), rng);
  const u64 slice = o.slice ? o.slice : o.order == options::random ? 64 : o.resident > 1 ? 1000 : 1'000'000;
  bool progress = false, alive = false;
  for (std::size_t k : order) {
    wave& w = waves[k];
    if (w.status == wave::running)
      run_wave(w, o.order == options::random ? 1 + rng() % (2 * slice) : slice), progress = true;
    alive |= w.status != wave::ended;
  }
  if (!alive) return false;
  // A barrier opens when every wave that has not ended has signalled it.
  u64 lowest = ~0ull;
  for (const wave& w : waves)
    if (w.status != wave::ended) lowest = std::min(lowest, w.signals);
  for (wave& w : waves)
    if (w.status == wave::at_barrier && lowest > w.waits_done)
      ++w.waits_done, w.status = wave::running, progress = true;
  if (!progress) {
    const wave& w =
        *std::find_if(waves.begin(), waves.end(), [](const wave& x) { return x.status == wave::at_barrier; });
    throw fault(w.launch->kernel->name + ": deadlock: wave " + std::to_string(w.id) +
                " waits at a barrier that not all waves have signalled");
  }
  return true;
}
}  // namespace

result module::launch(const std::string& name, dim3 grid, dim3 block, std::size_t dynamic_lds, const kernarg& args,
                      const options& o) {
  const code_object& co = p_->co;
  auto it = co.kernels.find(name);
  if (it == co.kernels.end()) throw std::runtime_error("'" + co.path + "' has no kernel '" + name + "'");
  const kernel_info& k = it->second;
  const u64 threads = static_cast<u64>(block.x) * block.y * block.z;
  if (!threads || !grid.x || !grid.y || !grid.z) throw std::runtime_error("grid and block must not be empty");
  if (threads > k.max_workgroup)
    throw std::runtime_error("kernel '" + name + "' allows " + std::to_string(k.max_workgroup) +
                             " threads in a workgroup, " + std::to_string(threads) + " were asked for");
  if (k.reqd[0] && (k.reqd[0] != block.x || k.reqd[1] != block.y || k.reqd[2] != block.z))
    throw std::runtime_error("kernel '" + name + "' requires another workgroup size");
  static const bool elsewhere = runs_through_hip();
  if (elsewhere) {
    run_through_hip(co.path, name, grid, block, dynamic_lds, args.bytes, p_->ranges);
    return {};
  }
  const u32 lanes = co.wave32 ? 32 : 64;
  const u64 lds_limit = co.target == "gfx950" ? 160 * 1024 : 64 * 1024, lds = k.lds_bytes + dynamic_lds;
  if (lds > lds_limit)
    throw std::runtime_error("kernel '" + name + "' needs " + std::to_string(lds) + " bytes of LDS, " + co.target +
                             " has " + std::to_string(lds_limit));

  result res;
  launch_state L{};
  L.co = &co, L.prog = &p_->prog, L.kernel = &k, L.opt = &o, L.res = &res;
  L.scratch_bytes = k.scratch_bytes + (k.dynamic_stack ? 16384 : 0);
  L.race = o.race && threads > lanes, L.waits = o.waits, L.trace_left = o.trace;
  std::vector<u8> ka = build_kernarg(k, grid, block, dynamic_lds, args);
  std::vector<u8> packet(64, 0);
  {
    const u16 h[6] = {2, 3, static_cast<u16>(block.x), static_cast<u16>(block.y), static_cast<u16>(block.z), 0};
    const u32 g[5] = {grid.x * block.x, grid.y * block.y, grid.z * block.z, L.scratch_bytes, static_cast<u32>(lds)};
    const u64 q[2] = {co.base() + k.descriptor, reinterpret_cast<u64>(ka.data())};
    std::memcpy(packet.data(), h, 12), std::memcpy(packet.data() + 12, g, 20), std::memcpy(packet.data() + 32, q, 16);
  }
  if (o.bounds) {
    L.ranges = p_->ranges;
    L.ranges.emplace_back(co.base(), co.base() + co.size());
    L.ranges.emplace_back(reinterpret_cast<u64>(ka.data()), reinterpret_cast<u64>(ka.data()) + ka.size());
    L.ranges.emplace_back(reinterpret_cast<u64>(packet.data()), reinterpret_cast<u64>(packet.data()) + packet.size());
    std::sort(L.ranges.begin(), L.ranges.end());
    std::size_t n = 0;  // overlapping ranges become one
    for (const auto& r : L.ranges) {
      if (n && r.first < L.ranges[n - 1].second)
        L.ranges[n - 1].second = std::max(L.ranges[n - 1].second, r.second);
      else
        L.ranges[n++] = r;
    }
    L.ranges.resize(n);
  } else {
    L.ranges = {{0, 1ull << 47}};
  }
  if (o.count) L.counts.assign(p_->prog.code.size(), 0);
  std::unique_ptr<lds_stats> stats;
  if (o.lds_log) stats = std::make_unique<lds_stats>(co.target, lanes, o.phases), L.stats = stats.get();

  struct resident {
    workgroup wg;
    std::vector<wave> waves;
    bool busy = false;
  };
  const u64 groups = static_cast<u64>(grid.x) * grid.y * grid.z;
  std::vector<resident> slots(std::min<u64>(std::max(1u, o.resident), groups));
  for (resident& r : slots) {
    r.wg.launch = &L, r.wg.lds_size = static_cast<u32>(lds);
    r.wg.lds.resize(lds + 64), r.wg.dma.assign(lds + 64, 0);
    if (L.race) r.wg.sw.resize(lds + 64), r.wg.sr.resize(lds + 64);
    r.waves.resize((threads + lanes - 1) / lanes);
    for (std::size_t n = 0; n < r.waves.size(); ++n) {
      wave& w = r.waves[n];
      w.launch = &L, w.wg = &r.wg, w.id = static_cast<u32>(n), w.lanes = lanes, w.w32 = lanes == 32, w.fam = co.fam;
      w.gfx90a = co.target == "gfx90a" || co.target == "gfx908", w.gfx950 = co.target == "gfx950";
      w.vfile.resize(512 * 64), w.scratch.resize(static_cast<std::size_t>(L.scratch_bytes) * lanes + 16);
    }
  }
  const setup s{co, k, o, grid, block, ka, packet, L.scratch_bytes};
  std::mt19937_64 rng(o.seed);
  const auto t0 = std::chrono::steady_clock::now();
  for (u64 started = 0, ended = 0; ended < groups;)
    for (resident& r : slots) {
      if (!r.busy) {
        if (started == groups) continue;
        workgroup& wg = r.wg;
        wg.id[0] = static_cast<u32>(started % grid.x), wg.id[1] = static_cast<u32>(started / grid.x % grid.y),
        wg.id[2] = static_cast<u32>(started / grid.x / grid.y);
        std::fill(wg.lds.begin(), wg.lds.end(), static_cast<u8>(o.poison ? 0xa5 : 0));
        std::fill(wg.sw.begin(), wg.sw.end(), 0), std::fill(wg.sr.begin(), wg.sr.end(), 0);
        if (wg.dma_bytes) std::fill(wg.dma.begin(), wg.dma.end(), 0), wg.dma_bytes = 0;
        for (wave& w : r.waves)
          init_wave(w, s, w.id * lanes, static_cast<u32>(std::min<u64>(lanes, threads - w.id * lanes)));
        r.busy = true, ++started;
      }
      if (!step_workgroup(r.waves, o, rng)) r.busy = false, ++ended;
    }
  res.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  res.instructions = L.executed, res.waves = slots[0].waves.size() * groups;
  std::vector<bool> leader(L.counts.size() + 1, true);
  for (std::size_t n = 0; n < L.counts.size(); ++n) {
    const std::string& m = p_->prog.code[n].mnemonic;
    leader[n + 1] = m.rfind("s_branch", 0) == 0 || m.rfind("s_cbranch", 0) == 0 || m.rfind("s_endpgm", 0) == 0 ||
                    m == "s_setpc_b64" || m == "s_swappc_b64";
  }
  for (const auto& [fn, sym] : co.functions)
    if (const u64 at = (sym.address - co.text_lo) / 4;
        !L.counts.empty() && sym.address >= co.text_lo && at < p_->prog.index.size() && p_->prog.index[at] != ~0u)
      leader[p_->prog.index[at]] = true;
  for (std::size_t n = 0; n < L.counts.size(); ++n)
    if (p_->prog.code[n].target >= 0) leader[static_cast<std::size_t>(p_->prog.code[n].target)] = true;
  for (std::size_t n = 0; n < L.counts.size(); ++n)
    if (L.counts[n])
      res.counts.push_back({p_->prog.code[n].address, L.counts[n], co.where(p_->prog.code[n].address),
                            p_->prog.code[n].text, leader[n]});
  if (stats)
    for (auto& [key, r] : stats->rows) res.lds.push_back(r);
  return res;
}
}  // namespace emu
