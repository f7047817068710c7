// SPDX-License-Identifier: MIT
// Reports a deadlock: what the threads of a cluster wait for.
#pragma once

#include <tilewright/emulator/hopper/engines.hpp>

#include <algorithm>

namespace tilewright::emulator {

/// Some threads wait; the others have ended, or wait elsewhere.
class deadlock {
 public:
  /// `hopper` is nullptr if no thread has used Hopper's hardware.
  deadlock(const std::vector<thread_context>& threads, const hopper_machine* hopper,
           const std::vector<waiting_place>& places)
      : threads_(threads), hopper_(hopper), places_(places) {}

  std::string describe() const {
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
    while (missing < begin + count - 1 && place(missing).at == place(stuck).at) ++missing;
    const waiting_place& other = place(missing);
    const std::string why = other.at == meeting::ended
                                ? std::string("has left the kernel")
                                : std::string("waits at ") + name(other.at) + " (" + to_string(other.where) + ')';
    return waits(stuck, " forever") + " that thread " + std::to_string(threads_[std::size_t(missing)].thread_id) +
           " does not reach: it " + why;
  }

 private:
  static bool is_of_hopper(meeting at) { return at > meeting::stmatrix && at < meeting::ended; }
  const waiting_place& place(index_t thread) const { return places_[std::size_t(thread)]; }

  template <class Waits>
  index_t first(Waits waits) const {
    const auto found =
        std::find_if(places_.begin(), places_.end(), [&](const waiting_place& p) { return waits(p.at); });
    return found == places_.end() ? -1 : index_t(found - places_.begin());
  }

  /// Up to four lines at which threads wait, each once: one of them is why the others do.
  std::string describe_from(index_t stuck) const {
    std::string text = waits(stuck, " forever");
    std::vector<call_site> told{place(stuck).where};
    for (index_t i = 0; i < index_t(places_.size()) && told.size() < 4; ++i) {
      const bool is_told = std::find(told.begin(), told.end(), place(i).where) != told.end();
      if (place(i).at == meeting::none || place(i).at == meeting::ended || is_told) continue;
      told.push_back(place(i).where);
      text += "; " + waits(i, "");
    }
    return text;
  }

  /// "thread 1 of block (0, 0, 0) waits at a barrier (file.hpp:12)", and what is missing there if that is known.
  std::string waits(index_t number, const char* how) const {
    const thread_context& thread = threads_[std::size_t(number)];
    const waiting_place& p = place(number);
    const std::string text = "thread " + std::to_string(thread.thread_id) + " of block " + to_string(thread.block) +
                             " waits" + how + " at " + name(p.at) + " (" + to_string(p.where) + ')';
    const std::string more = is_of_hopper(p.at) ? hopper_->describe(thread, p.at) : "";
    return more.empty() ? text : text + ", " + more;
  }

  const std::vector<thread_context>& threads_;
  const hopper_machine* hopper_;
  const std::vector<waiting_place>& places_;
};

}  // namespace tilewright::emulator
