// SPDX-License-Identifier: MIT
// NCCL's or RCCL's header, and calls of CUDA's or HIP's runtime with their errors as parallel_error.
#pragma once

#include <tilewright/launch/launch.hpp>

#if defined(__HIP__)
#if __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#else
#error "parallel/communicator.hpp needs RCCL's header, rccl/rccl.h"
#endif
#define TILEWRIGHT_RUNTIME(name) hip##name
#else
#if __has_include(<nccl.h>)
#include <nccl.h>
#else
#error "parallel/communicator.hpp needs NCCL's header, nccl.h"
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
