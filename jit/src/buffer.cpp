// SPDX-License-Identifier: MIT
#include <tilewright/jit/buffer.hpp>

#include <utility>

#include "gpu.hpp"

namespace tilewright::jit {

buffer::buffer(std::shared_ptr<gpu> on, void* data, std::size_t bytes)
    : device_(std::move(on)), data_(data), bytes_(bytes) {}
buffer::buffer(buffer&& other) noexcept
    : device_(std::move(other.device_)), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
buffer::~buffer() {
  if (data_ != nullptr) device_->release(data_);
}

void buffer::upload(const void* from) const { device_->upload(data_, from, bytes_); }
void buffer::clear() const { device_->clear(data_, bytes_); }
void buffer::download(void* to) const { device_->download(to, data_, bytes_); }

}  // namespace tilewright::jit
