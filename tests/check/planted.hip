// SPDX-License-Identifier: MIT
// A HIP program with a mistake in each kernel, and correct ones. `planted NAME` runs one. The line that a finding has
// to name ends with MISTAKE, the name, and the kind. No device library is needed: kernels use the compiler's builtins.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {
constexpr int threads = 128, blocks = 4, n = 500, size = threads * blocks;
struct arguments {
  float *out, *never;
  const float* in;
  int *counter, *indices;
  int n;
};

__device__ int lane_id() { return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))); }
__device__ int thread() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
__device__ int block() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
__device__ int global_id() { return block() * threads + thread(); }
__device__ inline __attribute__((always_inline)) void my_group_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ void gpu_fence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__device__ int count_up(int* counter) {
  return __hip_atomic_fetch_add(counter, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ void count_in_block(int* bin) {
  __hip_atomic_fetch_add(bin, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
__device__ __attribute__((noinline)) void give_up(int* counter) {
  *counter = 1;
  __builtin_trap();
}
}  // namespace
__device__ float variable[32];

#define KERNEL(name) extern "C" __global__ __launch_bounds__(threads) void name([[maybe_unused]] arguments a)

KERNEL(store_after_end) {
  const int i = global_id();
  a.out[i] = 1;  // MISTAKE store_after_end out-of-bounds
}
KERNEL(load_before_start) {
  const int i = global_id();
  if (i < a.n) a.out[i] = a.in[i - 1];  // MISTAKE load_before_start out-of-bounds
}
KERNEL(store_far_away) {
  const int i = global_id();
  if (i == 77) a.out[i + 1000] = 1;  // MISTAKE store_far_away out-of-bounds
}
KERNEL(atomic_after_end) {
  if (thread() == 5) count_up(a.counter + 1);  // MISTAKE atomic_after_end out-of-bounds
}
KERNEL(lds_after_end) {
  __shared__ float tile[threads];
  tile[thread()] = a.in[thread()];
  my_group_barrier();
  a.out[thread()] = tile[thread() + 1];  // MISTAKE lds_after_end out-of-bounds
}
KERNEL(dynamic_lds_too_small) {
  extern __shared__ float dynamic_tile[];
  dynamic_tile[thread()] = a.in[thread()];  // MISTAKE dynamic_lds_too_small out-of-bounds
  my_group_barrier();
  if (thread() < 8) a.out[thread()] = dynamic_tile[thread()];
}
KERNEL(scratch_out_of_bounds) {
  volatile float local[8];
  for (int k = 0; k < 8; ++k) local[k] = static_cast<float>(k);
  const int i = a.indices[thread()] + 5000;
  a.out[thread()] = local[i];  // MISTAKE scratch_out_of_bounds out-of-bounds
}
KERNEL(read_before_barrier) {
  __shared__ float tile[threads];
  tile[thread()] = a.in[thread()];
  if (block() == 0) a.out[thread()] = tile[threads - 1 - thread()];  // MISTAKE read_before_barrier lds-race
}
KERNEL(write_before_barrier) {
  __shared__ float tile[threads];
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    tile[thread()] = a.in[thread() + k];  // MISTAKE write_before_barrier lds-race
    my_group_barrier();
    sum += tile[threads - 1 - thread()];
  }
  if (block() == 0) a.out[thread()] = sum;
}
KERNEL(all_waves_write) {
  __shared__ float tile[1];
  tile[0] = static_cast<float>(thread());  // MISTAKE all_waves_write lds-race
  my_group_barrier();
  if (block() == 0) a.out[thread()] = tile[0];
}
KERNEL(uninitialised_lds) {
  __shared__ float tile[threads];
  if (thread() < 100) tile[thread()] = a.in[thread()];
  my_group_barrier();
  float sum = 0;
  for (int k = 0; k < threads; ++k) sum += tile[k];
  if (block() == 0) a.out[thread()] = sum;  // MISTAKE uninitialised_lds uninitialised
}
KERNEL(uninitialised_lds_bytes) {
  __shared__ unsigned char bytes[256];
  bytes[thread()] = static_cast<unsigned char>(thread());
  my_group_barrier();
  if (block() == 0) a.out[thread()] = bytes[thread() + 64] * 0.5f;  // MISTAKE uninitialised_lds_bytes uninitialised
}
KERNEL(uninitialised_lds_copy) {  // nothing is computed with it
  __shared__ float tile[threads];
  if (thread() < 100) tile[thread()] = a.in[thread()];
  my_group_barrier();
  if (block() == 0) a.out[thread()] = tile[thread() ^ 64];  // MISTAKE uninitialised_lds_copy uninitialised
}
KERNEL(equal_values_race) {  // the second store changes nothing with this input
  __shared__ float tile[threads];
  tile[thread()] = 1;
  my_group_barrier();
  const float x = tile[thread() ^ 64];
  tile[thread()] = a.indices[0] == 0 ? 1 : 2;  // MISTAKE equal_values_race lds-race
  if (block() == 0) a.out[thread()] = x;
}
KERNEL(variable_after_end) {
  if (thread() == 0 && block() == 0) a.out[0] = variable[a.indices[40]];  // MISTAKE variable_after_end out-of-bounds
}
KERNEL(trap_in_function) {
  if (a.in[thread()] > 90) give_up(a.counter);  // MISTAKE trap_in_function trap
}
KERNEL(uninitialised_global) {
  const int i = global_id();
  if (i < a.n) a.out[i] = a.never[i] + a.in[i];  // MISTAKE uninitialised_global uninitialised
}
KERNEL(uninitialised_index) {
  const int i = static_cast<int>(a.never[thread()]) & 255;
  if (block() == 0) a.out[i] = 1;  // MISTAKE uninitialised_index uninitialised
}
KERNEL(uninitialised_branch) {
  if (block() == 0 && a.never[thread()] > 0.5f)  // MISTAKE uninitialised_branch uninitialised
    a.out[thread()] = a.in[thread()] * 3;
}
KERNEL(uninitialised_counter) {
  count_up(reinterpret_cast<int*>(a.never) + thread());  // MISTAKE uninitialised_counter uninitialised
}
KERNEL(uninitialised_local) {
  volatile float local[8];
  for (int k = 0; k < 7; ++k) local[k] = static_cast<float>(k);
  const float x = local[a.indices[thread()] & 7];
  if (block() == 0) a.out[thread()] = x * 2;  // MISTAKE uninitialised_local uninitialised
}
KERNEL(blocks_write_one_element) {
  if (thread() == 0) a.out[0] = static_cast<float>(block());  // MISTAKE blocks_write_one_element global-race
}
KERNEL(read_of_neighbour_block) {
  const int i = global_id();
  if (i >= a.n) return;
  a.out[i] = static_cast<float>(i) + 3;
  if (i > 0 && a.out[i - 1] < 0)  // MISTAKE read_of_neighbour_block global-race
    a.out[i] = 2;
}
KERNEL(missing_fence) {  // the last block adds the others' partial sums
  __shared__ int position;
  if (thread() == 0) {
    a.out[block()] = static_cast<float>(block() + 1);
    position = count_up(a.counter);
  }
  my_group_barrier();
  if (position == blocks - 1 && thread() == 0) {
    float sum = 0;
    for (int k = 0; k < blocks; ++k) sum += a.out[k];  // MISTAKE missing_fence global-race
    a.out[blocks] = sum;
  }
}
KERNEL(barrier_in_branch) {
  __shared__ float tile[threads];
  tile[thread()] = 1;
  if (thread() < 100) {
    my_group_barrier();  // MISTAKE barrier_in_branch divergent-barrier
  }
  if (block() == 0) a.out[thread()] = tile[thread()];
}
KERNEL(different_barriers) {
  __shared__ float tile[threads];
  if (a.indices[thread() / 64 * 64] < 64) {
    tile[thread()] = 1;
    my_group_barrier();
  } else {
    tile[thread()] = 2;
    my_group_barrier();  // MISTAKE different_barriers divergent-barrier
  }
  if (block() == 0) a.out[thread()] = tile[thread()];
}
KERNEL(inactive_shuffle) {
  int x = thread() * 3;
  if (lane_id() < 32 && block() == 0) {
    x = __builtin_amdgcn_ds_bpermute((lane_id() + 16) * 4, x);  // MISTAKE inactive_shuffle inactive-lane
    a.out[thread()] = static_cast<float>(x);
  }
}
KERNEL(missing_wait) {
  if (block() == 0) {
    float x;
    const float* p = a.in + thread();
    asm volatile("global_load_dword %0, %1, off" : "=v"(x) : "v"(p));
    a.out[thread()] = x + 1;  // MISTAKE missing_wait missing-wait
    asm volatile("s_waitcnt vmcnt(0)");
  }
}
KERNEL(misaligned_atomic) {
  __shared__ int bins[8];
  bins[thread() & 7] = 0;
  my_group_barrier();
  int* bin = reinterpret_cast<int*>(reinterpret_cast<char*>(bins) + a.indices[1] * 2);
  count_in_block(bin);  // MISTAKE misaligned_atomic misaligned
}
KERNEL(failed_assertion) {
  if (a.in[thread()] > 90) __builtin_trap();  // MISTAKE failed_assertion trap
}
KERNEL(endless_loop) {
  while (__hip_atomic_load(a.counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {  // MISTAKE endless_loop stuck
  }
}
KERNEL(freed_buffer) {
  if (block() == 0) a.out[thread()] = a.never[thread()];  // MISTAKE freed_buffer use-after-free
}

// Correct kernels.
KERNEL(clean_reduction) {  // with a last block
  __shared__ float tile[threads];
  __shared__ int position;
  const int i = global_id();
  tile[thread()] = i < a.n ? a.in[i] : 0;
  my_group_barrier();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (thread() < half) tile[thread()] += tile[thread() + half];
    my_group_barrier();
  }
  if (thread() == 0) {
    a.out[block()] = tile[0];
    gpu_fence();
    position = count_up(a.counter);
  }
  my_group_barrier();
  if (position == blocks - 1 && thread() == 0) {
    gpu_fence();
    float sum = 0;
    for (int k = 0; k < blocks; ++k) sum += a.out[k];
    a.out[blocks] = sum;
  }
}
KERNEL(clean_early_exit) {
  __shared__ float tile[threads];
  tile[thread()] = 0;
  const int i = global_id();
  if (i >= a.n) return;
  my_group_barrier();
  a.out[i] = tile[thread()] + a.in[i];
}
KERNEL(clean_copies) {  // uninitialised values are copied, and decide nothing
  __shared__ float tile[threads];
  const int i = global_id();
  if (i >= a.n) return;
  tile[thread()] = a.never[i];
  my_group_barrier();
  const float x = tile[thread()];
  a.never[i] = x;
  a.out[i] = i < a.n ? a.in[i] : x;
}
KERNEL(clean_bytes) {  // unaligned pairs of bytes, which the compiler may merge to words
  __shared__ unsigned char bytes[4 * threads + 8];
  unsigned char* p = bytes + 4 * thread() + (a.indices[0] == 0);
  p[0] = 1, p[1] = 2, p[2] = 3, p[3] = 4;
  my_group_barrier();
  if (block() == 0) a.out[thread()] = static_cast<float>(p[0] + p[1] + p[2] + p[3]);
}
KERNEL(clean_shuffle) {
  float x = a.in[global_id() % a.n];
  for (int step = 32; step > 0; step /= 2)
    x += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane_id() ^ step) * 4, __builtin_bit_cast(int, x)));
  if (global_id() < a.n) a.out[global_id()] = x;
}
KERNEL(clean_same_value) {  // every block stores the same value
  a.out[0] = 7;
}
KERNEL(bank_conflicts) {
  __shared__ float tile[64 * 32];
  const int i = thread() % 64, k = thread() / 64;
  for (int s = k; s < 32; s += 2) tile[s * 64 + i] = a.in[s + i];
  my_group_barrier();
  if (block() == 0) a.out[thread()] = tile[(thread() % 64) * 32 % 2048 + k];  // CONFLICTS
}

namespace {
struct entry {
  const char* name;
  void (*kernel)(arguments);
};
#define ENTRY(name) {#name, name}
constexpr entry kernels[] = {ENTRY(store_after_end),
                             ENTRY(load_before_start),
                             ENTRY(store_far_away),
                             ENTRY(atomic_after_end),
                             ENTRY(lds_after_end),
                             ENTRY(dynamic_lds_too_small),
                             ENTRY(scratch_out_of_bounds),
                             ENTRY(read_before_barrier),
                             ENTRY(write_before_barrier),
                             ENTRY(all_waves_write),
                             ENTRY(uninitialised_lds),
                             ENTRY(uninitialised_lds_bytes),
                             ENTRY(uninitialised_global),
                             ENTRY(uninitialised_index),
                             ENTRY(uninitialised_branch),
                             ENTRY(uninitialised_counter),
                             ENTRY(uninitialised_local),
                             ENTRY(uninitialised_lds_copy),
                             ENTRY(equal_values_race),
                             ENTRY(variable_after_end),
                             ENTRY(trap_in_function),
                             ENTRY(blocks_write_one_element),
                             ENTRY(read_of_neighbour_block),
                             ENTRY(missing_fence),
                             ENTRY(barrier_in_branch),
                             ENTRY(different_barriers),
                             ENTRY(inactive_shuffle),
                             ENTRY(missing_wait),
                             ENTRY(misaligned_atomic),
                             ENTRY(failed_assertion),
                             ENTRY(endless_loop),
                             ENTRY(freed_buffer),
                             ENTRY(clean_reduction),
                             ENTRY(clean_early_exit),
                             ENTRY(clean_copies),
                             ENTRY(clean_bytes),
                             ENTRY(clean_shuffle),
                             ENTRY(clean_same_value),
                             ENTRY(bank_conflicts)};

template <class T>
T* device(std::size_t count, const std::vector<T>& from) {
  void* p = nullptr;
  (void)hipMalloc(&p, count * sizeof(T));
  if (!from.empty()) (void)hipMemcpy(p, from.data(), count * sizeof(T), hipMemcpyHostToDevice);
  return static_cast<T*>(p);
}
/// Mistakes of the host; false: it is none of these.
bool host_mistake(const std::string& name, const arguments& a, std::vector<float>& host) {
  if (name == "copy_too_long") {
    (void)hipMemcpy(a.out, host.data(), (n + 1) * sizeof(float), hipMemcpyHostToDevice);
  } else if (name == "copy_back_too_long") {
    (void)hipMemcpy(host.data(), a.in, (n + 1) * sizeof(float), hipMemcpyDeviceToHost);
  } else if (name == "set_too_long") {
    (void)hipMemset(a.counter, 0, 8);
  } else if (name == "double_free") {
    float* p = device<float>(4, {});
    (void)hipFree(p);
    (void)hipFree(p);
  } else if (name == "block_too_large") {
    clean_same_value<<<1, 2048>>>(a);
  } else if (name == "never_freed") {
    device<float>(16, {});
  } else if (name == "copy_of_nothing") {
    (void)hipMemcpy(host.data(), a.never, 16, hipMemcpyDeviceToHost);
  } else if (name == "texture") {
    hipArray* array = nullptr;
    hipChannelFormatDesc format{};
    (void)hipMallocArray(&array, &format, 4, 4, 0);
  } else {
    return false;
  }
  return true;
}
}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  std::vector<float> in(n), host(size);
  std::vector<int> indices(size);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 97);
  for (int i = 0; i < size; ++i) indices[i] = i;
  arguments a{};
  a.out = device<float>(n, std::vector<float>(n)), a.in = device<float>(n, in), a.never = device<float>(n, {});
  a.counter = device<int>(1, std::vector<int>(1)), a.indices = device<int>(size, indices), a.n = n;
  if (!host_mistake(name, a, host)) {
    const entry* found = nullptr;
    for (const entry& e : kernels)
      if (name == e.name) found = &e;
    if (!found) return std::fprintf(stderr, "there is no '%s'\n", name.c_str()), 3;
    if (name == "freed_buffer") (void)hipFree(a.never);
    const std::size_t lds = name == "dynamic_lds_too_small" ? 64 : 0;
    found->kernel<<<blocks, threads, lds>>>(a);
    (void)hipMemcpy(host.data(), a.out, n * sizeof(float), hipMemcpyDeviceToHost);
    if (name == "clean_reduction") std::printf("sum %g\n", host[blocks]);
    if (name == "freed_buffer") a.never = nullptr;
  }
  for (void* p : {static_cast<void*>(a.out), static_cast<void*>(a.never), static_cast<void*>(const_cast<float*>(a.in)),
                  static_cast<void*>(a.counter), static_cast<void*>(a.indices)})
    (void)hipFree(p);
}
