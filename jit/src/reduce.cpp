// SPDX-License-Identifier: MIT
#include <tilewright/jit/tensor.hpp>

#include <bit>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/tensor/reduce_tensor.hpp>

#include "operation.hpp"

namespace tilewright::jit {
namespace {

reduce_args<void, void> with_pointers(const reduce_problem& p) {
  reduce_args<void, void> args = p.args;
  stand_ins stand_in;
  stand_in(args.x.data, args.y.data);
  if (p.kind == reduce_kind::mean_variance) stand_in(args.variance);
  return args;
}

/// use(the problem's kernel, its arguments): the host's part depends on the lengths of elements and of a wave.
template <class Use>
auto with_kernel(const reduce_problem& p, const std::string& target, Use use) {
  const reduce_args<void, void> args = with_pointers(p);
  const auto of_kernel = [&]<class Kernel>(of_type<Kernel> kernel) {
    return use(kernel, std::bit_cast<typename Kernel::args_type>(args));
  };
  const auto of_kind = [&]<class Arch, class T, class Result>(of_type<Arch>, of_type<T>, of_type<Result>) {
    using enum reduce_kind;
    switch (p.kind) {
      case maximum: return of_kernel(of_type<reduce_tensor<Arch, T, maximum, Result>>{});
      case mean_variance: return of_kernel(of_type<reduce_tensor<Arch, T, mean_variance, Result>>{});
      case sum:
      case mean: break;
    }
    return of_kernel(of_type<reduce_tensor<Arch, T, sum, Result>>{});
  };
  const auto of_elements = [&]<class Arch>(of_type<Arch> on) {
    if (p.type == element::f32) return of_kind(on, of_type<float>{}, of_type<float>{});
    return p.result == element::f32 ? of_kind(on, of_type<half_t>{}, of_type<float>{})
                                    : of_kind(on, of_type<half_t>{}, of_type<half_t>{});
  };
  return target_of(target).wave_size == 64 ? of_elements(of_type<arch::gfx942>{}) : of_elements(of_type<arch::sm90>{});
}

}  // namespace

kernel_request reduce(const reduce_problem& problem) {
  require_float("reduce", problem.type);
  if (problem.result != problem.type && problem.result != element::f32)
    throw error("reduce: the result is f32, or has the elements of x");
  return remembered([problem](const std::string& target) {
    constexpr const char* kinds[] = {"sum", "mean", "maximum", "mean_variance"};
    kernel_source s;
    s.name = std::string("reduce_") + kinds[int(problem.kind)] + "_" + short_name(problem.type) + "_to_" +
             short_name(problem.result);
    s.kernel = "tw::reduce_tensor<tw::arch::current, " + type_name(problem.type) +
               ", tw::reduce_kind::" + kinds[int(problem.kind)] + ", " + type_name(problem.result) + ">";
    s.uses = {"kernels/tensor/reduce_tensor.hpp"};
    s.host = with_kernel(problem, target, []<class Kernel>(of_type<Kernel>, const typename Kernel::args_type& args) {
      require_fit("reduce", Kernel::check(args));
      return half_of<Kernel>();
    });
    return s;
  });
}

long_index_t workspace_bytes(const reduce_problem& problem, const std::string& target) {
  return with_kernel(problem, target, []<class Kernel>(of_type<Kernel>, const typename Kernel::args_type& args) {
    require_fit("reduce", Kernel::check(args));
    return Kernel::workspace_bytes(args);
  });
}

}  // namespace tilewright::jit
