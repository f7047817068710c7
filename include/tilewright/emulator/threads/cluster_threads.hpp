// SPDX-License-Identifier: MIT
// Interface of a cluster of blocks for the parts of the machine in which its threads wait.
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
  /// Those of block 0, then those of block 1, and so on.
  virtual std::vector<thread_context>& threads() = 0;
  virtual bool any_ready() const = 0;
  /// The thread has read a counter in global memory: what was released to it happens before the next access.
  virtual void acquire(const thread_context&, const unsigned* counter) = 0;
  /// Checker of a block's LDS; nullptr if accesses are not checked.
  virtual lds_checker* checker(index_t block) = 0;
  /// nullptr if accesses are not checked.
  virtual access_order* order() = 0;

  index_t block_size() { return index_t(threads().size()) / blocks(); }
  index_t blocks() { return threads().back().rank + 1; }
  thread_context& first_of(index_t block) { return threads()[std::size_t(block * block_size())]; }

 protected:
  ~cluster_threads() = default;
};

}  // namespace tilewright::emulator
