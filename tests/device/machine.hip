// SPDX-License-Identifier: MIT
// Atomic updates, copies to LDS that bypass registers, and exchanges between lanes, as compiled for each GPU.
#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/base/sequence.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tw = tilewright;
namespace exec = tilewright::exec;

/// All threads update each result; in `sums` add, in `largest` max: int, unsigned, float, pair of halves,
/// pair of bfloat16s.
extern "C" TILEWRIGHT_GLOBAL void update(unsigned* sums, unsigned* largest, unsigned* in_lds) {
#if TILEWRIGHT_DEVICE_PASS
  using exec::atomic_op;
  using tw::bfloat16_t, tw::half_t;
  const exec::lds_pointer lds = exec::lds_allocate<40>();
  const int t = exec::thread_id(), i = exec::block_id().x * 256 + t;
  const float number = float(i % 16) - 8.0f;
  const tw::vector_t<half_t, 2> halves{{half_t(number), half_t(1.0f)}};
  const tw::vector_t<bfloat16_t, 2> brains{{bfloat16_t(t % 16 == 3 ? -1.0f : 0.0f), bfloat16_t(t == 7 ? 1.0f : 0.0f)}};
  if (t < 10) exec::lds_store(lds, t * 4, 0u);
  exec::block_sync();
  const auto update_both = [&](auto op, unsigned* results, int place) TILEWRIGHT_INLINE_LAMBDA {
    constexpr atomic_op Op = decltype(op)::value;
    const exec::global_buffer buffer = exec::make_global_buffer(results, 20);
    exec::buffer_atomic<Op>(buffer, 0, i - 100);
    exec::buffer_atomic<Op>(buffer, 4, unsigned(i));
    exec::buffer_atomic<Op>(buffer, 8, number);
    exec::buffer_atomic<Op>(buffer, 12, halves);
    exec::buffer_atomic<Op>(buffer, 16, brains);
    exec::buffer_atomic<Op>(buffer, 20, 1);
    exec::buffer_atomic<Op>(buffer, exec::out_of_bounds_offset, 1);
    exec::lds_atomic<Op>(lds, place, i - 100);
    exec::lds_atomic<Op>(lds, place + 4, unsigned(i));
    exec::lds_atomic<Op>(lds, place + 8, number);
    exec::lds_atomic<Op>(lds, place + 12, halves);
    exec::lds_atomic<Op>(lds, place + 16, brains);
  };
  update_both(tw::number<atomic_op::add>{}, sums, 0);
  update_both(tw::number<atomic_op::max>{}, largest, 20);
  exec::block_sync();
  if (t == 0) {  // 0 after larger numbers
    exec::buffer_atomic<atomic_op::max>(exec::make_global_buffer(largest, 20), 8, 0.0f);
    exec::lds_atomic<atomic_op::max>(lds, 28, 0.0f);
  }
  exec::block_sync();
  if (t < 10) in_lds[exec::block_id().x * 10 + t] = exec::lds_load<unsigned>(lds, t * 4);
#endif
}

/// Each wave copies pieces of Bytes for each lane to LDS and out again, shifted by one wave.
template <tw::index_t Bytes>
TILEWRIGHT_HD void copy(const char* in, char* out, int bytes) {
#if TILEWRIGHT_DEVICE_PASS
  struct alignas(Bytes) piece {
    char bytes[Bytes];
  };
  constexpr tw::index_t threads = 256;
  const exec::lds_pointer lds = exec::lds_allocate<threads * Bytes * 2>();
  const exec::global_buffer buffer = exec::make_global_buffer(in, bytes);
  const tw::index_t t = exec::thread_id();
  exec::async_load_to_lds<Bytes>(buffer, t * Bytes, lds, t * Bytes);
  exec::walking_buffer walking(buffer);
  walking.advance(5ll << 32);
  walking.advance(-(5ll << 32));
  exec::async_load_in_group<Bytes>(walking, (threads + t) * Bytes, lds + threads * Bytes, t * Bytes);
  exec::async_wait<1>();
  exec::block_sync();
  const tw::index_t other = (t + 64) % threads;
  *reinterpret_cast<piece*>(out + other * Bytes) = exec::lds_load<piece>(lds, other * Bytes);
  exec::async_wait();
  exec::block_sync();
  *reinterpret_cast<piece*>(out + (threads + other) * Bytes) =
      exec::lds_load<piece>(lds + threads * Bytes, other * Bytes);
#endif
}
extern "C" TILEWRIGHT_GLOBAL void copy_4(const char* in, char* out, int bytes) { copy<4>(in, out, bytes); }
extern "C" TILEWRIGHT_GLOBAL void copy_16(const char* in, char* out, int bytes) { copy<16>(in, out, bytes); }

#if TILEWRIGHT_DEVICE_PASS
/// out[lane]: whether lanes of the other half of a wave of 64 are found.
template <int WaveSize>
TILEWRIGHT_HD void far_lanes(int lane, int* out) {
  if constexpr (WaveSize == 64) {
    const int far = exec::shuffle_xor<WaveSize / 2>(lane), farthest = exec::shuffle_xor<WaveSize - 1>(lane);
    if (lane < 32) out[lane] = far == (lane ^ 32) && farthest == (lane ^ 63) ? 1 : 0;
  } else {
    out[lane] = 1;
  }
}
#endif

/// out: what each lane receives of the matrix that it and its neighbours address, byte by byte; nothing where the
/// target does not transpose.
extern "C" TILEWRIGHT_GLOBAL void transposing_reads(const unsigned* in, tw::vector_t<short, 4>* wide,
                                                    tw::vector_t<signed char, 8>* narrow) {
#if TILEWRIGHT_DEVICE_PASS
  const exec::lds_pointer lds = exec::lds_allocate<1024>();
  const tw::index_t t = exec::thread_id();
  exec::lds_store(lds, t * 4, in[t]);
  exec::block_sync();
  const auto read = [&]<class Half, class Byte>(Half, Byte) TILEWRIGHT_INLINE_LAMBDA {
    if constexpr (tw::arch::current::value.supports(tw::arch::transposing_read_op(sizeof(Half)))) {
      if (t >= 64) return;
      wide[t] = exec::lds_load_transpose<Half>(lds, t * 8 + 512);
      narrow[t] = exec::lds_load_transpose<Byte>(lds, t * 8);
    }
  };
  read(short{}, tw::int8_t{});
#endif
}

/// out[32 m + lane]: the number of the lane that differs in mask m, for m in 1 ... 31. out[lane] is 1 if far lanes,
/// any() and ballot() are right.
extern "C" TILEWRIGHT_GLOBAL void exchange(int* out) {
#if TILEWRIGHT_DEVICE_PASS
  const int lane = exec::lane_id();
  tw::unroll<31>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    constexpr int mask = i.value + 1;
    const int other = exec::shuffle_xor<mask>(lane);
    if (lane < 32) out[mask * 32 + lane] = other;
  });
  far_lanes<tw::arch::current::value.wave_size>(lane, out);
  const bool of_one = exec::any(lane == 0) && exec::any(lane == tw::arch::current::value.wave_size - 1);
  if (!of_one || exec::any(lane < 0)) out[0] = 0;
  const exec::lane_mask thirds = exec::ballot(lane % 3 == 2);
  if (exec::count_lower_lanes(thirds) != lane / 3 || exec::count_lanes(thirds) < 10) out[0] = 0;
  if (exec::count_lower_lanes(exec::equal_lanes<3>(lane)) != lane / 8) out[0] = 0;
#endif
}
