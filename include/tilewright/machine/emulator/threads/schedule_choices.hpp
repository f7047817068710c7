// SPDX-License-Identifier: MIT
// The decisions of one run of a schedule explorer: which wave runs next, and which copy arrives when.
#pragma once

#include <tilewright/core/base/math.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// Takes another alternative than the default one, number 0, at a point.
struct schedule_deviation {
  index_t point;        ///< number of the decision in the run, from 0
  index_t alternative;  ///< from 1
};

/// What a run does where it does not deviate. The default is the order of launches that are not explored.
struct schedule_base {
  bool has_early_copies = false;  ///< TMA loads arrive, oldest first, before a wave runs; else when no wave can run
  bool is_backward = false;       ///< after a wave comes the one before it; else the one after it
  bool reverses_blocks = false;   ///< clusters of blocks run in descending order; else in ascending order
};

/// A run that deviates from its base at some points, by ascending number, and what it could choose from.
class schedule_choices {
 public:
  /// By ascending point.
  explicit schedule_choices(schedule_base base = {}, std::vector<schedule_deviation> deviations = {})
      : base_(base), deviations_(std::move(deviations)) {}

  /// One of several alternatives, of which there is at least one.
  index_t choose(index_t alternatives) {
    const auto point = index_t(alternatives_.size());
    alternatives_.push_back(alternatives);
    if (next_ == deviations_.size() || deviations_[next_].point != point) return 0;
    return min(deviations_[next_++].alternative, alternatives - 1);
  }
  /// Adds a step to the order of the run: a wave's number, or that of a copy after -1.
  void note(index_t step) { order_ = (order_ ^ std::uint64_t(step)) * 0x9e3779b97f4a7c15u + (order_ >> 29); }

  /// A launch has several clusters of blocks.
  void note_clusters() { has_clusters_ = true; }
  /// A block waits for others, which it may expect to be lower ones.
  void note_wait_for_blocks() { blocks_wait_ = true; }
  /// Whether there is another order of blocks in which kernels that are correct end.
  bool may_reverse_blocks() const { return has_clusters_ && !blocks_wait_; }

  /// What it does where it does not deviate.
  const schedule_base& base() const { return base_; }
  /// Runs with the same steps have the same number.
  std::uint64_t order() const { return order_; }

  /// Those that the run was made for.
  const std::vector<schedule_deviation>& deviations() const { return deviations_; }
  /// By point: how many alternatives there were.
  const std::vector<index_t>& alternatives() const { return alternatives_; }

 private:
  schedule_base base_;
  std::uint64_t order_ = 0;
  bool has_clusters_ = false, blocks_wait_ = false;
  std::vector<schedule_deviation> deviations_;
  std::size_t next_ = 0;
  std::vector<index_t> alternatives_;
};

/// What may happen at any time, such as the arrival of copies.
class pending_events {
 public:
  /// How many may happen now; the oldest is number 0.
  virtual index_t num_pending() const = 0;
  /// One of them happens.
  virtual void complete(index_t number) = 0;

 protected:
  ~pending_events() = default;
};

/// Of the explorer that this thread of the CPU runs; nullptr: none.
inline thread_local constinit schedule_choices* explored_run = nullptr;

}  // namespace tilewright::emulator
