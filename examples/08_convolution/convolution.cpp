// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU as two GPUs, and compares with loops.
#include <tilewright/launch/launch.hpp>

#include <cstdio>

#include "reference.hpp"

namespace {

using namespace convolution_example;

template <class Arch>
bool is_right(const char* name, const convolution_args& shape) {
  problem p(shape);
  const auto report = tw::launch<kernel<Arch>>(p.args, {.check_lds = tw::emulator::lds_checks::on});
  const index_t wrong = p.count_wrong();
  std::printf("%-8s %-8s %d of %d elements wrong, %lld LDS conflicts\n", Arch::value.name, name, wrong, int(p.y.size()),
              static_cast<long long>(report.totals.conflicts));
  return wrong == 0;
}

}  // namespace

int main() {
  try {
    const bool right = is_right<tw::arch::gfx942>("plain", plain) && is_right<tw::arch::gfx942>("general", general) &&
                       is_right<tw::arch::sm80>("general", general);
    return right ? 0 : 1;
  } catch (const tw::launch_error& error) {
    std::fprintf(stderr, "convolution: %s\n", error.what());
    return 2;
  }
}
