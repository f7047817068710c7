// SPDX-License-Identifier: MIT
// Products of ranks whose rows travel by NCCL or RCCL: for several hosts, or where the collective is faster.
#pragma once

#include <tilewright/parallel/rank_args.hpp>
#include <tilewright/util/math.hpp>

#include <vector>

namespace tilewright::parallel {

/// A's rows come by NCCL; then all of them are multiplied. Kernel: gemm_kernel or all_gather_kernel.
template <class Kernel, class Rank>
class collective_all_gather {
  using T = typename Kernel::policy::element_type;

 public:
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

/// Sums of each rank's rows travel by NCCL while the next rank's are computed; own rows come last.
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
