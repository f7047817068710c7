// SPDX-License-Identifier: MIT
// Ranks on the CPU emulator: memory, copies and flags as a communicator has them, made as late as they may be.
#pragma once

#include <tilewright/kernels/parallel/rank_args.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/machine/emulator/rank_group.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tilewright::parallel {

/// Memory of all ranks.
struct emulated_memory {
  std::vector<char*> pointers;  ///< of each rank's memory
  /// The memory of a rank, in this process.
  void* of(index_t rank) const { return pointers[std::size_t(rank)]; }
};

/// Ranks of one program. Call run() once.
struct emulated_ranks {
  index_t count;               ///< ranks that run in threads of this process
  index_t blocks = 2;          ///< clusters that run at the same time on each rank
  emulator::rank_group group;  ///< their launches
  std::mutex mutex = {};       ///< guards `allocations`
  std::vector<std::vector<std::unique_ptr<char[]>>> allocations = {};  ///< by rank: what it has allocated
  std::map<std::pair<index_t, index_t>, const void*> messages = {};    ///< by sender and receiver: what is being sent

  /// `seed`: of the order in which threads run; 0: by number.
  explicit emulated_ranks(index_t ranks, std::uint64_t seed = 1) : count(ranks), group(ranks, seed) {}
};

/// A communicator's like: one thread's view of emulated_ranks.
class emulated_rank {
 public:
  using stream_type = int;
  using memory_type = emulated_memory;

  /// A kernel with its arguments, which may change from call to call.
  template <class Kernel>
  class launch_of {
    using prepared_type = tilewright::detail::launched_args_t<Kernel>;

   public:
    /// Prepares a launch of one rank, with its arguments checked.
    launch_of(emulated_ranks& ranks, const typename Kernel::args_type& args)
        : group_(&ranks.group), options_{.workers = int(ranks.blocks), .resident_clusters = ranks.blocks} {
      if (const char* why = Kernel::check(args)) throw launch_error(why);
      args_ = tilewright::detail::prepare_on_cpu<Kernel>(args, options_);
    }
    /// The arguments as the device gets them.
    prepared_type& prepared() { return args_; }
    /// Runs the kernel on the CPU emulator; returns when it has ended.
    void operator()(stream_type) const { tilewright::detail::launch_prepared<Kernel>(args_, options_, group_); }

   private:
    emulator::rank_group* group_;
    launch_options options_;
    prepared_type args_;
  };
  template <class Kernel>
  using launch_type = std::optional<launch_of<Kernel>>;

  /// `rank`: from 0 to ranks.count - 1; each runs in a thread of its own.
  emulated_rank(emulated_ranks& ranks, index_t rank) : ranks_(ranks), self_{rank, ranks.count} {}

  /// This rank, and how many there are.
  rank_of self() const { return self_; }
  /// Whether kernels may access the memory of other ranks.
  bool has_peers() const { return self_.ranks <= max_peers; }
  /// What kernels need to wait for peers; without a time limit.
  peer_wait wait() { return {&status_, 0}; }
  /// Throws launch_error where another rank has been missing.
  void finish(stream_type = 0) const {
    if (status_ != 0) throw launch_error("a rank did not send its part");
  }

  /// Cleared memory on every rank. Collective: all ranks allocate in the same order.
  emulated_memory allocate(long_index_t bytes) {
    const std::lock_guard lock(ranks_.mutex);
    if (allocated_ == ranks_.allocations.size()) {
      ranks_.allocations.emplace_back();
      for (index_t r = 0; r < self_.ranks; ++r) {
        // A map's memory starts at a multiple of 16 bytes, as what new returns.
        ranks_.allocations.back().push_back(std::make_unique<char[]>(std::size_t(bytes)));
      }
    }
    emulated_memory result;
    for (const auto& m : ranks_.allocations[allocated_]) result.pointers.push_back(m.get());
    ++allocated_;
    return result;
  }

  /// Copies start in order: nothing to do.
  void fork(stream_type) {}
  /// Waits for the copies of this rank; the status becomes 1 if they cannot end.
  void join(stream_type) {
    if (!ranks_.group.finish_copies(self_.rank)) status_ = 1;
  }
  /// What lies at `to` is undefined from now on.
  void copy(void* to, long_index_t to_ld, const void* from, long_index_t from_ld, long_index_t row_bytes,
            index_t rows) {
    const auto for_each_row = [=](auto f) {
      for (index_t row = 0; row < rows; ++row)
        f(static_cast<char*>(to) + row * to_ld, static_cast<const char*>(from) + row * from_ld);
    };
    for_each_row([&](char* there, const char*) { std::memset(there, 0xff, std::size_t(row_bytes)); });
    ranks_.group.copy_later(self_.rank, [=] {
      for_each_row([&](char* there, const char* here) { std::memcpy(there, here, std::size_t(row_bytes)); });
      return true;
    });
  }
  /// Sends `bytes` to rank `to` and receives as many from rank `from`; what is received is poisoned until then.
  void exchange(index_t to, const void* sent, index_t from, void* received, long_index_t bytes) {
    std::memset(received, 0xff, std::size_t(bytes));
    ranks_.group.copy_later(self_.rank, [=, this] {
      message_to(to) = sent;
      return true;
    });
    ranks_.group.copy_later(self_.rank, [=, this] {
      const void*& message = ranks_.messages[{from, self_.rank}];
      if (!message) return false;
      std::memcpy(received, std::exchange(message, nullptr), std::size_t(bytes));
      return true;
    });
    ranks_.group.copy_later(self_.rank, [=, this] { return message_to(to) == nullptr; });
  }
  /// Gathers `bytes` of each rank, in order of ranks.
  void all_gather(const void* sent, void* received, long_index_t bytes, stream_type stream) {
    char* const own = static_cast<char*>(received) + self_.rank * bytes;
    if (own != sent) copy(own, bytes, sent, bytes, bytes, 1);
    for (index_t step = 1; step < self_.ranks; ++step) {
      const index_t from = self_.after(step);
      exchange(self_.before(step), sent, from, static_cast<char*>(received) + from * bytes, bytes);
    }
    join(stream);
  }
  /// A launch of the kernel with its arguments checked; throws launch_error.
  template <class Kernel>
  launch_type<Kernel> prepare(const typename Kernel::args_type& args) const {
    return launch_type<Kernel>(std::in_place, ranks_, args);
  }

 private:
  const void*& message_to(index_t to) { return ranks_.messages[{self_.rank, to}]; }

  emulated_ranks& ranks_;
  rank_of self_;
  unsigned status_ = 0;
  std::size_t allocated_ = 0;
};

}  // namespace tilewright::parallel
