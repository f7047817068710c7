// SPDX-License-Identifier: MIT
// The kernels of libtilewright_parallel for one type of operands: PARALLEL_MAKE, PARALLEL_ELEMENT, PARALLEL_RESULT.
#include "parallel_library.hpp"

namespace {

namespace tw = tilewright;
using tw::index_t;

template <index_t I>
using policy = tw::gemm_specialized<tw::PARALLEL_ELEMENT, tw::operand_major::k, tw::operand_major::k,
                                    tw::specialized_tiles[I], tw::PARALLEL_RESULT, tw::epilogue::from_args>;

template <class Call, class... Args>
parallel_call make(Args&&... args) {
  return [call = std::make_shared<Call>(std::forward<Args>(args)...)](cudaStream_t stream) { (*call)(stream); };
}

template <index_t... Tiles>
parallel_call make_of(tw::parallel::communicator& ranks, const parallel_request& r, const tw::gemm_args& args,
                      const tw::parallel::peer_memory* c) {
  using tw::parallel::communicator;
  namespace p = tw::parallel;
  parallel_call result;
  const bool gathers = r.kind[4] == 'g';
  const auto with = [&]<index_t I>() {
    if (r.tile != I) return;
    if (gathers) {
      result = make<p::detail::fused_all_gather<p::all_gather_kernel<policy<I>>, communicator>>(ranks, args, r.pieces);
    } else {
      result = make<p::detail::fused_reduce_scatter<p::reduce_scatter_kernel<policy<I>>, communicator>>(ranks, args, c);
    }
  };
  (with.template operator()<Tiles>(), ...);
  if (!result) throw p::parallel_error("there is no kernel of this tile");
  return result;
}

}  // namespace

parallel_call PARALLEL_MAKE(tw::parallel::communicator& ranks, const parallel_request& r, const tw::gemm_args& args,
                            const tw::parallel::peer_memory* c) {
  return make_of<0, 2, 3, 5>(ranks, r, args, c);
}
