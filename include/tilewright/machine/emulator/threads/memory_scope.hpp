// SPDX-License-Identifier: MIT
// The scope of a release or an acquire.
#pragma once

namespace tilewright::emulator {

/// Which threads a release or an acquire synchronises with (PTX ISA, "Scope").
enum class memory_scope : signed char { gpu, system };

}  // namespace tilewright::emulator
