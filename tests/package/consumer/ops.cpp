// SPDX-License-Identifier: MIT
// The kernels that CMake linked into this program are found without a compiler.
#include <tilewright/jit/rows.hpp>
#include <tilewright/ops.hpp>

int main() {
  namespace jit = tilewright::jit;
  jit::compiler_options options;
  options.target = "gfx942";
  options.cache.enabled = false;
  options.on_miss = jit::miss::fail;
  jit::compiler compiler(options);
  jit::softmax_problem p;
  p.args.rows = 3;
  p.args.cols = 64;
  p.args.x_stride = p.args.y_stride = 64;
  const bool is_linked = compiler.archive_of(jit::softmax(p)) == "linked into the program";
  return is_linked && !compiler.code_object(jit::softmax(p)).empty() ? 0 : 1;
}
