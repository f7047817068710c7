// SPDX-License-Identifier: MIT
// The kernels as C functions of a shared library, which Python loads. Compiled as HIP or CUDA they are queued on a
// stream, compiled as C++ they run on the CPU emulator.
#include "kernels.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

/// Null, or why there was no launch: a text that lives until the next call.
template <template <class> class Kernel>
const char* start(const first_kernels::matrices& args, [[maybe_unused]] void* stream) {
  static std::string why;
  try {
#if TILEWRIGHT_CPU_PASS
    tilewright::launch<Kernel<tilewright::arch::gfx942>>(args);
#else
    using stream_type = decltype(tilewright::launch_options::stream);  // hipStream_t or cudaStream_t
    tilewright::launch<Kernel>(args, {.stream = static_cast<stream_type>(stream)});
#endif
    return nullptr;
  } catch (const tilewright::launch_error& error) {
    why = error.what();
  }
  return why.c_str();
}

}  // namespace

extern "C" const char* softmax(const first_kernels::matrices* args, void* stream) {
  return start<first_kernels::softmax>(*args, stream);
}
extern "C" const char* transpose(const first_kernels::matrices* args, void* stream) {
  return start<first_kernels::transpose>(*args, stream);
}
