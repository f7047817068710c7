// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {

kernel_request softmax(const softmax_problem& problem) {
  require_float("softmax", problem.type);
  return remembered([problem](const std::string& target) {
    softmax_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y);
    const row_kernel_text text{
        .name =
            std::string(problem.kind == softmax_kind::softmax ? "softmax_" : "log_softmax_") + short_name(problem.type),
        .before = "tw::softmax<tw::arch::current, " + type_name(problem.type) + ", ",
        .after = ", " + kind_text("softmax_kind", problem.kind) + ">",
        .uses = "kernels/rows/softmax.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      using kernel = tilewright::softmax<arch::sm90, T, row_tile{}>;
      return row_kernel<kernel>(text, std::bit_cast<typename kernel::args_type>(args), target, sizeof(T));
    });
  });
}

}  // namespace tilewright::jit
