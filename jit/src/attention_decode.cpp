// SPDX-License-Identifier: MIT
#include <tilewright/jit/attention.hpp>

#include "attention_name.hpp"
#include "operation.hpp"

namespace tilewright::jit {

kernel_request attention_decode(const attention_decode_problem& problem) {
  require_attention("attention_decode", problem.type, problem.head_dim, problem.value_dim);
  return remembered([problem](const std::string&) {
    const auto args_of = [](const void* args) -> const attention_decode_args& {
      return *static_cast<const attention_decode_args*>(args);
    };
    kernel_source s;
    s.name = "attention_decode_" + attention_name(problem.type, problem.head_dim, problem.value_dim);
    s.code = "struct policy : tw::attention_decode_policy<tw::arch::current, " + type_name(problem.type) + ", " +
             std::to_string(problem.head_dim) + ", " + std::to_string(problem.value_dim) + "> {};\n";
    s.kernel = "tw::attention_decode<policy>";
    s.uses = {"kernels/attention/decode/attention_decode.hpp"};
    s.host.check = [args_of, head_dim = problem.head_dim, value_dim = problem.value_dim](const void* args) {
      const char* const why = detail::check_attention(args_of(args), head_dim, value_dim, 8);
      return why ? why : detail::check_decode(args_of(args));
    };
    s.host.grid = [args_of](const void* args) { return grid_of(detail::grid_of_decode(args_of(args))); };
    host_half combine;
    combine.grid = [args_of](const void* args) { return grid_of(detail::grid_of_decode_combine(args_of(args))); };
    s.host.next = std::make_shared<const host_half>(std::move(combine));
    attention_decode_args args = problem.args;
    stand_ins stand_in;
    stand_in(args.q, args.k, args.v, args.o, args.workspace);
    require_fit("attention_decode", s.host.check(&args));
    return s;
  });
}

}  // namespace tilewright::jit
