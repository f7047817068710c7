// SPDX-License-Identifier: MIT
#include "single_kernel.hpp"

#include <string_view>

#include <tilewright/core/arch/gpu_facts.hpp>

namespace tilewright::ops {

int compute_units(const device_facts& on) {
  if (on.SMs > 0) return on.SMs;
  for (const arch::gpu_facts& known : arch::known_gpus)
    if (std::string_view(on.target).starts_with(known.target)) return known.compute_units;
  return 1;
}

}  // namespace tilewright::ops
