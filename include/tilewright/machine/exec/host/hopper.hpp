// SPDX-License-Identifier: MIT
// Hopper's functions on the CPU: the emulator's engines do as late as possible what is asynchronous on the GPU.
#pragma once

#include <tilewright/machine/emulator/hopper/services.hpp>
#include <tilewright/machine/emulator/threads/async_copies.hpp>
#include <tilewright/machine/emulator/threads/memory_scope.hpp>
#include <tilewright/machine/exec/host/machine.hpp>

namespace tilewright::exec::inline host {

namespace detail {
inline emulator::hopper_services& hopper(call_site where) { return self().services->hopper(self(), where); }
}  // namespace detail

inline unsigned lds_address(lds_pointer p) { return unsigned(p.byte); }

struct mbarrier {
  static constexpr index_t bytes = 8;  ///< of an mbarrier in LDS; aligned to as many
  unsigned address;                    ///< byte in the block's LDS

  void init(index_t arrivals, call_site where = {}) const {
    detail::hopper(where).init_barrier(detail::self(), index_t(address), arrivals, where);
  }
  void invalidate(call_site where = {}) const {
    detail::hopper(where).invalidate_barrier(detail::self(), index_t(address), where);
  }
  void wait(unsigned parity, call_site where = {}) const {
    detail::hopper(where).wait(detail::self(), index_t(address), parity, where);
  }
  void wait_together(unsigned parity, call_site where = {}) const { wait(parity, where); }
  void arrive_and_expect(index_t bytes_to_come, call_site where = {}) const {
    detail::hopper(where).arrive(detail::self(), detail::self().rank, index_t(address), bytes_to_come, {nullptr, 0},
                                 where);
  }
  void arrive(call_site where = {}) const { arrive_at(detail::self().rank, where); }
  void arrive_if(bool arrives, call_site where = {}) const {
    if (arrives) arrive(where);
  }
  void arrive_after_copies(call_site where = {}) const {
    emulator::thread_context& self = detail::self();
    const bool notes = self.checks_lds && !self.async_copies.empty();
    const call_site copy = notes ? self.async_copies.back().where : call_site{nullptr, 0};
    emulator::complete_copies(self, self.async_copies.size(), where);
    detail::hopper(where).arrive(self, self.rank, index_t(address), 0, copy, where);
  }
  void arrive_at(index_t block_of_cluster, call_site where = {}) const {
    detail::hopper(where).arrive(detail::self(), block_of_cluster, index_t(address), 0, {nullptr, 0}, where);
  }
};

inline void fence_barrier_init(call_site where = {}) { detail::hopper(where).fence_barrier_init(detail::self()); }
inline void fence_async_proxy(call_site where = {}) { detail::hopper(where).fence_async_proxy(detail::self()); }
inline void fence_async_proxy_global(call_site where = {}) {
  detail::hopper(where).fence_async_proxy_global(detail::self());
}

template <index_t Threads>
void named_sync(index_t id, call_site where = {}) {
  detail::hopper(where).named_barrier(detail::self(), id, Threads, true, where);
}
template <index_t Threads>
void named_arrive(index_t id, call_site where = {}) {
  detail::hopper(where).named_barrier(detail::self(), id, Threads, false, where);
}
inline void cluster_sync(call_site where = {}) { detail::hopper(where).cluster_sync(detail::self(), where); }
inline void cluster_sync_lds(call_site where = {}) {
  detail::hopper(where).fence_barrier_init(detail::self());  // here: what the thread did is known after the barrier
  detail::hopper(where).cluster_sync(detail::self(), where);
}
template <class V>
void lds_store_in(index_t block_of_cluster, lds_pointer p, index_t byte_offset, const V& value, mbarrier done = {~0u},
                  call_site where = {}) {
  static_assert(sizeof(V) == 4, "lds_store_in: values of 4 bytes go to other blocks");
  detail::hopper(where).store_in(detail::self(), block_of_cluster, p.byte + byte_offset, bit_cast<unsigned>(value),
                                 index_t(done.address), where);
}
inline index_t num_blocks() { return detail::self().num_blocks; }
inline index_t block_of_cluster() { return detail::self().rank; }

inline void prefetch(const tensor_map&) {}
inline void prefetch_to_l2(const void* from, index_t bytes, call_site where = {}) {
  if (reinterpret_cast<__UINTPTR_TYPE__>(from) % 16 != 0 || bytes % 16 != 0 || bytes < 0)
    emulator::refuse(detail::self(), "prefetches " + std::to_string(bytes) + " bytes", where,
                     "; size and address must be multiples of 16 bytes");
}
namespace detail {
inline emulator::tma_box box_of(const tensor_map& map, unsigned lds, index_t x, index_t y, index_t z) {
  return {&map, index_t(lds), {x, y, z, 0, 0}, false};
}
inline emulator::tma_box box_of(const ragged_tensor_map& map, unsigned lds, index_t x, index_t row, index_t end) {
  return {&map, index_t(lds), {x, row, end, 0, 0}, true};
}
}  // namespace detail

/// Map: tensor_map or ragged_tensor_map.
template <class Map>
void tma_load_multicast(unsigned lds, const Map& map, mbarrier done, unsigned blocks, index_t x, index_t y, index_t z,
                        call_site where = {}) {
  detail::hopper(where).tma_load(detail::self(), detail::box_of(map, lds, x, y, z), index_t(done.address), blocks,
                                 where);
}
template <class Map>
void tma_load(unsigned lds, const Map& map, mbarrier done, index_t x, index_t y, index_t z, call_site where = {}) {
  tma_load_multicast(lds, map, done, 1u << detail::self().rank, x, y, z, where);
}
inline void tma_load(unsigned lds, const tensor_map& map, mbarrier done, const multi_index<5>& at,
                     call_site where = {}) {
  detail::hopper(where).tma_load(detail::self(), {&map, index_t(lds), {at[0], at[1], at[2], at[3], at[4]}},
                                 index_t(done.address), 1u << detail::self().rank, where);
}
template <class Map>
void tma_store(const Map& map, unsigned lds, index_t x, index_t y, index_t z, call_site where = {}) {
  detail::hopper(where).tma_store(detail::self(), detail::box_of(map, lds, x, y, z), where);
}
inline void tma_store(const tensor_map& map, unsigned lds, const multi_index<5>& at, call_site where = {}) {
  detail::hopper(where).tma_store(detail::self(), {&map, index_t(lds), {at[0], at[1], at[2], at[3], at[4]}}, where);
}
inline void tma_reduce_add(float* to, unsigned lds, index_t bytes, call_site where = {}) {
  detail::hopper(where).tma_reduce_add(detail::self(), to, index_t(lds), bytes, where);
}
inline void tma_store_commit(call_site where = {}) { detail::hopper(where).tma_store_commit(detail::self()); }
template <index_t Pending>
void tma_store_wait_read(call_site where = {}) {
  detail::hopper(where).tma_store_wait(detail::self(), Pending, where);
}
template <index_t Pending>
void tma_store_wait(call_site where = {}) {
  detail::hopper(where).write_bulk_stores(detail::self(), Pending);
}

inline void wgmma_fence(call_site where = {}) { detail::hopper(where).wgmma_fence(detail::self()); }
inline void wgmma_commit(call_site where = {}) { detail::hopper(where).wgmma_commit(detail::self()); }
template <index_t Pending>
void wgmma_wait(call_site where = {}) {
  detail::hopper(where).wgmma_wait(detail::self(), Pending, where);
}
/// Accumulators are NaN until wgmma_wait.
template <index_t N, class T, bool TransposeA, bool TransposeB>
void wgmma(float* c, unsigned long long a_descriptor, unsigned long long b_descriptor, bool accumulate,
           call_site where = {}) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma: n is a multiple of 8 up to 256");
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t) || __is_same(T, fp8_ocp_t),
                "wgmma: the operands are half_t, bfloat16_t or fp8_ocp_t");
  static_assert(sizeof(T) == 2 || (!TransposeA && !TransposeB), "wgmma: operands of 8 bits cannot be transposed");
  detail::hopper(where).wgmma(
      detail::self(), c, nullptr,
      {a_descriptor, b_descriptor, arch::matrix_element_v<T>, N, TransposeA, TransposeB, accumulate}, where);
}

template <index_t N, class T, bool TransposeB>
void wgmma(float* c, const unsigned* a, unsigned long long b_descriptor, bool accumulate, call_site where = {}) {
  static_assert(sizeof(T) == 2 || !TransposeB, "wgmma: operands of 8 bits cannot be transposed");
  detail::hopper(where).wgmma(detail::self(), c, a,
                              {0, b_descriptor, arch::matrix_element_v<T>, N, false, TransposeB, accumulate, true},
                              where);
}

/// Registers of the block's threads must fit the SM.
template <index_t Registers>
void warpgroup_reg_dealloc(call_site where = {}) {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                "warpgroup_reg_dealloc: 24 to 256 registers, a multiple of 8");
  detail::hopper(where).set_registers(detail::self(), Registers, where);
}
template <index_t Registers>
void warpgroup_reg_alloc(call_site where = {}) {
  warpgroup_reg_dealloc<Registers>(where);
}
/// One launch has ended here when the next one starts; accesses before the wait are checked all the same.
inline void grid_dependency_launch() {}
inline void grid_dependency_wait() { detail::self().memory->wait_for_previous_kernel(detail::self()); }
inline void guarantee_same_bits() { detail::self().memory->guarantee_same_bits(); }
inline void guarantee_reset(const unsigned* counter, call_site where = {}) {
  detail::self().memory->guarantee_reset(detail::self(), counter, where);
}

namespace detail {
inline void add_release(unsigned* counter, unsigned n, emulator::memory_scope scope) {
  self().memory->release(self(), counter, scope);
  __atomic_fetch_add(counter, n, __ATOMIC_RELEASE);
}
}  // namespace detail

inline void add_release(unsigned* counter, unsigned n) { detail::add_release(counter, n, emulator::memory_scope::gpu); }
inline void wait_for_count(const unsigned* counter, unsigned n, call_site where = {}) {
  detail::hopper(where).wait_for_count(detail::self(), counter, n, where);
}
inline void set_flag(unsigned* flag, unsigned n) {
  detail::self().memory->release(detail::self(), flag, emulator::memory_scope::system);
  __atomic_store_n(flag, n, __ATOMIC_RELEASE);
}
inline void add_to_flag(unsigned* flag, unsigned n) { detail::add_release(flag, n, emulator::memory_scope::system); }
/// Times out when no other thread can make progress.
inline bool wait_for_flag(const unsigned* flag, unsigned n, index_t, call_site where = {}) {
  return detail::hopper(where).wait_for_flag(detail::self(), flag, n, where);
}
inline void store_to_l2(float* to, const array<float, 4>& values, call_site where = {}) {
  emulator::check_for_poison(detail::self(), values, "stores", where);
  const auto how = emulator::global_touch::write;
  if (detail::checked_address(make_global_buffer(to, sizeof(values)), 0, how, where, &values))
    detail::self().memory->store_late(to, values);
}
inline array<float, 4> load_from_l2(const float* from, call_site where = {}) {
  detail::self().memory->load_late(from);
  return exec::buffer_load<array<float, 4>>(make_global_buffer(from, sizeof(array<float, 4>)), 0, 0, where);
}
inline void fence_operand(float&) {}

}  // namespace tilewright::exec::inline host
