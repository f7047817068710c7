// SPDX-License-Identifier: MIT
// The layer pair on NVIDIA GPUs: one process for all GPUs of this host, or one for each, started by torchrun, mpirun or
// srun. Compile with: nvcc -std=c++20 -arch=sm_90a -I include tensor_parallel.cu -lnccl
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/launch/launch.hpp>

#if __has_include(<nccl.h>)
#include "layer_pair.hpp"

#include <thread>

namespace tensor_parallel_example {

namespace parallel = tw::parallel;

struct device_matrix {
  bfloat16_t* data = nullptr;
  std::size_t count;

  explicit device_matrix(std::size_t n) : count(n) {
    parallel::detail::require_gpu(cudaMalloc(reinterpret_cast<void**>(&data), n * sizeof(bfloat16_t)), "allocating");
  }
  explicit device_matrix(const std::vector<bfloat16_t>& host) : device_matrix(host.size()) {
    parallel::detail::require_gpu(cudaMemcpy(data, host.data(), count * sizeof(bfloat16_t), cudaMemcpyHostToDevice),
                                  "copying");
  }
  device_matrix(const device_matrix&) = delete;
  ~device_matrix() { (void)cudaFree(data); }
  std::vector<bfloat16_t> host() const {
    std::vector<bfloat16_t> result(count);
    parallel::detail::require_gpu(cudaMemcpy(result.data(), data, count * sizeof(bfloat16_t), cudaMemcpyDeviceToHost),
                                  "copying");
    return result;
  }
};

/// Calls run(args of the first product, args of the second) for the part of a rank, and checks its rows of Y.
template <class Run>
bool check_part(const sizes& s, parallel::rank_of self, Run run) {
  const index_t rows = s.tokens / self.ranks, hidden = s.hidden / self.ranks;
  const device_matrix x(part_of(x_matrix, self.rank * rows, rows, 0, s.features)),
      w1(part_of(w1_matrix, self.rank * hidden, hidden, 0, s.features)),
      w2(part_of(w2_matrix, 0, s.features, self.rank * hidden, hidden)), h(std::size_t(s.tokens) * std::size_t(hidden)),
      y(x.count);
  run(up_args(s, self.ranks, x.data, w1.data, h.data), down_args(s, self.ranks, h.data, w2.data, y.data));
  return is_right(s, self.rank * rows, y.host());
}

/// One rank of several.
bool run_rank(const sizes& s, parallel::communicator& ranks) {
  const parallel::rank_of self = ranks.self();
  if (self.rank == 0)
    std::printf("%d ranks; %s\n", self.ranks,
                ranks.has_peers() ? "they write to each other's memory"
                                  : "not all of them can write to each other's memory: NCCL carries rows and sums");
  return check_part(s, self, [&](const tw::gemm_args& first, const tw::gemm_args& second) {
    const parallel::all_gather_gemm<product> up(ranks, first);
    const parallel::gemm_reduce_scatter<product> down(ranks, second);
    for (int repeat = 0; repeat < 10; ++repeat) {
      up();
      down();
    }
    ranks.finish(nullptr);
  });
}

bool run_one_gpu(const sizes& s) {
  std::printf("one GPU: the pair runs as two plain products\n");
  using policy = tw::gemm_hopper<bfloat16_t, tw::operand_major::k, tw::operand_major::k, tw::hopper_gemm_tiles[0],
                                 bfloat16_t, tw::epilogue::from_args>;
  return check_part(s, {0, 1}, [](const tw::gemm_args& up, const tw::gemm_args& down) {
    tw::launch<tw::gemm_kernel<policy>>(up);
    tw::launch<tw::gemm_kernel<policy>>(down);
  });
}

/// One process: a thread for each GPU.
bool run_threads(const sizes& s, index_t gpus) {
  ncclUniqueId id;
  parallel::detail::require_nccl(ncclGetUniqueId(&id), "asking NCCL for an id", nullptr);
  std::vector<int> right(std::size_t(gpus), 0);
  std::vector<std::thread> threads;
  for (index_t rank = 0; rank < gpus; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        (void)cudaSetDevice(rank);
        parallel::communicator ranks(id, {rank, gpus});
        right[std::size_t(rank)] = run_rank(s, ranks);
      } catch (const std::exception& e) {
        std::printf("rank %d: %s\n", rank, e.what());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return std::count(right.begin(), right.end(), 1) == gpus;
}

}  // namespace tensor_parallel_example

int main() try {
  using namespace tensor_parallel_example;
  constexpr sizes s{.tokens = 4096, .features = 1024, .hidden = 4096};
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("there is no GPU here\n");
    return 1;
  }
  const auto here = parallel::read_rank_environment();
  bool right = false;
  if (here && here->self.ranks > 1) {
    (void)cudaSetDevice(here->local_rank % gpus);
    parallel::communicator ranks(*here);
    right = run_rank(s, ranks);
  } else {
    right = gpus == 1 ? run_one_gpu(s) : run_threads(s, gpus);
  }
  std::printf("layer pair of %d tokens, %d and %d features: %s\n", s.tokens, s.features, s.hidden,
              right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 1;
}

#else

#include <cstdio>

int main() {
  std::printf(
      "this program was compiled without NCCL: nccl.h was not found; install NCCL, or give its folder with -I\n");
  return 1;
}

#endif
