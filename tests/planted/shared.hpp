// SPDX-License-Identifier: MIT
// What planted kernels call, and the mistakes that the CPU emulator and compute-sanitizer (tests/gpu/planted.cu) both
// look at.
#pragma once

#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::planted {

inline constexpr index_t lds_bytes = 8192, memory_bytes = 16384, block_threads = 128;

/// Global memory of a launch: memory_bytes of numbers, of which a tensor map knows rows of 64, and counters.
struct world {
  int* numbers;
  unsigned* counters;
  exec::tensor_map map;

  TILEWRIGHT_HD exec::global_buffer buffer() const { return exec::make_global_buffer(numbers, memory_bytes); }
};

#if TILEWRIGHT_HOPPER_PASS
using exec::call_site;

// Faults name the kernel's line, not these.
TILEWRIGHT_HD exec::lds_pointer lds(call_site where = {}) {
  const exec::call_scope scope(where);
  return exec::lds_allocate<lds_bytes>();
}
/// LDS that the kernel has allocated.
TILEWRIGHT_HD exec::lds_pointer all_of_lds() {
#if TILEWRIGHT_CPU_PASS
  return {};
#else
  return lds();
#endif
}
TILEWRIGHT_HD index_t thread() { return exec::thread_id(); }
template <class T = int>
TILEWRIGHT_HD void store(index_t place, T value = T{1}, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::lds_store(all_of_lds(), place, value);
}
template <class T = int>
TILEWRIGHT_HD T load(index_t place, call_site where = {}) {
  const exec::call_scope scope(where);
  return exec::lds_load<T>(all_of_lds(), place);
}
TILEWRIGHT_HD void add(index_t place, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::lds_atomic<exec::atomic_op::add>(all_of_lds(), place, 1);
}
TILEWRIGHT_HD int read(const world& w, index_t place, call_site where = {}) {
  const exec::call_scope scope(where);
  return exec::buffer_load<int>(w.buffer(), place, 0);
}
template <class T = int>
TILEWRIGHT_HD void write(const world& w, index_t place, T value = T{1}, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::buffer_store(w.buffer(), place, value);
}
TILEWRIGHT_HD void copy(const world& w, index_t from, index_t to, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::async_load_to_lds<4>(w.buffer(), from, all_of_lds(), to);
}
/// A barrier at byte 0 that all threads know.
TILEWRIGHT_HD exec::mbarrier barrier(index_t arrivals, call_site where = {}) {
  const exec::call_scope scope(where);
  const exec::mbarrier b{exec::lds_address(lds())};
  if (thread() == 0) {
    b.init(arrivals);
    exec::fence_barrier_init();
  }
  exec::block_sync();
  return b;
}
/// A box has 2048 bytes and lies at byte 1024 of LDS.
TILEWRIGHT_HD void load_box(const world& w, exec::mbarrier b, index_t expected_bytes = 2048, call_site where = {}) {
  const exec::call_scope scope(where);
  b.arrive_and_expect(expected_bytes);
  exec::tma_load(1024, w.map, b, 0, 0, 0);
}
TILEWRIGHT_HD void write_box(call_site where = {}) {
  const exec::call_scope scope(where);
  lds();
  for (index_t i = 0; i < 4; ++i) store(1024 + i * 512 + thread() * 4, 1);
}
TILEWRIGHT_HD void store_box(const world& w, call_site where = {}) {
  const exec::call_scope scope(where);
  exec::tma_store(w.map, 1024, 0, 0, 0);
  exec::tma_store_commit();
}

// Each returns what it has read, so that nothing is left out.

struct no_barrier_before_read {
  static constexpr const char* name = "a barrier is missing between write and read";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    store(thread() * 4);
    return load((thread() ^ 64) * 4);
  }
};
struct no_barrier_before_write {
  static constexpr const char* name = "a barrier is missing between read and the next write";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    store(thread() * 4);
    exec::block_sync();
    const int seen = load((thread() ^ 64) * 4);
    store(thread() * 4, seen + 1);
    return seen;
  }
};
struct no_wave_sync {
  static constexpr const char* name = "neighbours of a wave exchange without wave_sync";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    store(thread() * 4);
    return load((thread() ^ 1) * 4);
  }
};
struct same_bytes {
  static constexpr const char* name = "two threads write the same bytes";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    store(thread() / 2 * 4, thread());
    return 0;
  }
};
struct never_written {
  static constexpr const char* name = "LDS is read before anybody writes it";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    return load(thread() * 4);
  }
};
struct beyond_lds {
  static constexpr const char* name = "LDS beyond the allocation";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    store(lds_bytes - 508 + thread() * 4);
    return 0;
  }
};
struct sum_without_barrier {
  static constexpr const char* name = "an atomic sum is read without a barrier";
  TILEWRIGHT_HD static int run(const world&) {
    lds();
    if (thread() == 0) store(0, 0);
    exec::block_sync();
    add(0);
    return thread() == 127 ? load(0) : 0;
  }
};
struct some_leave {
  static constexpr const char* name = "threads leave before the barrier";
  TILEWRIGHT_HD static int run(const world&) {
    if (thread() >= 100) return 0;
    exec::block_sync();
    return 1;
  }
};
struct two_barriers {
  static constexpr const char* name = "lanes of a wave at two barriers";
  TILEWRIGHT_HD static int run(const world& w) {
    lds();
    if (read(w, 0) + thread() % 2 == 1) {
      exec::block_sync();
    } else {
      store(thread() * 4);
      exec::block_sync();
    }
    return 1;
  }
};
struct half_a_shuffle {
  static constexpr const char* name = "a shuffle in half of a wave";
  TILEWRIGHT_HD static int run(const world&) { return exec::lane_id() % 2 == 0 ? exec::shuffle(thread(), 0) : 0; }
};
struct two_shuffles {
  static constexpr const char* name = "two shuffles in the branches of a condition";
  TILEWRIGHT_HD static int run(const world&) {
    int r;
    if (exec::lane_id() % 2 == 0) {
      r = exec::shuffle(thread(), exec::lane_id() + 1);
    } else {
      r = exec::shuffle(thread() * 2, exec::lane_id() - 1) + 1;
    }
    return r;
  }
};
struct no_async_wait {
  static constexpr const char* name = "a copy is read before async_wait";
  TILEWRIGHT_HD static int run(const world& w) {
    lds();
    copy(w, thread() * 4, thread() * 4);
    return load(thread() * 4);
  }
};
struct barrier_without_async_wait {
  static constexpr const char* name = "a barrier, but no async_wait";
  TILEWRIGHT_HD static int run(const world& w) {
    lds();
    copy(w, thread() * 4, thread() * 4);
    exec::block_sync();
    return load((thread() ^ 64) * 4);
  }
};
struct one_copy_too_many {
  static constexpr const char* name = "async_wait leaves one copy too many in flight";
  TILEWRIGHT_HD static int run(const world& w) {
    lds();
    copy(w, thread() * 4, thread() * 4);
    copy(w, thread() * 4, 512 + thread() * 4);
    exec::async_wait<1>();
    exec::block_sync();
    return load(512 + (thread() ^ 64) * 4);
  }
};
struct source_changes {
  static constexpr const char* name = "the source changes before the copy's wait";
  TILEWRIGHT_HD static int run(const world& w) {
    lds();
    copy(w, thread() * 4, thread() * 4);
    write(w, thread() * 4, 5);
    exec::async_wait();
    return load(thread() * 4);
  }
};
struct view_too_large {
  static constexpr const char* name = "a view larger than its memory";
  TILEWRIGHT_HD static int run(const world& w) {
    return exec::buffer_load<int>(exec::make_global_buffer(w.numbers, 1 << 30), (1 << 22) + thread() * 4);
  }
};
struct begins_two_bytes_off {
  static constexpr const char* name = "a buffer that begins 2 bytes off";
  TILEWRIGHT_HD static int run(const world& w) {
    return exec::buffer_load<int>(exec::advance(w.buffer(), 2), thread() * 4);
  }
};
struct exchange_in_memory {
  static constexpr const char* name = "threads exchange through global memory without a barrier";
  TILEWRIGHT_HD static int run(const world& w) {
    write(w, thread() * 4);
    return read(w, (thread() ^ 64) * 4);
  }
};
struct blocks_write_same {
  static constexpr const char* name = "two blocks write the same place";
  TILEWRIGHT_HD static int run(const world& w) {
    write(w, thread() * 4, exec::block_id().x);
    return 0;
  }
};
struct box_read_early {
  static constexpr const char* name = "a box is read before its barrier was waited for";
  TILEWRIGHT_HD static int run(const world& w) {
    const exec::mbarrier b = barrier(1);
    if (thread() == 0) load_box(w, b);

    exec::block_sync();
    const int seen = load(1024 + thread() * 4);
    b.wait(0);
    return seen;
  }
};
struct stage_refilled_early {
  static constexpr const char* name = "a stage is refilled before its readers arrive";
  TILEWRIGHT_HD static int run(const world& w) {
    const exec::mbarrier b = barrier(1);
    int seen = 0;
    for (unsigned i = 0; i < 2; ++i) {
      if (thread() == 0) load_box(w, b);

      b.wait(i);
      seen += load(1024 + thread() * 4);
    }
    return seen;
  }
};
struct no_proxy_fence {
  static constexpr const char* name = "a box is stored without fence_async_proxy";
  TILEWRIGHT_HD static int run(const world& w) {
    write_box();
    exec::block_sync();
    if (thread() != 0) return 0;
    store_box(w);
    exec::tma_store_wait_read<0>();
    return 0;
  }
};
struct overwritten_early {
  static constexpr const char* name = "a box is overwritten before its store has read it";
  TILEWRIGHT_HD static int run(const world& w) {
    write_box();
    exec::fence_async_proxy();
    exec::block_sync();
    if (thread() != 0) return 0;
    store_box(w);
    store(1024, 7);
    exec::tma_store_wait_read<0>();
    return 0;
  }
};
struct write_after_arrival {
  static constexpr const char* name = "a write after the arrival";
  TILEWRIGHT_HD static int run(const world&) {
    const exec::mbarrier b = barrier(1);
    if (thread() == 0) {
      b.arrive();
      store(64);
    }
    if (thread() != 32) return 0;
    b.wait(0);
    return load(64);
  }
};
struct never_initialised {
  static constexpr const char* name = "a barrier that no thread has initialised";
  TILEWRIGHT_HD static int run(const world&) {
    exec::mbarrier{exec::lds_address(lds())}.arrive();
    return 0;
  }
};
struct box_stored_early {
  static constexpr const char* name = "a box is stored before all have written it";
  TILEWRIGHT_HD static int run(const world& w) {
    write_box();
    exec::fence_async_proxy();
    if (thread() != 0) return 0;
    store_box(w);
    exec::tma_store_wait_read<0>();
    return 0;
  }
};

/// All of them.
template <class... Shared>
struct kernels {};
using shared_kernels =
    kernels<no_barrier_before_read, no_barrier_before_write, no_wave_sync, same_bytes, never_written, beyond_lds,
            sum_without_barrier, some_leave, two_barriers, half_a_shuffle, two_shuffles, no_async_wait,
            barrier_without_async_wait, one_copy_too_many, source_changes, view_too_large, begins_two_bytes_off,
            exchange_in_memory, blocks_write_same, box_read_early, stage_refilled_early, no_proxy_fence,
            overwritten_early, write_after_arrival, never_initialised, box_stored_early>;
#endif

}  // namespace tilewright::planted
