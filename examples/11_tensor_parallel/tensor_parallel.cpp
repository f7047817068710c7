// SPDX-License-Identifier: MIT
// The layer pair on the CPU emulator, as two ranks of one program.
#include "layer_pair.hpp"

namespace tensor_parallel_example {

bool run(const sizes& s, index_t count) {
  tw::parallel::emulated_ranks ranks(count);
  std::vector<int> right(std::size_t(count), 0);
  ranks.group.run([&](int rank) {
    tw::parallel::communicator self(ranks, rank);
    const index_t rows = s.tokens / count, hidden = s.hidden / count;
    const std::vector<bfloat16_t> x = part_of(x_matrix, rank * rows, rows, 0, s.features),
                                  w1 = part_of(w1_matrix, rank * hidden, hidden, 0, s.features),
                                  w2 = part_of(w2_matrix, 0, s.features, rank * hidden, hidden);
    std::vector<bfloat16_t> h(std::size_t(s.tokens) * std::size_t(hidden)), y(x.size());
    // The smallest tile, the third of parallel_tiles: the CPU has little data to multiply.
    const tw::parallel::parallel_choice choice{.tile = 2};
    const tw::parallel::all_gather_gemm<product> up(self, up_args(s, count, x.data(), w1.data(), h.data()), choice);
    const tw::parallel::gemm_reduce_scatter<product> down(self, down_args(s, count, h.data(), w2.data(), y.data()),
                                                          choice);
    up();
    down();
    self.finish();
    right[std::size_t(rank)] = is_right(s, rank * rows, y);
  });
  return std::count(right.begin(), right.end(), 1) == count;
}

}  // namespace tensor_parallel_example

int main() {
  using namespace tensor_parallel_example;
  constexpr sizes s{.tokens = 64, .features = 128, .hidden = 256};
  std::printf("2 ranks on the CPU emulator: the rows travel by fused kernels\n");
  const bool right = run(s, 2);
  std::printf("layer pair of %d tokens, %d and %d features: %s\n", s.tokens, s.features, s.hidden,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
}
