// SPDX-License-Identifier: MIT
// Room for tensors of many gigabytes of which a test touches a little.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tilewright::testing_tiles {

/// Addresses that get memory when they are written.
class sparse_memory {
 public:
  explicit sparse_memory(std::size_t bytes)
      : bytes_(bytes),
        begin_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin_ == MAP_FAILED) throw std::runtime_error("no address space for " + std::to_string(bytes) + " bytes");
  }
  sparse_memory(const sparse_memory&) = delete;
  sparse_memory& operator=(const sparse_memory&) = delete;
  ~sparse_memory() { ::munmap(begin_, bytes_); }
  template <class T>
  T* data() {
    return static_cast<T*>(begin_);
  }

 private:
  std::size_t bytes_;
  void* begin_;
};

}  // namespace tilewright::testing_tiles
