// SPDX-License-Identifier: MIT
#include "operation.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/element_function.hpp>
#include <tilewright/jit/error.hpp>

#include "targets.hpp"

namespace tilewright::jit {

const arch::target& target_of(const std::string& name) {
  const arch::target* const found = arch::find_target(name == "sm_90a" ? "sm_90" : name.c_str());
  if (!found) throw error("'" + name + "' is not a target");
  return *found;
}

std::string type_name_on(element e, const std::string& target) {
  return type_name(e, target_of(target).fp8 == arch::fp8_kind::fnuz);
}

int size_of(element e) { return is_8_bits(e) ? 1 : e == element::f16 || e == element::bf16 ? 2 : 4; }
bool is_8_bits(element e) { return e == element::fp8 || e == element::bf8 || e == element::i8; }

void require_float(const char* operation, element type) {
  if (type != element::f16 && type != element::bf16 && type != element::f32)
    throw error(std::string(operation) + ": the elements are f16, bf16 or f32, not " + short_name(type));
}
void require_fit(const std::string& operation, const char* why) {
  if (why) throw error(operation + ": " + why);
}

void limit_threads(host_half& half, const std::string& target, int block_size) {
  if (is_nvidia(target)) return;
  half.check = [check = half.check, prepare = half.prepare, block_size](const void* args) {
    const char* const why = check(args);
    return why || prepare(args, {}).grid.x * long_index_t{block_size} <= 0xffffffffll
               ? why
               : "HIP starts fewer than 2^32 threads along a dimension of a grid: split the tensor";
  };
}

element_function expression(const std::string& text, int inputs) {
  return {"element_expression", std::string("struct element_expression {\n  TILEWRIGHT_HD float operator()(float x") +
                                    (inputs == 2 ? ", float x2" : "") + ") const { return " + text + "; }\n};\n"};
}

}  // namespace tilewright::jit
