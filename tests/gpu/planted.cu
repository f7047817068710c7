// SPDX-License-Identifier: MIT
// Mistakes of tests/planted on an NVIDIA GPU: planted <number> runs one of them, so that compute-sanitizer can look at
// it.
#include <tilewright/exec/exec.hpp>
#include <tilewright/exec/hopper.hpp>
#include <tilewright/exec/nvptx/make_tensor_map.hpp>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace tw = tilewright;
namespace exec = tw::exec;
using tw::index_t;

namespace {

constexpr index_t lds_bytes = 8192, memory_bytes = 16384, threads = 128;

struct world {
  int* numbers;  // memory_bytes of them; every thread has a place for what it has read behind them
  int* results;
  exec::tensor_map map;
};

#if TILEWRIGHT_NVPTX_PASS
__device__ exec::lds_pointer lds() { return exec::lds_allocate<lds_bytes>(); }
__device__ index_t thread() { return exec::thread_id(); }
__device__ void store(index_t place, int value = 1) { exec::lds_store(lds(), place, value); }
__device__ int load(index_t place) { return exec::lds_load<int>(lds(), place); }
__device__ exec::global_buffer memory(const world& w) { return exec::make_global_buffer(w.numbers, memory_bytes); }
__device__ void write(const world& w, index_t place, int value = 1) { exec::buffer_store(memory(w), place, value); }
__device__ int read(const world& w, index_t place) { return exec::buffer_load<int>(memory(w), place); }
__device__ void copy(const world& w, index_t from, index_t to) {
  exec::async_load_to_lds<4>(memory(w), from, lds(), to);
}
__device__ exec::mbarrier barrier(index_t arrivals) {
  const exec::mbarrier b{exec::lds_address(lds())};
  if (thread() == 0) {
    b.init(arrivals);
    exec::fence_barrier_init();
  }
  exec::block_sync();
  return b;
}
__device__ void load_box(const world& w, exec::mbarrier b) {
  b.arrive_and_expect(2048);
  exec::bulk_load(1024, w.map, b, 0, 0, 0);
}
__device__ void write_box() {
  for (index_t i = 0; i < 4; ++i) store(1024 + i * 512 + thread() * 4);
}

template <int N>
using mistake = std::integral_constant<int, N>;

// Each returns what it has read, so that nothing is left out.
__device__ int plant(mistake<0>, const world&) {  // no mistake
  store(thread() * 4);
  exec::block_sync();
  return load((thread() ^ 64) * 4);
}
__device__ int plant(mistake<1>, const world&) {
  store(thread() * 4);
  return load((thread() ^ 64) * 4);
}
__device__ int plant(mistake<2>, const world&) {
  store(thread() * 4);
  exec::block_sync();
  const int seen = load((thread() ^ 64) * 4);
  store(thread() * 4, seen + 1);
  return seen;
}
__device__ int plant(mistake<3>, const world&) {
  store(thread() * 4);
  return load((thread() ^ 1) * 4);
}
__device__ int plant(mistake<4>, const world&) {
  store(thread() / 2 * 4, thread());
  return 0;
}
__device__ int plant(mistake<5>, const world&) { return load(thread() * 4); }
__device__ int plant(mistake<6>, const world&) {
  store(lds_bytes - 256 + thread() * 4);
  return 0;
}
__device__ int plant(mistake<7>, const world&) {
  if (thread() == 0) store(0, 0);
  exec::block_sync();
  exec::lds_atomic<exec::atomic_op::add>(lds(), 0, 1);
  return thread() == 127 ? load(0) : 0;
}
__device__ int plant(mistake<8>, const world&) {
  if (thread() >= 100) return 0;
  exec::block_sync();
  return 1;
}
__device__ int plant(mistake<9>, const world& w) {
  if (read(w, thread() * 4) + thread() % 2 == 1) {
    exec::block_sync();
  } else {
    store(thread() * 4);
    exec::block_sync();
  }
  return 1;
}
__device__ int plant(mistake<10>, const world&) { return exec::lane_id() < 16 ? exec::shuffle(thread(), 0) : 0; }
__device__ int plant(mistake<11>, const world&) {
  int r;
  if (exec::lane_id() < 16) {
    r = exec::shuffle(thread(), exec::lane_id() + 16);
  } else {
    r = exec::shuffle(thread() * 2, exec::lane_id() - 16) + 1;
  }
  return r;
}
__device__ int plant(mistake<12>, const world& w) {
  copy(w, thread() * 4, thread() * 4);
  return load(thread() * 4);
}
__device__ int plant(mistake<13>, const world& w) {
  copy(w, thread() * 4, thread() * 4);
  exec::block_sync();
  return load((thread() ^ 64) * 4);
}
__device__ int plant(mistake<14>, const world& w) {
  copy(w, thread() * 4, thread() * 4);
  copy(w, thread() * 4, 512 + thread() * 4);
  exec::async_wait<1>();
  exec::block_sync();
  return load(512 + (thread() ^ 64) * 4);
}
__device__ int plant(mistake<15>, const world& w) {
  copy(w, thread() * 4, thread() * 4);
  write(w, thread() * 4, 5);
  exec::async_wait();
  return load(thread() * 4);
}
__device__ int plant(mistake<16>, const world& w) {
  return exec::buffer_load<int>(exec::make_global_buffer(w.numbers, 1 << 30), (1 << 22) + thread() * 4);
}
__device__ int plant(mistake<17>, const world& w) {
  return exec::buffer_load<int>(exec::advance(memory(w), 2), thread() * 4);
}
__device__ int plant(mistake<18>, const world& w) {
  write(w, thread() * 4);
  return read(w, (thread() ^ 64) * 4);
}
__device__ int plant(mistake<19>, const world& w) {
  write(w, thread() * 4, exec::block_id().x);
  return 0;
}
__device__ int plant(mistake<20>, const world& w) {
  const exec::mbarrier b = barrier(1);
  if (thread() == 0) load_box(w, b);
  exec::block_sync();
  const int seen = load(1024 + thread() * 4);
  b.wait(0);
  return seen;
}
__device__ int plant(mistake<21>, const world& w) {
  const exec::mbarrier b = barrier(1);
  int seen = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (thread() == 0) load_box(w, b);
    b.wait(i);
    seen += load(1024 + thread() * 4);
  }
  return seen;
}
__device__ int plant(mistake<22>, const world& w) {
  write_box();
  exec::block_sync();
  if (thread() == 0) {
    exec::bulk_store(w.map, 1024, 0, 0, 0);
    exec::commit_bulk_stores();
    exec::wait_for_bulk_stores_to_read<0>();
  }
  return 0;
}
__device__ int plant(mistake<23>, const world& w) {
  write_box();
  exec::fence_async_proxy();
  exec::block_sync();
  if (thread() == 0) {
    exec::bulk_store(w.map, 1024, 0, 0, 0);
    exec::commit_bulk_stores();
    store(1024, 7);
    exec::wait_for_bulk_stores_to_read<0>();
  }
  return 0;
}
__device__ int plant(mistake<24>, const world&) {
  const exec::mbarrier b = barrier(1);
  if (thread() == 0) {
    b.arrive();
    store(64);
  }
  if (thread() != 32) return 0;
  b.wait(0);
  return load(64);
}
__device__ int plant(mistake<25>, const world&) {
  exec::mbarrier{exec::lds_address(lds())}.arrive();
  return 0;
}
__device__ int plant(mistake<26>, const world& w) {
  write_box();
  exec::fence_async_proxy();
  if (thread() == 0) {
    exec::bulk_store(w.map, 1024, 0, 0, 0);
    exec::commit_bulk_stores();
    exec::wait_for_bulk_stores_to_read<0>();
  }
  return 0;
}

#endif

constexpr const char* names[] = {"no mistake",
                                 "a barrier is missing between write and read",
                                 "a barrier is missing between read and the next write",
                                 "neighbours of a wave exchange without wave_sync",
                                 "two threads write the same bytes",
                                 "LDS is read before anybody writes it",
                                 "LDS beyond the allocation",
                                 "an atomic sum is read without a barrier",
                                 "threads leave before the barrier",
                                 "lanes of a wave at two barriers",
                                 "a shuffle in half of a wave",
                                 "two shuffles in the branches of a condition",
                                 "a copy is read before async_wait",
                                 "a barrier, but no async_wait",
                                 "async_wait leaves one copy too many in flight",
                                 "the source changes before the copy's wait",
                                 "a view larger than its memory",
                                 "a buffer that begins 2 bytes off",
                                 "threads exchange through global memory without a barrier",
                                 "two blocks write the same place",
                                 "a box is read before its barrier was waited for",
                                 "a stage is refilled before its readers arrive",
                                 "a box is stored without fence_async_proxy",
                                 "a box is overwritten before its store has read it",
                                 "a write after the arrival",
                                 "a barrier that no thread has initialised",
                                 "a box is stored before all have written it"};

template <int N>
__global__ void run(const __grid_constant__ world w) {
#if TILEWRIGHT_NVPTX_PASS
  w.results[blockIdx.x * threads + threadIdx.x] = plant(mistake<N>{}, w);
#endif
}

template <int N = 0>
void launch(int number, const world& w) {
  if constexpr (N < int(sizeof(names) / sizeof(names[0]))) {
    if (number != N) return launch<N + 1>(number, w);
    run<N><<<2, threads, lds_bytes>>>(w);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int count = sizeof(names) / sizeof(names[0]);
  const int number = argc == 2 ? std::atoi(argv[1]) : -1;
  if (number < 0 || number >= count) return std::printf("%d\n", count), argc == 1 ? 0 : 2;
  world w{};
  cudaMalloc(&w.numbers, memory_bytes);
  cudaMemset(w.numbers, 0, memory_bytes);
  cudaMalloc(&w.results, 2 * threads * 4);
  const cudaError_t map =
      exec::make_tensor_map(w.map, {w.numbers, tw::arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}});
  if (map != cudaSuccess) return std::printf("no tensor map: %s\n", cudaGetErrorString(map)), 2;
  launch(number, w);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", names[number], error == cudaSuccess ? "ended" : cudaGetErrorString(error));
  return 0;
}
