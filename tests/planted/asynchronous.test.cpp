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
};

template <std::size_t N>
void expect_pairs(const pair (&pairs)[N]) {
  for (const pair& p : pairs) {
    for (const std::uint64_t seed : seeds()) {
      const auto fault = [&](bool is_right) {
        return fault_of([&](world& w) { p.run(w, is_right); }, sm90, p.launch, seed, seed == 0);
      };
      const std::string wrong = fault(false);
      EXPECT_TRUE(holds_one_of(wrong, p.sentence)) << p.name << ", seed " << seed << ": " << wrong;
      EXPECT_EQ(fault(true), "") << p.name << ", right form, seed " << seed;
    }
  }
}

TEST(Asynchronous, GlobalMemory) { expect_pairs(global_memory); }

}  // namespace
}  // namespace tilewright::planted
