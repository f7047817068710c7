// SPDX-License-Identifier: MIT
// Calls of the kernels that work with other GPUs: buffers, flags and copies of one call after another.
#pragma once

#include <tilewright/parallel/await_results.hpp>
#include <tilewright/parallel/reduce_scatter_kernel.hpp>

namespace tilewright::parallel::detail {

/// Rank is a communicator, or its like on the CPU machine.
///
/// Buffers that other ranks write are used in turns, two of each. A rank writes to another one's buffer in call i + 2
/// only after it has received everything of call i + 1 from it, which was sent after call i had ended there: so no
/// buffer is overwritten that is still read. Flags only grow.
template <class Kernel, class Rank>
class fused_all_gather {
  using T = typename Kernel::policy::element_type;
  static constexpr unsigned values_of_call = 256;

 public:
  /// args as for all_gather_gemm. Collective.
  fused_all_gather(Rank& rank, const gemm_args& args, index_t pieces)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        pieces_(pieces),
        ld_(detail::round_up(args.k, index_t(128 / sizeof(T)))),
        gathered_(rank.allocate(2 * buffer_bytes())),
        arrived_(rank.allocate(long_index_t(rank.self().ranks) * copy_lanes * 4)) {
    for (index_t parity = 0; parity < 2; ++parity) {
      all_gather_args a;
      static_cast<gemm_args&>(a) = args;
      a.self = rank.self();
      a.gathered = buffer(rank.self().rank, parity);
      a.ld_gathered = ld_;
      a.pieces = pieces;
      a.arrived = static_cast<const unsigned*>(arrived_.of(rank.self().rank));
      a.wait = rank.wait();
      launch_[parity] = rank.template prepare<Kernel>(a);
    }
  }

  void operator()(typename Rank::stream_type stream) {
    const index_t parity = index_t(++call_ & 1);
    const index_t lanes = min(pieces_, copy_lanes);
    rank_.fork(stream, lanes);
    for (index_t step = 1; step < rank_.self().ranks; ++step) send(rank_.self().before(step), parity);
    launch_[parity]->prepared().args.before_first = call_ * values_of_call;
    (*launch_[parity])(stream);
    rank_.join(stream, lanes);
  }

 private:
  long_index_t buffer_bytes() const { return long_index_t(args_.m) * ld_ * index_t(sizeof(T)); }
  char* buffer(index_t rank, index_t parity) const {
    return static_cast<char*>(gathered_.of(rank)) + parity * buffer_bytes();
  }
  /// Own rows, piece after piece, each followed by its flag.
  void send(index_t to, index_t parity) {
    const index_t self = rank_.self().rank, of_piece = rows_of_piece(rows_, pieces_);
    const long_index_t from_ld = long_index_t(args_.lda) * index_t(sizeof(T)),
                       to_ld = long_index_t(ld_) * index_t(sizeof(T));
    unsigned* const flags = static_cast<unsigned*>(arrived_.of(to)) + self * copy_lanes;
    index_t piece = 0;
    for (index_t row = 0; row < rows_; row += of_piece, ++piece) {
      const index_t lane = modulo(piece, copy_lanes);
      rank_.copy(buffer(to, parity) + (long_index_t(self) * rows_ + row) * to_ld, to_ld,
                 static_cast<const char*>(args_.a) + row * from_ld, from_ld, long_index_t(args_.k) * index_t(sizeof(T)),
                 min(of_piece, rows_ - row), lane);
      rank_.write_flag(flags + lane, call_ * values_of_call + unsigned(divide(piece, copy_lanes)) + 1, lane);
    }
  }

  Rank& rank_;
  gemm_args args_;
  index_t rows_, pieces_, ld_;
  typename Rank::memory_type gathered_, arrived_;
  unsigned call_ = 0;
  typename Rank::template launch_type<Kernel> launch_[2];
};

/// The same for reduce_scatter_kernel. For an all-reduce `c` is the memory of all ranks' C, m x n.
template <class Kernel, class Rank>
class fused_reduce_scatter {
  using R = typename Kernel::policy::result_type;

 public:
  /// args as for gemm_reduce_scatter. Collective.
  fused_reduce_scatter(Rank& rank, const gemm_args& args, const typename Rank::memory_type* c = nullptr)
      : rank_(rank),
        args_(args),
        rows_(args.m / rank.self().ranks),
        num_flags_(max_tile_flags(rows_, args.n)),
        sums_(rank.allocate(2 * rank.self().ranks * chunk_bytes())),
        flags_(rank.allocate(2 * rank.self().ranks * num_flags_ * 4)) {
    const rank_of self = rank.self();
    for (index_t parity = 0; parity < 2; ++parity) {
      reduce_scatter_args a;
      static_cast<gemm_args&>(a) = args;
      a.self = self;
      for (index_t r = 0; r < self.ranks; ++r) {
        a.sums_of[r] = chunk(r, parity, self.rank);
        a.flags_of[r] = flag(r, self.rank);
        if (!c) continue;
        const long_index_t own = long_index_t(self.rank) * rows_ * args.ldc * index_t(sizeof(R));
        a.c_of[r] = static_cast<char*>(c->of(r)) + own;
        a.c_flags_of[r] = flag(r, self.ranks + self.rank);
        a.c = a.c_of[self.rank];
      }
      a.received = chunk(self.rank, parity, 0);
      a.received_stride = chunk_bytes();
      a.arrived = flag(self.rank, 0);
      a.num_flags = num_flags_;
      a.wait = rank.wait();
      launch_[parity] = rank.template prepare<Kernel>(a);
      if (c) {
        await_results_args w{
            .self = self, .flags = flag(self.rank, self.ranks), .flags_of_rank = num_flags_, .wait = a.wait};
        w.tile_rows = ceil_div(rows_, Kernel::block::tile.m);
        w.tile_cols = ceil_div(args.n, Kernel::block::tile.n);
        w.tile_stride = launch_[parity]->prepared().tile_cols;
        await_[parity] = rank.template prepare<await_results>(w);
      }
    }
  }

  void operator()(typename Rank::stream_type stream) {
    const index_t parity = index_t(++call_ & 1);
    launch_[parity]->prepared().args.epoch = call_;
    (*launch_[parity])(stream);
    if (!await_[parity]) return;
    await_[parity]->prepared().epoch = call_;
    (*await_[parity])(stream);
  }

 private:
  long_index_t chunk_bytes() const { return long_index_t(rows_) * args_.n * index_t(sizeof(R)); }
  /// In the memory of `rank`: what comes from `source`.
  char* chunk(index_t rank, index_t parity, index_t source) const {
    return static_cast<char*>(sums_.of(rank)) + (parity * rank_.self().ranks + source) * chunk_bytes();
  }
  unsigned* flag(index_t rank, index_t source) const {
    return static_cast<unsigned*>(flags_.of(rank)) + source * num_flags_;
  }

  Rank& rank_;
  gemm_args args_;
  index_t rows_;
  long_index_t num_flags_;
  typename Rank::memory_type sums_, flags_;
  unsigned call_ = 0;
  typename Rank::template launch_type<Kernel> launch_[2];
  typename Rank::template launch_type<await_results> await_[2];
};

}  // namespace tilewright::parallel::detail
