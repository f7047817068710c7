// SPDX-License-Identifier: MIT
// Products of ranks whose rows travel by NCCL or RCCL: for several hosts, or where the collective is faster.
#pragma once

#include <tilewright/parallel/rank_args.hpp>
#include <tilewright/util/math.hpp>

#include <vector>

namespace tilewright::parallel {

/// A's rows by NCCL, then or meanwhile the product. With `overlaps` the rows of one rank after another come, and are
/// multiplied while the next ones come; else all of them come first.
template <class Kernel, class Rank>
class collective_all_gather {
  using T = typename Kernel::policy::element_type;

 public:
  collective_all_gather(Rank& rank, const gemm_args& args, bool overlaps)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        ld_(detail::round_up(args.k, index_t(16 / sizeof(T)))),
        overlaps_(overlaps),
        gathered_(rank.allocate(long_index_t(args.m) * ld_ * index_t(sizeof(T)))),
        packed_(rank.allocate(chunk_bytes())) {
    const index_t ranks = rank.self().ranks;
    all_gather_args a;
    static_cast<gemm_args&>(a) = args;
    a.self = rank.self();
    a.gathered = chunk(0);
    a.ld_gathered = ld_;
    if (!overlaps) {  // one matrix
      a.self = {};
      a.a = a.gathered;
      a.lda = ld_;
    }
    a.wait = rank.wait();
    for (index_t step = 0; step < (overlaps ? ranks : 1); ++step) {
      a.steps = overlaps ? rank_steps{step, 1} : rank_steps{};
      launches_.push_back(rank.template prepare<Kernel>(a));
    }
  }

  void operator()(typename Rank::stream_type stream) {
    const rank_of self = rank_.self();
    const void* own = args_.a;
    const bool packs = args_.lda != ld_;
    if (packs || overlaps_) rank_.fork(stream);
    if (packs) {
      own = packed_.of(self.rank);
      const long_index_t size = sizeof(T);
      rank_.copy(packed_.of(self.rank), ld_ * size, args_.a, args_.lda * size, args_.k * size, rows_);
    }
    if (!overlaps_) {
      if (packs) rank_.join(stream);
      rank_.all_gather(own, chunk(0), chunk_bytes(), stream);
      return (*launches_[0])(stream);
    }
    std::vector<typename Rank::mark_type> arrived;
    for (index_t step = 1; step < self.ranks; ++step) {
      rank_.exchange(self.before(step), own, self.after(step), chunk(self.after(step)), chunk_bytes());
      arrived.push_back(rank_.mark(step));
    }
    (*launches_[0])(stream);
    for (index_t step = 1; step < self.ranks; ++step) {
      rank_.wait_for(arrived[std::size_t(step - 1)], stream);
      (*launches_[std::size_t(step)])(stream);
    }
    rank_.join(stream);
  }

 private:
  long_index_t chunk_bytes() const { return long_index_t(rows_) * ld_ * index_t(sizeof(T)); }
  char* chunk(index_t of) const { return static_cast<char*>(gathered_.of(rank_.self().rank)) + of * chunk_bytes(); }

  Rank& rank_;
  gemm_args args_;
  index_t rows_, ld_;
  bool overlaps_;
  typename Rank::memory_type gathered_, packed_;
  std::vector<typename Rank::template launch_type<Kernel>> launches_;
};

/// Sums of each rank's rows travel by NCCL while the next rank's are computed; own rows come last.
template <class Kernel, class Rank>
class collective_reduce_scatter {
  using R = typename Kernel::policy::result_type;

 public:
  /// `all_c`: of an all-reduce, where all ranks' rows of C come, m x n with ldc = n.
  collective_reduce_scatter(Rank& rank, const gemm_args& args, void* all_c = nullptr)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        all_c_(all_c),
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
    if (all_c) a.c = static_cast<char*>(all_c) + self.rank * chunk_bytes();
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
    rank_.all_gather(static_cast<char*>(all_c_) + self.rank * chunk_bytes(), all_c_, chunk_bytes(), stream);
  }

 private:
  long_index_t chunk_bytes() const { return long_index_t(rows_) * args_.n * index_t(sizeof(R)); }
  void* chunk(const typename Rank::memory_type& memory, index_t of) const {
    return static_cast<char*>(memory.of(rank_.self().rank)) + of * chunk_bytes();
  }

  Rank& rank_;
  gemm_args args_;
  index_t rows_;
  void* all_c_;
  typename Rank::memory_type sums_, received_;
  std::vector<typename Rank::template launch_type<Kernel>> launches_;
};

}  // namespace tilewright::parallel
