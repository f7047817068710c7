// SPDX-License-Identifier: MIT
#include "cycles.hpp"

#include <map>

#include "matrix.hpp"

namespace emu {
namespace {
// Assumed: clocks from an access to LDS to its result, until a result of the matrix unit can be read by others, for a
// scalar load, and for a taken branch; how far units queue accesses.
constexpr u64 lds_latency = 64, matrix_writeback = 8, scalar_latency = 200, branch_clocks = 16, lds_queue = 64,
              memory_queue = 256;
constexpr u64 issue_clocks = 4;  // of a SIMD: 16 lanes take 4 clocks for a wave

enum class unit : u8 { scalar, vector, matrix, lds, memory, scalar_memory, wait, barrier };

unit unit_of(const inst& i) {
  const auto starts = [&](const char* prefix) { return i.name.rfind(prefix, 0) == 0; };
  if (starts("v_mfma")) return unit::matrix;
  if (starts("v_")) return unit::vector;
  if (starts("ds_")) return unit::lds;
  if (starts("s_waitcnt")) return unit::wait;
  if (starts("s_barrier")) return unit::barrier;
  if (starts("s_load") || starts("s_buffer_load")) return unit::scalar_memory;
  return starts("s_") ? unit::scalar : unit::memory;
}

// Operations of matrix instructions in a clock of a SIMD: peak rates of the MI210, MI300X and MI355X.
u64 matrix_rate(const std::string& target, u32 bits, bool xf32) {
  const u32 column = bits >= 64 ? 0 : bits == 32 ? (xf32 ? 2 : 1) : bits == 16 ? 3 : bits == 8 ? 4 : 5;
  constexpr u64 gfx90a[] = {64, 64, 0, 256, 256, 0}, gfx942[] = {64, 64, 256, 512, 1024, 0},
                gfx950[] = {32, 64, 0, 1024, 2048, 4096};
  const u64 rate = (target == "gfx90a" ? gfx90a : target == "gfx942" ? gfx942 : gfx950)[column];
  if (rate == 0) throw std::runtime_error(target + " has no such matrix instruction");
  return rate;
}
u64 matrix_clocks(const std::string& target, const inst& i) {
  const matrix::shape s = matrix::unpack(i);
  const u32 bits = std::max<u32>(matrix::type_bits[s.a], matrix::type_bits[s.b]);
  return 2ull * s.m * s.m * s.k * s.blocks / matrix_rate(target, bits, s.a == matrix::t_xf32);
}
bool is_transcendental(const std::string& n) {
  for (const char* prefix : {"v_exp", "v_log", "v_rcp", "v_rsq", "v_sqrt", "v_sin", "v_cos"})
    if (n.rfind(prefix, 0) == 0) return true;
  return false;
}

// What the model knows of an instruction of the program.
struct timed_inst {
  unit where = unit::scalar;
  u64 clocks = 0;  // that its unit is busy; LDS instructions: of a phase
};
timed_inst timed(const std::string& target, const inst& i) {
  timed_inst t{unit_of(i)};
  switch (t.where) {
    case unit::matrix: t.clocks = matrix_clocks(target, i); break;
    case unit::vector: t.clocks = is_transcendental(i.name) ? 4 * issue_clocks : issue_clocks; break;
    case unit::lds:
      t.clocks = i.store ? 1 : 2;
      break;  // as arch/gfx942.hpp and gfx950.hpp: a read has two clocks a phase
    case unit::memory: t.clocks = std::max<u64>(1, i.bytes) * 64; break;  // bytes of a wave; by rate later
    default: t.clocks = issue_clocks;
  }
  return t;
}

struct timed_wave {
  const std::vector<traced_inst>* trace = nullptr;
  std::size_t at = 0;
  u64 next = 0;  // earliest issue of the next instruction
  std::vector<u64> ready = std::vector<u64>(1024 + s_file_size, 0);
  std::vector<unit> writer = std::vector<unit>(1024 + s_file_size, unit::scalar);
  std::deque<u64> vm, lgkm;  // when outstanding accesses return, in their order
  bool at_barrier = false;
  bool ended() const { return at == trace->size(); }
};

// When an instruction can issue, and what it waits for.
struct issue_time {
  u64 clock;
  timing::cause why;
  void after(u64 other, timing::cause reason) {
    if (other > clock) clock = other, why = reason;
  }
};

class compute_unit {
 public:
  compute_unit(const code_object& co, const program& prog, const std::vector<std::vector<traced_inst>>& traces,
               const options& o)
      : co_(co), prog_(prog), o_(o), waves_(traces.size()), known_(prog.code.size()), is_known_(prog.code.size()) {
    for (std::size_t n = 0; n < traces.size(); ++n) waves_[n].trace = &traces[n];
  }
  timing run() {
    while (step()) {
    }
    for (u64 busy : matrix_busy_) result_.matrix_clocks = std::max(result_.matrix_clocks, busy);
    result_.lds_clocks = lds_busy_, result_.memory_clocks = memory_busy_;
    time_loop();
    keep_longest_waits();
    return result_;
  }

 private:
  const code_object& co_;
  const program& prog_;
  const options& o_;
  std::vector<timed_wave> waves_;
  std::vector<timed_inst> known_;
  std::vector<bool> is_known_;
  u64 vector_free_[4] = {}, matrix_free_[4] = {}, matrix_busy_[4] = {}, lds_free_ = 0, lds_busy_ = 0, memory_free_ = 0,
      memory_busy_ = 0;
  std::map<std::pair<u32, timing::cause>, u64> waits_;
  std::map<u32, std::vector<u64>> branches_;  // of wave 0: when taken backward branches issue
  timing result_;

  const inst& current(const timed_wave& w) const { return prog_.code[(*w.trace)[w.at].ip]; }
  const timed_inst& known(u32 ip) {
    if (!is_known_[ip]) known_[ip] = timed(co_.target, prog_.code[ip]), is_known_[ip] = true;
    return known_[ip];
  }

  // The number of accesses that may be outstanding after an s_waitcnt.
  static std::size_t allowed(const inst& i, bool vm) {
    const u32 imm = i.raw[0] & 0xffff, want = vm ? (imm & 15) | (imm >> 14 & 3) << 4 : imm >> 8 & 15;
    return want == (vm ? 63u : 15u) ? ~std::size_t{0} : want;
  }
  static u64 returned(const std::deque<u64>& queue, std::size_t left) {
    return queue.size() > left ? queue[queue.size() - left - 1] : 0;
  }

  issue_time issue_of(std::size_t number) {
    timed_wave& w = waves_[number];
    const inst& i = current(w);
    const timed_inst& t = known((*w.trace)[w.at].ip);
    issue_time at{w.next, timing::issue};
    for (const reg_range& r : i.regs)
      for (u32 k = r.first; k < static_cast<u32>(r.first + r.count); ++k) {
        const bool by_matrix = w.writer[k] == unit::matrix;
        const u64 late = by_matrix && t.where != unit::matrix && w.ready[k] ? matrix_writeback : 0;
        at.after(w.ready[k] + late, by_matrix ? timing::matrix : timing::vector);
      }
    const std::size_t simd = number % 4;
    if (t.where == unit::matrix) at.after(matrix_free_[simd], timing::matrix);
    if (t.where == unit::vector || t.where == unit::matrix) at.after(vector_free_[simd], timing::vector);
    if (t.where == unit::lds && lds_free_ > lds_queue) at.after(lds_free_ - lds_queue, timing::lds);
    if (t.where == unit::memory && memory_free_ > memory_queue) at.after(memory_free_ - memory_queue, timing::memory);
    if (t.where == unit::wait) {
      at.after(returned(w.vm, allowed(i, true)), timing::memory);
      at.after(returned(w.lgkm, allowed(i, false)), timing::lds);
    }
    return at;
  }

  bool step() {
    std::size_t first = waves_.size();
    issue_time best{~0ull, timing::issue};
    bool alive = false;
    for (std::size_t n = 0; n < waves_.size(); ++n) {
      if (waves_[n].ended()) continue;
      alive = true;
      if (waves_[n].at_barrier) continue;
      if (const issue_time at = issue_of(n); at.clock < best.clock) best = at, first = n;
    }
    if (!alive) return false;
    if (first == waves_.size())
      open_barrier();
    else
      issue(first, best);
    return true;
  }

  void wait(u32 ip, timing::cause why, u64 clocks) {
    if (clocks == 0) return;
    result_.waited[why] += clocks;
    waits_[{ip, why}] += clocks;
  }

  void open_barrier() {
    u64 last = 0;
    for (const timed_wave& w : waves_)
      if (!w.ended()) last = std::max(last, w.next);
    for (timed_wave& w : waves_) {
      if (w.ended()) continue;
      wait((*w.trace)[w.at].ip, timing::barrier, last - w.next);
      w.next = last + issue_clocks, w.at_barrier = false, ++w.at;
    }
  }

  void issue(std::size_t number, issue_time at) {
    timed_wave& w = waves_[number];
    const traced_inst e = (*w.trace)[w.at];
    const inst& i = prog_.code[e.ip];
    wait(e.ip, at.why, at.clock - w.next);
    w.next = at.clock + issue_clocks;
    result_.clocks = std::max(result_.clocks, w.next);
    const timed_inst t = known(e.ip);
    if (t.where == unit::barrier) {
      w.at_barrier = true;
      return;
    }
    const u64 done = use_unit(number, t, e, at.clock);
    for (const reg_range& r : i.regs)
      for (u32 k = r.first; r.write && !i.is_load && k < static_cast<u32>(r.first + r.count); ++k)
        w.ready[k] = done, w.writer[k] = t.where;
    if (i.name == "s_nop") w.next = at.clock + issue_clocks * ((i.raw[0] & 15) + 1);
    ++w.at;
    if (i.target >= 0 && !w.ended() && (*w.trace)[w.at].ip == static_cast<u32>(i.target)) {
      w.next = at.clock + branch_clocks;
      if (number == 0 && static_cast<u32>(i.target) <= e.ip) branches_[e.ip].push_back(at.clock);
    }
  }

  // Occupies the unit from `clock` on; returns when the result is there.
  u64 use_unit(std::size_t number, const timed_inst& t, const traced_inst& e, u64 clock) {
    timed_wave& w = waves_[number];
    const std::size_t simd = number % 4;
    const auto returns = [](std::deque<u64>& queue, u64 when) {
      queue.push_back(queue.empty() ? when : std::max(when, queue.back()));
      if (queue.size() > 64) queue.pop_front();
      return when;
    };
    switch (t.where) {
      case unit::matrix:
        matrix_free_[simd] = clock + t.clocks, matrix_busy_[simd] += t.clocks,
        vector_free_[simd] = clock + issue_clocks;
        return clock + t.clocks;
      case unit::vector: return vector_free_[simd] = clock + t.clocks;
      case unit::lds: {
        const u64 clocks = t.clocks * e.lds_phases;
        lds_free_ = std::max(lds_free_, clock) + clocks, lds_busy_ += clocks;
        return returns(w.lgkm, lds_free_ + lds_latency);
      }
      case unit::memory: {
        const u64 clocks = t.clocks / o_.memory_bytes_per_clock;
        memory_free_ = std::max(memory_free_, clock) + clocks, memory_busy_ += clocks;
        return returns(w.vm, memory_free_ + o_.memory_clocks);
      }
      case unit::scalar_memory: return returns(w.lgkm, clock + scalar_latency);
      default: return clock + issue_clocks;
    }
  }

  // The loop that wave 0 repeats most often.
  void time_loop() {
    const std::vector<u64>* most = nullptr;
    for (const auto& [ip, clocks] : branches_)
      if (!most || clocks.size() > most->size()) most = &clocks;
    if (!most || most->size() < 2) return;
    result_.loop_iterations = most->size();
    result_.loop_clocks = static_cast<double>(most->back() - most->front()) / static_cast<double>(most->size() - 1);
  }

  void keep_longest_waits() {
    for (const auto& [key, clocks] : waits_) {
      const inst& i = prog_.code[key.first];
      result_.longest_waits.push_back({i.address, co_.where(i.address), i.text, key.second, clocks});
    }
    std::sort(result_.longest_waits.begin(), result_.longest_waits.end(),
              [](const wait_row& x, const wait_row& y) { return x.clocks > y.clocks; });
    if (result_.longest_waits.size() > 10) result_.longest_waits.resize(10);
  }
};
}  // namespace

timing time_workgroup(const code_object& co, const program& prog, const std::vector<std::vector<traced_inst>>& waves,
                      const options& o) {
  return compute_unit(co, prog, waves, o).run();
}
}  // namespace emu
