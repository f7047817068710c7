// SPDX-License-Identifier: MIT
// One rank's view of the GPUs that compute a product together: NCCL or RCCL, memory of the others, copies to them.
#pragma once

#include <tilewright/kernels/parallel/peer_memory.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>
#include <tilewright/kernels/parallel/rank_environment.hpp>
#include <tilewright/launch/launch.hpp>

#include <chrono>
#include <optional>
#include <thread>

namespace tilewright::parallel {

/// A rank is a process or a thread of one; its GPU is the device that is current when the communicator is made. All
/// members but self(), wait() and finish() are for the products of parallel/.
class communicator {
 public:
  using stream_type = detail::gpu_stream;
  using memory_type = peer_memory;
  template <class Kernel>
  using launch_type = std::optional<prepared_launch<Kernel>>;

  /// Collective over all ranks. `id`: ncclGetUniqueId() of one of them. Throws parallel_error.
  communicator(const ncclUniqueId& id, rank_of self, index_t timeout_ms = 10000)
      : self_(self), timeout_ms_(timeout_ms) {
    namespace d = detail;
    d::require_nccl(ncclCommInitRank(&nccl_, self.ranks, id, self.rank), "joining the other ranks", nullptr);
    int low = 0, high = 0;  // NCCL's kernels must find SMs next to a product's
    d::require_gpu(TILEWRIGHT_RUNTIME(DeviceGetStreamPriorityRange)(&low, &high), "asking for priorities");
    d::require_gpu(TILEWRIGHT_RUNTIME(StreamCreateWithPriority)(&copies_, TILEWRIGHT_RUNTIME(StreamNonBlocking), high),
                   "making a stream");
    for (auto* event : {&begun_, &copied_})
      d::require_gpu(TILEWRIGHT_RUNTIME(EventCreateWithFlags)(event, TILEWRIGHT_RUNTIME(EventDisableTiming)),
                     "making an event");
    status_ = d::allocate_status();
    *status_ = 0;
    peers_ = d::connect_peers(nccl_, self, copies_);
  }
  /// The same for a process that a launcher has started: NCCL finds the others.
  explicit communicator(const rank_environment& here, index_t timeout_ms = 10000)
      : communicator(id_of(here), here.self, timeout_ms) {}
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  /// Ends the stream of copies; memory and launches made by this object must be gone.
  ~communicator() {
    (void)TILEWRIGHT_RUNTIME(StreamDestroy)(copies_);
    (void)TILEWRIGHT_RUNTIME(EventDestroy)(begun_);
    (void)TILEWRIGHT_RUNTIME(EventDestroy)(copied_);
    detail::free_status(status_);
    if (nccl_) (void)ncclCommAbort(nccl_);
  }

  /// This process's rank, and how many there are.
  rank_of self() const { return self_; }
  /// NCCL's communicator, owned by the caller.
  ncclComm_t nccl() const { return nccl_; }
  /// Whether every rank can write to the memory of all others.
  bool has_peers() const { return peers_.all_connected; }
  /// What kernels need to wait for peers; the status is in memory of the host.
  peer_wait wait() const { return {status_, timeout_ms_}; }

  /// Waits until everything queued on the stream has run. Throws parallel_error where another rank has been late or
  /// NCCL has failed; the communicator is of no use then.
  void finish(stream_type stream) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const auto state = TILEWRIGHT_RUNTIME(StreamQuery)(stream);
      if (*static_cast<volatile unsigned*>(status_) != 0)
        fail("a rank did not send its part within " + std::to_string(timeout_ms_) + " ms");
      if (state == TILEWRIGHT_RUNTIME(Success)) return;
      if (state != TILEWRIGHT_RUNTIME(ErrorNotReady)) detail::require_gpu(state, "waiting for a product");
      ncclResult_t error = ncclSuccess;
      if (ncclCommGetAsyncError(nccl_, &error) != ncclSuccess || error != ncclSuccess) fail("NCCL lost another rank");
      if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(2 * timeout_ms_))
        fail("the GPU did not finish within " + std::to_string(2 * timeout_ms_) + " ms");
      std::this_thread::yield();
    }
  }

  /// Memory of `bytes` on every rank, cleared. Collective.
  peer_memory allocate(long_index_t bytes) { return peer_memory(nccl_, self_, peers_, bytes, copies_); }

  /// Copies that follow wait for what is queued on the stream.
  void fork(stream_type stream) {
    detail::require_gpu(TILEWRIGHT_RUNTIME(EventRecord)(begun_, stream), "recording an event");
    detail::require_gpu(TILEWRIGHT_RUNTIME(StreamWaitEvent)(copies_, begun_, 0), "waiting for an event");
  }
  /// What is queued on the stream next waits for the copies.
  void join(stream_type stream) {
    detail::require_gpu(TILEWRIGHT_RUNTIME(EventRecord)(copied_, copies_), "recording an event");
    detail::require_gpu(TILEWRIGHT_RUNTIME(StreamWaitEvent)(stream, copied_, 0), "waiting for an event");
  }
  /// Copies rows of `row_bytes` bytes between memory of this or other ranks, after fork() and before join(); leading
  /// dimensions in bytes.
  void copy(void* to, long_index_t to_ld, const void* from, long_index_t from_ld, long_index_t row_bytes,
            index_t rows) {
    detail::require_gpu(
        TILEWRIGHT_RUNTIME(Memcpy2DAsync)(to, std::size_t(to_ld), from, std::size_t(from_ld), std::size_t(row_bytes),
                                          std::size_t(rows), TILEWRIGHT_RUNTIME(MemcpyDeviceToDevice), copies_),
        "copying rows");
  }

  /// By NCCL, in the order of copies: sends bytes to one rank and receives as many from another one.
  void exchange(index_t to, const void* sent, index_t from, void* received, long_index_t bytes) {
    detail::require_nccl(ncclGroupStart(), "sending", nccl_);
    detail::require_nccl(ncclSend(sent, std::size_t(bytes), ncclChar, to, nccl_, copies_), "sending", nccl_);
    detail::require_nccl(ncclRecv(received, std::size_t(bytes), ncclChar, from, nccl_, copies_), "receiving", nccl_);
    detail::require_nccl(ncclGroupEnd(), "sending", nccl_);
  }
  /// The bytes of all ranks, in their order, in the order of the stream.
  void all_gather(const void* sent, void* received, long_index_t bytes, stream_type stream) {
    detail::require_nccl(ncclAllGather(sent, received, std::size_t(bytes), ncclChar, nccl_, stream), "gathering",
                         nccl_);
  }
  /// A launch of the kernel with its arguments checked and its tensor maps made; throws launch_error.
  template <class Kernel>
  launch_type<Kernel> prepare(const typename Kernel::args_type& args) const {
    return launch_type<Kernel>(std::in_place, args);
  }

 private:
  /// With NCCL_COMM_ID every process makes the same id, and rank 0 listens there.
  static ncclUniqueId id_of(const rank_environment& here) {
    (void)setenv("NCCL_COMM_ID", here.rendezvous.c_str(), 0);
    ncclUniqueId id;
    detail::require_nccl(ncclGetUniqueId(&id), "reading NCCL_COMM_ID", nullptr);
    return id;
  }
  [[noreturn]] void fail(const std::string& what) {
    if (nccl_) (void)ncclCommAbort(nccl_);
    nccl_ = nullptr;
    throw parallel_error("rank " + std::to_string(self_.rank) + ": " + what);
  }

  rank_of self_;
  index_t timeout_ms_;
  ncclComm_t nccl_ = nullptr;
  stream_type copies_ = nullptr;
  TILEWRIGHT_RUNTIME(Event_t) begun_ = nullptr, copied_ = nullptr;
  unsigned* status_ = nullptr;
  detail::peers peers_;
};

}  // namespace tilewright::parallel
