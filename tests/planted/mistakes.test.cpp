// SPDX-License-Identifier: MIT
// Kernels with one mistake each, and the sentence with which the CPU emulator refuses them.
#include "tile_mistakes.hpp"

#include <fstream>
#include <iterator>

#include <unistd.h>

namespace tilewright::planted {
namespace {

constexpr const char *race =
                         "with no barrier between|which no thread has written before: is a write or a barrier missing?",
                     *unreached = "waits forever at|while other lanes of its wave wait in";

/// A kernel of shared.hpp.
template <class Shared>
void run(world& w) {
  Shared::run(w);
}

const kernel barriers[] = {
    {no_barrier_before_read::name, race, run<no_barrier_before_read>},
    {no_barrier_before_write::name, race, run<no_barrier_before_write>},
    {same_bytes::name, race, run<same_bytes>},
    {no_wave_sync::name, race, run<no_wave_sync>},
    {"wave_sync where block_sync is needed", race,
     [](world&) {
       lds();
       store(thread() * 4);
       exec::wave_sync();
       load((thread() ^ 64) * 4);
     }},
    {"a shuffle is taken for a barrier", race,
     [](world&) {
       lds();
       store(thread() * 4);
       exec::shuffle(1, 0);
       load((thread() ^ 1) * 4);
     }},
    {"the last barrier of a loop is missing", race,
     [](world&) {
       lds();
       for (int i = 0; i < 3; ++i) {
         store(thread() * 4, i);
         exec::block_sync();
         load(508 - thread() * 4);
       }
     }},
    {"a reduction without a barrier in its last steps", race,
     [](world&) {
       lds();
       store(thread() * 4);
       for (index_t half = 64; half > 0; half /= 2) {
         if (half > 16) exec::block_sync();
         if (thread() < half) store(thread() * 4, load(thread() * 4) + load((thread() + half) * 4));
       }
     }},
    {"double buffering with one stage too few", race,
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_sync();
       for (int i = 1; i < 4; ++i) {
         store(thread() * 4 + i % 1 * 512, i);
         load(508 - thread() * 4 + (i - 1) % 2 * 512);
         exec::block_sync();
       }
     }},
    {"bytes beside each other, two threads, one word", race,
     [](world&) {
       lds();
       store(thread() * 4, 0);
       if (thread() == 9) store(3, char{1});
     }},
    {"a barrier in one wave only", unreached,
     [](world&) {
       if (exec::wave_id() == 0) exec::block_sync();
     }},
    {"a barrier in half of a wave", unreached,
     [](world&) {
       if (exec::lane_id() < 32) exec::block_sync();
     }},
    {some_leave::name, unreached, run<some_leave>},
    {two_barriers::name, "reaches a barrier", run<two_barriers>},
    {"waves run a loop with a barrier different numbers of times", unreached,
     [](world&) {
       for (index_t i = 0; i < 2 + exec::wave_id(); ++i) exec::block_sync();
     }},
    {half_a_shuffle::name, unreached, run<half_a_shuffle>},
    {two_shuffles::name, "reaches a shuffle", run<two_shuffles>},
    {"some lanes shuffle, the others wait at a barrier",
     "while other lanes of its wave wait in|waits forever at a shuffle",
     [](world&) {
       if (exec::lane_id() < 32) exec::shuffle(1, 0);
       exec::block_sync();
     }},
    {"a wave_sync in one lane", unreached,
     [](world&) {
       if (exec::lane_id() == 0) exec::wave_sync();
     }},
    {"block_barrier without wait_for_lds after a write", "call wait_for_lds<0>() before it",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_barrier();
       load((thread() ^ 64) * 4);
     }},
    {"block_barrier without wait_for_lds after a read", "call wait_for_lds<0>() before it",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_sync();
       load(thread() * 4);
       exec::block_barrier();
       store((thread() ^ 64) * 4);
     }},
    {"wait_for_lds leaves one access too many in flight", "call wait_for_lds<0>() before it",
     [](world&) {
       lds();
       store(thread() * 4);
       store(512 + thread() * 4);
       exec::wait_for_lds<1>();
       exec::block_barrier();
       load(512 + (thread() ^ 64) * 4);
     }},
    {"wait_for_lds after the block_barrier", "call wait_for_lds<0>() before it",
     [](world&) {
       lds();
       store(thread() * 4);
       exec::block_barrier();
       exec::wait_for_lds<0>();
       load((thread() ^ 64) * 4);
     }},
    {"an atomic update in flight at a block_barrier", "call wait_for_lds<0>() before it",
     [](world&) {
       lds();
       if (thread() == 0) store(0, 0);
       exec::block_sync();
       if (thread() < 64) add(0);
       exec::block_barrier();
       if (thread() == 64) load(0);
     }},
};

const kernel places[] = {
    {beyond_lds::name, "outside of the 8192 bytes", run<beyond_lds>},
    {"LDS before the allocation", "outside of the 8192 bytes",
     [](world&) {
       lds();
       store(thread() * 4 - 4);
     }},
    {"the last 16 bytes reach beyond the allocation", "outside of the 8192 bytes",
     [](world&) {
       lds();
       store(8184, four{});
     }},
    {"LDS without an allocation", "outside of the 0 bytes", [](world&) { store(0); }},
    {"an LDS word at an odd half", "is not a multiple of 4",
     [](world&) {
       lds();
       store(thread() * 8 + 2);
     }},
    {"16 bytes of LDS at a multiple of 8", "is not a multiple of 16",
     [](world&) {
       lds();
       store(thread() * 32 + 8, four{});
     }},
    {"more LDS than the launch gives", "but the launch gave the block 8192",
     [](world&) { exec::lds_allocate<8193>(); }},
    {"LDS is allocated twice", "allocates LDS a second time (mistakes.test.cpp:",
     [](world&) {
       lds();
       lds();
     }},
    {never_written::name, "which no thread has written before", run<never_written>},
    {"a vector of which the last word was never written", "which no thread has written before",
     [](world&) {
       lds();
       if (thread() < 127) store(thread() * 4);
       exec::block_sync();
       if (thread() < 32) load<four>(thread() * 16);
     }},
    {"LDS is taken to be zero: an atomic sum", "which no thread has written before",
     [](world&) {
       lds();
       add(0);
     }},
    {"LDS is taken to last from block to block",
     "which no thread has written before",
     [](world&) {
       lds();
       if (exec::block_id().x == 0) store(thread() * 4);
       if (exec::block_id().x == 1) load(thread() * 4);
     },
     gfx942,
     {.blocks = 2}},
    {sum_without_barrier::name, race, run<sum_without_barrier>},
    {"an atomic sum is reset without a barrier", race,
     [](world&) {
       lds();
       if (thread() == 0) store(0);
       exec::block_sync();
       add(0);
       if (thread() == 0) store(0);
     }},
    {"a wave waits for an LDS flag in a loop", "over and over|with no barrier between|no thread has written before",
     [](world&) {
       lds();
       if (thread() == 0) {
         store(0, 0);
         while (load(0) == 0) {
         }
       }
       if (thread() == 64) store(0, 1);
     }},
};

const kernel copies[] = {
    {no_async_wait::name, "before the copy by thread", run<no_async_wait>},
    {barrier_without_async_wait::name, "before the copy by thread", run<barrier_without_async_wait>},
    {"async_wait, but no barrier before others read",
     "with no barrier between|before the copy by thread|no thread has written",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       exec::async_wait();
       load((thread() ^ 64) * 4);
     }},
    {one_copy_too_many::name, "before the copy by thread", run<one_copy_too_many>},
    {"a store to the destination of a copy in flight", "before the copy by thread",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 4);
       store(thread() * 4);
     }},
    {"a stage is copied to while others read it", race,
     [](world& w) {
       lds();
       store(thread() * 4);
       exec::block_sync();
       load((thread() ^ 64) * 4);
       copy(w, thread() * 4, thread() * 4);
       exec::async_wait();
     }},
    {source_changes::name, "whose source has changed since", run<source_changes>},
    {"lanes copy to scattered places on AMD", "fills LDS in the order of the lanes",
     [](world& w) {
       lds();
       copy(w, thread() * 4, thread() * 8);
     }},
    {"a copy beyond the allocation", "outside of the 8192 bytes",
     [](world& w) {
       lds();
       copy(w, thread() * 4, 8192 - 256 + thread() * 4);
     }},
    {"a copy from a misaligned place", "whose address is not a multiple of 4",
     [](world& w) {
       lds();
       copy(w, thread() * 4 + 2, thread() * 4);
     }},
    {"a group is waited for too little", "before the copy by thread",
     [](world& w) {
       lds();
       const exec::walking_buffer from(w.buffer());
       for (index_t i = 0; i < 2; ++i) {
         exec::async_load_in_group<4>(from, thread() * 4, exec::lds_pointer{}, i * 512 + thread() * 4);
         exec::async_end_group();
       }
       exec::async_wait_groups<1>();
       exec::block_sync();
       load(512 + thread() * 4);
     },
     sm80},
    {"a copy in a group from outside of the tensor", "give out_of_bounds_offset",
     [](world& w) {
       lds();
       exec::async_load_in_group<4>(exec::walking_buffer(w.buffer()), 16384 - 256 + thread() * 4, exec::lds_pointer{},
                                    thread() * 4);
     },
     sm80},
    {"a copy of a wave where there is none", "does not copy 4 bytes for each lane without registers",
     [](world& w) { exec::async_load_wave_to_lds<4>(exec::walking_buffer(w.buffer()), thread() * 4, lds()); }, gfx1100},
};

const kernel memory[] = {
    {"16 bytes of global memory at a multiple of 4", "whose address is not a multiple of 16",
     [](world& w) { (void)exec::buffer_load<four>(w.buffer(), thread() * 16 + 4); }},
    {begins_two_bytes_off::name, "whose address is not a multiple of 4", run<begins_two_bytes_off>},
    {"a misaligned store", "whose address is not a multiple of 4", [](world& w) { write(w, thread() * 8 + 1, 1); }},
    {"a misaligned atomic update", "whose address is not a multiple of 4",
     [](world& w) { exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), 6, 1); }},
    {view_too_large::name, "outside of launch_config::memory", run<view_too_large>},
    {"16 bytes of which the last 4 are behind the memory", "outside of launch_config::memory",
     [](world& w) { (void)exec::buffer_load<four>(exec::make_global_buffer(w.numbers, 1 << 20), 16384); }},
    {"a store behind the memory", "outside of launch_config::memory",
     [](world& w) { exec::buffer_store(exec::make_global_buffer(w.numbers, 1 << 20), 20000 + thread() * 4, 1); }},
    {"a view that begins before its memory", "outside of launch_config::memory",
     [](world& w) { (void)exec::buffer_load<int>(exec::make_global_buffer(w.numbers - 4, 64), thread() * 4); }},
    {"a copy from behind the memory", "outside of launch_config::memory",
     [](world& w) {
       lds();
       exec::async_load_to_lds<4>(exec::make_global_buffer(w.numbers, 1 << 20), 20000 + thread() * 4,
                                  exec::lds_pointer{}, thread() * 4);
     }},
    {blocks_write_same::name, "nothing orders these blocks", run<blocks_write_same>, gfx942, {.blocks = 2}},
    {"a block reads what another one writes",
     "nothing orders these blocks",
     [](world& w) {
       const index_t block = exec::block_id().x;
       write(w, block * 512 + thread() * 4, 1);
       (void)read(w, (block + 1) * 512 + thread() * 4);
     },
     gfx942,
     {.blocks = 3}},
    {"tiles of neighbouring blocks overlap by one byte",
     "nothing orders these blocks",
     [](world& w) {
       const index_t first = exec::block_id().x * 512;
       write(w, first + thread() * 4, 1);
       if (thread() == 127) write(w, first + 512, char{2});
     },
     gfx942,
     {.blocks = 2}},
    {"a sum over blocks without atomic updates",
     "nothing orders these blocks",
     [](world& w) {
       if (thread() == 0) write(w, 0, read(w, 0) + 1);
     },
     gfx942,
     {.blocks = 4}},
    {"some blocks update atomically, one stores",
     "nothing orders these blocks",
     [](world& w) {
       if (thread() != 0) return;
       if (exec::block_id().x == 2) write(w, 0, 0);
       exec::buffer_atomic<exec::atomic_op::add>(w.buffer(), 0, 1);
     },
     gfx942,
     {.blocks = 4}},
    {exchange_in_memory::name, "with no barrier between", run<exchange_in_memory>},
    {"a matrix is transposed in place", "with no barrier between",
     [](world& w) {
       const index_t row = thread() / 8 % 8, column = thread() % 8;
       if (thread() >= 64) return;
       const int value = read(w, (row * 8 + column) * 4);
       write(w, (column * 8 + row) * 4, value);
     }},
    {"two threads write one byte of a word", "with no barrier between",
     [](world& w) {
       write(w, thread() * 4, 0);
       if (thread() == 5) write(w, 43, char{1});
     }},
    {"parts are read before the counter is waited for",
     "nothing orders these blocks",
     [](world& w) {
       if (thread() == 0 && exec::block_id().x == 0) {
         exec::store_to_l2(reinterpret_cast<float*>(w.numbers), {});
         exec::add_release(w.counters, 1);
       }
       if (thread() == 0 && exec::block_id().x == 1) {
         (void)exec::load_from_l2(reinterpret_cast<float*>(w.numbers));
         exec::wait_for_count(w.counters, 1);
       }
     },
     sm90,
     {.blocks = 2}},
    {"a counter is released before the part is written",
     "nothing orders these blocks",
     [](world& w) {
       float* const part = reinterpret_cast<float*>(w.numbers);
       if (thread() != 0) return;
       if (exec::block_id().x == 0) {
         exec::add_release(w.counters, 1);
         exec::store_to_l2(part, {});
       } else {
         exec::wait_for_count(w.counters, 1);
         (void)exec::load_from_l2(part);
       }
     },
     sm90,
     {.blocks = 2}},
    {"a wave waits for a flag that nobody sets", "a value in global memory that no thread changes",
     [](world& w) {
       if (exec::wave_id() == 0) {
         while (read(w, 0) == 0) {
         }
       }
       exec::block_sync();
     }},
    {"a wave waits for a flag that is set after a barrier", "a value in global memory that no thread changes",
     [](world& w) {
       if (thread() == 0) {
         while (read(w, 0) == 0) {
         }
       }
       exec::block_sync();
       if (thread() == 64) write(w, 0, 1);
     }},
    {"a block waits for one with a higher number",
     "a value in global memory that no thread changes",
     [](world& w) {
       if (thread() != 0) return;
       while (exec::block_id().x == 0 && read(w, 0) == 0) {
       }
       write(w, 0, 1);
     },
     gfx942,
     {.blocks = 2}},
    {"a broken rule of the kernel's own", "rows: a multiple of 8",
     [](world&) { exec::expect(thread() < 100, "rows: a multiple of 8"); }},
};

const kernel matrices[] = {
    {"a matrix instruction that the target lacks", "asks for a matrix instruction that gfx90a does not have",
     [](world&) {
       array<float, 4> c{};
       array<half_t, 8> a{}, b{};
       exec::mma<arch::matrix_op::mfma_16x16x32>(c.data(), a.data(), b.data());
     },
     gfx90a},
    {"a matrix instruction in half of a wave", unreached,
     [](world&) {
       array<float, 16> c{};
       array<half_t, 8> a{}, b{};
       if (exec::lane_id() < 32) exec::mma<arch::matrix_op::mfma_32x32x8_x2>(c.data(), a.data(), b.data());
     }},
    {"ldmatrix on an AMD GPU", "asks for ldmatrix, which gfx942 does not have",
     [](world&) { exec::ldmatrix_x4(lds(), 0); }},
    {"a transposing read where there is none", "which gfx942 does not have",
     [](world&) { exec::lds_load_transpose<short>(lds(), 0); }},
    {"ldmatrix from a place that is no multiple of 16", "is not a multiple of 16",
     [](world&) { exec::ldmatrix_x4(lds(), exec::lane_id() * 16 + 8); }, sm80},
    {"ldmatrix before the rows are written", race,
     [](world&) {
       const exec::lds_pointer p = lds();
       exec::lds_store(p, thread() * 16, four{});
       exec::ldmatrix_x4(p, 2032 - thread() * 16);
     },
     sm80},
    {"a barrier in LDS on a GPU without them", "asks for a barrier in LDS", [](world&) { barrier(1); }},
};

const kernel hopper[] = {
    {never_initialised::name, "where no thread has initialised one", run<never_initialised>, sm90},
    {"a barrier at a multiple of 4", "which is not a multiple of 8",
     [](world&) { exec::mbarrier{exec::lds_address(lds()) + 4}.init(1); }, sm90},
    {"a barrier for no arrivals", "for no arrivals", [](world&) { exec::mbarrier{exec::lds_address(lds())}.init(0); },
     sm90},
    {"a wait for a phase that never ends", "waits forever at a barrier in LDS",
     [](world&) {
       const exec::mbarrier b = barrier(2);
       if (thread() == 0) b.arrive();
       b.wait(0);
     },
     sm90},
    {"more arrivals than the barrier expects", "more often in a phase than the 1 times|waits forever",
     [](world&) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) b.arrive_and_expect(16);
       exec::block_sync();
       if (thread() == 5) b.arrive();
     },
     sm90},
    {write_after_arrival::name, race, run<write_after_arrival>, sm90},
    {"a read without the wait", race,
     [](world&) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) {
         store(64);
         b.arrive();
       }
       if (thread() == 32) load(64);
     },
     sm90},
    {"one lane arrives for a wave that has not met", race,
     [](world&) {
       const exec::mbarrier b = barrier(1);
       if (exec::wave_id() == 0) {
         store(128 + thread() * 4);
         if (thread() == 0) b.arrive();
       }
       if (thread() == 32) {
         b.wait(0);
         for (index_t i = 0; i < 32; ++i) load(128 + i * 4);
       }
     },
     sm90},
    {"a named barrier of other threads than arrive", "waits forever at a named barrier",
     [](world&) {
       if (exec::wave_id() < 2) exec::named_sync<96>(1);
     },
     sm90},
    {"named barrier 0", "there are 1 to 15", [](world&) { exec::named_sync<128>(0); }, sm90},
    {"named barrier 16", "there are 1 to 15", [](world&) { exec::named_sync<128>(16); }, sm90},
    {"two sizes of one named barrier", "where others wait for",
     [](world&) { exec::wave_id() == 0 ? exec::named_sync<64>(1) : exec::named_sync<96>(1); }, sm90},
    {"a block that the cluster does not have",
     "of a cluster of 2",
     [](world&) { barrier(1).arrive_at(2); },
     sm90,
     {.blocks = 2, .cluster = 2}},
    {"a block leaves while others arrive at its barrier",
     "a cluster_sync() at the end is missing",
     [](world&) {
       const exec::mbarrier b = barrier(2);
       exec::cluster_sync();
       if (thread() < 2) b.arrive_at(thread());
       b.wait(0);
     },
     sm90,
     {.blocks = 2, .cluster = 2}},
    {"initialised without fence_barrier_init", "a fence_barrier_init() is missing",
     [](world& w) {
       const exec::mbarrier b{exec::lds_address(lds())};
       if (thread() != 0) return;
       b.init(1);
       load_box(w, b);
     },
     sm90},
    {box_read_early::name, "without having waited for the barrier of the TMA copy|before the copy by thread",
     run<box_read_early>, sm90},
    {"another number of bytes is expected than come", "bytes came that no thread has announced",
     [](world& w) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) load_box(w, b, 1024);

       b.wait(0);
     },
     sm90},
    {"more bytes are expected than come", "bytes are missing",
     [](world& w) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) load_box(w, b, 4096);

       b.wait(0);
     },
     sm90},
    {"a box at a place that is no multiple of 128", "which is not a multiple of 128",
     [](world& w) {
       const exec::mbarrier b = barrier(1);
       if (thread() == 0) exec::tma_load(1088, w.map, b, 0, 0, 0);
     },
     sm90},
    {no_proxy_fence::name, "without a fence_async_proxy() between", run<no_proxy_fence>, sm90},
    {box_stored_early::name, "with no barrier between|no thread has written", run<box_stored_early>, sm90},
    {overwritten_early::name, "before a TMA copy", run<overwritten_early>, sm90},
    {"a thread leaves before its stores have read", "tma_store_wait_read<0>() is missing",
     [](world& w) {
       write_box();
       exec::fence_async_proxy();
       exec::block_sync();
       if (thread() != 0) return;
       store_box(w);
     },
     sm90},
    {stage_refilled_early::name, "with no barrier between|before the copy by thread", run<stage_refilled_early>, sm90},
    {"two blocks store the same box",
     "nothing orders these blocks",
     [](world& w) {
       write_box();
       exec::fence_async_proxy();
       exec::block_sync();
       if (thread() != 0) return;
       store_box(w);
       exec::tma_store_wait_read<0>();
     },
     sm90,
     {.blocks = 2}},
    {"a counter that no block counts to", "a counter in global memory",
     [](world& w) {
       if (thread() == 0) exec::wait_for_count(w.counters, 1);
     },
     sm90},
};

/// docs/lab/planted_mistakes.md
std::string list_of_mistakes() {
  std::ifstream file(TILEWRIGHT_PLANTED_LIST);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One of the sentences comes in every order of the threads; that of the first order is listed word by word.
template <std::size_t N>
void expect_faults(const kernel (&kernels)[N]) {
  const std::string list = list_of_mistakes();
  for (const kernel& k : kernels) {
    std::string first;
    for (const std::uint64_t seed : seeds()) {
      const std::string fault = fault_of(k, seed);
      EXPECT_TRUE(holds_one_of(fault, k.sentence)) << k.name << ", seed " << seed << ": " << fault;
      EXPECT_NE(fault.find(" of block "), fault.npos) << k.name << ": " << fault;
      if (seed == 0) first = without_lines(fault);
    }
    const std::string row = std::string("| ") + k.name + " | " + first + " |\n";
    EXPECT_NE(list.find(row), list.npos) << "not in " TILEWRIGHT_PLANTED_LIST ":\n" << row;
  }
}

TEST(Mistakes, Barriers) { expect_faults(barriers); }
TEST(Mistakes, PlacesInLds) { expect_faults(places); }
TEST(Mistakes, Copies) { expect_faults(copies); }
TEST(Mistakes, GlobalMemory) { expect_faults(memory); }
TEST(Mistakes, Matrices) { expect_faults(matrices); }
TEST(Mistakes, Hopper) { expect_faults(hopper); }
TEST(Mistakes, Tiles) { expect_faults(tile_mistakes); }

/// The first cells of the rows of a section's table.
std::vector<std::string> rows_of(const std::string& section) {
  const std::string list = list_of_mistakes();
  const auto begin = list.find("\n## " + section + "\n"), end = list.find("\n## ", begin + 1);
  std::vector<std::string> rows;
  for (auto at = list.find("\n| ", begin); at < end; at = list.find("\n| ", at + 1))
    rows.push_back(list.substr(at + 3, list.find(" |", at + 3) - at - 3));
  return rows.empty() ? rows : std::vector(rows.begin() + 1, rows.end());
}

template <std::size_t N>
void expect_listed(const char* section, const kernel (&kernels)[N]) {
  std::vector<std::string> planted;
  for (const kernel& k : kernels) planted.push_back(k.name);
  EXPECT_EQ(rows_of(section), planted) << section;
}

TEST(Mistakes, AllThatAreListedArePlanted) {
  expect_listed("Barriers and lanes", barriers);
  expect_listed("Places in LDS", places);
  expect_listed("Copies to LDS without registers", copies);
  expect_listed("Global memory", memory);
  expect_listed("Matrix instructions", matrices);
  expect_listed("Hopper", hopper);
  expect_listed("Tile windows", tile_mistakes);
}

// By a launch that says nothing but its grid; MistakesDeath has the two that end the program.
TEST(Mistakes, OfTheFirstTrial) {
  std::vector<kernel> all;
  const auto add = [&](const auto& kernels) { all.insert(all.end(), std::begin(kernels), std::end(kernels)); };
  add(barriers), add(places), add(copies), add(memory), add(matrices), add(hopper), add(tile_mistakes);
  std::vector<std::string> missed;
  int found = 0;
  for (const std::string& name : rows_of("The 56 mistakes of the first trial")) {
    if (name == "a stack overflows" || name == "a loop never calls the machine") {
      ++found;
      continue;
    }
    const auto k = std::find_if(all.begin(), all.end(), [&](const kernel& one) { return one.name == name; });
    ASSERT_NE(k, all.end()) << name;
    // What is outside of an allocation is not tried without registered memory: it would happen.
    const bool is_outside = std::string(k->sentence).find("launch_config::memory") != std::string::npos;
    !is_outside&& holds_one_of(fault_of(*k, 0, false), k->sentence) ? void(++found) : missed.push_back(name);
  }
  EXPECT_EQ(found, 54);
  EXPECT_EQ(missed, (std::vector<std::string>{"a view larger than its memory", "a store behind the memory"}));
}

int deep(int n) {
  volatile char bytes[1000];
  bytes[0] = char(n);
  return n == 0 ? 0 : deep(n - 1) + bytes[0];
}

TEST(MistakesDeath, TheThreadWhoseStackOverflowsIsNamed) {
  const auto overflow = [] {
    emulator::launch({.target = gfx942, .grid = {1}, .block_size = 64, .lds_bytes = 8192}, [] {
      lds();
      if (exec::thread_id() == 3) {
        store(0);
        deep(100000);
      }
    });
  };
  EXPECT_DEATH(overflow(), "thread 3 of block \\(0, 0, 0\\) needs more than its stack of 262144 bytes");
}

[[gnu::noinline]] int large(int n) {
  volatile char bytes[512 * 1024];
  bytes[n] = char(n);
  return bytes[n];
}

TEST(MistakesDeath, TheThreadWhoseLocalArrayIsLargerThanItsStackIsNamed) {
  const auto overflow = [] {
    emulator::launch({.target = gfx942, .grid = {1}, .block_size = 64, .lds_bytes = 8192}, [] {
      lds();
      if (exec::thread_id() == 3) {
        store(0);
        store(4, large(1));
      }
    });
  };
  EXPECT_DEATH(overflow(), "thread 3 of block \\(0, 0, 0\\) needs more than its stack of 262144 bytes");
}

TEST(MistakesDeath, TheThreadWhosePointerLeadsNowhereIsNamed) {
  const auto stray = [] {
    emulator::launch({.target = gfx942, .grid = {1}, .block_size = 64, .lds_bytes = 8192}, [] {
      lds();
      if (exec::thread_id() == 3) {
        store(0);
        *reinterpret_cast<volatile int*>(std::uintptr_t{0x10}) = 1;
      }
    });
  };
  EXPECT_DEATH(stray(), "thread 3 of block \\(0, 0, 0\\) accesses address 0x10");
}

TEST(MistakesDeath, ALoopThatNeverCallsTheMachineEnds) {
  const auto loop = [] {
    volatile int flag = 0;
    emulator::launch({.target = gfx942, .grid = {1}, .block_size = 64, .lds_bytes = 8192, .watchdog_seconds = 1}, [&] {
      lds();
      if (exec::thread_id() == 5) {
        store(0);
        while (flag == 0) ::usleep(1000);
      }
    });
  };
  EXPECT_DEATH(loop(), "no thread has met another one for 1 s(.|\n)*thread 5 of block \\(0, 0, 0\\) runs");
}

}  // namespace
}  // namespace tilewright::planted
