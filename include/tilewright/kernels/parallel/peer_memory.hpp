// SPDX-License-Identifier: MIT
// Memory that all ranks allocate together and can write on each other's GPUs.
#pragma once

#include <tilewright/kernels/parallel/rank_args.hpp>
#include <tilewright/launch/launch.hpp>

#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <unistd.h>

#if defined(__HIP__)
#if __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#else
#error "kernels/parallel/communicator.hpp needs RCCL's header, rccl/rccl.h"
#endif
#define TILEWRIGHT_RUNTIME(name) hip##name
#else
#if __has_include(<nccl.h>)
#include <nccl.h>
#else
#error "kernels/parallel/communicator.hpp needs NCCL's header, nccl.h"
#endif
#define TILEWRIGHT_RUNTIME(name) cuda##name
#endif

#include <stdexcept>
#include <string>

namespace tilewright::parallel {

/// Another rank, NCCL or the GPU's runtime has failed. what() says at what.
struct parallel_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

using tilewright::detail::gpu_stream;

inline void require_gpu(TILEWRIGHT_RUNTIME(Error_t) error, const char* what) {
  if (error == TILEWRIGHT_RUNTIME(Success)) return;
  (void)TILEWRIGHT_RUNTIME(GetLastError)();
  throw parallel_error(std::string("parallel: ") + what + ": " + TILEWRIGHT_RUNTIME(GetErrorString)(error));
}

inline void require_nccl(ncclResult_t result, const char* what, ncclComm_t comm) {
  if (result != ncclSuccess)
    throw parallel_error(std::string("parallel: ") + what + ": " + ncclGetErrorString(result) + "; " +
                         ncclGetLastError(comm));
}

#if defined(__HIP__)

/// Memory of the host that the GPU writes.
inline unsigned* allocate_status() {
  void* status = nullptr;
  require_gpu(hipHostMalloc(&status, sizeof(unsigned), hipHostMallocMapped), "allocating a status");
  return static_cast<unsigned*>(status);
}
inline void free_status(unsigned* status) { (void)hipHostFree(status); }

#else

inline unsigned* allocate_status() {
  void* status = nullptr;
  require_gpu(cudaHostAlloc(&status, sizeof(unsigned), cudaHostAllocMapped), "allocating a status");
  return static_cast<unsigned*>(status);
}
inline void free_status(unsigned* status) { (void)cudaFreeHost(status); }

#endif

}  // namespace detail
}  // namespace tilewright::parallel

namespace tilewright::parallel {

namespace detail {

/// Where a rank lives.
struct rank_address {
  unsigned long long host, process;
  int device, can_access;
};

/// What a rank knows of the others.
struct peers {
  std::vector<rank_address> places;
  bool all_connected = false;
};

/// Every rank's value, by NCCL. Collective.
template <class Value>
std::vector<Value> exchange(ncclComm_t nccl, rank_of self, gpu_stream stream, const Value& mine) {
  const std::size_t bytes = sizeof(Value), ranks = std::size_t(self.ranks);
  std::vector<Value> all(ranks);
  char* buffer = nullptr;
  require_gpu(TILEWRIGHT_RUNTIME(Malloc)(reinterpret_cast<void**>(&buffer), bytes * (ranks + 1)), "allocating");
  require_gpu(TILEWRIGHT_RUNTIME(MemcpyAsync)(buffer, &mine, bytes, TILEWRIGHT_RUNTIME(MemcpyHostToDevice), stream),
              "copying");
  require_nccl(ncclAllGather(buffer, buffer + bytes, bytes, ncclChar, nccl, stream), "exchanging addresses", nccl);
  require_gpu(TILEWRIGHT_RUNTIME(MemcpyAsync)(all.data(), buffer + bytes, bytes * ranks,
                                              TILEWRIGHT_RUNTIME(MemcpyDeviceToHost), stream),
              "copying");
  require_gpu(TILEWRIGHT_RUNTIME(StreamSynchronize)(stream), "exchanging addresses");
  require_gpu(TILEWRIGHT_RUNTIME(Free)(buffer), "freeing");
  return all;
}

/// A number that differs between hosts.
inline unsigned long long host_number() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  char name[256] = {};
  (void)gethostname(name, sizeof(name) - 1);
  return std::hash<std::string>{}(id + name);
}

/// Collective: finds out whether all GPUs belong to one host and can reach each other.
inline peers connect_peers(ncclComm_t nccl, rank_of self, gpu_stream stream) {
  peers result;
  int device = 0;
  require_gpu(TILEWRIGHT_RUNTIME(GetDevice)(&device), "looking for a GPU");
  rank_address here{host_number(), static_cast<unsigned long long>(getpid()), device, 1};
  result.places = exchange(nccl, self, stream, here);
  for (const rank_address& p : result.places) {
    if (p.host != here.host) here.can_access = 0;
    if (p.host != here.host || p.process != here.process || p.device == device) continue;
    int can = 0;
    require_gpu(TILEWRIGHT_RUNTIME(DeviceCanAccessPeer)(&can, device, p.device), "looking for peers");
    if (!can) {
      here.can_access = 0;
      continue;
    }
    const auto error = TILEWRIGHT_RUNTIME(DeviceEnablePeerAccess)(p.device, 0);
    if (error != TILEWRIGHT_RUNTIME(ErrorPeerAccessAlreadyEnabled)) require_gpu(error, "reaching another GPU");
    (void)TILEWRIGHT_RUNTIME(GetLastError)();
  }
  result.places = exchange(nccl, self, stream, here);
  result.all_connected = self.ranks <= max_peers;
  for (const rank_address& p : result.places) result.all_connected = result.all_connected && p.can_access;
  return result;
}

}  // namespace detail

/// Made by communicator::allocate. The ranks' memory must be freed by all of them, after the last product that uses it
/// has ended on all of them.
class peer_memory {
 public:
  /// Allocates `bytes` on this GPU and opens those of all ranks, which call this together; throws launch_error.
  peer_memory(ncclComm_t nccl, rank_of self, const detail::peers& peers, long_index_t bytes, detail::gpu_stream stream)
      : rank_(self.rank), pointers_(std::size_t(self.ranks)), opened_(std::size_t(self.ranks)) {
    struct offer {
      void* pointer;
      TILEWRIGHT_RUNTIME(IpcMemHandle_t) handle;
    } mine{};
    detail::require_gpu(TILEWRIGHT_RUNTIME(Malloc)(&mine.pointer, std::size_t(bytes)), "allocating memory for peers");
    detail::require_gpu(TILEWRIGHT_RUNTIME(MemsetAsync)(mine.pointer, 0, std::size_t(bytes), stream),
                        "clearing memory");
    if (peers.all_connected)
      detail::require_gpu(TILEWRIGHT_RUNTIME(IpcGetMemHandle)(&mine.handle, mine.pointer), "sharing memory");
    pointers_[std::size_t(rank_)] = mine.pointer;
    const auto all = detail::exchange(nccl, self, stream, mine);
    if (!peers.all_connected) return;
    const detail::rank_address& here = peers.places[std::size_t(rank_)];
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (index_t(r) == rank_) continue;
      pointers_[r] = all[r].pointer;
      if (peers.places[r].process == here.process) continue;
      detail::require_gpu(TILEWRIGHT_RUNTIME(IpcOpenMemHandle)(&pointers_[r], all[r].handle,
                                                               TILEWRIGHT_RUNTIME(IpcMemLazyEnablePeerAccess)),
                          "opening another process's memory");
      opened_[r] = true;
    }
  }
  /// The other object is empty then.
  peer_memory(peer_memory&& other) noexcept
      : rank_(other.rank_), pointers_(std::exchange(other.pointers_, {})), opened_(std::exchange(other.opened_, {})) {}
  /// Exchanges the memory of both.
  peer_memory& operator=(peer_memory&& other) noexcept {
    std::swap(rank_, other.rank_);
    std::swap(pointers_, other.pointers_);
    std::swap(opened_, other.opened_);
    return *this;
  }
  /// Closes the other ranks' memory and frees this one's: after all ranks have stopped using it.
  ~peer_memory() {
    for (std::size_t r = 0; r < pointers_.size(); ++r) {
      if (opened_[r]) (void)TILEWRIGHT_RUNTIME(IpcCloseMemHandle)(pointers_[r]);
      if (index_t(r) == rank_) (void)TILEWRIGHT_RUNTIME(Free)(pointers_[r]);
    }
  }

  /// The memory of a rank, as this process addresses it; null where this GPU cannot reach it.
  void* of(index_t rank) const { return pointers_[std::size_t(rank)]; }
  /// This rank's memory.
  void* here() const { return of(rank_); }

 private:
  index_t rank_;
  std::vector<void*> pointers_;
  std::vector<bool> opened_;
};

}  // namespace tilewright::parallel
