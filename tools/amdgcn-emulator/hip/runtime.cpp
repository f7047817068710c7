// SPDX-License-Identifier: MIT
// libamdhip64 without a GPU: what programs of this project call of HIP's runtime, with kernels run by the emulator.
// AMDGCN_EMULATED_GPU names the GPU (default gfx942). A fault or a race in a kernel is printed, and the launch fails;
// where AMDGCN_EMULATED_RACES is set, races are allowed.
#include "state.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace emulated_hip;

struct ihipEvent_t {
  std::chrono::steady_clock::time_point time;
};

extern "C" {

hipError_t hipInit(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceCount(int* count) { return *count = 1, hipSuccess; }
hipError_t hipGetDevice(int* device) { return *device = 0, hipSuccess; }
hipError_t hipSetDevice(int device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated %s", emulated_gpu().c_str());
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", emulated_gpu().c_str());
  properties->multiProcessorCount = SMs;
  properties->warpSize = emulated_gpu().starts_with("gfx9") ? 64 : 32;
  properties->totalGlobalMem = std::size_t{1} << 32;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
  if (attribute != hipDeviceAttributeMultiprocessorCount) return remember(hipErrorInvalidValue);
  return *value = SMs, hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) { return *version = HIP_VERSION, hipSuccess; }
hipError_t hipDriverGetVersion(int* version) { return *version = HIP_VERSION, hipSuccess; }
const char* hipGetErrorString(hipError_t error) {
  return error == hipSuccess              ? "no error"
         : error == hipErrorOutOfMemory   ? "out of memory"
         : error == hipErrorLaunchFailure ? "the emulated kernel failed"
                                          : "an error of the emulated runtime";
}
hipError_t hipGetLastError() { return state.latest.exchange(hipSuccess); }
hipError_t hipPeekAtLastError() { return state.latest; }

hipError_t hipMalloc(void** p, std::size_t size) {
  *p = std::aligned_alloc(256, (size + 255) / 256 * 256 + 256);
  if (*p == nullptr) return remember(hipErrorOutOfMemory);
  std::memset(*p, 0xa5, size);
  if (size > 0) add_allocation(*p, size);
  return hipSuccess;
}
hipError_t hipFree(void* p) {
  remove_allocation(p);
  std::free(p);
  return hipSuccess;
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t size, hipMemcpyKind) {
  if (state.failed_launch != hipSuccess) return remember(state.failed_launch.load());
  std::memmove(to, from, size);
  return hipSuccess;
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t) {
  return hipMemcpy(to, from, size, kind);
}
hipError_t hipMemset(void* to, int value, std::size_t size) { return std::memset(to, value, size), hipSuccess; }
hipError_t hipMemsetAsync(void* to, int value, std::size_t size, hipStream_t) { return hipMemset(to, value, size); }
hipError_t hipHostRegister(void* p, std::size_t size, unsigned) {
  add_allocation(p, size);
  return hipSuccess;
}
hipError_t hipHostUnregister(void* p) { return remove_allocation(p), hipSuccess; }
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) { return *device = host, hipSuccess; }

hipError_t hipDeviceSynchronize() { return remember(state.failed_launch.load()); }
hipError_t hipStreamCreate(hipStream_t* stream) { return *stream = nullptr, hipSuccess; }
hipError_t hipStreamDestroy(hipStream_t) { return hipSuccess; }
hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t* device) { return hipGetDevice(device); }
hipError_t hipStreamSynchronize(hipStream_t) { return hipDeviceSynchronize(); }
hipError_t hipEventCreate(hipEvent_t* event) { return *event = new ihipEvent_t{}, hipSuccess; }
hipError_t hipEventDestroy(hipEvent_t event) { return delete event, hipSuccess; }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t) {
  return event->time = std::chrono::steady_clock::now(), hipSuccess;
}
hipError_t hipEventSynchronize(hipEvent_t) { return hipDeviceSynchronize(); }
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  return *blocks = 1, hipSuccess;
}

}  // extern "C"
