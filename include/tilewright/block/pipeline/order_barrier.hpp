// SPDX-License-Identifier: MIT
// Lets the consumers of a block enter a section one after the other, by named barriers.
#pragma once

#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// `Members` warpgroups pass a section in the order 0, 1, ..., 0, 1, ...: while the tensor cores work for one, the
/// others compute or store. With two:
///
///   0 | open: - | wait | section | arrive ->              | wait | section | arrive ->              | drain: wait
///   1 | open: arrive ->            wait   | section | arrive ->              wait   | section | arrive -> | -
///
/// Members pass equally often. The named barriers are First to First + Members - 1.
template <index_t Members, index_t First>
struct order_barrier {
  index_t member;

  /// Lets member 0 enter first.
  TILEWRIGHT_HD void open() const {
    if (member == Members - 1) arrive();
  }
  /// Waits until the member before has arrived.
  TILEWRIGHT_HD void wait() const {
    if constexpr (Members > 1) exec::named_sync<256>(First + member);
  }
  /// Lets the next member enter.
  TILEWRIGHT_HD void arrive() const {
    if constexpr (Members > 1) exec::named_arrive<256>(First + (member == Members - 1 ? 0 : member + 1));
  }
  /// After the last section: every arrival has a wait.
  TILEWRIGHT_HD void drain() const {
    if (member == 0) wait();
  }
};

}  // namespace tilewright::detail
#endif
