// SPDX-License-Identifier: MIT
// Ranks that share one GPU: results of the kernels of parallel/, compared on the CPU, and the error of a missing rank.
#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/parallel/all_gather_kernel.hpp>
#include <tilewright/parallel/fused_products.hpp>
#include <tilewright/parallel/gpu_calls.hpp>
#include <tilewright/parallel/reduce_scatter_kernel.hpp>

#include <cmath>
#include <cstdio>
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

/// What the ranks of one GPU share: the allocations, each of which has memory of every rank.
struct world {
  index_t ranks;
  std::vector<std::vector<void*>> allocations;
};

struct memory {
  std::vector<void*> pointers;
  void* of(index_t rank) const { return pointers[std::size_t(rank)]; }
};

/// A communicator's like for ranks of one GPU.
class rank_on_one_gpu {
 public:
  using stream_type = cudaStream_t;
  using memory_type = memory;
  template <class Kernel>
  using launch_type = std::optional<tw::prepared_launch<Kernel>>;

  rank_on_one_gpu(world& w, index_t rank) : world_(w), self_{rank, w.ranks} {
    require_gpu(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    require_gpu(cudaHostAlloc(reinterpret_cast<void**>(&status), 4, cudaHostAllocMapped), "allocating");
    *status = 0;
  }
  p::rank_of self() const { return self_; }
  p::peer_wait wait() const { return {status, 1000}; }
  memory allocate(long_index_t bytes) {
    if (used_ == world_.allocations.size()) {
      std::vector<void*> all;
      for (index_t r = 0; r < world_.ranks; ++r) {
        void* pointer = nullptr;
        require_gpu(cudaMalloc(&pointer, std::size_t(bytes)), "allocating");
        require_gpu(cudaMemset(pointer, 0, std::size_t(bytes)), "clearing");
        all.push_back(pointer);
      }
      world_.allocations.push_back(all);
    }
    return {world_.allocations[used_++]};
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

struct matrix {
  index_t rows, cols;
  std::vector<float> values;
  bfloat16_t* device = nullptr;

  matrix(index_t r, index_t c) : rows(r), cols(c), values(std::size_t(r) * std::size_t(c)) {
    std::uniform_int_distribution<int> any(-2, 2);
    std::vector<bfloat16_t> narrow;
    for (float& v : values) narrow.push_back(tw::type_convert<bfloat16_t>(v = float(any(random_numbers))));
    require_gpu(cudaMalloc(reinterpret_cast<void**>(&device), values.size() * 2), "allocating");
    require_gpu(cudaMemcpy(device, narrow.data(), values.size() * 2, cudaMemcpyHostToDevice), "copying");
  }
};

/// Elements of C (rows x cols at `device`) that differ from the sums over all ranks' A and B by more than a rounding.
int count_wrong(const bfloat16_t* device, index_t rows, index_t cols, auto sum) {
  std::vector<bfloat16_t> c(std::size_t(rows) * std::size_t(cols));
  require_gpu(cudaMemcpy(c.data(), device, c.size() * 2, cudaMemcpyDeviceToHost), "copying");
  int wrong = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) {
      const float want = sum(i, j),
                  got = tw::type_convert<float>(c[std::size_t(i) * std::size_t(cols) + std::size_t(j)]);
      wrong += !(std::fabs(got - want) <= 0.01f * std::fabs(want) + 1);
    }
  return wrong;
}

float dot(const matrix& a, index_t i, const matrix& b, index_t j) {
  float s = 0;
  for (index_t k = 0; k < a.cols; ++k)
    s += a.values[std::size_t(i) * std::size_t(a.cols) + std::size_t(k)] *
         b.values[std::size_t(j) * std::size_t(a.cols) + std::size_t(k)];
  return s;
}

template <class Policy>
bool check(const char* name, index_t ranks, index_t rows, index_t n, index_t k) {
  bool good = true;
  for (const char* kind : {"all-gather", "reduce-scatter", "all-reduce"}) {
    const bool gathers = kind[4] == 'g', reduces_all = kind[4] == 'r';
    world w{ranks, {}};
    std::vector<std::unique_ptr<rank_on_one_gpu>> all;
    std::vector<matrix> a, b, c;
    for (index_t r = 0; r < ranks; ++r) {
      all.push_back(std::make_unique<rank_on_one_gpu>(w, r));
      a.emplace_back(gathers ? rows : rows * ranks, k);
      b.emplace_back(n, k);
      c.emplace_back(gathers || reduces_all ? rows * ranks : rows, n);
    }
    memory all_c;
    for (const matrix& m : c) all_c.pointers.push_back(m.device);
    std::vector<std::function<void()>> calls;
    for (index_t r = 0; r < ranks; ++r) {
      const std::size_t i = std::size_t(r);
      tw::gemm_args args;
      args.a = a[i].device, args.b = b[i].device, args.c = c[i].device;
      args.m = rows * ranks, args.n = n, args.k = k, args.lda = k, args.ldb = k, args.ldc = n;
      rank_on_one_gpu& rank = *all[i];
      if (gathers) {
        using call = p::detail::fused_all_gather<p::all_gather_kernel<Policy>, rank_on_one_gpu>;
        calls.push_back([f = std::make_shared<call>(rank, args), &rank] { (*f)(rank.stream); });
      } else {
        using call = p::detail::fused_reduce_scatter<p::reduce_scatter_kernel<Policy>, rank_on_one_gpu>;
        calls.push_back(
            [f = std::make_shared<call>(rank, args, reduces_all ? &all_c : nullptr), &rank] { (*f)(rank.stream); });
      }
    }
    for (int repeat = 0; repeat < 20; ++repeat) {
      for (const auto& call : calls) call();
      require_gpu(cudaDeviceSynchronize(), "running");
    }
    int wrong = 0;
    unsigned late = 0;
    for (index_t r = 0; r < ranks; ++r) {
      const std::size_t i = std::size_t(r);
      late += *all[i]->status;
      if (gathers) {
        wrong += count_wrong(c[i].device, rows * ranks, n, [&](index_t row, index_t col) {
          return dot(a[std::size_t(row / rows)], row % rows, b[i], col);
        });
      } else {
        wrong += count_wrong(c[i].device, c[i].rows, n, [&](index_t row, index_t col) {
          float sum = 0;
          for (std::size_t s = 0; s < a.size(); ++s) sum += dot(a[s], row + (reduces_all ? 0 : r * rows), b[s], col);
          return sum;
        });
      }
    }
    bool noticed = true;
    if (ranks > 1) {  // the last rank does not call
      for (std::size_t r = 0; r + 1 < calls.size(); ++r) calls[r]();
      require_gpu(cudaDeviceSynchronize(), "running");
      noticed = *all[0]->status != 0;
    }
    const bool passes = wrong == 0 && late == 0 && noticed;
    std::printf("%s %s %d ranks %d x %d x %d %s %d wrong elements, %u late%s\n", name, kind, ranks, rows * ranks, n, k,
                passes ? "PASS" : "FAIL", wrong, late, noticed ? "" : ", a missing rank was not noticed");
    good = good && passes;
  }
  return good;
}

using enum tw::operand_major;
template <index_t I>
using policy = tw::gemm_specialized<bfloat16_t, k, k, tw::specialized_tiles[I]>;

}  // namespace

int main() {
  bool good = check<policy<0>>("128x256_b2", 1, 500, 776, 256);
  good = check<policy<0>>("128x256_b2", 2, 200, 776, 328) && good;
  good = check<policy<2>>("256x160_a2", 2, 333, 648, 200) && good;
  good = check<policy<4>>("128x128_b2", 4, 72, 264, 136) && good;
  return good ? 0 : 1;
}
