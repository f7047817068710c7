// SPDX-License-Identifier: MIT
// Runs clusters of blocks, one after another, on one thread of the CPU, and reports what their threads wait for in a
// deadlock.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/hopper/engines.hpp>
#include <tilewright/machine/emulator/threads/async_copies.hpp>
#include <tilewright/machine/emulator/wave_operations.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::emulator {

/// Some threads wait; the others have ended, or wait elsewhere.
class deadlock {
 public:
  /// `hopper` is nullptr if no thread has used Hopper's hardware.
  deadlock(const std::vector<thread_context>& threads, const hopper_machine* hopper,
           const std::vector<waiting_site>& sites)
      : threads_(threads), hopper_(hopper), sites_(sites) {}

  /// The error message: which thread waits where, for what, and what the thread that it waits for does instead.
  std::string describe() const {
    // Bytes that are missing explain more than threads that wait for those who wait for them.
    for (const thread_context& thread : threads_)
      if (hopper_ != nullptr && hopper_->lacks_bytes(thread)) return describe_from(thread.number);
    const index_t in_hopper = first([](meeting at) { return is_of_hopper(at); });
    if (in_hopper >= 0) return describe_from(in_hopper);
    const index_t in_loop = first([](meeting at) { return at == meeting::unchanged_value; });
    if (in_loop >= 0) return describe_from(in_loop);
    // A thread that waits for its wave explains more than one that waits at a barrier for threads stuck there.
    const index_t in_wave = first([](meeting at) { return is_of_wave(at); });
    const index_t stuck = in_wave >= 0 ? in_wave : first([](meeting at) { return at != meeting::ended; });
    const thread_context& thread = threads_[std::size_t(stuck)];
    const index_t count = in_wave >= 0 ? thread.target->wave_size : thread.block_size, begin = stuck / count * count;
    index_t missing = begin;
    while (missing < begin + count - 1 && site(missing).at == site(stuck).at) ++missing;
    const waiting_site& other = site(missing);
    const std::string why = other.at == meeting::ended
                                ? std::string("has left the kernel")
                                : std::string("waits at ") + name(other.at) + " (" + to_string(other.where) + ')';
    return waits(stuck, " forever") + " that thread " + std::to_string(threads_[std::size_t(missing)].thread_id) +
           " does not reach: it " + why;
  }

 private:
  static bool is_of_hopper(meeting at) { return at > meeting::stmatrix && at < meeting::ended; }
  const waiting_site& site(index_t thread) const { return sites_[std::size_t(thread)]; }

  template <class Waits>
  index_t first(Waits waits) const {
    const auto found = std::find_if(sites_.begin(), sites_.end(), [&](const waiting_site& p) { return waits(p.at); });
    return found == sites_.end() ? -1 : index_t(found - sites_.begin());
  }

  /// Up to four lines at which threads wait, each once: one of them is why the others do.
  std::string describe_from(index_t stuck) const {
    std::string text = waits(stuck, " forever");
    std::vector<call_site> reported{site(stuck).where};
    for (index_t i = 0; i < index_t(sites_.size()) && reported.size() < 4; ++i) {
      const bool is_reported = std::find(reported.begin(), reported.end(), site(i).where) != reported.end();
      if (site(i).at == meeting::none || site(i).at == meeting::ended || is_reported) continue;
      reported.push_back(site(i).where);
      text += "; " + waits(i, "");
    }
    return text;
  }

  /// "thread 1 of block (0, 0, 0) waits at a barrier (file.hpp:12)", and what is missing there if that is known.
  std::string waits(index_t number, const char* how) const {
    const thread_context& thread = threads_[std::size_t(number)];
    const waiting_site& p = site(number);
    const std::string text = "thread " + std::to_string(thread.thread_id) + " of block " + to_string(thread.block) +
                             " waits" + how + " at " + name(p.at) + " (" + to_string(p.where) + ')';
    const std::string more = is_of_hopper(p.at) ? hopper_->describe(thread, p.at) : "";
    return more.empty() ? text : text + ", " + more;
  }

  const std::vector<thread_context>& threads_;
  const hopper_machine* hopper_;
  const std::vector<waiting_site>& sites_;
};

/// A kernel whose type is erased.
struct kernel_reference {
  void* object;  ///< what `call` is called with
  /// runs the kernel; may throw
  void (*call)(void* object);
};

/// Gives the threads of a cluster what they ask of the machine.
class block_machine final : private block_services {
 public:
  /// `shape`: of one cluster; its LDS is allocated here. The references must outlive the machine.
  block_machine(const arch::target& target, const cluster_shape& shape, worker_progress& progress,
                global_memory& memory, kernel_reference kernel)
      : target_(target),
        lds_bytes_(shape.lds_bytes),
        kernel_(kernel),
        recorder_(target, shape.num_threads()),
        waves_(target, shape, cluster_, recorder_),
        cluster_(target, shape, *this, waves_, progress, memory, &run_thread, this) {
    for (thread_context& thread : cluster_.threads()) recorder_.attach(thread);
  }

  /// Runs the kernel on every thread of a cluster of blocks, the first of which is `first`. others_run: a
  /// waiting_worker. Throws a fault, or what the kernel throws; do not run it again
  /// then.
  template <class OthersRun>
  void run(block_index first, OthersRun others_run) {
    cluster_.start(first);
    has_allocated_.assign(cluster_.threads().size(), false);
    if (hopper_) hopper_->begin_cluster();
    const bool all_ended =
        cluster_.run([&] { return (hopper_ && hopper_->idle(others_run)) || cluster_.look_again(others_run); });
    if (!all_ended) throw fault(deadlock(cluster_.threads(), hopper_.get(), cluster_.waiting_sites()).describe());
    for (const thread_context& thread : cluster_.threads()) check_copies_at_end(thread);
    if (hopper_) hopper_->end_cluster();
    if (cluster_.has_late_stores()) others_run.sleep();
    cluster_.finish();
    waves_.finish();
  }

  /// By place, and there by operation. All accesses have place 0 if LDS accesses are not checked.
  const std::vector<array<lds_counts, arch::num_lds_ops>>& lds_counters() const { return recorder_.counts(); }
  /// The source line that lds_counters() has at this index.
  call_site site(std::size_t number) const { return cluster_.site(number); }
  /// Matrix instructions of waves so far; a wgmma counts as four.
  long_index_t matrix_instructions() const {
    return waves_.num_matrix_instructions() + (hopper_ ? hopper_->matrix_instructions() : 0);
  }

 private:
  static void run_thread(void* self, index_t number) {
    auto& machine = *static_cast<block_machine*>(self);
    thread_context& thread = machine.cluster_.threads()[std::size_t(number)];
    machine.cluster_.run_on(thread);
    machine.kernel_.call(machine.kernel_.object);
    if (machine.hopper_) machine.hopper_->leave(thread);
    machine.cluster_.end(thread);
  }

  hopper_services& hopper(const thread_context& self, call_site where) override {
    if (!hopper_) {
      if (target_.max_cluster == 1)
        refuse(self,
               std::string("asks for a barrier in LDS, a TMA copy or a warpgroup, which ") + target_.name +
                   " does not have",
               where);
      hopper_ = std::make_unique<hopper_machine>(cluster_);
      cluster_.track_pairs();
      hopper_->begin_cluster();
    }
    return *hopper_;
  }

  void allocate_lds(thread_context& self, index_t bytes, call_site where) override {
    if (bytes > lds_bytes_)
      refuse(self, "allocates " + std::to_string(bytes) + " bytes of LDS", where,
             ", but the launch gave the block " + std::to_string(lds_bytes_) + "; raise lds_bytes");
    if (has_allocated_[std::size_t(self.number)]) refuse(self, "allocates LDS a second time", where);
    has_allocated_[std::size_t(self.number)] = true;
    self.lds_bytes = bytes;
  }

  void extend_log(thread_context& self) override {
    if (recorder_.repeats_itself(self))
      refuse(self, "does one LDS access (" + to_string(self.last_site) +
                       ") over and over: if it waits for another thread, use a barrier");
    recorder_.extend(waves_.lanes_of(self.wave_number));
  }

  [[noreturn]] void refuse_lds_access(thread_context& self, arch::lds_op op, index_t address,
                                      call_site where) override {
    emulator::refuse_lds_access(self, op, address, where);
  }

  const arch::target& target_;
  index_t lds_bytes_;
  kernel_reference kernel_;
  lds_recorder recorder_;
  wave_operations waves_;
  std::vector<bool> has_allocated_;         // by thread
  std::unique_ptr<hopper_machine> hopper_;  // once a kernel asks for it
  cluster cluster_;                         // last: its destructor unwinds kernels, which may still call the machine
};

}  // namespace tilewright::emulator
