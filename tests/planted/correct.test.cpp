// SPDX-License-Identifier: MIT
// Correct kernels that look wrong, or nearly are: the CPU emulator must stay silent.
#include "tile_mistakes.hpp"

namespace tilewright::planted {
namespace {

const kernel in_lds[] = {
    {"a thread reads what it wrote", "",
     [](world&) {
       lds();
       store(thread() * 4);
       load(thread() * 4);
       store(thread() * 4);
     }},
    {"all read what one wrote", "",
     [](world&) {
       lds();
       if (thread() == 77) store(0);
       exec::block_sync();
       load(0);
     }},
    {"waves reach the barrier at two lines", "",
     [](world&) {
       lds();
       store(thread() * 4);
       if (exec::wave_id() == 0) {
         exec::block_sync();
       } else {
         exec::block_sync();
       }
       load((thread() ^ 64) * 4);
     }},
    {"lanes of a wave exchange after wave_sync", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::wave_sync();
       load((thread() ^ 1) * 4);
     }},
    {"double buffering with one barrier for each step", "",
     [](world&) {
       lds();
       store(thread() * 4);
       for (int i = 1; i < 5; ++i) {
         exec::block_sync();
         store(thread() * 4 + i % 2 * 512);
         load(508 - thread() * 4 + (i - 1) % 2 * 512);
       }
     }},
    {"three stages, waves drift by one step", "",
     [](world&) {
       lds();
       store(thread() * 4);
       store(512 + thread() * 4);
       for (int i = 2; i < 8; ++i) {
         exec::block_sync();
         load(508 - thread() * 4 + (i - 2) % 3 * 512);
         store(thread() * 4 + i % 3 * 512);
       }
     }},
    {"neighbouring bytes of a word by four threads", "",
     [](world&) {
       lds();
       store(thread(), char{1});
       exec::block_sync();
       if (thread() < 32) load(thread() * 4);
     }},
    {"a vector whose words four threads wrote", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_sync();
       if (thread() < 32) load<four>(thread() * 16);
     }},
    {"atomic updates by all threads between two barriers", "",
     [](world&) {
       lds();
       if (thread() == 0) store(0, 0);
       exec::block_sync();
       add(0);
       exec::block_sync();
       exec::expect(load(0) == 128, "sum");
     }},
    {"a reduction whose last steps are one wave's", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_sync();
       for (index_t half = 64; half > 0; half /= 2) {
         if (thread() < half) store(thread() * 4, load(thread() * 4) + load((thread() + half) * 4));
         if (half > 64) exec::block_sync();
         if (half <= 64) exec::wave_sync();
       }
       if (thread() == 0) exec::expect(load(0) == 128, "sum");
     }},
    {"half of the threads only pass the barriers", "",
     [](world&) {
       lds();
       for (int i = 0; i < 3; ++i) {
         if (thread() < 64) store(thread() * 4);
         exec::block_sync();
         if (thread() >= 64) load((thread() - 64) * 4);
         exec::block_sync();
       }
     }},
    {"lanes shuffle in a loop of as many rounds for all", "",
     [](world&) {
       int sum = 1;
       for (index_t d = 1; d < 64; d *= 2) sum += exec::shuffle(sum, exec::lane_id() ^ d);
       exec::expect(sum == 64, "sum");
     }},
    {"waves shuffle different numbers of times", "",
     [](world&) {
       for (index_t i = 0; i < exec::wave_id(); ++i) exec::shuffle(i, 0);
       exec::block_sync();
     }},
    {"the last word of the allocation", "",
     [](world&) {
       lds();
       store(8192 - 512 + thread() * 4);
     }},
    {"threads leave after the last barrier", "",
     [](world&) {
       exec::block_sync();
       if (thread() > 3) return;
       exec::wave_id();
     }},
    {"block_barrier after wait_for_lds", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::wait_for_lds<0>();
       exec::block_barrier();
       load((thread() ^ 64) * 4);
     }},
    {"block_barrier with accesses in flight that only the own wave needs", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_barrier();
       load((thread() ^ 1) * 4);
     }},
    {"block_barrier while the latest read is in flight", "",
     [](world&) {
       lds();
       store(thread() * 4);
       store(512 + thread() * 4);
       exec::block_sync();
       store(1024 + thread() * 4);
       load(512 + thread() * 4);
       exec::wait_for_lds<1>();
       exec::block_barrier();
       load(1024 + (thread() ^ 64) * 4);
     }},
    {"a wait after a block_barrier, before the next one", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_barrier();
       exec::wait_for_lds<0>();
       exec::block_barrier();
       load((thread() ^ 64) * 4);
     }},
    {"a block_sync after a block_barrier without a wait", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_barrier();
       exec::block_sync();
       load((thread() ^ 64) * 4);
     }},
    {"LDS is used anew by the next block",
     "",
     [](world&) {
       lds();
       store(thread() * 4, exec::block_id().x);
       exec::block_sync();
       exec::expect(load((thread() ^ 64) * 4) == exec::block_id().x, "the own block's");
     },
     gfx942,
     {.blocks = 5}},
};

const kernel elsewhere[] = {
    {"a copy is waited for and then shared", "",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       exec::async_wait();
       exec::block_sync();
       load((thread() ^ 64) * 4);
     }},
    {"the latest copy stays in flight", "",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       copy(w, thread() * 4, 512 + thread() * 4);
       exec::async_wait<1>();
       load(thread() * 4);
       exec::async_wait();
     }},
    {"a copy from outside the buffer gives zeros", "",
     [](world& w) {
       lds();
       copy(w, 16384 + thread() * 4, thread() * 4);
       exec::async_wait();
       exec::expect(load(thread() * 4) == 0, "zero");
     }},
    {"the source changes after the wait", "",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       exec::async_wait();
       write(w, thread() * 4, 5);
     }},
    {"a load outside of the buffer, even misaligned", "",
     [](world& w) { exec::expect(read(w, 16384 + thread()) == 0, "zero"); }},
    {"blocks write neighbouring bytes",
     "",
     [](world& w) { write(w, exec::block_id().x * 128 + thread(), char{1}); },
     gfx942,
     {.blocks = 3}},
    {"blocks with turns of every third byte",
     "",
     [](world& w) { write(w, thread() * 3 + exec::block_id().x, char{1}); },
     gfx942,
     {.blocks = 3}},
    {"all threads of two blocks write the same value", "", [](world& w) { write(w, 0, 7); }, gfx942, {.blocks = 2}},
    {"all blocks read the same", "", [](world& w) { read(w, thread() * 4); }, gfx942, {.blocks = 4}},
    {"all blocks update a sum",
     "",
     [](world& w) { exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), 0, 1); },
     gfx942,
     {.blocks = 4}},
    {"in place: each thread reads and writes its own", "",
     [](world& w) {
       write(w, thread() * 4, read(w, thread() * 4) + 1);
       write(w, thread() * 4, read(w, thread() * 4) + 1);
     }},
    {"threads of a block exchange through global memory after a barrier", "",
     [](world& w) {
       write(w, thread() * 4);
       exec::block_sync();
       read(w, (thread() ^ 64) * 4);
     }},
    {"a wave waits for another wave's flag", "",
     [](world& w) {
       if (exec::wave_id() == 1) exec::buffer_atomic<exec::atomic_op::max>(w.buffer(), 0, 1);
       exec::block_sync();
       while (read(w, 0) == 0) {
       }
     }},
    {"one thread reads one place many times", "",
     [](world& w) {
       if (thread() == 0) {
         for (int i = 0; i < 10000; ++i) read(w, 0);
       }
       exec::block_sync();
     }},
    {"parts of other blocks after the counter",
     "",
     [](world& w) {
       float* const part = reinterpret_cast<float*>(w.numbers) + exec::block_id().x * 4;
       if (exec::block_id().x < 2) {
         if (thread() == 0) exec::store_to_l2(part, {});
         if (thread() == 0) exec::add_release(w.counters, 1);
       } else {
         if (thread() == 0) exec::wait_for_count(w.counters, 2);
         exec::block_sync();
         if (thread() == 9) (void)exec::load_from_l2(part - 4);
         if (thread() == 8) (void)exec::load_from_l2(part - 8);
       }
     },
     sm90,
     {.blocks = 3}},
    {"an mbarrier hands a stage over and back", "",
     [](world&) {
       const exec::mbarrier full = barrier(1), empty{full.address + 8};
       if (thread() == 0) empty.init(1);
       exec::block_sync();
       for (unsigned i = 0; i < 4; ++i) {
         if (thread() == 0) {
           empty.wait(~i & 1);
           store(64, int(i));
           full.arrive();
         }
         if (thread() == 32) {
           full.wait(i & 1);
           exec::expect(load(64) == int(i), "the step's value");
           empty.arrive();
         }
       }
     },
     sm90},
    {"one lane arrives after its wave has met", "",
     [](world&) {
       const exec::mbarrier b = barrier(1);
       if (exec::wave_id() == 0) {
         store(128 + thread() * 4);
         exec::wave_sync();
         if (thread() == 0) b.arrive();
       }
       if (thread() == 32) {
         b.wait(0);
         for (index_t i = 0; i < 32; ++i) load(128 + i * 4);
       }
     },
     sm90},
    {"named barriers of two pairs of waves", "",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::wave_id() < 2 ? exec::named_sync<64>(1) : exec::named_sync<64>(2);
       load((thread() ^ 32) * 4);
     },
     sm90},
    {"a wave arrives at a named barrier and goes on", "",
     [](world&) {
       lds();
       if (exec::wave_id() == 0) {
         store(thread() * 4);
         exec::named_arrive<64>(1);
       }
       if (exec::wave_id() == 1) {
         exec::named_sync<64>(1);
         load((thread() - 32) * 4);
       }
     },
     sm90},
    {"a box is loaded and read by all", "",
     [](world& w) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) load_box(w, b);

       b.wait(0);
       load(1024 + thread() * 4);
     },
     sm90},
    {"two boxes on one barrier, in any order", "",
     [](world& w) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) {
         load_box(w, b, 4096);
         exec::tma_load(3072, w.map, b, 0, 16, 0);
       }
       b.wait(0);
       load(1024 + thread() * 4);
       load(3072 + thread() * 4);
     },
     sm90},
    {"a box is stored, then its place is used again", "",
     [](world& w) {
       write_box();
       exec::fence_async_proxy();
       exec::block_sync();
       if (thread() == 0) {
         store_box(w);
         exec::tma_store_wait_read<0>();
         store(1024);
       }
     },
     sm90},
    {"two blocks of a cluster arrive at each other's barriers and stay",
     "",
     [](world&) {
       const exec::mbarrier b = barrier(2);
       exec::cluster_sync();
       if (thread() < 2) b.arrive_at(thread());
       b.wait(0);
       exec::cluster_sync();
     },
     sm90,
     {.blocks = 2, .cluster = 2}},
    {"ldmatrix after a barrier of the wave", "",
     [](world&) {
       const exec::lds_pointer p = lds();
       exec::lds_store(p, thread() * 16, four{});
       exec::wave_sync();
       exec::ldmatrix_x4(p, (thread() ^ 5) * 16);
     },
     sm80},
};

const kernel tiles[] = {{"a matrix is copied through LDS", "", copy_tiles<slip::none>, gfx942, two_blocks}};

template <std::size_t N>
void expect_silence(const kernel (&kernels)[N]) {
  for (const kernel& k : kernels) {
    for (const std::uint64_t seed : seeds()) EXPECT_EQ(fault_of(k, seed), "") << k.name << ", seed " << seed;
  }
}

TEST(Correct, InLds) { expect_silence(in_lds); }
TEST(Correct, Elsewhere) { expect_silence(elsewhere); }
TEST(Correct, Tiles) { expect_silence(tiles); }

}  // namespace
}  // namespace tilewright::planted
