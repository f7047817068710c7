// SPDX-License-Identifier: MIT
// Throws the fault of one thread: its number and block, what it did, and on which line.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/threads/thread_context.hpp>

#include <string>

namespace tilewright::emulator {

/// Throws a fault: "thread 1 of block (0, 0, 0) <what>".
[[noreturn]] inline void refuse(const thread_context& self, const std::string& what) {
  throw_fault("thread " + std::to_string(self.thread_id) + " of block " + to_string(self.block) + " " + what);
}

/// " (file.hpp:12)": the line that answers for what the thread does.
inline std::string in_parentheses(const thread_context& self, call_site where) {
  return " (" + to_string(self.site_of(where)) + ')';
}

/// "thread 1 of block (0, 0, 0) <does> (file.hpp:12)<why>".
[[noreturn]] inline void refuse(const thread_context& self, const std::string& does, call_site where,
                                const std::string& why = "") {
  refuse(self, does + in_parentheses(self, where) + why);
}

/// Throws the fault of an LDS access that is outside of what the thread has allocated or not aligned.
[[noreturn]] inline void refuse_lds_access(const thread_context& self, arch::lds_op op, index_t address,
                                           call_site where) {
  const std::string access = std::string("executes ") + arch::instruction_name(self.target->isa, op) +
                             in_parentheses(self, where) + " at LDS byte " + std::to_string(address);
  const index_t bytes = arch::access_bytes(op);
  if (address >= 0 && address <= self.lds_bytes - bytes)
    refuse(self, access + ", which is not a multiple of " + std::to_string(bytes));
  refuse(self, access + ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated");
}

/// Throws the fault of an access outside of a buffer: `bytes` bytes at `byte_offset`.
[[noreturn]] inline void refuse_global_access(const thread_context& self, const char* does, index_t bytes,
                                              long_index_t byte_offset, call_site where) {
  refuse(self, std::string(does) + ' ' + std::to_string(bytes) + " bytes of global memory", where,
         " at byte " + std::to_string(byte_offset) + " of a buffer, whose address is not a multiple of " +
             std::to_string(bytes));
}

}  // namespace tilewright::emulator
