// SPDX-License-Identifier: MIT
// tilewright::ops on several GPUs, by NCCL: ranks that are threads of this process, then ranks that are processes.
// Every element of all_gather_gemm and gemm_reduce_scatter, of random sizes, against double precision.
#include <tilewright/ops.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <nccl.h>

namespace {

namespace tw = tilewright::ops;

void require(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}
void require(cudaError_t e, const char* what) {
  require(e == cudaSuccess, std::string(what) + ": " + cudaGetErrorString(e));
}
void require(ncclResult_t e, const char* what) {
  require(e == ncclSuccess, std::string(what) + ": " + ncclGetErrorString(e));
}

/// Element i of a matrix, by a hash: bf16 holds it exactly.
float value_of(unsigned seed, long long i) {
  unsigned x = (unsigned(i) + seed) * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  return float(int((x ^ x >> 13) % 17) - 8) / 8;
}

/// A matrix of bf16 on the current GPU, with `gap` elements after each row.
class gpu_matrix {
 public:
  gpu_matrix(long long rows, long long cols, unsigned seed, long long gap = 0)
      : rows_(rows), cols_(cols), ld_(cols + gap), host_(std::size_t(rows * ld_)) {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const float f = value_of(seed, static_cast<long long>(i));
      unsigned bits;
      std::memcpy(&bits, &f, 4);
      host_[i] = static_cast<unsigned short>(bits >> 16);
    }
    require(cudaMalloc(&data_, host_.size() * 2), "allocating");
    require(cudaMemcpy(data_, host_.data(), host_.size() * 2, cudaMemcpyHostToDevice), "copying");
  }
  gpu_matrix(const gpu_matrix&) = delete;
  ~gpu_matrix() { (void)cudaFree(data_); }

  tw::tensor view() const { return tw::strided(data_, tw::element::bf16, {rows_, cols_}, {ld_, 1}); }
  void download() { require(cudaMemcpy(host_.data(), data_, host_.size() * 2, cudaMemcpyDeviceToHost), "copying"); }
  float at(long long row, long long col) const {
    const unsigned bits = unsigned(host_[std::size_t(row * ld_ + col)]) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
  }

 private:
  long long rows_, cols_, ld_;
  std::vector<unsigned short> host_;
  void* data_ = nullptr;
};

struct sizes {
  long long m, n, k, gap;  // m: rows of A of a rank, and of C after a reduce-scatter
};

/// Elements of C that are not `sum(row, col)` to the rounding of `terms` sums of bf16.
template <class Sum>
int count_wrong(const gpu_matrix& c, long long rows, long long cols, int terms, Sum sum) {
  int wrong = 0;
  for (long long i = 0; i < rows; ++i)
    for (long long j = 0; j < cols; ++j) {
      const auto [expected, magnitude] = sum(i, j);
      if (!(std::abs(c.at(i, j) - expected) <= magnitude * terms / 256)) ++wrong;
    }
  return wrong;
}

/// A B, and the largest partial result of a rank in magnitude.
struct checked_sum {
  double value = 0, magnitude = 0.5;
  void add(double x) {
    value += x;
    magnitude = std::max({magnitude, std::abs(x), std::abs(value)});
  }
};

/// One size on one rank: how many elements are wrong.
int check(const tw::communicator& ranks, const sizes& s, cudaStream_t stream) {
  constexpr unsigned of_b = 100000;
  const auto seed = [](int rank) { return 7919u * unsigned(rank + 1); };
  int wrong = 0;
  {
    const gpu_matrix a(s.m, s.k, seed(ranks.rank), s.gap), b(s.n, s.k, seed(ranks.rank) + of_b);
    gpu_matrix c(s.m * ranks.ranks, s.n, 1);
    tw::all_gather_gemm(c.view(), a.view(), tw::transposed(b.view()), ranks, {.stream = stream});
    require(cudaStreamSynchronize(stream), "all_gather_gemm");
    c.download();
    wrong += count_wrong(c, s.m * ranks.ranks, s.n, 1, [&](long long i, long long j) {
      double sum = 0;
      for (long long x = 0; x < s.k; ++x)
        sum += double(value_of(seed(int(i / s.m)), i % s.m * (s.k + s.gap) + x)) * b.at(j, x);
      checked_sum result;
      result.add(sum);
      return result;
    });
  }
  const gpu_matrix a(s.m * ranks.ranks, s.k, seed(ranks.rank), s.gap), b(s.n, s.k, seed(ranks.rank) + of_b);
  gpu_matrix c(s.m, s.n, 1);
  tw::gemm_reduce_scatter(c.view(), a.view(), tw::transposed(b.view()), ranks, {.stream = stream});
  require(cudaStreamSynchronize(stream), "gemm_reduce_scatter");
  c.download();
  return wrong + count_wrong(c, s.m, s.n, ranks.ranks + 1, [&](long long i, long long j) {
           checked_sum result;
           for (int r = 0; r < ranks.ranks; ++r) {
             double sum = 0;
             for (long long x = 0; x < s.k; ++x)
               sum += double(value_of(seed(r), (ranks.rank * s.m + i) * (s.k + s.gap) + x)) *
                      value_of(seed(r) + of_b, j * s.k + x);
             result.add(sum);
           }
           return result;
         });
}

/// A rank's work; true if all is right.
bool run_rank(const ncclUniqueId& id, int rank, int ranks, unsigned seed, const char* kind) {
  try {
    require(cudaSetDevice(rank), "choosing a GPU");
    ncclComm_t comm = nullptr;
    require(ncclCommInitRank(&comm, ranks, id, rank), "joining");
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    const tw::communicator self = tw::nccl_communicator(comm, rank, ranks);
    std::mt19937 random(seed);  // the same on all ranks
    bool good = true;
    for (int i = 0; i < 6; ++i) {
      const auto draw = [&](int from, int to) {
        return static_cast<long long>(std::uniform_int_distribution(from, to)(random));
      };
      const sizes s{draw(1, i % 2 ? 20 : 150), 8 * draw(1, 40), 8 * draw(1, 60), 8 * draw(0, 1)};
      const int wrong = check(self, s, stream);
      std::printf("%s: rank %d of %d, %lld x %lld x %lld %s %d wrong elements\n", kind, rank, ranks, s.m, s.n, s.k,
                  wrong == 0 ? "PASS" : "FAIL", wrong);
      good = good && wrong == 0;
    }
    tw::release_workspaces(stream);
    require(cudaStreamDestroy(stream), "ending a stream");
    require(ncclCommDestroy(comm), "leaving");
    return good;
  } catch (const std::exception& e) {
    std::printf("%s: rank %d FAIL %s\n", kind, rank, e.what());
    return false;
  }
}

/// Each rank is a process, which must begin before this one uses CUDA.
bool run_processes(int ranks, unsigned seed) {
  struct shared_id {
    ncclUniqueId id;
    volatile bool is_there;
  };
  auto* const shared = static_cast<shared_id*>(
      mmap(nullptr, sizeof(shared_id), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  require(shared != MAP_FAILED, "no shared memory");
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    if (rank == 0) {
      require(ncclGetUniqueId(&shared->id), "asking for an id");
      __sync_synchronize();
      shared->is_there = true;
    }
    while (!shared->is_there) usleep(1000);
    __sync_synchronize();
    const bool good = run_rank(shared->id, rank, ranks, seed, "processes");
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  bool good = true;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    good = wait(&status) > 0 && status == 0 && good;
  }
  return good;
}

bool run_threads(int ranks, unsigned seed) {
  ncclUniqueId id;
  require(ncclGetUniqueId(&id), "asking for an id");
  std::vector<std::thread> threads;
  std::vector<char> good(std::size_t(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { good[std::size_t(rank)] = run_rank(id, rank, ranks, seed, "threads"); });
  for (std::thread& t : threads) t.join();
  for (const char g : good)
    if (!g) return false;
  return true;
}

}  // namespace

int main(int num_args, char** given) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (num_args < 2) {
    std::puts("usage: gpu_parallel_calls-cuda RANKS [SEED]: RANKS is at most the number of GPUs");
    return 2;
  }
  const int ranks = std::atoi(given[1]);
  const unsigned seed = num_args > 2 ? unsigned(std::atoi(given[2])) : std::random_device{}();
  const bool by_processes = run_processes(ranks, seed), by_threads = run_threads(ranks, seed + 1);
  std::printf("seed %u: %s\n", seed, by_processes && by_threads ? "all is right" : "WRONG");
  return by_processes && by_threads ? 0 : 1;
}
