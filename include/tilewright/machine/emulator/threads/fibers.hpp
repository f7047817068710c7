// SPDX-License-Identifier: MIT
// A group of fibers on one thread of the CPU: each runs until it ends or waits.
#pragma once

#include <tilewright/core/base/index.hpp>
#include <tilewright/machine/emulator/threads/sanitizer.hpp>
#include <tilewright/machine/emulator/threads/schedule_choices.hpp>

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

namespace tilewright::emulator {

namespace detail {

/// Stacks below which nothing is accessible, so that local arrays of up to guard_bytes are noticed. Neighbouring stacks
/// start at different cache sets, by a page and some lines, because the stacks of a wave are used round robin and their
/// hottest lines would evict each other.
class staggered_stack {
 public:
  static constexpr std::size_t guard_bytes = (16 << 20) + 4096;  // of addresses, not of memory

  staggered_stack(std::size_t bytes, index_t number, stack_bounds& bounds)
      : bytes_((bytes + 4095) / 4096 * 4096), shift_(std::size_t(number % 13) * 320), bounds_(&bounds) {}

  boost::context::stack_context allocate() {
    void* const all =
        mmap(nullptr, guard_bytes + bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(all) + guard_bytes;
    if (mprotect(begin, bytes_, PROT_READ | PROT_WRITE) != 0) {
      munmap(all, guard_bytes + bytes_);
      throw std::bad_alloc();
    }
    *bounds_ = {begin, bytes_};
    boost::context::stack_context stack;
    stack.sp = begin + bytes_ - shift_;
    stack.size = bytes_ - shift_;
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
    free_stack(*bounds_);
    char* const end = static_cast<char*>(stack.sp) + shift_;
    munmap(end - bytes_ - guard_bytes, guard_bytes + bytes_);
  }

 private:
  std::size_t bytes_, shift_;
  stack_bounds* bounds_;
};

}  // namespace detail

/// Fibers 0 ... count - 1 with the same body. A wave of them runs until all its fibers wait, in the order of their
/// numbers; then the next wave runs. Where `seed` is not 0, fibers run in a random order, or waves as the explorer of
/// this thread of the CPU chooses. Not to be shared between threads of the CPU.
class fiber_group {
 public:
  using body = void (*)(void* argument, index_t fiber);

  /// `count` fibers in waves of 32 or 64 that run function(argument, number); seed 0: in order of their numbers, else
  /// in a random order.
  fiber_group(index_t count, index_t wave_size, std::size_t stack_bytes, std::uint64_t seed, body function,
              void* argument)
      : count_(count),
        wave_size_(wave_size),
        random_(seed),
        function_(function),
        argument_(argument),
        ready_(std::size_t(count + 63) / 64),
        stacks_(std::size_t(count) + 1) {
    fibers_.reserve(std::size_t(count) + 1);
    for (index_t i = 0; i < count; ++i) {
      const auto start = [this, i](boost::context::fiber&& from) {
        arrive(std::move(from), nullptr);
        live(i);
        detail::leave_stack_for_ever(stacks_[std::size_t(count_)]);
        return std::move(fibers_[std::size_t(count_)]);
      };
      fibers_.emplace_back(std::allocator_arg, detail::staggered_stack{stack_bytes, i, stacks_[std::size_t(i)]}, start);
    }
    fibers_.emplace_back();  // the caller of run()
  }
  fiber_group(const fiber_group&) = delete;
  fiber_group& operator=(const fiber_group&) = delete;

  /// Bodies that are still waiting end where they are: their stacks are unwound.
  ~fiber_group() {
    stopping_ = true;
    for (index_t i = 0; i < count_; ++i) switch_to(count_, i);
  }

  /// Calls the body once on each fiber. Whenever all that have not ended wait for a wake(), idle() may wake some and
  /// return true. Returns true when all have ended, false when idle() does. Throws what a body or idle() throws; the
  /// group cannot run again after that or after false.
  template <class Idle>
  bool run(Idle idle) {
    ended_ = 0;
    wake(0, count_);
    do {
      switch_to(count_, choose(choices_ == nullptr ? 0 : count_));
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      if (ended_ == count_) return true;
    } while (idle());
    return false;
  }

  /// The running fiber waits until another one wakes it.
  void wait(index_t self) {
    if (stopping_) return;  // called by a destructor of a stack that is being unwound
    rest(self);
    switch_to(self, choose(self));
    if (stopping_) throw stopped{};
  }

  /// The lowest address of a fiber's stack.
  const char* stack_of(index_t fiber) const { return static_cast<const char*>(stacks_[std::size_t(fiber)].bottom); }

  /// Of the explorer; nullptr: there is none.
  schedule_choices* choices() const { return choices_; }
  /// What may happen whenever an explored fiber waits.
  void set_events(pending_events& events) { events_ = &events; }

  /// Whether a fiber can run.
  bool any_ready() const { return next(0) != count_; }

  /// Makes a range of fibers ready to run.
  void wake(index_t first, index_t count) {
    for (const index_t end = first + count; first < end; first += 64 - first % 64) {
      const index_t bits = end - first;
      const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
      ready_[std::size_t(first) / 64] |= mask << first % 64;
    }
  }

 private:
  struct stopped {};

  void live(index_t self) {
    while (!stopping_) {
      try {
        function_(argument_, self);
        ++ended_;
      } catch (const stopped&) {
        return;
      } catch (...) {
        error_ = std::current_exception();
      }
      rest(self);
      switch_to(self, error_ ? count_ : choose(self));
    }
  }

  void rest(index_t self) { ready_[std::size_t(self) / 64] &= ~(std::uint64_t{1} << self % 64); }

  /// The fiber to run after self: the first that is ready in self's wave or in a later one.
  index_t next(index_t self) const {
    const std::size_t words = ready_.size();
    std::size_t word = std::size_t(self) / 64;
    std::uint64_t bits = ready_[word] & ~std::uint64_t{0} << (self & wave_size_ & 63);  // from the wave's first fiber
    for (std::size_t i = 0; bits == 0; ++i) {
      if (i == words) return count_;
      if (++word == words) word = 0;
      bits = ready_[word];
    }
    return index_t(word) * 64 + std::countr_zero(bits);
  }

  /// The fiber to run after self: next(self), or any that is ready.
  index_t choose(index_t self) {
    if (choices_ != nullptr) return choose_explored(self);
    if (random_ == 0) return next(self);
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX; its upper bits are random
    const index_t first = next(index_t((random_ >> 33) % std::uint64_t(count_)));
    if (first == count_) return count_;
    const std::uint64_t word = ready_[std::size_t(first) / 64];
    const int turn = int(random_ >> 58);
    return first / 64 * 64 + (std::countr_zero(std::rotr(word, turn)) + turn) % 64;
  }

  /// A wave runs until it waits. Then follows the first of the possible steps, or where the schedule deviates, another
  /// one; or the wave that would run is postponed until nothing else is possible.
  index_t choose_explored(index_t self) {
    if (self != count_ && first_of_wave(self / wave_size_) != count_) return first_of_wave(self / wave_size_);
    for (;;) {
      const std::vector<index_t> steps = possible_steps(self / wave_size_);
      if (steps.empty()) return count_;
      const auto count = index_t(steps.size());
      const bool may_postpone = steps[0] >= 0;
      const index_t chosen = count == 1 ? 0 : choices_->choose(count + index_t(may_postpone));
      if (chosen == 1 && may_postpone) {
        postponed_ = steps[0];
        continue;
      }
      const index_t step = steps[std::size_t(chosen - index_t(chosen > 0 && may_postpone))];
      choices_->note(step);
      if (step >= 0) {
        if (step == postponed_) postponed_ = -1;
        return first_of_wave(step);
      }
      const index_t event = -1 - step, events = events_->num_pending();
      if (event < events) events_->complete(event);
      for (index_t i = 0; event == events && i < events; ++i) events_->complete(0);
    }
  }
  /// Waves that are ready, and as -1, -2, ... pending events; after them, if there are several, all of them. In the
  /// order of the schedule's base; empty if no wave is ready.
  std::vector<index_t> possible_steps(index_t latest_wave) const {
    const index_t num_waves = count_ / wave_size_, events = events_ == nullptr ? 0 : events_->num_pending();
    const auto [has_early_copies, is_backward, reverses_blocks] = choices_->base();
    std::vector<index_t> waves, steps;
    for (index_t i = 0; i < num_waves; ++i)
      if (const index_t w = (latest_wave + (is_backward ? num_waves - i : i)) % num_waves; first_of_wave(w) != count_)
        waves.push_back(w);
    if (waves.size() == 1 && waves[0] == postponed_) return {events > 0 ? -events : postponed_};
    std::erase(waves, postponed_);
    for (index_t e = 0; e < events; ++e) steps.push_back(-1 - e);
    if (events > 1) steps.push_back(-1 - events);
    if (!waves.empty()) steps.insert(has_early_copies ? steps.end() : steps.begin(), waves.begin(), waves.end());
    return waves.empty() ? waves : steps;
  }
  /// The first fiber of a wave that is ready; count_ if none is.
  index_t first_of_wave(index_t number) const {
    const index_t first = number * wave_size_;
    const std::uint64_t bits = ready_[std::size_t(first) / 64] >> first % 64 << (64 - wave_size_);
    return bits == 0 ? count_ : first + std::countr_zero(bits) - (64 - wave_size_);
  }

  void switch_to(index_t self, index_t other) {
    last_ = self;
    void* const handle = detail::leave_stack(stacks_[std::size_t(other)]);
    boost::context::fiber from = std::move(fibers_[std::size_t(other)]).resume();
    arrive(std::move(from), handle);
  }

  /// Stores the fiber that ran before, so that it can be resumed.
  void arrive(boost::context::fiber&& from, void* handle) {
    const detail::stack_bounds stack = detail::arrive_on_stack(handle);
    if (last_ == count_) stacks_[std::size_t(count_)] = stack;
    fibers_[std::size_t(last_)] = std::move(from);
  }

  index_t count_;
  index_t wave_size_;
  schedule_choices* choices_ = explored_run;
  index_t postponed_ = -1;  // wave; -1: none
  pending_events* events_ = nullptr;
  std::uint64_t random_;  // 0: in order
  body function_;
  void* argument_;
  index_t last_ = 0;  // the fiber that ran before the current one
  index_t ended_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::vector<std::uint64_t> ready_;
  std::vector<detail::stack_bounds> stacks_;
  std::vector<boost::context::fiber> fibers_;
};

}  // namespace tilewright::emulator
