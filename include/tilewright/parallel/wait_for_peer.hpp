// SPDX-License-Identifier: MIT
// Waits of kernels for other GPUs, which end with an error where one of them is late.
#pragma once

#include <tilewright/exec/hopper.hpp>

namespace tilewright::parallel {

/// What a kernel of several ranks needs to wait for others.
struct peer_wait {
  unsigned* status = nullptr;  // becomes 1 where a wait has taken too long; in memory that the host can read
  index_t timeout_ms = 10000;  // of the first wait that fails; those after it fail within a millisecond
};

#if TILEWRIGHT_HOPPER_PASS
namespace detail {

/// One thread waits until a flag in its GPU's memory has reached n. What it then reads may be wrong if *status is set.
/// The status is read late: it is in the host's memory, which answers the blocks of a GPU one after another.
TILEWRIGHT_HD void wait_for_peer(const unsigned* flag, unsigned n, const peer_wait& wait) {
  if (exec::wait_for_flag(flag, n, 1)) return;
  if (*static_cast<const volatile unsigned*>(wait.status) != 0) return;
  if (!exec::wait_for_flag(flag, n, wait.timeout_ms)) exec::set_flag(wait.status, 1);
}

}  // namespace detail
#endif

}  // namespace tilewright::parallel
