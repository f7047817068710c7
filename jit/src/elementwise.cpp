// SPDX-License-Identifier: MIT
#include <tilewright/jit/tensor.hpp>

#include <bit>

#include "operation.hpp"

namespace tilewright::jit {
namespace {

template <class F>
auto with_size(element type, F f) {
  const int bytes = size_of(type);
  return bytes == 1 ? f(of_type<int8_t>{}) : bytes == 2 ? f(of_type<half_t>{}) : f(of_type<float>{});
}

template <class T, class Result>
host_half map_half(const map_args<void, void>& given, bool has_two) {
  const auto make = [&]<class Function>(Function) {
    using kernel = map_tensor<arch::sm90, T, Result, Function>;
    require_fit("elementwise", kernel::check(std::bit_cast<typename kernel::args_type>(given)));
    return half_of<kernel>();
  };
  return has_two ? make(swiglu_function{}) : make(copy_function{});  // functions of two elements, and of one
}

}  // namespace

kernel_request elementwise(const elementwise_problem& problem) {
  return remembered([problem](const std::string& target) {
    map_args<void, void> args = problem.args;
    const bool has_two = args.x2.dims > 0;
    stand_ins stand_in;
    stand_in(args.x.data, args.y.data);
    if (has_two) stand_in(args.x2.data);
    kernel_source s;
    s.name = "elementwise_" + short_name(problem.type) + "_to_" + short_name(problem.result) + (has_two ? "_of_2" : "");
    s.code = problem.function.code;
    s.kernel = "tw::map_tensor<tw::arch::current, " + type_name_on(problem.type, target) + ", " +
               type_name_on(problem.result, target) + ", " + problem.function.type + ">";
    s.uses = {"kernels/tensor/map_tensor.hpp"};
    s.host = with_size(problem.type, [&]<class T>(of_type<T>) {
      return with_size(problem.result,
                       [&]<class Result>(of_type<Result>) { return map_half<T, Result>(args, has_two); });
    });
    limit_threads(s.host, target, 256);
    return s;
  });
}

}  // namespace tilewright::jit
