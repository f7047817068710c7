// SPDX-License-Identifier: MIT
#include "targets.hpp"

#include <algorithm>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/arch/gpu_facts.hpp>
#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/jit/error.hpp>

namespace tilewright::jit {

void require_known_target(const std::string& target) {
  if (target == "sm_90a" || (target != "sm_90" && arch::find_target(target.c_str()))) return;
  if (target == "cpu" || target == "host")
    throw error(
        "the CPU emulator runs kernels that are part of a program, so there are no code objects for it; use "
        "tw::launch");
  std::string names;
  for (const arch::target* const known : arch::all_targets)
    names.append(names.empty() ? "" : ", ").append(known->name).append(is_hopper(known->name) ? "a" : "");
  throw error("'" + target + "' is not a target; there are " + names);
}

bool has_matrix_instruction(element type, const std::string& target) {
  const arch::target* const on = arch::find_target(is_hopper(target) ? "sm_90" : target.c_str());
  const auto supports = [&](arch::matrix_element kind) {
    return !on || std::any_of(on->matrix_ops.begin(), on->matrix_ops.end(),
                              [&](arch::matrix_op op) { return on->supports(op, kind); });
  };
  using enum arch::matrix_element;
  switch (type) {
    case element::f16: return supports(f16);
    case element::bf16: return supports(bf16);
    case element::f32: return supports(f32);
    case element::fp8: return supports(fp8_ocp) || supports(fp8_fnuz);
    case element::bf8: return supports(bf8_ocp) || supports(bf8_fnuz);
    case element::i8: return supports(i8);
    case element::i32: break;
  }
  return false;
}

bool is_hopper(const std::string& target) { return target.starts_with("sm_90"); }

index_t expected_blocks(const std::string& target, int lds_bytes, int block_size) {
  const arch::target* const on = arch::find_target(target.c_str());
  index_t units = 1;
  for (const arch::gpu_facts& gpu : arch::known_gpus)
    if (target.starts_with(gpu.target)) units = gpu.compute_units;
  if (!on) return units;
  const index_t registers = on->registers_per_simd / 2;
  return units * std::max(arch::resident_blocks(*on, lds_bytes, block_size, registers), 1);
}

bool is_nvidia(const std::string& target) { return target.starts_with("sm_"); }

}  // namespace tilewright::jit
