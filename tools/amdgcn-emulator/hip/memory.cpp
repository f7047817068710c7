// SPDX-License-Identifier: MIT
// Device, pinned and managed memory, and copies. All calls have finished when they return.
#include "state.hpp"

#include <cstring>
#include <new>

using namespace emulated_hip;

struct ihipMemPoolHandle_t {
  std::map<int, std::uint64_t> attributes;
};

namespace {
using emu::finding_kind;

ihipMemPoolHandle_t& default_pool() {
  static auto* const pool = new ihipMemPoolHandle_t;
  return *pool;
}
std::size_t pool_attribute_bytes(hipMemPoolAttr attribute) {
  return attribute < hipMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t);
}

hipError_t allocate(void** p, std::size_t bytes, const char* call, bool host) {
  const auto lock = locked();
  if (!p) return remember(hipErrorInvalidValue);
  *p = nullptr;
  if (bytes == 0) return hipSuccess;
  if (bytes > memory_bytes) return remember(hipErrorOutOfMemory);
  try {
    *p = runtime().memory.allocate(bytes,
                                   std::string(call) + " #" + std::to_string(++runtime().allocations) + call_site());
  } catch (const std::bad_alloc&) {
    cannot_run("this machine has no memory for " + std::to_string(bytes) + " bytes (" + call + call_site() + ")");
  }
  if (host) runtime().memory.mark_written(*p, bytes), std::memset(*p, 0, bytes);  // the host writes there unseen
  return hipSuccess;
}
hipError_t release(void* p, const char* call) {
  const auto lock = locked();
  if (!p || runtime().memory.release(p)) return hipSuccess;
  found_in_call(finding_kind::invalid_call, call, "the pointer is not the start of a buffer that can be freed", p);
  return remember(hipErrorInvalidValue);
}
/// How many of the bytes can be touched: all of host memory, device memory up to its end; the rest is a finding.
std::size_t usable(const void* p, std::size_t bytes, const char* call, const char* role) {
  const emu::memory& memory = runtime().memory;
  if (memory.contains(p, bytes) || !memory.owns(p)) return bytes;
  const emu::memory::buffer b = memory.find(p);
  found_in_call(finding_kind::out_of_bounds, call, std::to_string(bytes) + " bytes do not fit into the " + role, p);
  return b.data ? static_cast<std::size_t>(static_cast<char*>(b.data) + b.bytes - static_cast<const char*>(p)) : 0;
}
void check_read_by_host(const void* from, std::size_t bytes, const char* call) {
  std::vector<emu::finding> found_here = runtime().memory.check_results(from, bytes);
  for (emu::finding& f : found_here) {
    f.message += " (" + std::string(call) + call_site() + ")";
    if (f.site.text.empty()) f.site.text = call;
    f.wave = ~0u;
  }
  if (!found_here.empty()) found(found_here);
}
template <class Word>
hipError_t fill(void* to, Word value, std::size_t count, const char* call) {
  const auto lock = locked();
  std::size_t bytes = count * sizeof value;
  if (bytes && !to) return remember(hipErrorInvalidValue);
  if (checking() && bytes) bytes = usable(to, bytes, call, "destination");
  for (std::size_t n = 0; n + sizeof value <= bytes; n += sizeof value)
    std::memcpy(static_cast<char*>(to) + n, &value, sizeof value);
  runtime().memory.mark_written(to, bytes);
  return hipSuccess;
}
/// In stream order.
hipError_t copy_async(void* to, const void* from, std::size_t bytes, hipStream_t stream, const char* call) {
  return submit(stream, hipGraphNodeTypeMemcpy, [=] { return copy(to, from, bytes, call); });
}
template <class Word>
hipError_t fill_async(void* to, Word value, std::size_t count, hipStream_t stream, const char* call) {
  return submit(stream, hipGraphNodeTypeMemset, [=] { return fill(to, value, count, call); });
}
/// Memory of a graph where the stream is captured: the program gets its address now, and launches use it.
hipError_t allocate_async(void** p, std::size_t bytes, hipStream_t stream, const char* call) {
  const hipError_t error = allocate(p, bytes, call, false);
  if (ihipGraph* const graph = captured(stream); graph && error == hipSuccess && *p) own(*graph, *p);
  return error;
}
hipError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t height, const char* call) {
  for (std::size_t y = 0; y < height; ++y)
    if (const hipError_t e =
            copy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch, width, call);
        e != hipSuccess)
      return e;
  return hipSuccess;
}
}  // namespace

namespace emulated_hip {
hipError_t copy(void* to, const void* from, std::size_t bytes, const char* call) {
  const auto lock = locked();
  if (runtime().failed_launch != hipSuccess) return remember(runtime().failed_launch.load());
  if (bytes == 0) return hipSuccess;
  if (!to || !from) return remember(hipErrorInvalidValue);
  if (checking()) bytes = std::min(usable(to, bytes, call, "destination"), usable(from, bytes, call, "source"));
  if (bytes == 0) return remember(hipErrorInvalidValue);
  if (checking() && !runtime().memory.contains(to, 1)) check_read_by_host(from, bytes, call);
  std::memmove(to, from, bytes);
  runtime().memory.mark_copied(to, from, bytes);
  return hipSuccess;
}
hipError_t fill_rows(const hipMemsetParams& p, const char* call) {
  for (std::size_t y = 0; y < p.height; ++y) {
    char* const row = static_cast<char*>(p.dst) + y * p.pitch;
    const hipError_t e = p.elementSize == 4   ? fill(row, p.value, p.width, call)
                         : p.elementSize == 2 ? fill(row, static_cast<std::uint16_t>(p.value), p.width, call)
                                              : fill(row, static_cast<std::uint8_t>(p.value), p.width, call);
    if (e != hipSuccess) return e;
  }
  return hipSuccess;
}
hipError_t copy_box(const hipMemcpy3DParms& p, const char* call) {
  if (p.srcArray || p.dstArray) cannot_run(std::string("the program copies arrays (") + call + ")");
  const auto row = [](const hipPitchedPtr& box, const hipPos& at, std::size_t y, std::size_t z) {
    return static_cast<char*>(box.ptr) + ((at.z + z) * box.ysize + at.y + y) * box.pitch + at.x;
  };
  for (std::size_t z = 0; z < p.extent.depth; ++z)
    for (std::size_t y = 0; y < p.extent.height; ++y)
      if (const hipError_t e = copy(row(p.dstPtr, p.dstPos, y, z), row(p.srcPtr, p.srcPos, y, z), p.extent.width, call);
          e != hipSuccess)
        return e;
  return hipSuccess;
}
}  // namespace emulated_hip

extern "C" {

hipError_t hipMalloc(void** p, std::size_t n) { return allocate(p, n, "hipMalloc", false); }
hipError_t hipExtMallocWithFlags(void** p, std::size_t n, unsigned) {
  return allocate(p, n, "hipExtMallocWithFlags", false);
}
hipError_t hipMallocAsync(void** p, std::size_t n, hipStream_t stream) {
  return allocate_async(p, n, stream, "hipMallocAsync");
}
hipError_t hipMallocFromPoolAsync(void** p, std::size_t n, hipMemPool_t, hipStream_t stream) {
  return allocate_async(p, n, stream, "hipMallocFromPoolAsync");
}
hipError_t hipMallocManaged(void** p, std::size_t n, unsigned) { return allocate(p, n, "hipMallocManaged", true); }
hipError_t hipHostMalloc(void** p, std::size_t n, unsigned) { return allocate(p, n, "hipHostMalloc", true); }
hipError_t hipHostAlloc(void** p, std::size_t n, unsigned) { return allocate(p, n, "hipHostAlloc", true); }
hipError_t hipExtHostAlloc(void** p, std::size_t n, unsigned) { return allocate(p, n, "hipExtHostAlloc", true); }
hipError_t hipMallocHost(void** p, std::size_t n) { return allocate(p, n, "hipMallocHost", true); }
hipError_t hipMemAllocHost(void** p, std::size_t n) { return allocate(p, n, "hipMemAllocHost", true); }
hipError_t hipMallocPitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 255) / 256 * 256;
  return allocate(p, *pitch * height, "hipMallocPitch", false);
}
hipError_t hipMalloc3D(hipPitchedPtr* p, hipExtent extent) {
  *p = {nullptr, (extent.width + 255) / 256 * 256, extent.width, extent.height};
  return allocate(&p->ptr, p->pitch * extent.height * extent.depth, "hipMalloc3D", false);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* p, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  return hipMallocPitch(p, pitch, width, height);
}
hipError_t hipFree(void* p) { return release(p, "hipFree"); }
hipError_t hipFreeAsync(void* p, hipStream_t stream) {
  return captured(stream) ? hipSuccess : release(p, "hipFreeAsync");  // the graph frees it
}
hipError_t hipHostFree(void* p) { return release(p, "hipHostFree"); }
hipError_t hipFreeHost(void* p) { return release(p, "hipFreeHost"); }

hipError_t hipMemcpy(void* to, const void* from, std::size_t n, hipMemcpyKind) {
  return copy(to, from, n, "hipMemcpy");
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t n, hipMemcpyKind, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyAsync");
}
hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t n, hipMemcpyKind, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyWithStream");
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, std::size_t n) { return copy(to, from, n, "hipMemcpyHtoD"); }
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t n) { return copy(to, from, n, "hipMemcpyDtoH"); }
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t n) {
  return copy(to, from, n, "hipMemcpyDtoD");
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, std::size_t n, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyHtoDAsync");
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t n, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyDtoHAsync");
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t n, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyDtoDAsync");
}
hipError_t hipMemcpyPeer(void* to, int, const void* from, int, std::size_t n) {
  return copy(to, from, n, "hipMemcpyPeer");
}
hipError_t hipMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t n, hipStream_t stream) {
  return copy_async(to, from, n, stream, "hipMemcpyPeerAsync");
}
hipError_t hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                       std::size_t height, hipMemcpyKind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, "hipMemcpy2D");
}
hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                            std::size_t height, hipMemcpyKind, hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemcpy,
                [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, "hipMemcpy2DAsync"); });
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) { return copy_box(*p, "hipMemcpy3D"); }
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemcpy, [box = *p] { return copy_box(box, "hipMemcpy3DAsync"); });
}

hipError_t hipMemset(void* to, int value, std::size_t n) {
  return fill(to, static_cast<unsigned char>(value), n, "hipMemset");
}
hipError_t hipMemsetAsync(void* to, int value, std::size_t n, hipStream_t stream) {
  return fill_async(to, static_cast<unsigned char>(value), n, stream, "hipMemsetAsync");
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t n) {
  return fill(to, value, n, "hipMemsetD8");
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, std::size_t n) {
  return fill(to, value, n, "hipMemsetD16");
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, std::size_t n) { return fill(to, value, n, "hipMemsetD32"); }
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, std::size_t n, hipStream_t stream) {
  return fill_async(to, value, n, stream, "hipMemsetD8Async");
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, std::size_t n, hipStream_t stream) {
  return fill_async(to, value, n, stream, "hipMemsetD16Async");
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, std::size_t n, hipStream_t stream) {
  return fill_async(to, value, n, stream, "hipMemsetD32Async");
}
hipError_t hipMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  for (std::size_t y = 0; y < height; ++y)
    (void)fill(static_cast<char*>(to) + y * pitch, static_cast<unsigned char>(value), width, "hipMemset2D");
  return hipSuccess;
}
hipError_t hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                            hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemset, [=] { return hipMemset2D(to, pitch, value, width, height); });
}

hipError_t hipMemset3D(hipPitchedPtr box, int value, hipExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    (void)hipMemset2D(static_cast<char*>(box.ptr) + z * box.ysize * box.pitch, box.pitch, value, extent.width,
                      extent.height);
  return hipSuccess;
}
hipError_t hipMemset3DAsync(hipPitchedPtr box, int value, hipExtent extent, hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemset, [=] { return hipMemset3D(box, value, extent); });
}

// A memory pool keeps no free memory: each allocation from it is made when it is requested. Its attributes are stored.
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int) { return *pool = &default_pool(), hipSuccess; }
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int) { return *pool = &default_pool(), hipSuccess; }
hipError_t hipDeviceSetMemPool(int, hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps*) {
  return *pool = new ihipMemPoolHandle_t, hipSuccess;
}
hipError_t hipMemPoolDestroy(hipMemPool_t) { return hipSuccess; }
hipError_t hipMemPoolTrimTo(hipMemPool_t, std::size_t) { return hipSuccess; }
hipError_t hipMemPoolSetAccess(hipMemPool_t, const hipMemAccessDesc*, std::size_t) { return hipSuccess; }
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return std::memcpy(&pool->attributes[attribute], value, pool_attribute_bytes(attribute)), hipSuccess;
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return std::memcpy(value, &pool->attributes[attribute], pool_attribute_bytes(attribute)), hipSuccess;
}

hipError_t hipHostRegister(void* p, std::size_t n, unsigned) {
  const auto lock = locked();
  return runtime().memory.add(p, n, "hipHostRegister" + call_site()), hipSuccess;
}
hipError_t hipHostUnregister(void* p) {
  const auto lock = locked();
  return runtime().memory.forget(p), hipSuccess;
}
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned) { return *device = host, hipSuccess; }
hipError_t hipHostGetFlags(unsigned* flags, void*) { return *flags = 0, hipSuccess; }
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) { return *free = *total = memory_bytes, hipSuccess; }
hipError_t hipMemPrefetchAsync(const void*, std::size_t, int, hipStream_t) { return hipSuccess; }
hipError_t hipMemAdvise(const void*, std::size_t, hipMemoryAdvise, int) { return hipSuccess; }
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, std::size_t* bytes, hipDeviceptr_t p) {
  const auto lock = locked();
  const emu::memory::buffer b = runtime().memory.find(p);
  if (!b.data) return remember(hipErrorNotFound);
  if (base) *base = b.data;
  if (bytes) *bytes = b.bytes;
  return hipSuccess;
}
hipError_t hipMemPtrGetInfo(void* p, std::size_t* bytes) {
  const auto lock = locked();
  const emu::memory::buffer b = runtime().memory.find(p);
  return *bytes = b.bytes, b.data ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* a, const void* p) {
  const auto lock = locked();
  *a = {};
  const emu::memory::buffer b = runtime().memory.find(p);
  if (!b.data) return remember(hipErrorInvalidValue);
  const bool host = b.label.find("Host") != b.label.npos, managed = b.label.find("Managed") != b.label.npos;
  // Version 5 numbers the types otherwise than 6 and 7: host 0, device 1, managed 3; host 1, device 2, managed 3.
  const int newer = runtime_version() >= 6;
  a->memoryType = static_cast<hipMemoryType>(managed ? 3 : host ? newer : 1 + newer);
  a->devicePointer = const_cast<void*>(p), a->hostPointer = host || managed ? const_cast<void*>(p) : nullptr;
  a->isManaged = managed;
  return hipSuccess;
}

}  // extern "C"
