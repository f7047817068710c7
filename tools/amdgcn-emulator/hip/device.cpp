// SPDX-License-Identifier: MIT
// libamdhip64 without a GPU: the device, streams, events and errors. Kernels are run by the emulator.
// AMDGCN_EMULATED_GPU names the GPU (default gfx942). Without tilewright-check a fault or a race in a kernel is
// printed, and the launch fails; where AMDGCN_EMULATED_RACES is set, races are allowed.
#include "state.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

#include <link.h>

#undef hipGetDeviceProperties

using namespace emulated_hip;

namespace {
/// hipDeviceProp_tR0600: the properties of versions 6 and 7, as far as programs read them, by their offsets.
struct properties_6 {
  char name[256], uuid[16], luid[8];
  unsigned luid_mask;
  std::size_t total_memory, lds_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch;
  int threads_per_block, threads_dim[3], grid[3], clock_khz;
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int overlap, processors, timeout, integrated, map_host, compute_mode, textures_and_surfaces[40];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, engines, unified, memory_khz, bus_bits, l2_bytes,
      persisting_l2, threads_per_processor, priorities, global_l1, local_l1;
  std::size_t lds_per_processor;
  int registers_per_processor, managed, multi_gpu, multi_gpu_group, host_atomics, double_ratio, pageable,
      concurrent_managed, preemption, host_pointer, cooperative, cooperative_multi;
  std::size_t lds_optin;
  int page_tables, direct_managed, blocks_per_processor, policy_window;
  std::size_t reserved_lds;
  int register_supported, sparse, register_read_only, semaphores, pools, rdma;
  unsigned rdma_flush;
  int rdma_order;
  unsigned pool_handles;
  int mapping, ipc, cluster, function_pointers, reserved[63], hip_reserved[32];
  char arch_name[256];
  std::size_t lds_per_processor_2;
  int instruction_khz;
  unsigned arch_flags;
  unsigned* flush[2];
  int unmatched[4], large_bar, revision;
};
static_assert(sizeof(properties_6) == 1472 && offsetof(properties_6, arch_name) == 1160 &&
              offsetof(properties_6, processors) == 388 && offsetof(properties_6, cooperative) == 688);

template <class P>
void common(P& p, char (&name)[256], char (&arch)[256]) {
  std::memset(&p, 0, sizeof p);
  std::snprintf(name, sizeof name, "emulated %s", emulated_gpu().c_str());
  std::snprintf(arch, sizeof arch, "%s", emulated_gpu().c_str());
}
int lds_bytes() { return static_cast<int>(emu::lds_limit_of(emulated_gpu())); }
int attribute_of(hipDeviceAttribute_t a) {
  constexpr int wall_clock_rate = 10019;  // newer than these headers
  if (static_cast<int>(a) == wall_clock_rate) return 100'000;
  switch (a) {
    case hipDeviceAttributeMultiprocessorCount: return SMs;
    case hipDeviceAttributeWarpSize: return wave64() ? 64 : 32;
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ: return 1024;
    case hipDeviceAttributeMaxGridDimX: return 0x7fffffff;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ: return 65535;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor: return lds_bytes();
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: return 2048;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: return 65536;
    case hipDeviceAttributeTotalConstantMemory:
    case hipDeviceAttributeTotalGlobalMem: return 0x7fffffff;
    case hipDeviceAttributeClockRate:
    case hipDeviceAttributeMemoryClockRate: return 1'000'000;
    case hipDeviceAttributeClockInstructionRate: return 100'000;
    case hipDeviceAttributeMemoryBusWidth: return 8192;
    case hipDeviceAttributeL2CacheSize: return 4 << 20;
    case hipDeviceAttributeComputeCapabilityMajor: return 9;
    case hipDeviceAttributeComputeCapabilityMinor: return 4;
    case hipDeviceAttributeMaxPitch: return 0x7fffffff;
    case hipDeviceAttributeTextureAlignment: return 256;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: return 32;
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeAsyncEngineCount:
    case hipDeviceAttributeStreamPrioritiesSupported: return 1;
    default: return 0;
  }
}
const char* error_name(hipError_t e) {
  switch (e) {
    case hipSuccess: return "hipSuccess";
    case hipErrorInvalidValue: return "hipErrorInvalidValue";
    case hipErrorOutOfMemory: return "hipErrorOutOfMemory";
    case hipErrorInvalidConfiguration: return "hipErrorInvalidConfiguration";
    case hipErrorInvalidSymbol: return "hipErrorInvalidSymbol";
    case hipErrorInvalidDevice: return "hipErrorInvalidDevice";
    case hipErrorNotFound: return "hipErrorNotFound";
    case hipErrorNotReady: return "hipErrorNotReady";
    case hipErrorLaunchFailure: return "hipErrorLaunchFailure";
    case hipErrorFileNotFound: return "hipErrorFileNotFound";
    case hipErrorInvalidImage: return "hipErrorInvalidImage";
    case hipErrorInvalidDeviceFunction: return "hipErrorInvalidDeviceFunction";
    case hipErrorNotSupported: return "hipErrorNotSupported";
    default: return "hipErrorUnknown";
  }
}
hipError_t done() { return remember(runtime().failed_launch.load()); }
hipError_t new_stream(hipStream_t* stream, unsigned flags) {
  return *stream = new ihipStream_t{flags, 0, {}}, hipSuccess;
}
}  // namespace

namespace emulated_hip {
int runtime_version() {
  static const int version = [] {
    int found = 6;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
          const char* at = std::strstr(info->dlpi_name, "libamdhip64.so.");
          if (at && at[15] >= '5' && at[15] <= '7') *static_cast<int*>(to) = at[15] - '0';
          return 0;
        },
        &found);
    return found;
  }();
  return version;
}
}  // namespace emulated_hip

extern "C" {

hipError_t hipInit(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceCount(int* count) { return *count = 1, hipSuccess; }
hipError_t hipGetDevice(int* device) { return *device = 0, hipSuccess; }
hipError_t hipSetDevice(int device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }
hipError_t hipDeviceGet(hipDevice_t* device, int number) {
  return *device = 0, number == 0 ? hipSuccess : remember(hipErrorInvalidDevice);
}
hipError_t hipDeviceGetName(char* name, int size, hipDevice_t) {
  return std::snprintf(name, static_cast<std::size_t>(size), "emulated %s", emulated_gpu().c_str()), hipSuccess;
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t) { return *bytes = memory_bytes, hipSuccess; }
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t) {
  return *major = 9, *minor = 4, hipSuccess;
}
hipError_t hipDeviceGetPCIBusId(char* text, int size, int) {
  return std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0"), hipSuccess;
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char*) { return *device = 0, hipSuccess; }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int device) {
  if (device != 0) return remember(hipErrorInvalidDevice);
  common(*p, p->name, p->gcnArchName);
  p->multiProcessorCount = SMs, p->warpSize = wave64() ? 64 : 32, p->totalGlobalMem = memory_bytes;
  p->sharedMemPerBlock = p->maxSharedMemoryPerMultiProcessor = static_cast<std::size_t>(lds_bytes());
  p->maxThreadsPerBlock = 1024, p->major = 9, p->minor = 4, p->regsPerBlock = 65536,
  p->maxThreadsPerMultiProcessor = 2048;
  for (int d = 0; d < 3; ++d) p->maxThreadsDim[d] = 1024, p->maxGridSize[d] = d ? 65535 : 0x7fffffff;
  p->cooperativeLaunch = p->managedMemory = p->canMapHostMemory = p->concurrentKernels = 1;
  p->clockRate = p->memoryClockRate = 1'000'000, p->memoryBusWidth = 8192, p->clockInstructionRate = 100'000,
  p->l2CacheSize = 4 << 20;
  p->totalConstMem = 0x7fffffff, p->gcnArch = wave64() ? 940 : 1100;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0600(properties_6* p, int device) {
  if (device != 0) return remember(hipErrorInvalidDevice);
  common(*p, p->name, p->arch_name);
  p->processors = SMs, p->warp_size = wave64() ? 64 : 32, p->total_memory = memory_bytes;
  p->lds_per_block = p->lds_per_processor = p->lds_per_processor_2 = p->lds_optin =
      static_cast<std::size_t>(lds_bytes());
  p->threads_per_block = 1024, p->major = 9, p->minor = 4, p->registers_per_block = p->registers_per_processor = 65536;
  p->threads_per_processor = 2048, p->blocks_per_processor = 32;
  for (int d = 0; d < 3; ++d) p->threads_dim[d] = 1024, p->grid[d] = d ? 65535 : 0x7fffffff;
  p->cooperative = p->managed = p->map_host = p->concurrent_kernels = p->concurrent_managed = p->unified = p->pools = 1;
  p->clock_khz = p->memory_khz = 1'000'000, p->bus_bits = 8192, p->instruction_khz = 100'000, p->l2_bytes = 4 << 20;
  p->constant_bytes = 0x7fffffff;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* p, int device) { return hipGetDeviceProperties(p, device); }
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
  return *value = attribute_of(attribute), hipSuccess;
}
hipError_t hipRuntimeGetVersion(int* version) {
  return *version = checking() ? runtime_version() * 10'000'000 : HIP_VERSION, hipSuccess;
}
hipError_t hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }
hipError_t hipDeviceReset() { return hipSuccess; }
hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
hipError_t hipGetDeviceFlags(unsigned* flags) { return *flags = 0, hipSuccess; }
hipError_t hipDeviceGetLimit(std::size_t* value, hipLimit_t) { return *value = 8 << 20, hipSuccess; }
hipError_t hipDeviceSetLimit(hipLimit_t, std::size_t) { return hipSuccess; }
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) { return *config = hipFuncCachePreferNone, hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = *greatest = 0, hipSuccess; }
hipError_t hipDeviceCanAccessPeer(int* can, int, int) { return *can = 0, hipSuccess; }
hipError_t hipDeviceEnablePeerAccess(int, unsigned) { return hipSuccess; }
hipError_t hipChooseDevice(int* device, const hipDeviceProp_t*) { return *device = 0, hipSuccess; }
hipError_t hipCtxCreate(hipCtx_t* context, unsigned, hipDevice_t) { return *context = nullptr, hipSuccess; }
hipError_t hipCtxDestroy(hipCtx_t) { return hipSuccess; }
hipError_t hipCtxSetCurrent(hipCtx_t) { return hipSuccess; }
hipError_t hipCtxGetCurrent(hipCtx_t* context) { return *context = nullptr, hipSuccess; }
hipError_t hipCtxGetDevice(hipDevice_t* device) { return *device = 0, hipSuccess; }
hipError_t hipCtxSynchronize() { return done(); }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t) { return *context = nullptr, hipSuccess; }
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t) { return hipSuccess; }
hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

const char* hipGetErrorString(hipError_t error) {
  return error == hipSuccess              ? "no error"
         : error == hipErrorOutOfMemory   ? "out of memory"
         : error == hipErrorLaunchFailure ? "the emulated kernel failed"
                                          : error_name(error);
}
const char* hipGetErrorName(hipError_t error) { return error_name(error); }
hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  return *text = hipGetErrorString(error), hipSuccess;
}
hipError_t hipDrvGetErrorName(hipError_t error, const char** text) { return *text = error_name(error), hipSuccess; }
hipError_t hipGetLastError() { return runtime().latest.exchange(hipSuccess); }
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() { return runtime().latest; }

hipError_t hipDeviceSynchronize() { return done(); }
hipError_t hipStreamCreate(hipStream_t* stream) { return new_stream(stream, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) { return new_stream(stream, flags); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int) { return new_stream(stream, flags); }
hipError_t hipStreamDestroy(hipStream_t) { return hipSuccess; }  // programs may pass it once more
hipError_t hipStreamSynchronize(hipStream_t) { return done(); }
hipError_t hipStreamQuery(hipStream_t) { return done(); }
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return *flags = stream ? stream->flags : 0, hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t, int* priority) { return *priority = 0, hipSuccess; }
hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t* device) { return *device = 0, hipSuccess; }
int hipGetStreamDeviceId(hipStream_t) { return 0; }
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t call, void* data, unsigned) {
  return submit(stream, hipGraphNodeTypeHost, [=] { return call(stream, hipSuccess, data), hipSuccess; });
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t call, void* data) {
  return submit(stream, hipGraphNodeTypeHost, [=] { return call(data), hipSuccess; });
}

hipError_t hipEventCreate(hipEvent_t* event) {
  *event = new ihipEvent_t;
  return (*event)->time = std::chrono::steady_clock::now(), hipSuccess;
}
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) { return hipEventCreate(event); }
hipError_t hipEventDestroy(hipEvent_t event) { return delete event, hipSuccess; }
hipError_t hipEventSynchronize(hipEvent_t) { return done(); }
hipError_t hipEventQuery(hipEvent_t) { return done(); }
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return hipSuccess;
}

}  // extern "C"
