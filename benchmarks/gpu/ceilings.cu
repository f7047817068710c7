// SPDX-License-Identifier: MIT
// Loops of mma.sync with and without what else a kernel needs.
#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/arch/current.hpp>
#include <tilewright/machine/exec/nvptx/make_tensor_map.hpp>
#include <tilewright/tilewright.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "ceilings.hpp"
#include "device.hpp"

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/machine/exec/nvptx/hopper.hpp>
#endif

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using tw::index_t;
using tw::number;

// A tile along k, and the stages of it in LDS; rows of 128 bytes.
constexpr index_t tile_m = 128, tile_n = 256, tile_k = 64, row_bytes = 128, stages = 4;
constexpr index_t stage_bytes = (tile_m + tile_n) * row_bytes;
constexpr index_t threads = 256, wave_rows = 64, steps = tile_k / 16;
constexpr index_t copies_per_tile = stage_bytes / (threads * 16);
constexpr index_t box_rows = 128;
constexpr index_t tiles_per_sum = 128;      // then sums begin anew: a product's k of 8192
constexpr index_t source_bytes = 16 << 20;  // L2 holds it
constexpr index_t lds_bytes = stages * stage_bytes + stages * 8;
constexpr double operations_per_tile = 2.0 * tile_m * tile_n * tile_k;
constexpr double instructions_per_tile = operations_per_tile / (2 * 16 * 8 * 16) / 4;  // of each of four tensor cores

struct block_time {
  long long clocks;
  long long nanoseconds;
};

struct loop_args {
  tw::exec::tensor_map boxes;  // of the source
  const char* source;
  index_t sums;   // how often each wave computes 64 x 64 sums
  float* totals;  // of each thread's sums
  block_time* times;
};

#if TILEWRIGHT_NVPTX_PASS

/// The operands of one step along k for 64 x 64 sums: four instructions' each, 16 rows high and wide.
template <class T>
struct step_operands {
  tw::array<tw::array<T, 8>, 4> a, b;
};

/// Where the lanes of a wave read such operands: rows of 128 bytes whose 16-byte chunks are exchanged within 8 rows.
struct fragment_place {
  index_t row, chunk;

  TILEWRIGHT_HD index_t offset(index_t step, index_t i) const {
    return (row + 16 * i) * row_bytes + ((2 * step + chunk) ^ (row & 7)) * 16;
  }
};

template <class T, bool ReadsLds, lds_copies Copies>
TILEWRIGHT_HD void run_loop(const loop_args& args) {
  constexpr auto op = tw::arch::matrix_op::mma_m16n8k16_x2;
  constexpr index_t pairs = 16, reads = 8;
  const tw::exec::lds_pointer lds = tw::exec::lds_allocate<lds_bytes>();
  const tw::exec::walking_buffer source(tw::exec::make_global_buffer(args.source, source_bytes));
  const index_t thread = tw::exec::thread_id(), lane = tw::exec::lane_id(), wave = tw::exec::wave_id();
  const fragment_place a_place{wave % 2 * wave_rows + lane % 16, lane / 16},
      b_place{tile_m + wave / 2 * wave_rows + lane % 8 + lane / 16 * 8, lane / 8 % 2};
  // Blocks begin at different places; tiles follow each other, and the end meets the beginning.
  index_t at = tw::exec::block_id().x * 7 * stage_bytes & (source_bytes - 1);

  for (index_t i = 0; i < stages * copies_per_tile; ++i) {
    const index_t position = (i * threads + thread) * 16;
    tw::exec::async_load_in_group<16>(source, (at + position) & (source_bytes - 1), lds, position);
  }
  tw::exec::async_end_group();
  tw::exec::async_wait_groups<0>();
  const auto full = [&](index_t stage) TILEWRIGHT_INLINE_LAMBDA {
    return tw::exec::mbarrier{tw::exec::lds_address(lds + stages * stage_bytes) + 8u * unsigned(stage)};
  };
  if (Copies == lds_copies::boxes && thread == 0) {
    for (index_t s = 0; s < stages; ++s) {
      full(s).init(1);
      full(s).arrive_and_expect(0);
    }
    tw::exec::fence_barrier_init();
  }
  tw::exec::block_sync();

  step_operands<T> f[2];
  const auto read = [&](auto step, auto i, index_t stage) TILEWRIGHT_INLINE_LAMBDA {
    step_operands<T>& to = f[step.value % 2];
    constexpr index_t j = i.value % 4;
    if constexpr (i.value < 4) {
      to.b[j] = tw::bit_cast<tw::array<T, 8>>(tw::exec::ldmatrix_x4(lds, stage + b_place.offset(step.value, j)));
    } else {
      to.a[j] = tw::bit_cast<tw::array<T, 8>>(tw::exec::ldmatrix_x4(lds, stage + a_place.offset(step.value, j)));
    }
  };
  const auto read_step = [&](auto step, index_t stage) TILEWRIGHT_INLINE_LAMBDA {
    tw::unroll<reads>([&](auto i) TILEWRIGHT_INLINE_LAMBDA { read(step, i, stage); });
  };
  read_step(number<0>{}, 0);
  read_step(number<1>{}, 0);

  long long clocks = clock64();
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  index_t stage = 0;
  unsigned parity = 0;
  float total = 0;
  TILEWRIGHT_UNROLL(1)
  for (index_t n = 0; n < args.sums; ++n) {
    float c[4][4][8] = {};
    TILEWRIGHT_UNROLL(1)
    for (index_t tile = 0; tile < tiles_per_sum; ++tile) {
      if (Copies == lds_copies::boxes && thread == 0) {
        full(stage).wait(parity);
        full(stage).arrive_and_expect(stage_bytes);
        const unsigned to = tw::exec::lds_address(lds) + unsigned(stage * stage_bytes);
        tw::unroll<stage_bytes / (box_rows * row_bytes)>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          const index_t row = ((at / row_bytes) + i.value * box_rows) & (source_bytes / row_bytes - 1);
          tw::exec::tma_load(to + i.value * box_rows * row_bytes, args.boxes, full(stage), 0, row, 0);
        });
      }
      tw::unroll<steps>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
        constexpr number<(step.value + 1) % steps> next{};
        tw::unroll<pairs>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
          if constexpr (ReadsLds && i.value < reads) read(next, i, stage * stage_bytes);
          if constexpr (Copies == lds_copies::lanes && i.value == pairs / 2) {
            constexpr index_t each = copies_per_tile / steps;
            tw::unroll<each>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
              const index_t position = ((step.value * each + j.value) * threads + thread) * 16;
              tw::exec::async_load_in_group<16>(source, (at + position) & (source_bytes - 1), lds,
                                                stage * stage_bytes + position);
            });
          }
          // A's operand stays from one instruction to the next; rows run forward and back.
          constexpr index_t row = i.value / 4, col = row % 2 ? 3 - i.value % 4 : i.value % 4;
          tw::exec::mma<op>(c[row][col], &f[step.value % 2].a[row][0], &f[step.value % 2].b[col][0]);
        });
      });
      at = (at + stage_bytes) & (source_bytes - 1);
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    for (const auto& row : c) {
      for (const auto& sums : row) {
        for (const float x : sums) total += x;
      }
    }
  }
  unsigned long long end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  clocks = clock64() - clocks;
  tw::exec::async_end_group();
  tw::exec::async_wait_groups<0>();
  if (Copies == lds_copies::boxes && thread == 0) {
    for (index_t s = 0; s < stages; ++s) full(s).wait(parity);  // the last round, since sums end with one
  }
  args.totals[tw::exec::block_id().x * threads + thread] = total;
  if (thread == 0) args.times[tw::exec::block_id().x] = {clocks, static_cast<long long>(end - nanoseconds)};
}

#endif

template <class T, bool ReadsLds, lds_copies Copies>
__global__ __launch_bounds__(threads, 1) void loop([[maybe_unused]] const __grid_constant__ loop_args args) {
#if TILEWRIGHT_NVPTX_PASS
  run_loop<T, ReadsLds, Copies>(args);
#endif
}

using kernel = void (*)(loop_args);

template <class T>
kernel kernel_of(const ceiling_loop& l) {
  switch (l.copies) {
    case lds_copies::none: return l.reads_lds ? loop<T, true, lds_copies::none> : loop<T, false, lds_copies::none>;
    case lds_copies::lanes: return l.reads_lds ? loop<T, true, lds_copies::lanes> : loop<T, false, lds_copies::lanes>;
    case lds_copies::boxes: break;
  }
  return l.reads_lds ? loop<T, true, lds_copies::boxes> : loop<T, false, lds_copies::boxes>;
}

/// Operands for every loop of a type.
template <class T>
class bench {
  static constexpr std::size_t count = source_bytes / sizeof(T);

  buffer gaussian_{source_bytes}, few_bits_{source_bytes}, ones_{source_bytes};
  index_t blocks_ = 0;
  buffer totals_, times_;

  template <class Next>
  static void fill(const buffer& to, Next next) {
    std::vector<T> values(count);
    for (T& x : values) x = T(next());
    check(cudaMemcpy(to.data(), values.data(), source_bytes, cudaMemcpyHostToDevice), "copying to the GPU");
  }

 public:
  bench() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    fill(gaussian_, [&] { return normal(random); });
    fill(few_bits_, [&] { return float(random() % 64) / 32 - 1; });
    fill(ones_, [] { return 1.0f; });
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    blocks_ = properties.multiProcessorCount;
    totals_ = buffer(std::size_t(blocks_) * threads * sizeof(float));
    times_ = buffer(std::size_t(blocks_) * sizeof(block_time));
  }

  /// One launch; its length.
  double run(const ceiling_loop& l, index_t sums, const buffer& source) {
    const kernel k = kernel_of<T>(l);
    check(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, lds_bytes), "asking for LDS");
    loop_args args{.source = static_cast<const char*>(source.data()),
                   .sums = sums,
                   .totals = static_cast<float*>(totals_.data()),
                   .times = static_cast<block_time*>(times_.data())};
    check(tw::exec::make_tensor_map(args.boxes, {.data = source.data(),
                                                 .element = tw::arch::matrix_element_v<T>,
                                                 .lengths = {tile_k, source_bytes / row_bytes, 1},
                                                 .stride_bytes = {row_bytes, source_bytes},
                                                 .box = {tile_k, box_rows}}),
          "describing a tensor");
    event begin, end;
    begin.record();
    k<<<unsigned(blocks_), threads, lds_bytes>>>(args);
    end.record();
    check(cudaGetLastError(), "starting a loop");
    return end.seconds_since(begin);
  }

  /// Each of a thread's 128 sums is k where all operands are 1.
  void verify(const ceiling_loop& l) {
    run(l, 3, ones_);
    std::vector<float> totals(std::size_t(blocks_) * threads);
    check(cudaMemcpy(totals.data(), totals_.data(), totals.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "copying from the GPU");
    for (const float total : totals) {
      if (total != 3.0f * 128 * tiles_per_sum * tile_k)
        throw std::runtime_error("the loop '" + std::string(l.name) + "' computed " + std::to_string(total));
    }
  }

  /// Adds a launch.
  void measure(ceiling& to, index_t sums) {
    const double seconds = run(*to.loop, sums, to.loop->gaussian ? gaussian_ : few_bits_);
    to.tflops.push_back(operations_per_tile * tiles_per_sum * sums * blocks_ / seconds * 1e-12);
    std::vector<block_time> times(static_cast<std::size_t>(blocks_));
    check(cudaMemcpy(times.data(), times_.data(), times.size() * sizeof(block_time), cudaMemcpyDeviceToHost),
          "copying from the GPU");
    double clocks = 0, nanoseconds = 0;
    for (const block_time& t : times) {
      clocks += double(t.clocks) / blocks_;
      nanoseconds += double(t.nanoseconds) / blocks_;
    }
    to.clocks.push_back(clocks / (instructions_per_tile * tiles_per_sum * sums));
    to.megahertz.push_back(clocks / nanoseconds * 1e3);
  }
};

template <class T>
std::vector<ceiling> measured(element type, const std::vector<const ceiling_loop*>& loops, int rounds, double seconds) {
  bench<T> all;
  std::vector<ceiling> results;
  for (const ceiling_loop* l : loops) {
    all.verify(*l);
    results.push_back({type, l, {}, {}, {}});
  }
  // 600 TFLOP/s: near enough for the length of a launch.
  const double one_sum = operations_per_tile * tiles_per_sum * 132 / 600e12;
  const auto sums = index_t(std::ceil(seconds / one_sum));
  for (int round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "[%d/%d] %s\n", round + 1, rounds, name_of(type));
    for (std::size_t i = 0; i < results.size(); ++i) all.measure(results[round % 2 ? results.size() - 1 - i : i], sums);
  }
  return results;
}

}  // namespace

std::vector<ceiling> measure_ceilings(element type, const std::vector<const ceiling_loop*>& loops, int rounds,
                                      double seconds) {
  return type == element::f16 ? measured<tw::half_t>(type, loops, rounds, seconds)
                              : measured<tw::bfloat16_t>(type, loops, rounds, seconds);
}
}  // namespace gpu_benchmark
