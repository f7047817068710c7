// SPDX-License-Identifier: MIT
// Hopper's barriers, TMA copies and counters in global memory, in PTX. docs/machine.md is their contract.
#pragma once

#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/machine/exec/nvptx/machine.hpp>

namespace tilewright::exec::inline nvptx {

TILEWRIGHT_HD unsigned lds_address(lds_pointer p) { return static_cast<unsigned>(__cvta_generic_to_shared(p.address)); }

struct mbarrier {
  static constexpr index_t bytes = 8;  ///< of an mbarrier in LDS; aligned to as many
  unsigned address;                    ///< byte in the block's LDS

  TILEWRIGHT_HD void init(index_t arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals));
  }
  TILEWRIGHT_HD void invalidate() const {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address) : "memory");
  }
  TILEWRIGHT_HD void wait(unsigned parity) const {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
  TILEWRIGHT_HD void wait_together(unsigned parity) const {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "vote.sync.all.pred done, done, 0xffffffff;\n"
        "@!done bra again;}" ::"r"(address),
        "r"(parity)
        : "memory");
  }
  TILEWRIGHT_HD void arrive_and_expect(index_t bytes_to_come) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes_to_come)
                 : "memory");
  }
  TILEWRIGHT_HD void arrive() const {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
  }
  TILEWRIGHT_HD void arrive_if(bool arrives) const {
    asm volatile(
        "{.reg .pred arrives;\n"
        "setp.ne.b32 arrives, %1, 0;\n"
        "@arrives mbarrier.arrive.shared::cta.b64 _, [%0];}" ::"r"(address),
        "r"(index_t(arrives))
        : "memory");
  }
  TILEWRIGHT_HD void arrive_after_copies() const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address) : "memory");
  }
  TILEWRIGHT_HD void arrive_at(index_t block_of_cluster) const {
    asm volatile(
        "{.reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(address),
        "r"(block_of_cluster)
        : "memory");
  }
};

TILEWRIGHT_HD void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
TILEWRIGHT_HD void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
TILEWRIGHT_HD void fence_async_proxy_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

template <index_t Threads>
TILEWRIGHT_HD void named_sync(index_t id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(Threads) : "memory");
}
template <index_t Threads>
TILEWRIGHT_HD void named_arrive(index_t id) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "n"(Threads) : "memory");
}
TILEWRIGHT_HD void cluster_sync() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
TILEWRIGHT_HD void cluster_sync_lds() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
template <class V>
TILEWRIGHT_HD void lds_store_in(index_t block_of_cluster, lds_pointer p, index_t byte_offset, const V& value) {
  static_assert(sizeof(V) == 4, "lds_store_in: values of 4 bytes go to other blocks");
  asm volatile(
      "{.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "st.shared::cluster.b32 [there], %2;}" ::"r"(lds_address(p + byte_offset)),
      "r"(block_of_cluster), "r"(bit_cast<unsigned>(value))
      : "memory");
}
template <class V>
TILEWRIGHT_HD void lds_store_in(index_t block_of_cluster, lds_pointer p, index_t byte_offset, const V& value,
                                mbarrier done) {
  static_assert(sizeof(V) == 4, "lds_store_in: values of 4 bytes go to other blocks");
  asm volatile(
      "{.reg .b32 there, done;\n"
      "mapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 done, %1, %2;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %3, [done];}" ::"r"(
          lds_address(p + byte_offset)),
      "r"(done.address), "r"(block_of_cluster), "r"(bit_cast<unsigned>(value))
      : "memory");
}
TILEWRIGHT_HD index_t num_blocks() { return index_t(gridDim.x); }
TILEWRIGHT_HD index_t block_of_cluster() {
  index_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

TILEWRIGHT_HD void prefetch_to_l2(const void* from, index_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
TILEWRIGHT_HD void prefetch(const tensor_map& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }
TILEWRIGHT_HD void tma_load(unsigned lds, const tensor_map& map, mbarrier done, index_t x, index_t y, index_t z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"(y), "r"(z)
      : "memory");
}
TILEWRIGHT_HD void tma_load_multicast(unsigned lds, const tensor_map& map, mbarrier done, unsigned blocks, index_t x,
                                      index_t y, index_t z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4, %5}], "
      "[%2], %6;" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"(y), "r"(z), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}
TILEWRIGHT_HD void tma_store(const tensor_map& map, unsigned lds, index_t x, index_t y, index_t z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(lds), "r"(x), "r"(y), "r"(z)
               : "memory");
}

// Rows of a ragged map: machine/exec/nvptx/make_tensor_map.hpp says why these coordinates are row `row`, outside from
// `end` on.
TILEWRIGHT_HD void tma_load(unsigned lds, const ragged_tensor_map& map, mbarrier done, index_t x, index_t row,
                            index_t end) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"((1 << 30) - end + row), "r"(end), "r"(1 << 30)
      : "memory");
}
TILEWRIGHT_HD void tma_load_multicast(unsigned lds, const ragged_tensor_map& map, mbarrier done, unsigned blocks,
                                      index_t x, index_t row, index_t end) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4, %5, %6}], [%2], %7;" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(x), "r"((1 << 30) - end + row), "r"(end), "r"(1 << 30),
      "h"(static_cast<unsigned short>(blocks))
      : "memory");
}
TILEWRIGHT_HD void tma_store(const ragged_tensor_map& map, unsigned lds, index_t x, index_t row, index_t end) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(lds), "r"(x), "r"((1 << 30) - end + row), "r"(end), "r"(1 << 30)
               : "memory");
}
TILEWRIGHT_HD void tma_load(unsigned lds, const tensor_map& map, mbarrier done, const multi_index<5>& at) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, "
      "%7}], [%2];" ::"r"(lds),
      "l"(&map), "r"(done.address), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
      : "memory");
}
TILEWRIGHT_HD void tma_store(const tensor_map& map, unsigned lds, const multi_index<5>& at) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
      "r"(lds), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
      : "memory");
}
TILEWRIGHT_HD void tma_reduce_add(float* to, unsigned lds, index_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(lds),
               "r"(bytes)
               : "memory");
}
TILEWRIGHT_HD void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <index_t Pending>
TILEWRIGHT_HD void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

template <index_t Pending>
TILEWRIGHT_HD void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

TILEWRIGHT_HD void set_flag(unsigned* flag, unsigned n) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(n) : "memory");
}
TILEWRIGHT_HD void add_to_flag(unsigned* flag, unsigned n) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(flag), "r"(n) : "memory");
}
/// Acquires only once: each acquire invalidates the L1 cache.
TILEWRIGHT_HD bool wait_for_flag(const unsigned* flag, unsigned n, index_t timeout_ms) {
  unsigned now;
  long_index_t start = 0, time;
  for (;;) {
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(flag) : "memory");
    if (index_t(now - n) >= 0) break;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    if (start == 0) start = time;
    if (time - start > timeout_ms * long_index_t{1000000}) return false;
    asm volatile("nanosleep.u32 50;");
  }
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];\nfence.proxy.async.global;" : "=r"(now) : "l"(flag) : "memory");
  return true;
}

template <index_t Registers>
TILEWRIGHT_HD void warpgroup_reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <index_t Registers>
TILEWRIGHT_HD void warpgroup_reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
TILEWRIGHT_HD void grid_dependency_launch() {
  if constexpr (arch::current::value.has_wgmma) asm volatile("griddepcontrol.launch_dependents;");
}
TILEWRIGHT_HD void grid_dependency_wait() {
  if constexpr (arch::current::value.has_wgmma) asm volatile("griddepcontrol.wait;" ::: "memory");
}

TILEWRIGHT_HD void guarantee_same_bits() {}
TILEWRIGHT_HD void guarantee_reset(const unsigned*) {}

TILEWRIGHT_HD void add_release(unsigned* counter, unsigned n) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(n) : "memory");
}
TILEWRIGHT_HD void wait_for_count(const unsigned* counter, unsigned n) {
  unsigned now;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  } while (now != n);
}
/// Past the L1 cache, which is not coherent between SMs.
TILEWRIGHT_HD void store_to_l2(float* to, const array<float, 4>& values) {
  asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(values[0]), "f"(values[1]), "f"(values[2]),
               "f"(values[3])
               : "memory");
}
TILEWRIGHT_HD array<float, 4> load_from_l2(const float* from) {
  array<float, 4> values;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(values[0]), "=f"(values[1]), "=f"(values[2]), "=f"(values[3])
               : "l"(from)
               : "memory");
  return values;
}
TILEWRIGHT_HD void fence_operand(float& value) { asm volatile("" : "+f"(value)::"memory"); }

}  // namespace tilewright::exec::inline nvptx
