// SPDX-License-Identifier: MIT
// Runs clusters of blocks on one thread of the CPU: a fiber per emulated thread, LDS, and the places where threads
// meet.
#pragma once

#include <tilewright/emulator/counting/lds_recorder.hpp>
#include <tilewright/emulator/deadlock.hpp>
#include <tilewright/emulator/fault.hpp>
#include <tilewright/emulator/global/global_memory.hpp>
#include <tilewright/emulator/lds/lds_checker.hpp>
#include <tilewright/emulator/threads/fibers.hpp>
#include <tilewright/emulator/watchdog.hpp>
#include <tilewright/emulator/wave_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright::emulator {

/// A kernel whose type is forgotten.
struct kernel_reference {
  void* object;
  void (*call)(void* object);
};

/// How many blocks there are along x, and how many of them run together.
struct block_row {
  index_t num_blocks = 1, cluster = 1;
};

class block_machine final : private block_services, private cluster_threads {
 public:
  block_machine(const arch::target& target, block_row row, index_t block_size, index_t lds_bytes, bool checks_lds,
                std::size_t stack_bytes, std::uint64_t seed, worker_progress& progress, global_memory& memory,
                kernel_reference kernel)
      : target_(target),
        block_size_(block_size),
        lds_bytes_(lds_bytes),
        lds_stride_(tilewright::detail::round_up(lds_bytes + 1, lds_alignment)),
        kernel_(kernel),
        progress_(progress),
        memory_(memory),
        lds_(static_cast<char*>(
            ::operator new(std::size_t(lds_stride_ * row.cluster), std::align_val_t{std::size_t(lds_alignment)}))),
        recorder_(target, block_size * row.cluster),
        order_(block_size * row.cluster),
        threads_(std::size_t(block_size * row.cluster)),
        lanes_(threads_.size()),
        waves_(threads_.size() / std::size_t(target.wave_size)),
        at_barrier_(std::size_t(row.cluster)),
        fibers_(index_t(threads_.size()), stack_bytes, seed, &run_thread, this) {
    for (index_t i = 0; i < index_t(threads_.size()); ++i) {
      thread_context& thread = threads_[std::size_t(i)];
      thread.number = i;
      thread.rank = i / block_size;
      thread.num_blocks = row.num_blocks;
      thread.thread_id = i % block_size;
      thread.lane_id = thread.thread_id % target.wave_size;
      thread.wave_id = thread.thread_id / target.wave_size;
      thread.wave_number = i / target.wave_size;
      thread.block_size = block_size;
      thread.services = this;
      thread.target = &target_;
      thread.lds = lds_.get() + thread.rank * lds_stride_;
      thread.checks_lds = checks_lds;
      thread.checks_memory = memory.is_checked();
      thread.stack_guard = fibers_.stack_of(i);
      thread.stack_bytes = stack_bytes;
      recorder_.attach(thread);
    }
    for (index_t block = 0; checks_lds && block < row.cluster; ++block)
      checkers_.emplace_back(order_, places_, target.wave_size, block, block_size, lds_bytes);
  }

  /// Runs the kernel on every thread of a cluster of blocks, the first of which is `first`. `others_run()` says whether
  /// blocks with lower numbers are being run elsewhere. Throws a fault, or what the kernel throws; do not run it again
  /// then.
  template <class OthersRun>
  void run(block_index first, OthersRun others_run) {
    std::fill_n(reinterpret_cast<std::uint16_t*>(lds_.get()), lds_stride_ * index_t(at_barrier_.size()) / 2, poison);
    const bool times_begin_anew = order_.begin_cluster();
    for (lds_checker& checker : checkers_) checker.begin_block(times_begin_anew);
    for (thread_context& thread : threads_) {
      thread.block = {first.x + thread.rank, first.y, first.z};
      thread.lds_bytes = 0;
      thread.recent.clear();
      thread.last_place = {nullptr, 0};
      thread.last_load = nullptr;
      thread.async_copies.clear();
      thread.async_group_ends.clear();
      thread.async_copies_begun = 0;
      thread.async_begins.clear();
    }
    for (lane_state& lane : lanes_) lane = {};
    looping_.clear();
    idle_rounds_ = 0;
    if (memory_.is_checked()) cluster_ = memory_.begin_cluster(first);
    if (hopper_) hopper_->begin_cluster();
    const bool all_ended = fibers_.run([&] { return idle(others_run); });
    current_thread = nullptr;
    progress_.running = nullptr;
    if (!all_ended) {
      const auto place_of = [this](index_t number) { return lanes_[std::size_t(number)].place; };
      throw fault(deadlock(threads_, hopper_.get(), place_of).describe());
    }
    if (hopper_) hopper_->end_cluster();
    for (const lds_checker& checker : checkers_) checker.end_block();
    for (index_t w = 0; w < index_t(waves_.size()); ++w) recorder_.account(lanes_of(w));
  }

  /// By place, and there by operation. All accesses have place 0 if LDS accesses are not checked.
  const std::vector<array<lds_counts, arch::num_lds_ops>>& lds_counters() const { return recorder_.counts(); }
  call_site place(std::size_t number) const { return places_[number]; }
  long_index_t matrix_instructions() const {
    return matrix_instructions_ + (hopper_ ? hopper_->matrix_instructions() : 0);
  }

 private:
  static constexpr index_t lds_alignment = 1024;
  static constexpr std::uint16_t poison = 0xffa5;  // NaN as half, as bfloat16 and, twice, as float

  struct free_lds {
    void operator()(char* p) const { ::operator delete(p, std::align_val_t{std::size_t(lds_alignment)}); }
  };

  static void run_thread(void* self, index_t fiber) {
    auto& machine = *static_cast<block_machine*>(self);
    machine.run_on(machine.threads_[std::size_t(fiber)]);
    machine.kernel_.call(machine.kernel_.object);
    if (machine.hopper_) machine.hopper_->leave(machine.threads_[std::size_t(fiber)]);
    machine.lanes_[std::size_t(fiber)].place.at = meeting::ended;
  }

  void run_on(thread_context& self) {
    current_thread = &self;
    progress_.running.store(&self, std::memory_order_relaxed);
    progress_.switches.store(progress_.switches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  lane_state& lane_of(const thread_context& self) { return lanes_[std::size_t(self.number)]; }
  wave_state& wave_of(const thread_context& self) { return waves_[std::size_t(self.wave_number)]; }
  thread_context* lanes_of(index_t wave) { return threads_.data() + wave * target_.wave_size; }
  /// What a lane of the thread's wave passes.
  lane_state& lane_beside(const thread_context& self, index_t lane) {
    return lanes_[std::size_t(self.wave_number * target_.wave_size + lane)];
  }

  std::vector<thread_context>& threads() override { return threads_; }
  void wake(index_t number) override { fibers_.wake(number, 1); }
  bool any_ready() const override { return fibers_.any_ready(); }
  lds_checker* checker(index_t block) override { return checkers_.empty() ? nullptr : &checkers_[std::size_t(block)]; }
  access_order* order() override { return checkers_.empty() ? nullptr : &order_; }
  void wait(thread_context& self, meeting at, call_site where) override {
    lane_state& lane = lane_of(self);
    lane.place = {at, self.place_of(where)};
    self.last_place = lane.place.where;
    fibers_.wait(self.number);
    lane.place.at = meeting::none;
    if (at != meeting::unchanged_value) idle_rounds_ = 0;
    run_on(self);
  }

  void block_sync(thread_context& self, bool waits_for_lds, call_site where) override {
    if (waits_for_lds) self.recent.wait(0);
    wave_state& wave = wave_of(self);
    if (wave.at_barrier++ == 0) wave.barrier = self.place_of(where);
    if (!(wave.barrier == self.place_of(where)))
      refuse_divergence(self, meeting::barrier, wave.barrier, meeting::barrier, where);
    index_t& arrived = at_barrier_[std::size_t(self.rank)];
    if (++arrived < block_size_) return wait(self, meeting::barrier, where);
    arrived = 0;
    if (self.checks_lds) checkers_[std::size_t(self.rank)].block_sync(threads_.data() + self.rank * block_size_);
    const index_t waves = block_size_ / target_.wave_size;
    for (index_t w = self.rank * waves; w < (self.rank + 1) * waves; ++w) {
      waves_[std::size_t(w)].at_barrier = 0;
      recorder_.account(lanes_of(w));
    }
    fibers_.wake(self.rank * block_size_, block_size_);
  }

  /// Called by each lane of a wave; the last one to arrive completes the operation for all of them.
  template <class Complete>
  void meet(thread_context& self, wave_state& wave, meeting at, call_site where, Complete complete) {
    if (wave.arrived == 0) {
      wave.at = at;
      wave.where = self.place_of(where);
    } else if (wave.at != at || !(wave.where == self.place_of(where))) {
      refuse_divergence(self, wave.at, wave.where, at, where);
    }
    if (++wave.arrived < target_.wave_size) return wait(self, at, where);
    wave.arrived = 0;
    recorder_.account(lanes_of(self.wave_number));
    complete();
    fibers_.wake(self.wave_number * target_.wave_size, target_.wave_size);
  }

  void wave_sync(thread_context& self, call_site where) override {
    meet(self, wave_of(self), meeting::wave_barrier, where, [&] {
      if (self.checks_lds) checkers_[std::size_t(self.rank)].wave_sync(self.wave_id);
    });
  }

  unsigned shuffle(thread_context& self, unsigned value, index_t source_lane, call_site where) override {
    lane_state& mine = lane_of(self);
    mine.value = value;
    mine.source_lane = source_lane & (target_.wave_size - 1);
    meet(self, wave_of(self), meeting::shuffle, where, [&] {
      lane_state* lanes = &lane_beside(self, 0);
      for (index_t i = 0; i < target_.wave_size; ++i) lanes[i].shuffled = lanes[lanes[i].source_lane].value;
    });
    return mine.shuffled;
  }

  bool any(thread_context& self, bool condition, call_site where) override {
    lane_of(self).value = condition;
    meet(self, wave_of(self), meeting::vote, where, [&] {
      lane_state* lanes = &lane_beside(self, 0);
      unsigned result = 0;
      for (index_t i = 0; i < target_.wave_size; ++i) result |= lanes[i].value;
      for (index_t i = 0; i < target_.wave_size; ++i) lanes[i].shuffled = result;
    });
    return lane_of(self).shuffled != 0;
  }

  void mma(thread_context& self, arch::matrix_op op, arch::matrix_element a_element, arch::matrix_element b_element,
           void* c, const void* a, const void* b, call_site where) override {
    if (!target_.supports(op, a_element, b_element))
      refuse(self, std::string("asks for a matrix instruction that ") + target_.name + " does not have");
    wave_state& wave = wave_of(self);
    if (wave.arrived == 0) {
      wave.op = op;
      wave.a_element = a_element;
      wave.b_element = b_element;
    } else if (wave.at == meeting::mma &&
               (wave.op != op || wave.a_element != a_element || wave.b_element != b_element)) {
      refuse(self, "reaches another matrix instruction than the lanes of its wave before it");
    }
    wave.operands[self.lane_id] = {static_cast<const char*>(a), static_cast<const char*>(b), static_cast<char*>(c)};
    meet(self, wave, meeting::mma, where, [&] {
      const matrix_emulator& emulator = emulators_.of(op);
      if (const index_t lane = emulator.find_unequal_copies(wave.operands.data()); lane >= 0) {
        refuse(lanes_of(self.wave_number)[lane],
               "passes a matrix instruction other operands than the lane that must hold a copy of them");
      }
      emulator.run(a_element, b_element, wave.operands.data());
      ++matrix_instructions_;
    });
  }

  /// An access in which lanes exchange what they address; `complete` does it for the wave.
  template <class Complete>
  array<unsigned, 4> access_together(thread_context& self, meeting at, const matrix_access& access, call_site where,
                                     Complete complete) {
    lane_state& mine = lane_of(self);
    mine.access = access;
    meet(self, wave_of(self), at, where,
         [&] { complete([&](index_t lane) -> matrix_access& { return lane_beside(self, lane).access; }); });
    return mine.access.words;
  }

  array<unsigned, 4> ldmatrix_x4(thread_context& self, index_t address, bool transposed, call_site where) override {
    if (!target_.supports(arch::lds_op::ldmatrix))
      refuse(self, std::string("asks for ldmatrix, which ") + target_.name + " does not have");
    self.record(arch::lds_op::ldmatrix, address, arch::access_bytes(arch::lds_op::ldmatrix), where);
    const meeting at = transposed ? meeting::transposing_ldmatrix : meeting::ldmatrix;
    return access_together(self, at, {address, {}}, where, [&](auto lane_at) {
      if (transposed) {
        read_transposed(arch::lds_op::ldmatrix, 2, target_.wave_size, self.lds, lane_at);
      } else {
        read_matrices(self.lds, lane_at);
      }
    });
  }

  void stmatrix_x4(thread_context& self, index_t address, const array<unsigned, 4>& words, call_site where) override {
    if (!target_.supports(arch::lds_op::stmatrix))
      refuse(self, std::string("asks for stmatrix, which ") + target_.name + " does not have");
    self.record(arch::lds_op::stmatrix, address, arch::access_bytes(arch::lds_op::stmatrix), where);
    access_together(self, meeting::stmatrix, {address, words}, where,
                    [&](auto lane_at) { write_matrices(self.lds, lane_at); });
  }

  hopper_services& hopper(const thread_context& self) override {
    if (!hopper_) {
      if (target_.max_cluster == 1)
        refuse(self, std::string("asks for a barrier in LDS, a bulk copy or a warpgroup, which ") + target_.name +
                         " does not have");
      hopper_ = std::make_unique<hopper_machine>(static_cast<cluster_threads&>(*this));
      if (self.checks_lds) {
        order_.use([this](index_t thread, index_t other) {
          const bool same_block = thread / block_size_ == other / block_size_;
          return same_block ? checkers_[std::size_t(thread / block_size_)].known_before(thread, other) : 0;
        });
      }
      hopper_->begin_cluster();
    }
    return *hopper_;
  }

  array<unsigned, 2> transposing_read(thread_context& self, index_t address, index_t element_bytes,
                                      call_site where) override {
    const arch::lds_op op = arch::transposing_read_op(element_bytes);
    if (!target_.supports(op)) {
      refuse(self, std::string("asks for ") + arch::instruction_name(arch::instruction_set::cdna, op) + ", which " +
                       target_.name + " does not have");
    }
    self.record(op, address, arch::access_bytes(op), where);
    const meeting at = element_bytes == 2 ? meeting::transposing_read_16 : meeting::transposing_read_8;
    const array<unsigned, 4> result = access_together(self, at, {address, {}}, where, [&](auto lane_at) {
      read_transposed(op, element_bytes, target_.wave_size, self.lds, lane_at);
    });
    return {{result[0], result[1]}};
  }

  void allocate_lds(thread_context& self, index_t bytes) override {
    if (bytes > lds_bytes_) {
      refuse(self, "allocates " + std::to_string(bytes) + " bytes of LDS, but the launch gave the block " +
                       std::to_string(lds_bytes_));
    }
    lane_state& mine = lane_of(self);
    if (mine.has_allocated) refuse(self, "allocates LDS a second time");
    mine.has_allocated = true;
    self.lds_bytes = bytes;
  }

  void extend_log(thread_context& self) override {
    if (recorder_.repeats_itself(self))
      refuse(self, "does one LDS access (" + to_string(self.last_place) +
                       ") over and over: if it waits for another thread, use a barrier");
    recorder_.extend(lanes_of(self.wave_number));
  }

  void check_global_access(const thread_context& self, global_touch how, const char* place, long_index_t bytes,
                           call_site where) override {
    memory_.check_inside(self, name(how), place, bytes, where);
    if (checkers_.empty()) return;
    memory_.access(self, how, place, bytes, cluster_, order_.now(), where, [&](index_t other, std::uint32_t time) {
      return checkers_[std::size_t(self.rank)].is_over(self.number, other, time);
    });
  }
  void release(const thread_context& self, const unsigned* counter) override {
    if (self.checks_memory) memory_.release(cluster_, counter, order_.tick());
  }
  void acquire(const thread_context& self, const unsigned* counter) override {
    if (self.checks_memory) memory_.acquire(cluster_, counter);
  }

  void let_others_run(thread_context& self, call_site where) override {
    looping_.push_back(self.number);
    wait(self, meeting::unchanged_value, where);
  }

  /// No thread can go on. Those that wait for a value in global memory look again, for ever while blocks with lower
  /// numbers run elsewhere.
  template <class OthersRun>
  bool idle(OthersRun others_run) {
    if (hopper_ && hopper_->idle(others_run)) return true;
    constexpr index_t patience = 16;
    if (looping_.empty() || (!others_run() && ++idle_rounds_ > patience)) return false;
    for (const index_t number : looping_) fibers_.wake(number, 1);
    looping_.clear();
    return true;
  }

  unsigned check_lds_access(thread_context& self, lds_touch how, index_t address, index_t bytes,
                            call_site where) override {
    const unsigned place = checkers_[std::size_t(self.rank)].access(self, how, address, bytes, where);
    if (how <= lds_touch::atomic_update)
      self.recent.add({std::uint32_t(address), order_.now(), std::uint16_t(place), std::uint8_t(bytes), how});
    return place;
  }

  [[noreturn]] void refuse_divergence(const thread_context& self, meeting others, call_site others_at, meeting mine,
                                      call_site where) const {
    refuse(self, std::string("reaches ") + name(mine) + in_parentheses(self, where) +
                     " while other lanes of its wave wait in " + name(others) + " (" + to_string(others_at) + ')');
  }

  [[noreturn]] void refuse_lds_access(thread_context& self, arch::lds_op op, index_t address,
                                      call_site where) override {
    emulator::refuse_lds_access(self, op, address, where);
  }

  const arch::target& target_;
  index_t block_size_, lds_bytes_, lds_stride_;
  kernel_reference kernel_;
  worker_progress& progress_;
  global_memory& memory_;
  std::uint32_t cluster_ = 0;  // its number in memory_
  std::unique_ptr<char, free_lds> lds_;
  lds_recorder recorder_;
  access_order order_;
  call_places places_;
  std::vector<lds_checker> checkers_;  // of each block, where LDS accesses are checked
  std::vector<thread_context> threads_;
  std::vector<lane_state> lanes_;
  std::vector<wave_state> waves_;
  std::vector<index_t> at_barrier_;  // of each block
  matrix_emulators emulators_;
  std::unique_ptr<hopper_machine> hopper_;  // once a kernel asks for it
  long_index_t matrix_instructions_ = 0;
  std::vector<index_t> looping_;  // threads that wait for a value in global memory
  index_t idle_rounds_ = 0;       // in which they alone have run
  fiber_group fibers_;            // last: its end unwinds kernels that were stopped half way
};

}  // namespace tilewright::emulator
