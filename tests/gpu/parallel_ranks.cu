// SPDX-License-Identifier: MIT
// Ranks that share GPUs: every element of the results of parallel/'s kernels for fixed and for drawn sizes, and the
// error of a missing rank.
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/parallel/all_gather_kernel.hpp>
#include <tilewright/kernels/parallel/parallel_choice.hpp>
#include <tilewright/kernels/parallel/peer_memory.hpp>
#include <tilewright/kernels/parallel/rank_products.hpp>
#include <tilewright/kernels/parallel/reduce_scatter_kernel.hpp>
#include <tilewright/launch/launch.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace {

namespace tw = tilewright;
namespace p = tw::parallel;
using p::detail::require_gpu;
using tw::index_t, tw::long_index_t, tw::bfloat16_t;

int num_gpus = 1;
void use_gpu_of(index_t rank) { require_gpu(cudaSetDevice(rank % num_gpus), "choosing a GPU"); }
void wait_for_gpus(const char* doing) {
  for (index_t r = num_gpus; r-- > 0;) use_gpu_of(r), require_gpu(cudaDeviceSynchronize(), doing);
}

/// Kernel for at most max_clusters clusters, so that the kernels of all ranks run at the same time.
index_t max_clusters = 1;
template <class Kernel>
struct on_part_of_gpu : Kernel {
  static auto prepare(const typename Kernel::args_type& args, tw::launch_facts facts) {
    facts.resident_clusters = std::min(facts.resident_clusters, max_clusters);
    return Kernel::prepare(args, facts);
  }
};

/// Cleared memory on the GPU of a rank.
std::shared_ptr<void> allocate_for(index_t rank, long_index_t bytes) {
  void* pointer = nullptr;
  use_gpu_of(rank);
  require_gpu(cudaMalloc(&pointer, std::size_t(bytes)), "allocating");
  require_gpu(cudaMemset(pointer, 0, std::size_t(bytes)), "clearing");
  return {pointer, cudaFree};
}

/// Memory of every rank.
struct memory {
  std::vector<std::shared_ptr<void>> of_ranks;
  void* of(index_t rank) const { return of_ranks[std::size_t(rank)].get(); }
};

/// What the ranks share.
struct world {
  index_t ranks;
  std::vector<memory> allocations;
};

/// A communicator's like for ranks of one process.
class rank_of_process {
 public:
  using stream_type = cudaStream_t;
  using memory_type = memory;
  template <class Kernel>
  using launch_type = std::optional<tw::prepared_launch<Kernel>>;

  rank_of_process(world& w, index_t rank) : world_(w), self_{rank, w.ranks} {
    use_gpu_of(rank);
    require_gpu(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    require_gpu(cudaHostAlloc(reinterpret_cast<void**>(&status), 4, cudaHostAllocMapped), "allocating");
    *status = 0;
  }
  ~rank_of_process() {
    (void)cudaStreamDestroy(stream);
    (void)cudaFreeHost(status);
  }
  p::rank_of self() const { return self_; }
  p::peer_wait wait() const { return {status, 300}; }
  memory allocate(long_index_t bytes) {
    if (used_ == world_.allocations.size()) {
      memory& all = world_.allocations.emplace_back();
      for (index_t r = 0; r < world_.ranks; ++r) all.of_ranks.push_back(allocate_for(r, bytes));
      use_gpu_of(self_.rank);
    }
    return world_.allocations[used_++];
  }
  void queue(auto& call) {
    use_gpu_of(self_.rank);
    call(stream);
  }
  template <class Kernel>
  launch_type<Kernel> prepare(const typename Kernel::args_type& args) const {
    return launch_type<Kernel>(std::in_place, args);
  }

  cudaStream_t stream = nullptr;
  unsigned* status = nullptr;

 private:
  world& world_;
  p::rank_of self_;
  std::size_t used_ = 0;
};

std::mt19937 random_numbers{std::random_device{}()};

/// Element i becomes one of -2 to 2 that a hash of `seed` and i tells.
__global__ void fill(bfloat16_t* data, index_t count, unsigned seed) {
  const index_t i = index_t(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  unsigned x = (unsigned(i) + seed) * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  data[i] = tw::type_convert<bfloat16_t>(float(int((x ^ x >> 13) % 5) - 2));
}

struct matrix {
  index_t rank, rows, cols;
  std::shared_ptr<void> memory = allocate_for(rank, long_index_t(rows) * cols * 2);

  bfloat16_t* device() const { return static_cast<bfloat16_t*>(memory.get()); }
  void fill_again() const {
    use_gpu_of(rank);
    fill<<<unsigned(rows * cols + 255) / 256, 256>>>(device(), rows * cols, random_numbers());
    require_gpu(cudaDeviceSynchronize(), "filling");
  }
};

constexpr index_t most_ranks = p::max_peers;

/// Element (i, j) of C is the sum over t < terms of row `first_row + i` of A times row j of b[t]. A's rows from
/// number p * rows_of_a on lie in a[t + p].
struct expected_sums {
  const bfloat16_t *a[most_ranks], *b[most_ranks];
  index_t terms, k, first_row, rows_of_a;
};

/// Adds to `wrong` the elements of C that differ from the sums by more than a rounding; one thread for each element.
__global__ void count_wrong(const bfloat16_t* c, index_t rows, index_t cols, expected_sums want, int* wrong) {
  const index_t j = index_t(blockIdx.x * blockDim.x + threadIdx.x), i = index_t(blockIdx.y);
  if (i >= rows || j >= cols) return;
  float sum = 0;
  for (index_t t = 0; t < want.terms; ++t) {
    const index_t row = want.first_row + i;
    const bfloat16_t* a = want.a[t + row / want.rows_of_a] + long_index_t(row % want.rows_of_a) * want.k;
    const bfloat16_t* b = want.b[t] + long_index_t(j) * want.k;
    for (index_t k = 0; k < want.k; ++k) sum += tw::type_convert<float>(a[k]) * tw::type_convert<float>(b[k]);
  }
  const float got = tw::type_convert<float>(c[long_index_t(i) * cols + j]);
  // Each rank's part is rounded.
  if (!(fabsf(got - sum) <= 0.01f * fabsf(sum) + 0.04f * sqrtf(float(want.k)) + 1)) atomicAdd(wrong, 1);
}

/// `together` calls are queued before a wait. The last rank misses a last call if `leaves`.
template <index_t Tile>
bool check(index_t ranks, index_t rows, index_t n, index_t k, int together, bool leaves) {
  using policy = tw::gemm_hopper<bfloat16_t, tw::operand_major::k, tw::operand_major::k, p::parallel_tiles[Tile]>;
  bool good = true;
  for (const char* kind : {"all-gather", "reduce-scatter", "all-reduce"}) {
    const bool gathers = kind[4] == 'g', reduces_all = kind[4] == 'r';
    world w{ranks, {}};
    std::vector<std::unique_ptr<rank_of_process>> all;
    std::vector<matrix> a, b, c;
    memory all_c;
    for (index_t r = 0; r < ranks; ++r) {
      all.push_back(std::make_unique<rank_of_process>(w, r));
      a.push_back({r, gathers ? rows : rows * ranks, k});
      b.push_back({r, n, k});
      c.push_back({r, gathers || reduces_all ? rows * ranks : rows, n});
      for (const auto* of_rank : {&a, &b, &c}) of_rank->back().fill_again();
      all_c.of_ranks.push_back(c.back().memory);
    }
    std::vector<std::function<void()>> calls;
    for (index_t r = 0; r < ranks; ++r) {
      const std::size_t i = std::size_t(r);
      use_gpu_of(r);
      tw::gemm_args args;
      args.a = a[i].device(), args.b = b[i].device(), args.c = c[i].device();
      args.m = rows * ranks, args.n = n, args.k = k, args.lda = k, args.ldb = k, args.ldc = n;
      rank_of_process& rank = *all[i];
      if (gathers) {
        using call = p::detail::fused_all_gather<on_part_of_gpu<p::all_gather_kernel<policy>>, rank_of_process>;
        calls.push_back([f = std::make_shared<call>(rank, args), &rank] { rank.queue(*f); });
      } else {
        using call = p::detail::fused_reduce_scatter<on_part_of_gpu<p::reduce_scatter_kernel<policy>>, rank_of_process>;
        calls.push_back(
            [f = std::make_shared<call>(rank, args, reduces_all ? &all_c : nullptr), &rank] { rank.queue(*f); });
      }
    }
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (repeat == 16)  // what earlier calls have left is wrong then
        for (const auto* all_of : {&a, &c})
          for (const matrix& m : *all_of) m.fill_again();
      for (const auto& call : calls) call();
      if (repeat % together + 1 == together) wait_for_gpus("running");
    }
    int wrong = 0;
    unsigned late = 0;
    for (index_t r = 0; r < ranks; ++r) {
      const std::size_t own = std::size_t(r);
      late += *all[own]->status;
      expected_sums want{.terms = gathers ? 1 : ranks,
                         .k = k,
                         .first_row = gathers || reduces_all ? 0 : r * rows,
                         .rows_of_a = a[own].rows};
      const auto wrong_here = allocate_for(r, sizeof(int));
      int* const count = static_cast<int*>(wrong_here.get());
      for (std::size_t t = 0; t < a.size(); ++t) want.a[t] = a[t].device(), want.b[t] = b[gathers ? own : t].device();
      count_wrong<<<dim3(unsigned(n + 127) / 128, unsigned(c[own].rows)), 128>>>(c[own].device(), c[own].rows, n, want,
                                                                                 count);
      int found = 0;
      require_gpu(cudaMemcpy(&found, count, sizeof(int), cudaMemcpyDeviceToHost), "comparing");
      wrong += found;
    }
    bool noticed = true;
    if (ranks > 1 && leaves) {
      for (std::size_t r = 0; r + 1 < calls.size(); ++r) calls[r]();
      wait_for_gpus("running");
      noticed = *all[0]->status != 0;
    }
    const bool passes = wrong == 0 && late == 0 && noticed;
    std::printf("tile %d, %d clusters, %d together: %s %d ranks %d x %d x %d %s %d wrong elements, %u late%s\n", Tile,
                max_clusters, together, kind, ranks, rows * ranks, n, k, passes ? "PASS" : "FAIL", wrong, late,
                noticed ? "" : ", a missing rank was not noticed");
    std::fflush(stdout);
    good = good && passes;
  }
  return good;
}

}  // namespace

int main(int num_args, char** given) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);        // results appear as they are found, also in a pipe
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // a queue for each rank's stream
  require_gpu(cudaGetDeviceCount(&num_gpus), "looking for GPUs");
  for (index_t i = num_gpus; i-- > 0;)
    for (index_t j = 0; j < num_gpus; ++j) {
      use_gpu_of(i);
      if (i != j) require_gpu(cudaDeviceEnablePeerAccess(j, 0), "reaching another GPU");
    }
  const unsigned seed = num_args > 1 ? unsigned(std::atoi(given[1])) : std::random_device{}();
  const int drawn = num_args > 2 ? std::atoi(given[2]) : 12;
  random_numbers.seed(seed);
  bool good = true;
  for (int i = 0; i < drawn; ++i) {
    const auto draw = [](int from, int to) { return std::uniform_int_distribution(from, to)(random_numbers); };
    const int ranks = i == 0 ? 1 : draw(2, most_ranks), together = draw(1, 2), tile = draw(0, 3);
    max_clusters = 60 / int(tw::ceil_div(ranks, num_gpus)) / together;  // of two blocks
    if (draw(0, 1)) max_clusters = draw(1, 3);
    const index_t rows = draw(1, draw(0, 1) ? 40 : 400), n = 8 * draw(1, 130), k = 8 * draw(1, draw(0, 2) ? 40 : 200);
    const auto run = tile == 0 ? check<0> : tile == 1 ? check<1> : tile == 2 ? check<2> : check<3>;
    good = run(ranks, rows, n, k, together, i < 4) && good;
  }
  std::printf("seed %u\n", seed);
  return good ? 0 : 1;
}
