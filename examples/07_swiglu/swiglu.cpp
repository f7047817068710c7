// SPDX-License-Identifier: MIT
// Runs the kernel on the CPU as several GPUs, and compares with three loops.
#include <tilewright/launch/launch.hpp>

#include <cstdio>

#include "reference.hpp"

namespace swiglu_example {

template <class Kernel>
bool is_right(const char* name) {
  problem p;
  const tw::emulator::launch_report report = tw::launch<Kernel>(p.args, {.check_lds = tw::emulator::lds_checks::on});
  const index_t wrong = p.count_wrong();
  const tw::long_index_t conflicts = report.totals.conflicts;
  std::printf("%-13s %d of %d elements wrong, %lld LDS conflicts\n", name, wrong, p.m * p.n, conflicts);
  return wrong == 0 && conflicts == 0;
}

}  // namespace swiglu_example

int main() {
  using namespace swiglu_example;
  using namespace tw::arch;
  const bool right[] = {is_right<kernel<gfx942>>("gfx942"), is_right<kernel<gfx1201>>("gfx1201"),
                        is_right<kernel<sm80>>("sm_80"), is_right<hopper_kernel>("sm_90, wgmma")};
  return right[0] && right[1] && right[2] && right[3] ? 0 : 1;
}
