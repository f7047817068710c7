// SPDX-License-Identifier: MIT
// What programs may call of HIP's runtime and the emulator does not have. No header of HIP is included: only the names
// matter.
#include <string>

namespace emulated_hip {
[[noreturn]] void cannot_run(const std::string& sentence);
}  // namespace emulated_hip

extern "C" {
#define REFUSE(name) \
  void name() { emulated_hip::cannot_run("the program calls " #name ", which is not supported"); }
#include "refused.inc"
#undef REFUSE
}
