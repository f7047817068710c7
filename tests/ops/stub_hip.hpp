// SPDX-License-Identifier: MIT
// What the stub of HIP's runtime records.
#pragma once

#include <cstddef>

struct stub_launch {
  char name[128];  // of the kernel
  void* stream;
  std::size_t bytes;  // of args
  alignas(16) unsigned char args[512];
};

/// The launches since the last call, in the order in which they were queued. They live until the next call.
extern "C" const stub_launch* stub_take_launches(std::size_t* count);
