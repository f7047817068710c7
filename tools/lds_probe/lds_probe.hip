// SPDX-License-Identifier: MIT
// Measures which lanes each LDS instruction of this GPU serves together and how many banks it sees. docs/lds_probe.md
// explains. Compile as HIP, or as CUDA with -x cu; it needs no library.
#include "../gpu/lds_instruction.hpp"
#if !defined(LDS_PROBE_KERNELS_ONLY)
#include "../gpu/runtime.hpp"
#endif

namespace arch = tilewright::arch;
namespace exec = tilewright::exec;
using arch::lds_op;
using tilewright::index_t;

namespace lds_probe {

constexpr index_t block_size = 512, lds_bytes = 64 * 1024, unroll = 8;
constexpr index_t few = 8, many = 24;  // turns of the loop: their difference is free of what surrounds the loop
constexpr index_t repetitions = 7, max_waves = block_size / 32;

/// Clocks of each wave for `turns` turns, in which a wave executes `unroll` times the pattern's instruction and the
/// ballast's. The ballast, a pattern with conflicts, keeps the LDS busy: how fast instructions are issued then has no
/// influence. One block, so that no other one uses this LDS. `zero` is 0, which the compiler does not know: else it
/// makes one of several ldmatrix of one address. clocks: [pattern][few, many][repetition][wave].
template <lds_op Op>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(512) void time_patterns([[maybe_unused]] const int* addresses,
                                                                [[maybe_unused]] int num_patterns,
                                                                [[maybe_unused]] int zero,
                                                                [[maybe_unused]] unsigned* clocks,
                                                                [[maybe_unused]] unsigned* sink) {
#if TILEWRIGHT_DEVICE_PASS
  constexpr bool exists =
      TILEWRIGHT_NVPTX_PASS ? Op != lds_op::read_b96 && Op != lds_op::write_b96 : Op < lds_op::ldmatrix;
  if constexpr (exists) {
    const auto now = [] TILEWRIGHT_INLINE_LAMBDA {
#if TILEWRIGHT_NVPTX_PASS
      return unsigned(clock64());
#else
      return unsigned(__builtin_readcyclecounter());
#endif
    };
#if defined(__GFX11__)
    constexpr unsigned clock_bits = 0xfffff;  // of SHADER_CYCLES
#else
    constexpr unsigned clock_bits = ~0u;
#endif
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const index_t lane = exec::lane_id();
    index_t ballast = (lane & 3) * 1024 + (lane >> 2 & 1) * 16;
    unsigned sum = 0;
    for (int pattern = 0; pattern < num_patterns; ++pattern) {
      index_t address = addresses[pattern * 64 + lane];
      TILEWRIGHT_UNROLL(1)
      for (int length = 0; length < 2; ++length) {
        const index_t turns = length == 0 ? few : many;
        TILEWRIGHT_UNROLL(1)
        for (int repetition = 0; repetition < repetitions; ++repetition) {
          exec::block_sync();
          const unsigned begin = now();
          if (address >= 0) {
            TILEWRIGHT_UNROLL(1)
            for (index_t turn = 0; turn < turns; ++turn) {
              TILEWRIGHT_UNROLL(8)
              for (index_t i = 0; i < unroll; ++i) {
                sum ^= gpu::issue<Op>(lds, address);
                sum ^= gpu::issue<Op>(lds, ballast);
                address += zero;
                ballast += zero;
              }
            }
          }
          const unsigned end = now();
          if (lane == 0)
            clocks[((pattern * 2 + length) * repetitions + repetition) * max_waves + exec::wave_id()] =
                (end - begin) & clock_bits;
        }
      }
    }
    if (sum == 0x12345678) *sink = sum;
  }
#endif
}

template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b8>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b16>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b32>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b64>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b96>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::read_b128>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b8>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b16>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b32>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b64>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b96>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::write_b128>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::ldmatrix>(const int*, int, int, unsigned*, unsigned*);
template TILEWRIGHT_GLOBAL void time_patterns<lds_op::stmatrix>(const int*, int, int, unsigned*, unsigned*);

}  // namespace lds_probe

#if !defined(LDS_PROBE_KERNELS_ONLY)
#include "program.hpp"
#endif
