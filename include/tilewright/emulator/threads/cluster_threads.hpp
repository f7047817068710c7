// SPDX-License-Identifier: MIT
// What the parts of a machine that threads wait in know of the threads: those of all blocks of a cluster.
#pragma once

#include <tilewright/emulator/fault.hpp>
#include <tilewright/emulator/threads/meeting.hpp>
#include <tilewright/emulator/threads/thread_context.hpp>

#include <string>
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

[[noreturn]] inline void refuse_lds_access(const thread_context& self, arch::lds_op op, index_t address,
                                           call_site where) {
  const std::string access = std::string("executes ") + arch::instruction_name(self.target->isa, op) +
                             in_parentheses(self, where) + " at LDS byte " + std::to_string(address);
  const index_t bytes = arch::access_bytes(op);
  if (address >= 0 && address <= self.lds_bytes - bytes)
    refuse(self, access + ", which is not a multiple of " + std::to_string(bytes));
  refuse(self, access + ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated");
}

}  // namespace tilewright::emulator
