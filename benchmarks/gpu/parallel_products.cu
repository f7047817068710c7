// SPDX-License-Identifier: MIT
// The kernels of libtilewright_parallel for one type of operands: PARALLEL_MAKE, PARALLEL_ELEMENT, PARALLEL_RESULT.
#include "parallel_library.hpp"

#include <string>

namespace {

namespace tw = tilewright;

using product = tw::gemm_operation<tw::PARALLEL_ELEMENT, tw::operand_major::k, tw::operand_major::k,
                                   tw::PARALLEL_RESULT, tw::epilogue::from_args>;

template <class Gemm, class... Args>
parallel_call make(const parallel_request& r, tw::parallel::communicator& ranks, const Args&... args) {
  using tw::parallel::parallel_choice, tw::parallel::parallel_transport;
  const parallel_choice given{parallel_transport(r.transport), r.tile};
  const auto gemm =
      r.transport < 0 ? std::make_shared<Gemm>(ranks, args...) : std::make_shared<Gemm>(ranks, args..., given);
  return {[gemm](cudaStream_t stream) { (*gemm)(stream); }, gemm->choice()};
}

}  // namespace

parallel_call PARALLEL_MAKE(tw::parallel::communicator& ranks, const parallel_request& r, const tw::gemm_args& args,
                            const tw::parallel::peer_memory* c) {
  const std::string kind = r.kind;
  if (kind == "all_gather") return make<tw::parallel::all_gather_gemm<product>>(r, ranks, args);
  if (kind == "reduce_scatter") return make<tw::parallel::gemm_reduce_scatter<product>>(r, ranks, args);
  return make<tw::parallel::gemm_all_reduce<product>>(r, ranks, args, *c);
}
