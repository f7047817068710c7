// SPDX-License-Identifier: MIT
// Each block reverses its part of a vector through LDS: the smallest kernel that needs the machine's functions to work.
#include <tilewright/machine/exec/exec.hpp>

namespace tw = tilewright;
namespace exec = tilewright::exec;

extern "C" TILEWRIGHT_GLOBAL void reverse(const int* in, int* out, int length) {
#if TILEWRIGHT_DEVICE_PASS
  constexpr tw::index_t block_size = 256, word = sizeof(int);
  const exec::lds_pointer lds = exec::lds_allocate<block_size * word>();
  const exec::global_buffer source = exec::make_global_buffer(in, tw::long_index_t{length} * word);
  const exec::global_buffer target = exec::make_global_buffer(out, tw::long_index_t{length} * word);

  const tw::index_t lane = exec::thread_id();
  const tw::index_t position = (exec::block_id().x * block_size + lane) * word;
  exec::lds_store(lds, lane * word, exec::buffer_load<int>(source, position));
  exec::block_sync();
  exec::buffer_store(target, position, exec::lds_load<int>(lds, (block_size - 1 - lane) * word));
#endif
}
