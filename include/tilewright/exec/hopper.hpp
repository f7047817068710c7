// SPDX-License-Identifier: MIT
// The machine's functions that only Hopper (sm_90) has, and their contract: on the GPU and on the CPU.
#pragma once

//   lds_address(lds_pointer)           the number by which these functions name a place in LDS
//
// Barriers
//   mbarrier{address}                  8 bytes of LDS. A phase ends when all arrivals have been made and all announced
//                                      bytes have arrived
//     init(arrivals)                   arrivals per phase
//     arrive(), arrive_at(block)       here, or at the barrier of the same address in another block of the cluster
//     arrive_after_copies()            once the thread's asynchronous copies so far (async_load_in_group) have arrived
//     arrive_and_expect(bytes)         also announces bytes that copies will bring in this phase
//     wait(parity)                     until the phase of this parity has ended; 1 has ended on a fresh barrier
//   fence_barrier_init()               makes initialised barriers known to the cluster and to copies
//   fence_async_proxy()                makes LDS writes that the thread made or knows of visible to copies and wgmma
//                                      issued after the next barrier
//   named_sync<Threads>(id)            barrier of the first Threads threads that arrive at barrier id, 1 to 15
//   named_arrive<Threads>(id)          arrives there without waiting
//   cluster_sync()                     barrier of the cluster; orders only what fences have made known
//   cluster_sync_lds()                 barrier of the cluster; makes earlier LDS accesses visible in all of its blocks
//   lds_store_in(block, p, offset, value)  4 bytes to the same place in another block of the cluster, which has
//                                      started: cluster_sync() before the first one; cluster_sync_lds() after them
//   lds_store_in(block, p, offset, value, done)  the same; the mbarrier `done` there counts its bytes
//   block_of_cluster(), num_blocks()   the block's number in its cluster; blocks of the grid along x
//
// Copies of a lane
//   async_load_first_bytes<Bytes>(from, n, p, lds_offset)  4, 8 or 16 bytes to LDS, in the open group: the first
//                                      n are those at `from`, a multiple of Bytes, the others zeros
//
// Bulk copies (TMA) of boxes described by a tensor_map; one thread issues them
//   prefetch(map)                      fetches the map ahead of its use
//   prefetch_to_l2(from, bytes)        hints that global memory will be read; both are multiples of 16 bytes
//   bulk_load(lds, map, done, x, y, z) the box at element (x, y, z), zeros outside of the tensor; the mbarrier `done`
//                                      counts its bytes
//   bulk_load_multicast(lds, map, done, blocks, x, y, z)  to the same address in each block of the mask, counted
//                                      by each block's own barrier
//   bulk_store(map, lds, x, y, z)      writes what is inside of the tensor; a row that is no multiple of 16 bytes ends
//                                      with zeros up to the next multiple
//     With a ragged_tensor_map z is the row at which the tensor ends, and y at most 2^30 - 1 more.
//     Of a tensor of five dimensions bulk_load and bulk_store take the position as a multi_index<5>.
//   bulk_add(to, lds, bytes)           adds floats in LDS to floats in global memory, each addition atomic; addresses
//                                      and size are multiples of 16 bytes. A bulk store for the functions below
//   commit_bulk_stores()               ends a group of the thread's stores
//   wait_for_bulk_stores_to_read<n>()  until at most n of the thread's groups have yet to read LDS
//   wait_for_bulk_stores<n>()          until at most n of them have yet to write global memory
//
// Matrix instructions; wgmma is asynchronous and of a warpgroup (four waves)
//   stmatrix_x4<Transposed>(p, offset, words)  [wave] the reverse of ldmatrix_x4
//   round_pair<T>(low, high)           two floats rounded to half_t or bfloat16_t, low in the lower half
//   wgmma<N, T, TransposeA, TransposeB>(c, a, b, accumulate)  c (64 x N, f32) = a (64 x 32 bytes) b (N x 32 bytes),
//                                      added to c if `accumulate`. a and b are descriptors of operands in LDS,
//                                      transposed where contiguous along m or n (16-bit types). Registers of c:
//                                      mma_m16n8k16_x2
//   wgmma<N, T, TransposeB>(c, a, b, accumulate)  the same with a in registers: four words, unchanged until
//                                      wgmma_wait. Registers of a: mma_m16n8k16_x2, of 8-bit types wgmma_k32_b8
//   wgmma_fence()                      orders register and LDS accesses before the wgmmas that follow
//   wgmma_commit()                     ends a group
//   wgmma_wait<n>()                    until at most n groups are in flight
//
// Between blocks and kernels
//   add_release(counter, n)            adds to a counter in global memory; releases what the thread wrote
//   wait_for_count(counter, n)         until it is n; acquires. Wait only for blocks of lower number: they have started
//   set_flag(flag, n)                  writes a flag of any GPU; releases what the thread wrote, except by bulk stores
//   add_to_flag(flag, n)               the same, but adds to it
//   wait_for_flag(flag, n, timeout_ms)  until a flag in this GPU's memory has reached n (modulo 2^32); acquires, for
//                                      bulk copies too; false: it has not in this time
//   store_to_l2(to, values), load_from_l2(from)  four floats, 16-byte aligned, that other blocks read or wrote
//   give_registers_back<n>(), take_registers<n>()  registers per thread from here on; all waves of a warpgroup
//   let_next_kernel_start(), wait_for_previous_kernel()  programmatic dependent launch; nothing on sm_80
//   settle(register)                   a compiler barrier for one register
#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/convert_pair.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/exec/nvptx/hopper.hpp>
#include <tilewright/exec/nvptx/wgmma.hpp>
#elif TILEWRIGHT_CPU_PASS
#include <tilewright/exec/host/hopper.hpp>
#endif

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::exec {
template <class T>
TILEWRIGHT_HD unsigned round_pair(float low, float high) {
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t), "round_pair: the result is half_t or bfloat16_t");
  return tilewright::detail::bits_of_pair<T>(low, high);
}
}  // namespace tilewright::exec
#endif
