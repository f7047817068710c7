// SPDX-License-Identifier: MIT
// The checks of algebra_checks.hpp in device code; thread i runs check i.
#include <tilewright/machine/exec/exec.hpp>

#include "algebra_checks.hpp"

namespace tw = tilewright;
namespace exec = tilewright::exec;

extern "C" TILEWRIGHT_GLOBAL void algebra(const int* ones, int* out) {
#if TILEWRIGHT_DEVICE_PASS
  const tw::index_t which = exec::thread_id();
  if (which < tw::algebra::num_checks) out[which] = tw::algebra::check_both(which, ones[which]) ? 1 : 2;
#endif
}
