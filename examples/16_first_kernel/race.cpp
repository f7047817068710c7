// SPDX-License-Identifier: MIT
// A kernel with a race: threads add their left neighbour's number, in LDS, and one of two barriers is missing. The CPU
// emulator names both lines.
#include <tilewright/launch/launch.hpp>
#include <tilewright/tilewright.hpp>

#include <cstdio>
#include <vector>

namespace tw = tilewright;
namespace exec = tw::exec;

struct numbers {
  const float* x;
  float* y;
};

template <bool HasBarrier>
struct add_neighbour {
  using args_type = numbers;
  static constexpr tw::index_t block_size = 256, lds_bytes = 1024;
  static constexpr const char* check(const numbers&) { return nullptr; }
  static constexpr exec::block_index grid(const numbers&) { return {1, 1, 1}; }
  TILEWRIGHT_HD void operator()(const numbers& args) const {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const tw::index_t thread = exec::thread_id();
    exec::lds_store(lds, thread * 4, args.x[thread]);
    exec::block_sync();
    const float left = exec::lds_load<float>(lds, (thread + 255) % 256 * 4);
    if constexpr (HasBarrier) exec::block_sync();
    exec::lds_store(lds, thread * 4, args.x[thread] + left);  // others may not have read this address yet
    args.y[thread] = exec::lds_load<float>(lds, thread * 4);
  }
};

int main() {
  std::vector<float> x(256), y(256);
  for (int i = 0; i < 256; ++i) x[std::size_t(i)] = float(i);
  try {
    tw::launch<add_neighbour<false>>({x.data(), y.data()}, {.emulate = tw::arch::gfx942::value});
  } catch (const tw::emulator::fault& found) {
    std::printf("%s\n", found.what());
  }
  tw::launch<add_neighbour<true>>({x.data(), y.data()}, {.emulate = tw::arch::gfx942::value});
  std::printf("with a barrier: y[0] = %g, y[1] = %g\n", double(y[0]), double(y[1]));
}
