// SPDX-License-Identifier: MIT
// What the parts of a machine that threads wait in know of the threads: those of all blocks of a cluster.
#pragma once

#include <tilewright/exec/host/fault.hpp>
#include <tilewright/exec/host/lds_checker.hpp>
#include <tilewright/exec/host/meeting.hpp>
#include <tilewright/exec/host/thread_context.hpp>

#include <string>
#include <vector>

namespace tilewright::exec {
inline namespace host {

class cluster_threads {
 public:
  /// The running thread waits until it is woken.
  virtual void wait(thread_context&, meeting, call_site) = 0;
  virtual void wake(index_t number) = 0;
  /// The threads of one block after those of the block before it.
  virtual std::vector<thread_context>& threads() = 0;
  virtual bool any_ready() const = 0;
  /// Of a block's LDS; nullptr where accesses are not checked.
  virtual lds_checker* checker(index_t block) = 0;
  /// nullptr where accesses are not checked.
  virtual access_order* order() = 0;

  index_t block_size() { return index_t(threads().size()) / blocks(); }
  index_t blocks() { return threads().back().rank + 1; }
  thread_context& first_of(index_t block) { return threads()[std::size_t(block * block_size())]; }

 protected:
  ~cluster_threads() = default;
};

[[noreturn]] inline void refuse(const thread_context& self, const std::string& what) {
  throw fault("thread " + std::to_string(self.thread_id) + " of block " + to_string(self.block) + " " + what);
}

/// " (file.hpp:12)", of the line that answers for it.
inline std::string in_parentheses(const thread_context& self, call_site where) {
  return " (" + to_string(self.place_of(where)) + ')';
}

}  // namespace host
}  // namespace tilewright::exec
