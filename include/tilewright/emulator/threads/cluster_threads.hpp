// SPDX-License-Identifier: MIT
// What the parts of a machine that threads wait in know of the threads: those of all blocks of a cluster.
#pragma once

#include <tilewright/emulator/threads/meeting.hpp>
#include <tilewright/emulator/threads/refuse.hpp>

#include <vector>

namespace tilewright::emulator {

class access_order;
class lds_checker;

class cluster_threads {
 public:
  /// The running thread waits until it is woken.
  virtual void wait(thread_context&, meeting, call_site) = 0;
  virtual void wake(index_t number) = 0;
  /// The threads of one block after those of the block before it.
  virtual std::vector<thread_context>& threads() = 0;
  virtual bool any_ready() const = 0;
  /// The thread has seen a counter to which others have released what they did.
  virtual void acquire(const thread_context&, const unsigned* counter) = 0;
  /// Checker of a block's LDS; nullptr where accesses are not checked.
  virtual lds_checker* checker(index_t block) = 0;
  /// nullptr where accesses are not checked.
  virtual access_order* order() = 0;

  index_t block_size() { return index_t(threads().size()) / blocks(); }
  index_t blocks() { return threads().back().rank + 1; }
  thread_context& first_of(index_t block) { return threads()[std::size_t(block * block_size())]; }

 protected:
  ~cluster_threads() = default;
};

}  // namespace tilewright::emulator
