// SPDX-License-Identifier: MIT
// jit::buffer: memory of a GPU.
#pragma once

#include <cstddef>
#include <memory>

namespace tilewright::jit {

class gpu;

class buffer {
 public:
  buffer(buffer&& other) noexcept;
  buffer& operator=(buffer&&) = delete;
  ~buffer();

  void* data() const { return data_; }
  /// Copy size() bytes. download() waits for all kernels; throws error with the driver's message if one failed.
  void upload(const void* from) const;
  void download(void* to) const;
  /// Sets all bytes to 0, and waits for that, but not for kernels that are in flight.
  void clear() const;
  std::size_t size() const { return bytes_; }

 private:
  friend class compiler;
  buffer(std::shared_ptr<gpu> on, void* data, std::size_t bytes);
  std::shared_ptr<gpu> device_;
  void* data_;
  std::size_t bytes_;
};

}  // namespace tilewright::jit
