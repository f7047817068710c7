// SPDX-License-Identifier: MIT
// Barriers of a block, and operations that all lanes of a wave reach together.
#pragma once

#include <tilewright/machine/emulator/cluster.hpp>
#include <tilewright/machine/emulator/counting/lds_recorder.hpp>
#include <tilewright/machine/emulator/threads/refuse.hpp>

#include <string>
#include <vector>

namespace tilewright::emulator {

/// Counts who has arrived. The last thread to arrive completes the operation and wakes the others. LDS accesses that
/// the lanes have recorded are counted here, as instructions of their wave.
class rendezvous : public wave_services {
 public:
  /// For the waves of one cluster; the references must outlive it.
  rendezvous(const arch::target& target, const cluster_shape& shape, cluster& threads, lds_recorder& recorder)
      : cluster_(threads),
        recorder_(recorder),
        wave_size_(target.wave_size),
        waves_(std::size_t(shape.num_threads() / target.wave_size)),
        at_barrier_(std::size_t(shape.cluster)) {}

  void block_sync(thread_context& self, bool waits_for_lds, call_site where) override {
    if (waits_for_lds) self.recent.wait(0);
    wave_state& wave = waves_[std::size_t(self.wave_number)];
    if (wave.at_barrier++ == 0) wave.barrier = self.site_of(where);
    if (!wave.barrier.is_same_call(self.site_of(where)))
      refuse_divergence(self, meeting::barrier, wave.barrier, meeting::barrier, where);
    index_t& arrived = at_barrier_[std::size_t(self.rank)];
    if (++arrived < self.block_size) return cluster_.wait(self, meeting::barrier, where);
    arrived = 0;
    if (self.checks_lds) cluster_.checker(self.rank)->block_sync(&cluster_.first_of(self.rank));
    const index_t waves = self.block_size / wave_size_;
    for (index_t w = self.rank * waves; w < (self.rank + 1) * waves; ++w) {
      waves_[std::size_t(w)].at_barrier = 0;
      recorder_.account(lanes_of(w));
    }
    cluster_.wake(self.rank * self.block_size, self.block_size);
  }

  /// Called by each lane of a wave; the last one to arrive calls complete() for all of them.
  template <class Complete>
  void meet(thread_context& self, meeting at, call_site where, Complete complete) {
    wave_state& wave = waves_[std::size_t(self.wave_number)];
    if (wave.arrived == 0) {
      wave.at = at;
      wave.where = self.site_of(where);
    } else if (wave.at != at || !wave.where.is_same_call(self.site_of(where))) {
      refuse_divergence(self, wave.at, wave.where, at, where);
    }
    if (++wave.arrived < wave_size_) return cluster_.wait(self, at, where);
    wave.arrived = 0;
    recorder_.account(lanes_of(self.wave_number));
    complete();
    cluster_.wake(self.wave_number * wave_size_, wave_size_);
  }

  void wave_sync(thread_context& self, call_site where) override {
    meet(self, meeting::wave_barrier, where, [&] {
      if (self.checks_lds) cluster_.checker(self.rank)->wave_sync(self.wave_id);
    });
  }

  /// Where the lanes of the thread's wave that have arrived wait; meeting::none if the thread is the first.
  meeting waits_at(const thread_context& self) const {
    const wave_state& wave = waves_[std::size_t(self.wave_number)];
    return wave.arrived == 0 ? meeting::none : wave.at;
  }
  /// The first lane's thread of a wave, by its number in the cluster; the others follow.
  thread_context* lanes_of(index_t wave) { return cluster_.threads().data() + wave * wave_size_; }

  /// All threads have ended: counts what they have recorded since they met.
  void finish() {
    for (index_t w = 0; w < index_t(waves_.size()); ++w) recorder_.account(lanes_of(w));
  }

 private:
  /// What the first lanes of a wave wait at for the others.
  struct wave_state {
    index_t arrived = 0;
    meeting at = meeting::none;
    call_site where{nullptr, 0};  // of the first lane to arrive
    index_t at_barrier = 0;       // lanes that wait at the block's barrier
    call_site barrier{nullptr, 0};
  };

  [[noreturn]] static void refuse_divergence(const thread_context& self, meeting others, call_site others_at,
                                             meeting mine, call_site where) {
    const std::string line = mine == others && others_at == self.site_of(where) ? "in another call of this line"
                                                                                : '(' + to_string(others_at) + ')';
    refuse(self, std::string("reaches ") + name(mine), where,
           std::string(" while other lanes of its wave wait in ") + name(others) + ' ' + line);
  }

  cluster& cluster_;
  lds_recorder& recorder_;
  index_t wave_size_;
  std::vector<wave_state> waves_;
  std::vector<index_t> at_barrier_;  // threads of each block
};

}  // namespace tilewright::emulator
