// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>

#include <tilewright/block/mma/default_block_tile.hpp>
#include <tilewright/jit/attention.hpp>
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>

#include "attention_name.hpp"
#include "operation.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

attention_backward_args with_pointers(const attention_backward_problem& p) {
  attention_backward_args args = p.args;
  stand_ins stand_in;
  stand_in(args.q, args.k, args.v, args.o, args.lse, args.d_o, args.d_q, args.d_k, args.d_v, args.workspace);
  return args;
}

/// check(), prepare() and grid() of the kernels with wgmma.
template <class T, index_t Dim, index_t ValueDim = Dim>
host_half half_of_dims() {
  return half_of<tilewright::attention_backward<hopper_backward_policy<T, Dim, ValueDim>>>();
}
template <class T>
std::optional<host_half> find_hopper_half(int dim, int value_dim) {
  if (dim == 192 && value_dim == 128) return half_of_dims<T, 192, 128>();
  if (dim != value_dim) return std::nullopt;
  if (dim == 64) return half_of_dims<T, 64>();
  if (dim == 96) return half_of_dims<T, 96>();
  if (dim == 128) return half_of_dims<T, 128>();
  if (dim == 160) return half_of_dims<T, 160>();
  if (dim == 192) return half_of_dims<T, 192>();
  if (dim == 224) return half_of_dims<T, 224>();
  if (dim == 256) return half_of_dims<T, 256>();
  return std::nullopt;
}
/// Nothing where these kernels cannot compute the problem.
std::optional<host_half> hopper_half(const attention_backward_problem& p, const std::string& target) {
  if (target != "sm_90a") return std::nullopt;
  // No GPU has run this yet.
  if (p.args.block_mask.bits && detail::has_wide_gradients(p.head_dim, p.value_dim)) return std::nullopt;
  std::optional<host_half> half = p.type == element::f16 ? find_hopper_half<half_t>(p.head_dim, p.value_dim)
                                                         : find_hopper_half<bfloat16_t>(p.head_dim, p.value_dim);
  if (half && p.args.block_mask.bits) half = with_block_mask<attention_backward_args>(std::move(*half));
  const attention_backward_args args = with_pointers(p);
  if (half && half->check(&args)) half.reset();
  return half;
}

host_half portable_half(const attention_backward_problem& p, const std::string& target) {
  const arch::matrix_instruction instruction = with_arch(
      target, []<class Arch>(of_type<Arch>) { return arch::describe(default_block_tile<Arch, half_t>().op); });
  const index_t rows = detail::default_backward_tile(target_of(target), instruction, p.head_dim, p.value_dim).queries;
  const auto args_of = [](const void* args) -> const attention_backward_args& {
    return *static_cast<const attention_backward_args*>(args);
  };
  host_half half, gradients;
  half.check = [args_of, head_dim = p.head_dim, value_dim = p.value_dim,
                takes_mask = p.args.block_mask.bits != nullptr](const void* args) {
    return detail::check_backward(args_of(args), head_dim, value_dim, 8, takes_mask);
  };
  half.grid = [args_of](const void* args) {
    return grid_of(detail::grid_of_row_sums(args_of(args), args_of(args).queries));
  };
  gradients.grid = [args_of, rows](const void* args) {
    return grid_of(detail::grid_of_gradients(args_of(args), rows));
  };
  half.next = std::make_shared<const host_half>(std::move(gradients));
  return half;
}

}  // namespace

kernel_request attention_backward(const attention_backward_problem& problem) {
  require_attention("attention_backward", problem.type, problem.head_dim, problem.value_dim);
  return remembered([problem](const std::string& target) {
    require_matrix_instruction("attention_backward", problem.type, target);
    const std::optional<host_half> hopper = hopper_half(problem, target);
    const bool is_masked = problem.args.block_mask.bits != nullptr;
    const std::string dims = std::to_string(problem.head_dim) + ", " + std::to_string(problem.value_dim);
    kernel_source s;
    s.name = (hopper ? "attention_backward_hopper_" : "attention_backward_") +
             attention_name(problem.type, problem.head_dim, problem.value_dim) + (is_masked ? "_masked" : "");
    s.code = "struct policy : tw::" +
             (hopper ? "hopper_backward_policy<" : std::string("attention_backward_policy<tw::arch::current, ")) +
             type_name(problem.type) + ", " + dims +
             (is_masked ? "> { static constexpr bool has_block_mask = true; };\n" : "> {};\n");
    s.kernel = "tw::attention_backward<policy>";
    s.uses = {hopper ? "kernels/attention/backward/hopper_backward.hpp"
                     : "kernels/attention/backward/attention_backward.hpp"};
    s.host = hopper ? *hopper : portable_half(problem, target);
    const attention_backward_args args = with_pointers(problem);
    require_fit("attention_backward", s.host.check(&args));
    return s;
  });
}

long_index_t workspace_bytes(const attention_backward_problem& problem, const std::string& target) {
  return tilewright::workspace_bytes(problem.args, hopper_half(problem, target) ? problem.head_dim : 0);
}

}  // namespace tilewright::jit
