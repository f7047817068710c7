// SPDX-License-Identifier: MIT
// Kernels in a wrong and in the right form, which differ in one call or its arguments: what Hopper does asynchronously.
#include "planted.hpp"

namespace tilewright::planted {
namespace {

struct pair {
  const char* name;
  const char* sentence;  // of the wrong form, in every order of the threads
  void (*run)(world&, bool is_right);
  shape launch = {};
};

/// Box `number` of the map, from byte 1024 on of LDS, which all threads write.
void fill_box(call_site where = {}) {
  const exec::call_scope scope(where);
  write_box();
  exec::fence_async_proxy();
  exec::block_sync();
}
void store_box_at(const world& w, index_t row, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::tma_store(w.map, 1024, 0, row, 0);
}

const pair global_memory[] = {
    {"a box that its thread has stored is read after the wait for its LDS only",
     "may not have written yet: tma_store_wait<0>() is missing",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() == 0) {
         store_box(w);
         is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
       }
       exec::block_sync();
       read(w, thread() * 4);
     }},
    {"the thread itself reads what its store has not written", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       store_box(w);
       exec::tma_store_wait_read<0>();
       if (is_right) exec::tma_store_wait<0>();
       read(w, 0);
       exec::tma_store_wait<0>();
     }},
    {"a wait that leaves the group in flight", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       store_box(w);
       store_box_at(w, 16);
       exec::tma_store_commit();
       is_right ? exec::tma_store_wait<1>() : exec::tma_store_wait<2>();
       read(w, 0);
       exec::tma_store_wait<0>();
     }},
    {"a box that another thread stores, too, is overwritten when one store has read it",
     "that reads there was waited for|that a TMA copy read|with no barrier between",
     [](world& w, bool is_right) {
       fill_box();
       const bool is_first = thread() == 0, is_second = thread() == 32;
       if (is_first || is_second) {
         store_box_at(w, is_first ? 0 : 16);
         exec::tma_store_commit();
         exec::tma_store_wait<0>();
       }
       if (is_right) exec::named_sync<64>(1 + thread() / 64);
       if (is_second) store(1024);
     }},
    {"a number is overwritten when two of its three readers have arrived", "with no barrier between",
     [](world& w, bool is_right) {
       const exec::mbarrier is_read = barrier(is_right ? 3 : 2);
       if (exec::lane_id() != 0) return;
       if (exec::wave_id() < 3) {
         read(w, 0);
         if (is_right || exec::wave_id() > 0) is_read.arrive();
       } else {
         is_read.wait(0);
         write(w, 0, 77);
       }
     }},
    {"a counter is released before the box is in memory",
     "may not have written yet",
     [](world& w, bool is_right) {
       if (exec::block_id().x == 0) {
         fill_box();
         if (thread() != 0) return;
         store_box(w);
         is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
         exec::add_release(w.counters, 1);
       } else {
         if (thread() == 0) exec::wait_for_count(w.counters, 1);
         exec::block_sync();
         read(w, thread() * 4);
       }
     },
     {.blocks = 2}},
    {"one thread of a block acquires, the others do not wait for it",
     "nothing orders these blocks",
     [](world& w, bool is_right) {
       if (exec::block_id().x == 0) {
         write(w, thread() * 4);
         exec::block_sync();
         if (thread() == 0) exec::add_release(w.counters, 1);
       } else {
         if (thread() == 0) exec::wait_for_count(w.counters, 1);
         if (is_right) exec::named_sync<128>(1);
         read(w, thread() * 4);
       }
     },
     {.blocks = 2}},
    {"a counter is released before all waves have written",
     "nothing orders these blocks",
     [](world& w, bool is_right) {
       if (exec::block_id().x == 0) {
         write(w, thread() * 4);
         if (is_right) exec::named_sync<128>(1);
         if (thread() == 127) exec::add_release(w.counters, 1);
       } else {
         if (thread() == 0) exec::wait_for_count(w.counters, 1);
         exec::block_sync();
         read(w, thread() * 4);
       }
     },
     {.blocks = 2}},
    {"two stores of one group to one box", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       store_box_at(w, 0);
       store_box_at(w, is_right ? 16 : 8);
       exec::tma_store_commit();
       exec::tma_store_wait_read<0>();
     }},
    {"two stores of two groups to one box", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       store_box(w);
       is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
       store_box(w);
       exec::tma_store_wait_read<0>();
     }},
    {"a box is loaded while its store may not have written", "may not have written yet",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       for (index_t i = 0; i < 4; ++i) store(1024 + i * 512 + thread() * 4, 1);
       exec::fence_async_proxy();
       exec::block_sync();
       if (thread() != 0) return;
       store_box(w);
       is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
       load_box(w, b);
       b.wait(0);
       exec::tma_store_wait<0>();
     }},
    {"a box is stored over what a load in flight reads", "that a TMA load read",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       for (index_t i = 0; i < 4; ++i) store(4096 + i * 512 + thread() * 4, 1);
       exec::fence_async_proxy();
       exec::block_sync();
       if (thread() != 0) return;
       load_box(w, b);
       if (is_right) b.wait(0);
       exec::tma_store(w.map, 4096, 0, 0, 0);
       exec::tma_store_commit();
       exec::tma_store_wait_read<0>();
       b.wait(0);
     }},
    {"TMA loads what the threads of its block wrote without a proxy fence",
     "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       write(w, thread() * 4);
       is_right ? exec::fence_async_proxy_global() : exec::fence_async_proxy();
       exec::block_sync();
       if (thread() != 0) return;
       load_box(w, b);
       b.wait(0);
     }},
    {"TMA loads what its own thread wrote without a proxy fence", "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (thread() != 0) return;
       write(w, 0);
       if (is_right) exec::fence_async_proxy_global();
       load_box(w, b);
       b.wait(0);
     }},
    {"a fence before the writes of other threads", "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       write(w, thread() * 4);
       if (!is_right && thread() == 0) exec::fence_async_proxy_global();
       exec::block_sync();
       if (thread() != 0) return;
       if (is_right) exec::fence_async_proxy_global();
       load_box(w, b);
       b.wait(0);
     }},
    {"TMA loads what another block wrote, after an acquire",
     "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       if (exec::block_id().x == 0) {
         write(w, thread() * 4);
         exec::block_sync();
         if (thread() == 0) exec::add_release(w.counters, 1);
       } else {
         const exec::mbarrier b = barrier(1);
         if (thread() != 0) return;
         exec::wait_for_count(w.counters, 1);
         if (is_right) exec::fence_async_proxy_global();
         load_box(w, b);
         b.wait(0);
       }
     },
     {.blocks = 2}},
    {"the block that writes for another block's TMA has no proxy fence",
     "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       if (exec::block_id().x == 0) {
         write(w, thread() * 4);
         if (is_right) exec::fence_async_proxy_global();
         exec::block_sync();
         if (thread() == 0) exec::add_release(w.counters, 1);
       } else {
         const exec::mbarrier b = barrier(1);
         if (thread() != 0) return;
         exec::wait_for_count(w.counters, 1);
         load_box(w, b);
         b.wait(0);
       }
     },
     {.blocks = 2}},
    {"TMA stores over what a thread wrote without a proxy fence", "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       write(w, 128);
       if (is_right) exec::fence_async_proxy_global();
       store_box(w);
       exec::tma_store_wait_read<0>();
     }},
    {"TMA adds to what a thread has set to zero without a proxy fence", "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       write(w, 256, 0.0f);
       if (is_right) exec::fence_async_proxy_global();
       for (int i = 0; i < 2; ++i) exec::tma_reduce_add(reinterpret_cast<float*>(w.numbers) + 64, 1024, 64);
       exec::tma_store_commit();
       exec::tma_store_wait_read<0>();
     }},
    {"sums are read before TMA has added to them", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() == 0) {
         exec::tma_reduce_add(reinterpret_cast<float*>(w.numbers) + 64, 1024, 64);
         exec::tma_store_commit();
         is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
       }
       exec::block_sync();
       read(w, 256);
     }},
    {"TMA loads sums of its block's threads without a proxy fence", "without a fence_async_proxy_global() between",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), thread() * 4, 1);
       if (is_right) exec::fence_async_proxy_global();
       exec::block_sync();
       if (thread() != 0) return;
       load_box(w, b);
       b.wait(0);
     }},
    {"a box is stored over sums that TMA adds to in the same group", "may not have written yet",
     [](world& w, bool is_right) {
       fill_box();
       if (thread() != 0) return;
       exec::tma_reduce_add(reinterpret_cast<float*>(w.numbers) + 64, 1024, 64);
       store_box_at(w, is_right ? 16 : 0);
       exec::tma_store_commit();
       exec::tma_store_wait<0>();
     }},
};

const pair barriers[] = {
    {"a store over a barrier that is in use", "over the barrier in LDS byte 0",
     [](world&, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) b.arrive();
       b.wait(0);
       exec::block_sync();
       if (thread() != 0) return;
       if (is_right) b.invalidate();
       store(4, 7);
     }},
    {"a 16-byte store over the end of a barrier in use", "over the barrier in LDS byte 0",
     [](world&, bool is_right) {
       barrier(1);
       if (thread() == 5) store(is_right ? 16 : 0, four{});
     }},
    {"a box over a barrier that is in use", "over the barrier in LDS byte 2048",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       const exec::mbarrier other{b.address + (is_right ? 4096u : 2048u)};
       if (thread() != 0) return;
       other.init(1);
       exec::fence_barrier_init();
       load_box(w, b);
       b.wait(0);
     }},
    {"a barrier is initialised again while it is in use", "that is in use: call invalidate() first",
     [](world&, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) b.arrive();
       b.wait(0);
       exec::block_sync();
       if (thread() == 0) {
         if (is_right) b.invalidate();
         b.init(2);
       }
     }},
    {"a box for two blocks, one of which may not have initialised its barrier",
     "a cluster_sync() is missing|where no thread has initialised one",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (is_right || exec::block_of_cluster() == 1) exec::cluster_sync();
       if (thread() == 0 && exec::block_of_cluster() == 1) b.arrive_and_expect(2048);
       if (thread() == 0 && exec::block_of_cluster() == 0) {
         b.arrive_and_expect(2048);
         exec::tma_load_multicast(1024, w.map, b, 3, 0, 0, 0);
       }
       if (!is_right && exec::block_of_cluster() == 0) exec::cluster_sync();
       b.wait(0);
       exec::cluster_sync();
     },
     {.blocks = 2, .cluster = 2}},
    {"one thread uses a barrier for its copy that another one initialises",
     "that another thread initialises, with no barrier between|where no thread has initialised one",
     [](world& w, bool is_right) {
       const exec::mbarrier b{exec::lds_address(lds())};
       if (thread() == 0) {
         b.init(1);
         exec::fence_barrier_init();
         b.arrive_and_expect(2048);
       }
       if (is_right) exec::block_sync();
       if (thread() == 64) exec::tma_load(1024, w.map, b, 0, 0, 0);
       exec::block_sync();
       b.wait(0);
     }},
    {"an arrival at a barrier of another block that may not be initialised",
     "with no barrier between|where no thread has initialised one",
     [](world&, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (is_right) exec::cluster_sync();
       if (thread() == 0) b.arrive_at(1 - exec::block_of_cluster());
       b.wait(0);
       exec::cluster_sync();
     },
     {.blocks = 2, .cluster = 2}},
    {"one thread releases a stage that all waves wait for", "may take one",
     [](world&, bool is_right) {
       const exec::mbarrier full = barrier(1), empty{full.address + 8};
       if (thread() == 0) empty.init(1);
       exec::block_sync();
       for (unsigned i = 0; i < 4; ++i) {
         if (thread() == 0) {
           empty.wait(~i & 1);
           full.arrive();
         }
         if (exec::wave_id() == 0) continue;
         full.wait(i & 1);
         is_right ? exec::named_sync<96>(1) : exec::wave_sync();
         if (thread() == 32) empty.arrive();
       }
     }},
    {"a wave that is late finds a phase of the same parity", "may take one",
     [](world&, bool is_right) {
       const exec::mbarrier full = barrier(1), empty{full.address + 8};
       if (thread() == 0) empty.init(1);
       exec::block_sync();
       for (unsigned i = 0; i < 2; ++i) {
         if (thread() == 0) {
           empty.wait(~i & 1);
           full.arrive();
         }
         if (exec::wave_id() == 0) continue;
         if (exec::lane_id() == 0) full.wait(i & 1);
         if (is_right) exec::named_sync<96>(1);
         if (thread() == 32) empty.arrive();
       }
     }},
    {"a wave waits for every second phase only", "may take one",
     [](world&, bool is_right) {
       const exec::mbarrier full = barrier(1), empty{full.address + 8};
       if (thread() == 0) empty.init(2);
       exec::block_sync();
       for (unsigned i = 0; i < 4; ++i) {
         if (thread() == 0) {
           empty.wait(~i & 1);
           full.arrive();
         }
         if (thread() != 32 && thread() != 64) continue;
         if (thread() == 32 || is_right || i % 2 == 1) full.wait(i & 1);
         empty.arrive();
       }
     }},
    {"a number is stored in a block that may not have started",
     "which may not have started: a cluster_sync() is missing",
     [](world&, bool is_right) {
       const exec::lds_pointer mine = lds();
       if (is_right) exec::cluster_sync();
       exec::lds_store_in(1 - exec::block_of_cluster(), mine, thread() * 4, 1);
       exec::cluster_sync();
     },
     {.blocks = 2, .cluster = 2}},
    {"a number for another block over that block's barrier",
     "over the barrier in LDS byte 0",
     [](world&, bool is_right) {
       const exec::mbarrier b = barrier(1);
       exec::cluster_sync();
       if (thread() == 0) exec::lds_store_in(1 - exec::block_of_cluster(), all_of_lds(), is_right ? 64 : 4, 1);
       exec::cluster_sync_lds();
       if (thread() == 0) b.arrive();
       b.wait(0);
     },
     {.blocks = 2, .cluster = 2}},
    {"a copy of a thread over a barrier in use", "over the barrier in LDS byte 0",
     [](world& w, bool is_right) {
       barrier(1);
       if (thread() == 5) copy(w, 0, is_right ? 64 : 4);
       exec::async_wait();
     }},
    {"a consumer begins with the parity of the phase before the first",
     "before the copy by thread 0|which no thread has written before",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) load_box(w, b);
       if (exec::wave_id() == 1) {
         b.wait(is_right ? 0 : 1);
         load(1024 + exec::lane_id() * 4);
       }
       b.wait(0);
     }},
    {"a lane has sent nothing to another block's barrier",
     "of block (1, 0, 0) waits forever at a barrier in LDS (here), where 0 of 1 arrivals and 4 bytes are missing",
     [](world&, bool is_right) {
       const exec::mbarrier b = barrier(1);
       exec::cluster_sync();
       const index_t other = 1 - exec::block_of_cluster(), sent = is_right || other == 0 ? 128 : 127;
       if (thread() == 0) b.arrive_and_expect(512);
       if (thread() < sent) exec::lds_store_in(other, all_of_lds(), 512 + thread() * 4, 1, b);
       b.wait(0);
       exec::cluster_sync();
     },
     {.blocks = 2, .cluster = 2}},
    {"bytes are missing at the barrier of another block",
     "of block (1, 0, 0) waits forever at a barrier in LDS (here), where 0 of 1 arrivals and 2048 bytes are missing",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(1);
       exec::cluster_sync();
       if (thread() == 0) b.arrive_and_expect(2048);
       if (thread() == 0 && exec::block_of_cluster() == 0)
         exec::tma_load_multicast(1024, w.map, b, is_right ? 3 : 1, 0, 0, 0);
       b.wait(0);
       exec::cluster_sync();
     },
     {.blocks = 2, .cluster = 2}},
};

/// c of 64 x 16 float accumulators and operands of zeros in LDS.
constexpr unsigned long long zeros_in_lds = 3ull << 62 | 256ull / 16 << 32 | 1024 / 16;
void clear_operands(call_site where = {}) {
  const exec::call_scope scope(where);
  lds();
  for (index_t i = 0; i < 7; ++i) store(1024 + i * 1024 + thread() * 8, array<int, 2>{});
  exec::fence_async_proxy();
  exec::block_sync();
}
void start_wgmma(float* c, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::wgmma_fence();
  exec::wgmma<16, half_t, false, false>(c, zeros_in_lds, zeros_in_lds, false);
  exec::wgmma_commit();
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
constexpr const char* unset = "registers that nothing has set";

const pair elsewhere[] = {
    {"accumulators are stored as they were before the wait", "that it has read before it waited",
     [](world& w, bool is_right) {
       clear_operands();
       float c[8] = {};
       start_wgmma(c);
       if (is_right) exec::wgmma_wait<0>();
       const float early = c[3] * 0.5f;
       exec::wgmma_wait<0>();
       write(w, thread() * 4, early);
     }},
    {"rounded accumulators are stored as they were before the wait", "that it has read before it waited",
     [](world&, bool is_right) {
       clear_operands();
       float c[8] = {};
       start_wgmma(c);
       if (is_right) exec::wgmma_wait<0>();
       array<unsigned, 4> words{};
       for (index_t i = 0; i < 4; ++i) words[i] = exec::round_pair<half_t>(c[2 * i] + 1, c[2 * i + 1] + 1);
       exec::wgmma_wait<0>();
       exec::stmatrix_x4({}, 1024 + thread() % 32 * 16 + exec::wave_id() * 512, words);
     }},
    {"a row's sum of accumulators before the wait is shuffled", "that it has read before it waited",
     [](world&, bool is_right) {
       clear_operands();
       float c[8] = {};
       start_wgmma(c);
       if (is_right) exec::wgmma_wait<0>();
       exec::shuffle(c[0] + c[1], thread() % 32 ^ 1);
       exec::wgmma_wait<0>();
     }},
    {"the larger accumulator before the wait is stored", "that it has read before it waited",
     [](world& w, bool is_right) {
       clear_operands();
       float c[8] = {};
       start_wgmma(c);
       if (is_right) exec::wgmma_wait<0>();
       const float larger = c[0] > c[1] ? c[0] : c[1];
       exec::wgmma_wait<0>();
       write(w, thread() * 4, larger);
     }},
    {"accumulators are multiplied as they were before the wait", "that it has read before it waited",
     [](world&, bool is_right) {
       clear_operands();
       float c[8] = {}, d[8] = {};
       start_wgmma(c);
       if (is_right) exec::wgmma_wait<0>();
       unsigned words[4];
       for (index_t i = 0; i < 4; ++i) words[i] = exec::round_pair<half_t>(c[2 * i], c[2 * i + 1]);
       exec::wgmma_fence();
       exec::wgmma<16, half_t, false>(d, words, zeros_in_lds, false);
       exec::wgmma_commit();
       exec::wgmma_wait<0>();
     }},
    {"sums that nothing has set are added to and stored", unset,
     [](world& w, bool is_right) {
       array<float, 4> sums;
       if (is_right) sums = {};
       for (index_t i = 0; i < 4; ++i) sums[i] += float(i);
       write(w, thread() * 16, sums);
     }},
    {"sums that nothing has set are written to LDS", unset,
     [](world&, bool is_right) {
       lds();
       vector_t<float, 2> sums;
       if (is_right) sums = {};
       store(thread() * 8, sums);
     }},
    {"a sum that nothing has set is shuffled", unset,
     [](world&, bool is_right) {
       array<float, 1> sum;
       if (is_right) sum = {};
       exec::shuffle(sum[0] + 1, thread() % 32 ^ 1);
     }},
    {"a matrix instruction adds to what nothing has set", unset,
     [](world&, bool is_right) {
       array<float, 4> c;
       if (is_right) c = {};
       const array<half_t, 8> a{};
       exec::mma<arch::matrix_op::mma_m16n8k16_x2>(c.data(), a.data(), a.data());
     }},
    {"wgmma adds to what nothing has set", unset,
     [](world&, bool is_right) {
       clear_operands();
       array<float, 8> c;
       if (is_right) c = {};
       exec::wgmma_fence();
       exec::wgmma<16, half_t, false, false>(c.data(), zeros_in_lds, zeros_in_lds, true);
       exec::wgmma_commit();
       exec::wgmma_wait<0>();
     }},
    {"a copy to LDS is in flight when the kernel ends", "leaves the kernel before its copy to LDS",
     [](world& w, bool is_right) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       if (is_right) exec::async_wait();
     }},
    {"copies to LDS arrive at a barrier that no thread waits for", "leaves the kernel before its copy to LDS",
     [](world& w, bool is_right) {
       const exec::mbarrier b = barrier(128);
       copy(w, thread() * 4, 512 + thread() * 4);
       b.arrive_after_copies();
       if (is_right) b.wait(0);
     }},
    {"warpgroups ask for more registers than an SM has",
     "of the 65536 that an SM has",
     [](world&, bool is_right) { is_right ? exec::warpgroup_reg_alloc<168>() : exec::warpgroup_reg_alloc<240>(); },
     {.threads = 384}},
    {"three consumers ask for more registers than their producer gives back",
     "of the 65536 that an SM has",
     [](world&, bool is_right) {
       if (exec::wave_id() < 4) {
         exec::warpgroup_reg_dealloc<40>();
       } else {
         is_right ? exec::warpgroup_reg_alloc<152>() : exec::warpgroup_reg_alloc<168>();
       }
     },
     {.threads = 512}},
    {"two waves add to a sum in any order, where a kernel promises the same bits",
     "but the kernel promises the same bits in every run",
     [](world& w, bool is_right) {
       exec::guarantee_same_bits();
       for (index_t wave = 0; wave < 2; ++wave) {
         if (thread() == 32 * wave) exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), 0, 1.0f);
         if (is_right) exec::block_sync();
       }
     }},
    {"blocks add floats in an order that nothing fixes",
     "but the kernel promises the same bits in every run",
     [](world& w, bool is_right) {
       if (!is_right) exec::guarantee_same_bits();
       if (thread() == 0) exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), 0, 1.0f);
     },
     {.blocks = 2}},
    {"a counter that blocks have waited for is left as it is, where a kernel promises to reset it",
     "promises to reset a counter in global memory",
     [](world& w, bool is_right) {
       if (thread() != 0) return;
       if (exec::block_id().x == 0) return exec::add_release(w.counters, 1);
       exec::guarantee_reset(w.counters);
       exec::wait_for_count(w.counters, 1);
       if (is_right) *w.counters = 0;
     },
     {.blocks = 2}},
    {"a counter is released before TMA has added, where a kernel promises the same bits",
     "but the kernel promises the same bits in every run|may not have written yet",
     [](world& w, bool is_right) {
       exec::guarantee_same_bits();
       fill_box();
       if (thread() != 0) return;
       exec::wait_for_count(w.counters, unsigned(exec::block_id().x));
       exec::tma_reduce_add(reinterpret_cast<float*>(w.numbers) + 64, 1024, 64);
       exec::tma_store_commit();
       is_right ? exec::tma_store_wait<0>() : exec::tma_store_wait_read<0>();
       exec::add_release(w.counters, 1);
     },
     {.blocks = 2}},
    {"a counter is released before all waves have added, where a kernel promises the same bits",
     "but the kernel promises the same bits in every run",
     [](world& w, bool is_right) {
       exec::guarantee_same_bits();
       fill_box();
       if (thread() == 0) exec::wait_for_count(w.counters, unsigned(exec::block_id().x));
       exec::named_sync<128>(1);
       if (exec::lane_id() == 0) {
         exec::tma_reduce_add(reinterpret_cast<float*>(w.numbers) + 64 + 16 * exec::wave_id(), 1024, 64);
         exec::tma_store_commit();
         exec::tma_store_wait<0>();
       }
       if (is_right) exec::named_sync<128>(1);
       if (thread() == 96) exec::add_release(w.counters, 1);
     },
     {.blocks = 2}},
#if defined(__clang__)
    {"two barriers of the wave in branches on one line", "in another call of this line",
     [](world&, bool is_right) {
       // clang-format off
       if (is_right || thread() % 2 == 0) exec::wave_sync(); else exec::wave_sync();
       // clang-format on
     }},
    {"two shuffles in branches on one line", "in another call of this line",
     [](world&, bool is_right) {
       // clang-format off
       if (is_right || thread() % 2 == 0) exec::shuffle(1, 0); else exec::shuffle(1, 0);
       // clang-format on
     }},
    {"two barriers of the block in branches on one line", "in another call of this line",
     [](world&, bool is_right) {
       // clang-format off
       if (is_right || thread() % 2 == 0) exec::block_sync(); else exec::block_sync();
       // clang-format on
     }},
#endif
};

template <std::size_t N>
void expect_pairs(const pair (&pairs)[N]) {
  for (const pair& p : pairs) {
    for (const std::uint64_t seed : seeds()) {
      const auto fault = [&](bool is_right) {
        return fault_of([&](world& w) { p.run(w, is_right); }, sm90, p.launch, seed, seed == 0);
      };
      const std::string wrong = without_lines(fault(false));
      EXPECT_TRUE(holds_one_of(wrong, p.sentence)) << p.name << ", seed " << seed << ": " << wrong;
      EXPECT_EQ(fault(true), "") << p.name << ", right form, seed " << seed;
    }
  }
}

TEST(Asynchronous, GlobalMemory) { expect_pairs(global_memory); }
TEST(Asynchronous, BarriersInLds) { expect_pairs(barriers); }
TEST(Asynchronous, RegistersCopiesAndSums) { expect_pairs(elsewhere); }

/// A launch of one block of sm_90 that may start before the previous one has ended; "" or the fault's text.
template <class Kernel>
std::string early_launch(world& w, Kernel kernel, std::uint64_t seed = 0, bool overlaps = true) {
  try {
    emulator::launch({.target = sm90,
                      .grid = {2},
                      .block_size = 128,
                      .lds_bytes = planted::lds_bytes,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::on,
                      .schedule_seed = seed,
                      .overlaps_previous = overlaps},
                     [&] { kernel(w); });
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "";
}
void write_mine(world& w, index_t first = 0) { write(w, first + (exec::block_id().x * 128 + thread()) * 4, 5); }
void read_mine(world& w) { read(w, (exec::block_id().x * 128 + thread()) * 4); }

TEST(Asynchronous, EarlyLaunchesWaitForThePreviousKernel) {
  const auto reads = [](world& w) { read_mine(w); };
  const auto waits_and_reads = [](world& w) {
    exec::grid_dependency_wait();
    read_mine(w);
  };
  const auto one_waits = [](world& w) {
    if (thread() == 0) exec::grid_dependency_wait();
    exec::block_sync();
    read_mine(w);
  };
  const auto one_waits_alone = [](world& w) {
    if (thread() == 127) exec::grid_dependency_wait();
    read_mine(w);
  };
  const auto writes = [](world& w) { write_mine(w); };
  const auto writes_elsewhere = [](world& w) { write_mine(w, 4096); };
  const auto loads_box = [](world& w) {
    const exec::mbarrier b = barrier(1);
    if (thread() == 0) load_box(w, b);
    b.wait(0);
  };
  const auto waits_and_loads_box = [&](world& w) {
    exec::grid_dependency_wait();
    loads_box(w);
  };
  const auto adds = [](world& w) { exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), thread() * 4, 1); };
  for (const std::uint64_t seed : seeds()) {
    emulated_world w;
    const auto after = [&](auto first, auto second, bool overlaps = true) {
      EXPECT_EQ(early_launch(w, first, 0, false), "");
      return early_launch(w, second, seed, overlaps);
    };
    const auto is_found = [](const std::string& fault, const char* what) {
      return fault.find(what) != fault.npos && fault.find("without a grid_dependency_wait() before") != fault.npos;
    };
    EXPECT_TRUE(is_found(after(writes, reads), "that the previous kernel wrote"));
    EXPECT_TRUE(is_found(after(reads, writes), "that the previous kernel read"));
    EXPECT_TRUE(is_found(after(writes, writes), "that the previous kernel wrote"));
    EXPECT_TRUE(is_found(after(writes, one_waits_alone), "that the previous kernel wrote"));
    EXPECT_TRUE(is_found(after(writes, loads_box), "that the previous kernel wrote"));
    EXPECT_TRUE(is_found(after(reads, adds), "that the previous kernel read"));
    EXPECT_EQ(after(writes, waits_and_loads_box), "");
    EXPECT_EQ(after(writes, reads, false), "");
    EXPECT_EQ(after(reads, reads), "");
    EXPECT_EQ(after(writes, waits_and_reads), "");
    EXPECT_EQ(after(writes, one_waits), "");
    EXPECT_EQ(after(writes, writes_elsewhere), "");
  }
}

// The end of a kernel that has not waited does not say that the one before it has ended.
TEST(Asynchronous, EarlyLaunchesPassOnWhatTheyHaveNotWaitedFor) {
  for (const bool waits : {false, true}) {
    emulated_world w;
    EXPECT_EQ(early_launch(w, [](world& v) { write_mine(v); }, 0, false), "");
    EXPECT_EQ(early_launch(w,
                           [&](world& v) {
                             if (waits) exec::grid_dependency_wait();
                             write_mine(v, 4096);
                           }),
              "");
    const std::string fault = early_launch(w, [](world& v) {
      exec::grid_dependency_wait();
      read_mine(v);
    });
    EXPECT_EQ(fault.find("for which the previous one has not called grid_dependency_wait()") != fault.npos, !waits)
        << fault;
  }
}

}  // namespace
}  // namespace tilewright::planted
