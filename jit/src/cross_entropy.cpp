// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {
namespace {

using kinds = cross_entropy_kind;

template <class T, class Target>
kernel_source cross_entropy_source(cross_entropy_kind kind, const row_kernel_text& text,
                                   const cross_entropy_args<void, void>& args, const std::string& target) {
  const auto make = [&]<cross_entropy_kind Kind>(number<Kind>) {
    using kernel = tilewright::cross_entropy<arch::sm90, T, row_tile{}, Kind, Target>;
    return row_kernel<kernel>(text, std::bit_cast<typename kernel::args_type>(args), target, sizeof(T));
  };
  return kind == kinds::loss                ? make(number<kinds::loss>{})
         : kind == kinds::loss_and_gradient ? make(number<kinds::loss_and_gradient>{})
                                            : make(number<kinds::gradient>{});
}

}  // namespace

kernel_request cross_entropy(const cross_entropy_problem& problem) {
  require_float("cross_entropy", problem.type);
  return remembered([problem](const std::string& target) {
    cross_entropy_args<void, void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.target);
    if (problem.kind != kinds::gradient) stand_in(args.loss);
    if (problem.kind != kinds::loss) stand_in(args.gradient);
    if (problem.kind == kinds::gradient) stand_in(args.log_sum);
    constexpr const char* names[] = {"", "with_gradient_", "gradient_"};
    const row_kernel_text text{.name = std::string("cross_entropy_") + names[int(problem.kind)] +
                                       short_name(problem.type) + (problem.has_long_targets ? "_i64" : ""),
                               .before = "tw::cross_entropy<tw::arch::current, " + type_name(problem.type) + ", ",
                               .after = ", " + kind_text("cross_entropy_kind", problem.kind) +
                                        (problem.has_long_targets ? ", long_index_t>" : ", index_t>"),
                               .uses = "kernels/rows/cross_entropy.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return problem.has_long_targets ? cross_entropy_source<T, long_index_t>(problem.kind, text, args, target)
                                      : cross_entropy_source<T, index_t>(problem.kind, text, args, target);
    });
  });
}

}  // namespace tilewright::jit
