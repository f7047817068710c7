// SPDX-License-Identifier: MIT
// Loading a code object, and launching its kernels.
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "cycles.hpp"
#include "findings.hpp"
#include "hip_runner.hpp"
#include "launch_setup.hpp"
#include "report.hpp"

namespace emu {
void wave::die(const inst& i, const std::string& what, int lane) const {
  std::string m = launch->kernel->name + ": " + what + ": '" + i.text + "' at " + launch->co->where(i.address);
  if (lane >= 0) m += ", lane " + std::to_string(lane);
  m += ", wave " + std::to_string(id) + ", workgroup (" + std::to_string(wg->id[0]) + "," + std::to_string(wg->id[1]) +
       "," + std::to_string(wg->id[2]) + ")";
  throw fault(m);
}
void wave::refuse(const inst& i, const std::string& what) const {
  throw not_supported(launch->kernel->name + ": " + what + ": '" + i.text + "' at " + launch->co->where(i.address));
}

struct module::impl {
  explicit impl(const std::string& p) : co(p), prog(decode(co)) {}
  code_object co;
  program prog;
  memory own;  // what allow() names
  memory* used = &own;
  void (*interrupt)(void*) = nullptr;
};
module::module(const std::string& path) :p_(std::make_unique<impl>(path)) {}
module::~module() = default;
module::module(module&&) noexcept = default;
module& module::operator=(module&&) noexcept = default;
const std::string& module::target() const { return p_->co.target; }
void module::allow(const void* p, std::size_t n) { p_->own.add(p, n, "memory"); }
void module::forbid_all() { p_->own.clear(); }
void module::use(memory& m) { p_->used = &m; }
memory::buffer module::variable(const std::string& name) const {
  const auto it = p_->co.objects.find(name);
  if (it == p_->co.objects.end()) return {nullptr, 0, name};
  return {reinterpret_cast<void*>(p_->co.base() + it->second.address), it->second.size, name};
}
void module::on_interrupt(void (*service)(void*)) { p_->interrupt = service; }
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
u64 checked_threads(const kernel_info& k, dim3 grid, dim3 block) {
  const u64 threads = static_cast<u64>(block.x) * block.y * block.z;
  if (!threads || !grid.x || !grid.y || !grid.z) throw std::runtime_error("grid and block must not be empty");
  if (threads > k.max_workgroup)
    throw std::runtime_error("kernel '" + k.name + "' allows " + std::to_string(k.max_workgroup) +
                             " threads in a workgroup, " + std::to_string(threads) + " were asked for");
  if (k.reqd[0] && (k.reqd[0] != block.x || k.reqd[1] != block.y || k.reqd[2] != block.z))
    throw std::runtime_error("kernel '" + k.name + "' requires another workgroup size");
  if (grid.x % k.cluster[0] || grid.y % k.cluster[1] || grid.z % k.cluster[2])
    throw std::runtime_error("the grid is not a whole number of the clusters of kernel '" + k.name + "'");
  return threads;
}
// What a kernel may access: what the caller allows, the code object, arguments and packet.
std::vector<launch_state::range> allowed_ranges(const options& o, memory::impl& mem, const code_object& co,
                                                const std::vector<u8>& ka, const std::vector<u8>& packet) {
  if (!o.bounds) return {{0, 1ull << 47, nullptr}};
  std::vector<launch_state::range> ranges;
  for (auto& [lo, b] : mem.buffers)
    if (!b.freed && b.lo < b.hi) ranges.push_back({b.lo, b.hi, &b});
  for (const symbol& part : co.readable)  // compilers load three dwords as four
    if (part.size)
      ranges.push_back({co.base() + part.address, co.base() + ((part.address + part.size + 15) & ~15ull), nullptr});
  for (const std::vector<u8>* part : {&ka, &packet}) {
    const u64 first = reinterpret_cast<u64>(part->data());
    ranges.push_back({first, first + part->size(), nullptr});
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.lo < b.lo; });
  // Host memory is registered by pages, which may hold the code object or the arguments: overlapping ranges become one.
  std::size_t n = 0;
  for (const launch_state::range& r : ranges) {
    if (n && r.lo < ranges[n - 1].hi)
      ranges[n - 1].hi = std::max(ranges[n - 1].hi, r.hi), ranges[n - 1].buffer = nullptr;
    else
      ranges[n++] = r;
  }
  ranges.resize(n);
  return ranges;
}
double user_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec);
}
struct resident {
  workgroup wg;
  std::vector<wave> waves;
  bool busy = false;
  u64 blocked_at = 0;  // of block_workgroup
};
void prepare(resident& r, launch_state& L, u64 lds, u64 num_waves, u32 lanes) {
  r.wg.launch = &L, r.wg.lds_size = static_cast<u32>(lds);
  r.wg.lds.resize(lds + 64), r.wg.dma.assign(lds + 64, 0);
  if (L.race) r.wg.writes.resize(lds + 64), r.wg.reads.resize(lds + 64), r.wg.window.resize(r.wg.lds_size);
  if (L.follow) r.wg.state.resize(lds + 64);
  r.waves.resize(num_waves);
  for (std::size_t n = 0; n < r.waves.size(); ++n) {
    wave& w = r.waves[n];
    w.launch = &L, w.wg = &r.wg, w.id = static_cast<u32>(n), w.lanes = lanes, w.w32 = lanes == 32, w.fam = L.co->fam;
    w.gfx90a = L.co->target == "gfx90a" || L.co->target == "gfx908", w.gfx950 = L.co->target == "gfx950";
    w.gfx1250 = L.co->target == "gfx1250";
    w.vfile.resize(512 * 64), w.scratch.resize(static_cast<std::size_t>(L.scratch_bytes) * lanes + 16);
  }
}
// Workgroups of a cluster have consecutive numbers.
void place(workgroup& wg, const setup& s, u64 number) {
  const u32* n = s.k.cluster;
  const u64 size = s.k.cluster_size(), cluster = number / size, x = s.grid.x / n[0], y = s.grid.y / n[1];
  wg.cluster = static_cast<u32>(cluster), wg.rank = static_cast<u32>(number % size), wg.signalled = 1;
  const u64 first[3] = {cluster % x * n[0], cluster / x % y * n[1], cluster / x / y * n[2]};
  const u32 own[3] = {wg.rank % n[0], wg.rank / n[0] % n[1], wg.rank / n[0] / n[1]};
  for (int d = 0; d < 3; ++d) wg.id[d] = static_cast<u32>(first[d]) + own[d];
}
// The workgroup of this number takes the place.
void begin(resident& r, const setup& s, u64 number, u64 threads, u32 lanes) {
  workgroup& wg = r.wg;
  place(wg, s, number);
  std::fill(wg.lds.begin(), wg.lds.end(), static_cast<u8>(s.opt.poison ? 0xff : 0));
  if (wg.window.shadow_used) wg.writes.clear(), wg.reads.clear();
  wg.window.clear();
  std::fill(wg.state.begin(), wg.state.end(), u8{never_written});
  wg.tag = wg.launch->shared->sync.first + 1 + static_cast<u32>(number);
  wg.clock = {}, r.blocked_at = 0;
  if (wg.dma_bytes) std::fill(wg.dma.begin(), wg.dma.end(), 0), wg.dma_bytes = 0;
  for (wave& w : r.waves) init_wave(w, s, w.id * lanes, static_cast<u32>(std::min<u64>(lanes, threads - w.id * lanes)));
}
// Executions of every instruction, with the first one of each basic block marked.
std::vector<count_row> counts_of(const std::vector<u64>& counts, const program& prog, const code_object& co) {
  std::vector<count_row> result;
  std::vector<bool> leader(counts.size() + 1, true);
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::string& m = prog.code[n].mnemonic;
    leader[n + 1] = m.rfind("s_branch", 0) == 0 || m.rfind("s_cbranch", 0) == 0 || m.rfind("s_endpgm", 0) == 0 ||
                    m == "s_setpc_b64" || m == "s_swappc_b64";
  }
  for (const auto& [fn, sym] : co.functions)
    if (const u64 at = (sym.address - co.text_lo) / 4;
        sym.address >= co.text_lo && at < prog.index.size() && prog.index[at] != ~0u)
      leader[prog.index[at]] = true;
  for (std::size_t n = 0; n < counts.size(); ++n)
    if (prog.code[n].target >= 0) leader[static_cast<std::size_t>(prog.code[n].target)] = true;
  for (std::size_t n = 0; n < counts.size(); ++n)
    if (counts[n])
      result.push_back({prog.code[n].address, counts[n], co.where(prog.code[n].address), prog.code[n].text, leader[n]});
  return result;
}
u32 scratch_of(const kernel_info& k) { return k.scratch_bytes + (k.dynamic_stack ? 16384 : 0); }
// Workgroups have numbers of their own in each launch; returns that before the first one.
u32 next_tag(u64 groups) {
  static u32 last = 0;
  return std::exchange(last, last + static_cast<u32>(groups));
}
/// What the threads of a launch have in common.
struct work {
  launch_shared& shared;
  const setup& s;
  u64 groups, threads, lds;  // threads: of a workgroup
  u32 lanes;
  std::size_t resident;      // workgroups of one thread that run at the same time
  std::size_t all_resident;  // of all threads
};
wave* at_grid_barrier(std::vector<wave>& waves) {
  wave* found = nullptr;
  for (wave& w : waves) {
    if (w.status == wave::running) return nullptr;
    if (w.status == wave::at_grid_barrier) found = &w;
  }
  return found;
}
// Until a wave waits for another workgroup or has run long: switching costs the cache. False: the workgroup has ended.
bool run_for_a_while(const launch_state& L, resident& r, const options& o, std::mt19937_64& rng) {
  const u64 long_enough = L.executed + (o.order == options::in_order && !o.slice ? 20'000 : 0);
  bool goes_on;
  do goes_on = step_workgroup(r.waves, o, rng);
  while (goes_on && L.executed < long_enough && !at_grid_barrier(r.waves) &&
         std::none_of(r.waves.begin(), r.waves.end(), [](const wave& w) { return w.yield; }));
  return goes_on;
}
void check_progress(resident& r, const work& job) {
  wave* const w = at_grid_barrier(r.waves);
  if (!w) return;
  const u64 started = std::min<u64>(job.shared.started, job.groups), live = started - job.shared.barriers.ended;
  if (started == job.groups || live == job.all_resident) block_workgroup(*w, r.blocked_at, live, job.groups - started);
}
void run_workgroups(launch_state& L, const work& job) {
  std::vector<resident> slots(job.resident);
  for (resident& r : slots) prepare(r, L, job.lds, (job.threads + job.lanes - 1) / job.lanes, job.lanes);
  std::mt19937_64 rng(job.s.opt.seed);
  for (std::size_t busy = 0;;) {
    for (resident& r : slots) {
      if (job.shared.ended) return;
      if (!r.busy) {
        if (job.shared.started >= job.groups) continue;
        const u64 number = job.shared.started++;
        if (number >= job.groups) continue;
        begin(r, job.s, number, job.threads, job.lanes);
        r.busy = true, ++busy;
      }
      if (run_for_a_while(L, r, job.s.opt, rng))
        check_progress(r, job);
      else
        r.busy = false, --busy, ++job.shared.barriers.ended;
    }
    if (!busy && job.shared.started >= job.groups) return;
  }
}
/// Runs all workgroups, and throws what a thread threw.
void run_threads(std::vector<launch_state>& workers, const work& job) {
  std::mutex first;
  std::exception_ptr thrown;
  const auto run = [&](launch_state& L) {
    try {
      run_workgroups(L, job);
    } catch (const launch_ended&) {
      job.shared.ended = true;
    } catch (...) {
      const std::lock_guard lock(first);
      if (!thrown) thrown = std::current_exception();
      job.shared.ended = true;
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t n = 1; n < workers.size(); ++n) others.emplace_back(run, std::ref(workers[n]));
  run(workers[0]);
  others.clear();
  if (thrown) std::rethrow_exception(thrown);
}
/// One thread where the order or the sums of several would show, or where the kernel calls the host or has clusters.
unsigned threads_of(const options& o, const kernel_info& k, u64 groups) {
  const bool calls_host = o.hostcall && std::any_of(k.args.begin(), k.args.end(), [](const kernel_arg& a) {
                            return a.kind == "hidden_hostcall_buffer" || a.kind == "hidden_heap_v1";
                          });
  if (k.cluster_size() > 1 || !o.collect || o.order != options::in_order || o.count || o.lds_log || o.cycles ||
      o.trace || calls_host)
    return 1;
  return static_cast<unsigned>(std::clamp<u64>(o.threads ? o.threads : std::thread::hardware_concurrency(), 1, groups));
}
/// Races are looked for in every buffer that may be written.
void map_races(memory::impl& m) {
  for (auto& [lo, b] : m.buffers)
    if (b.owned && !b.freed && !b.races.lines) b.races.map(b.bytes());
}
}  // namespace

result module::launch(const std::string& name, dim3 grid, dim3 block, std::size_t dynamic_lds, const kernarg& args,
                      const options& o) {
  const code_object& co = p_->co;
  auto it = co.kernels.find(name);
  if (it == co.kernels.end()) throw std::runtime_error("'" + co.path + "' has no kernel '" + name + "'");
  const kernel_info& k = it->second;
  const u64 threads = checked_threads(k, grid, block);
  static const bool elsewhere = runs_through_hip();
  if (elsewhere) {
    std::vector<std::pair<u64, u64>> ranges;
    for (const auto& [lo, b] : p_->used->get().buffers) ranges.emplace_back(b.lo, b.hi);
    run_through_hip(co.path, name, grid, block, dynamic_lds, args.bytes, ranges);
    return {};
  }
  const u32 lanes = co.wave32 ? 32 : 64;
  const u64 lds_limit = lds_limit_of(co.target), lds = k.lds_bytes + dynamic_lds;
  if (lds > lds_limit)
    throw std::runtime_error("kernel '" + name + "' needs " + std::to_string(lds) + " bytes of LDS, " + co.target +
                             " has " + std::to_string(lds_limit));

  result res;
  const u64 groups = static_cast<u64>(grid.x) * grid.y * grid.z;
  std::vector<u8> ka = build_kernarg(k, grid, block, dynamic_lds, args, o);
  std::vector<u8> packet = build_packet(grid, block, scratch_of(k), lds, co.base() + k.descriptor, ka);
  launch_state L{};
  L.co = &co, L.prog = &p_->prog, L.kernel = &k, L.opt = &o, L.res = &res, L.block = block;
  L.mem = &p_->used->get();
  L.scratch_bytes = scratch_of(k);
  L.race = o.race && threads > lanes, L.waits = o.waits, L.trace_left = o.trace;
  L.follow = o.collect && o.uninitialised, L.globals = o.collect && o.global_races && groups > 1;
  launch_shared shared;
  L.shared = &shared, shared.sync.first = shared.sync.base = next_tag(groups);
  if (L.globals) map_races(*L.mem);
  L.ranges = allowed_ranges(o, *L.mem, co, ka, packet);
  if (p_->interrupt && o.hostcall)
    L.interrupt = [&](launch_state& thread) {
      p_->interrupt(o.hostcall);
      thread.ranges = allowed_ranges(o, *L.mem, co, ka, packet), thread.last = {};  // the host may allocate
      if (L.globals) map_races(*L.mem);
    };
  if (o.count) L.counts.assign(p_->prog.code.size(), 0);
  std::unique_ptr<lds_stats> stats;
  if (o.cycles && (co.fam != family::gfx9 || o.memory_bytes_per_clock == 0))
    throw std::runtime_error("cycles are known of gfx90a, gfx942 and gfx950, not of " + co.target);
  std::vector<std::vector<traced_inst>> traces(o.cycles ? (threads + lanes - 1) / lanes : 0);
  if (o.cycles) L.traces = &traces;
  if (o.lds_log || o.cycles) stats = std::make_unique<lds_stats>(co.target, lanes, o.phases), L.stats = stats.get();

  const unsigned threads_used = threads_of(o, k, groups);
  const u64 resident = o.all_resident ? groups : std::min<u64>(std::max(k.cluster_size(), o.resident), groups);
  const setup s{co, k, o, grid, block, ka, packet, L.scratch_bytes};
  const std::size_t of_thread = (resident + threads_used - 1) / threads_used;
  const work job{shared, s, groups, threads, lds, lanes, of_thread, of_thread * threads_used};
  if (o.all_resident) shared.barriers.resources[0].remaining = static_cast<u32>(groups - 1);  // as HIP's runtime does
  L.concurrent = threads_used > 1;
  std::vector<launch_state> workers(threads_used, L);
  std::vector<result> results(threads_used);
  for (unsigned n = 0; n < threads_used; ++n) workers[n].res = &results[n];
  const double user = user_seconds();
  const auto t0 = std::chrono::steady_clock::now();
  run_threads(workers, job);
  res.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  res.user_seconds = user_seconds() - user;
  res.races = results[0].races;
  res.findings = L.concurrent ? merged(workers, grid) : results[0].findings;
  res.instructions = shared.executed, res.waves = (threads + lanes - 1) / lanes * groups;
  if (o.count) res.counts = counts_of(workers[0].counts, p_->prog, co);
  if (o.cycles) res.cycles = time_workgroup(co, p_->prog, traces, o);
  if (o.lds_log && o.collect) advise(*stats);
  if (o.lds_log)
    for (auto& [key, r] : stats->rows) res.lds.push_back(r);
  resolve(res, L);
  return res;
}
}  // namespace emu
