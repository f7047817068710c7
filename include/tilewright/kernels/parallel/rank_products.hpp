// SPDX-License-Identifier: MIT
// Products of ranks, call after call: by kernels that work with other GPUs, with their buffers and flags, or with rows
// that NCCL or RCCL sends, for several hosts or where the collective is faster.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/parallel/rank_args.hpp>

#include <vector>

namespace tilewright::parallel::detail {

/// Rank is a communicator, or its like on the CPU emulator.
///
/// Buffers that other ranks write are double-buffered. A rank writes to another one's buffer in call i + 2
/// only after it has received everything of call i + 1 from it, which was sent after call i had ended there: so no
/// buffer is overwritten that is still read. Flags only grow.
template <class Kernel, class Rank>
class fused_product {
 public:
  void operator()(typename Rank::stream_type stream) {
    auto& launch = *launch_[++call_ & 1];
    launch.prepared().args.epoch = call_;
    launch(stream);
  }

 protected:
  unsigned call_ = 0;
  typename Rank::template launch_type<Kernel> launch_[2];
};

template <class Kernel, class Rank>
class fused_all_gather : public fused_product<Kernel, Rank> {
  static constexpr index_t element_bytes = sizeof(typename Kernel::policy::element_type);

 public:
  /// args as for all_gather_gemm. Collective.
  fused_all_gather(Rank& rank, const gemm_args& args)
      : gathered_(rank.allocate(2 * args.m * row_bytes(args))),
        arrived_(rank.allocate(rank.self().ranks * groups(rank.self(), args) * 4)) {
    for (index_t parity = 0; parity < 2; ++parity) {
      all_gather_args a;
      static_cast<gemm_args&>(a) = args;
      a.self = rank.self();
      a.ld_gathered = index_t(row_bytes(args) / element_bytes);
      for (index_t r = 0; r < a.self.ranks; ++r) {
        a.gathered_of[r] = static_cast<char*>(gathered_.of(r)) + parity * args.m * row_bytes(args);
        a.arrived_of[r] = static_cast<unsigned*>(arrived_.of(r));
      }
      a.gathered = a.gathered_of[a.self.rank];
      a.arrived = a.arrived_of[a.self.rank];
      a.wait = rank.wait();
      this->launch_[parity] = rank.template prepare<Kernel>(a);
    }
  }

 private:
  static long_index_t row_bytes(const gemm_args& args) { return round_up(args.k * element_bytes, 128); }
  static long_index_t groups(rank_of self, const gemm_args& args) { return gather_groups(divide(args.m, self.ranks)); }

  typename Rank::memory_type gathered_, arrived_;
};

/// The same for reduce_scatter_kernel. For an all-reduce `c` is the memory of all ranks' C, m x n.
template <class Kernel, class Rank>
class fused_reduce_scatter : public fused_product<Kernel, Rank> {
  using R = typename Kernel::policy::result_type;

 public:
  /// args as for gemm_reduce_scatter. Collective.
  fused_reduce_scatter(Rank& rank, const gemm_args& args, const typename Rank::memory_type* c = nullptr)
      : rows_(divide(args.m, rank.self().ranks)),
        num_flags_(max_tile_flags(rows_, args.n)),
        chunk_bytes_(long_index_t(rows_) * args.n * index_t(sizeof(R))),
        sums_(rank.allocate(3 * rank.self().ranks * chunk_bytes_)),
        flags_(rank.allocate(3 * rank.self().ranks * num_flags_ * 4)) {
    const rank_of self = rank.self();
    for (index_t parity = 0; parity < 2; ++parity) {
      reduce_scatter_args a;
      static_cast<gemm_args&>(a) = args;
      a.self = self;
      for (index_t r = 0; r < self.ranks; ++r) {
        a.sums_of[r] = chunk(r, parity * self.ranks + self.rank);
        a.flags_of[r] = flag(r, self.rank);
        if (!c) continue;
        const long_index_t own = long_index_t(self.rank) * rows_ * args.ldc * index_t(sizeof(R));
        a.c_of[r] = static_cast<char*>(c->of(r)) + own;
        a.c_flags_of[r] = flag(r, self.ranks + self.rank);
        a.c = a.c_of[self.rank];
      }
      a.sums = chunk(self.rank, 2 * self.ranks);
      a.received = chunk(self.rank, parity * self.ranks);
      a.chunk_bytes = chunk_bytes_;
      a.arrived = flag(self.rank, 0);
      a.finished = flag(self.rank, 2 * self.ranks);
      a.num_flags = num_flags_;
      a.wait = rank.wait();
      this->launch_[parity] = rank.template prepare<Kernel>(a);
    }
  }

 private:
  /// In the memory of `rank`, for each parity: what comes from each rank; then what this rank has for each.
  char* chunk(index_t rank, index_t number) const { return static_cast<char*>(sums_.of(rank)) + number * chunk_bytes_; }
  /// Flags of tiles in the memory of `rank`: of sums from each rank, of results from each rank, of what it has
  /// finished.
  unsigned* flag(index_t rank, index_t number) const {
    return static_cast<unsigned*>(flags_.of(rank)) + number * num_flags_;
  }

  index_t rows_;
  long_index_t num_flags_, chunk_bytes_;
  typename Rank::memory_type sums_, flags_;
};

}  // namespace tilewright::parallel::detail

namespace tilewright::parallel {

/// A's rows come by NCCL; then all of them are multiplied. Kernel: gemm_kernel or all_gather_kernel.
template <class Kernel, class Rank>
class collective_all_gather {
  using T = typename Kernel::policy::element_type;

 public:
  /// args: as of all_gather_gemm; allocates memory for A of all ranks.
  collective_all_gather(Rank& rank, const gemm_args& args)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        ld_(detail::round_up(args.k, index_t(16 / sizeof(T)))),
        gathered_(rank.allocate(rank.self().ranks * chunk_bytes())) {
    typename Kernel::args_type a;
    static_cast<gemm_args&>(a) = args;
    a.a = chunk(0);
    a.lda = ld_;
    if constexpr (requires { a.gathered; }) {  // one rank, whose rows are all there
      a.gathered = a.a;
      a.ld_gathered = ld_;
      a.wait = rank.wait();
    }
    launch_ = rank.template prepare<Kernel>(a);
  }

  /// Queues the gathering and the GEMM on a stream.
  void operator()(typename Rank::stream_type stream) {
    const void* own = args_.a;
    if (args_.lda != ld_) {
      const long_index_t size = sizeof(T);
      void* const packed = chunk(rank_.self().rank);
      rank_.fork(stream);
      rank_.copy(packed, ld_ * size, args_.a, args_.lda * size, args_.k * size, rows_);
      rank_.join(stream);
      own = packed;
    }
    rank_.all_gather(own, chunk(0), chunk_bytes(), stream);
    (*launch_)(stream);
  }

 private:
  long_index_t chunk_bytes() const { return long_index_t(rows_) * ld_ * index_t(sizeof(T)); }
  char* chunk(index_t of) const { return static_cast<char*>(gathered_.of(rank_.self().rank)) + of * chunk_bytes(); }

  Rank& rank_;
  gemm_args args_;
  index_t rows_, ld_;
  typename Rank::memory_type gathered_;
  typename Rank::template launch_type<Kernel> launch_;
};

/// Sums of each rank's rows are sent by NCCL while the next rank's are computed; own rows come last.
template <class Kernel, class Rank>
class collective_reduce_scatter {
  using R = typename Kernel::policy::result_type;

 public:
  /// For an all-reduce `c` is the memory of all ranks' C, m x n with ldc = n.
  collective_reduce_scatter(Rank& rank, const gemm_args& args, const typename Rank::memory_type* c = nullptr)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        all_c_(c ? static_cast<char*>(c->of(rank.self().rank)) : nullptr),
        sums_(rank.allocate(rank.self().ranks * chunk_bytes())),
        received_(rank.allocate(rank.self().ranks * chunk_bytes())) {
    const rank_of self = rank.self();
    reduce_scatter_args a;
    static_cast<gemm_args&>(a) = args;
    a.self = self;
    a.received = received_.of(self.rank);
    a.sums = sums_.of(self.rank);
    a.chunk_bytes = chunk_bytes();
    a.wait = rank.wait();
    if (c) a.c = all_c_ + self.rank * chunk_bytes();
    for (index_t step = 0; step < self.ranks; ++step) {
      a.steps = {step, 1};
      launches_.push_back(rank.template prepare<Kernel>(a));
    }
  }

  /// Queues the GEMM and the sums on a stream.
  void operator()(typename Rank::stream_type stream) {
    const rank_of self = rank_.self();
    for (index_t step = 1; step < self.ranks; ++step) {
      const index_t to = self.after(step), from = self.before(step);
      (*launches_[std::size_t(step - 1)])(stream);
      rank_.fork(stream);
      rank_.exchange(to, chunk(sums_, to), from, chunk(received_, from), chunk_bytes());
    }
    rank_.join(stream);
    launches_.back().value()(stream);
    if (!all_c_) return;
    rank_.all_gather(all_c_ + self.rank * chunk_bytes(), all_c_, chunk_bytes(), stream);
  }

 private:
  long_index_t chunk_bytes() const { return long_index_t(rows_) * args_.n * index_t(sizeof(R)); }
  void* chunk(const typename Rank::memory_type& memory, index_t of) const {
    return static_cast<char*>(memory.of(rank_.self().rank)) + of * chunk_bytes();
  }

  Rank& rank_;
  gemm_args args_;
  index_t rows_;
  char* all_c_;
  typename Rank::memory_type sums_, received_;
  std::vector<typename Rank::template launch_type<Kernel>> launches_;
};

}  // namespace tilewright::parallel
