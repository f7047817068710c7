// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include <type_traits>

#include <tilewright/jit/error.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {
namespace {

/// The host half of the kernels with these lengths of elements.
template <class T, class Result, norm_kind Kind, scale_kind Scales>
kernel_source norm_source(const row_kernel_text& text, const norm_args<void, void>& args, const std::string& target) {
  using kernel = tilewright::row_norm<arch::sm90, T, row_tile{}, Kind, Result, Scales>;
  return row_kernel<kernel>(text, std::bit_cast<typename kernel::args_type>(args), target, sizeof(T));
}
template <class T, norm_kind Kind>
kernel_source norm_source(scale_kind scales, const row_kernel_text& text, const norm_args<void, void>& args,
                          const std::string& target) {
  switch (scales) {
    case scale_kind::per_row: return norm_source<T, int8_t, Kind, scale_kind::per_row>(text, args, target);
    case scale_kind::per_128: return norm_source<T, int8_t, Kind, scale_kind::per_128>(text, args, target);
    case scale_kind::none: break;
  }
  return norm_source<T, T, Kind, scale_kind::none>(text, args, target);
}

}  // namespace

kernel_request row_norm(const norm_problem& problem) {
  require_float("row_norm", problem.type);
  const bool has_scales = problem.scales != scale_kind::none;
  if (has_scales != is_8_bits(problem.result) || (!has_scales && problem.result != problem.type))
    throw error("row_norm: the result has the elements of x and no scales, or it is fp8, bf8 or i8 with scales");
  return remembered([problem](const std::string& target) {
    norm_args<void, void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.weight, args.y);
    if (problem.scales != scale_kind::none) stand_in(args.scale);
    const bool is_layer_norm = problem.kind == norm_kind::layer_norm;
    const row_kernel_text text{.name = std::string(is_layer_norm ? "layer_norm_" : "rms_norm_") +
                                       short_name(problem.type) + name_of(problem.result, problem.scales),
                               .before = "tw::row_norm<tw::arch::current, " + type_name(problem.type) + ", ",
                               .after = ", " + kind_text("norm_kind", problem.kind) + ", " +
                                        type_name_on(problem.result, target) + ", " +
                                        kind_text("scale_kind", problem.scales) + ">",
                               .uses = "kernels/rows/norm.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return is_layer_norm ? norm_source<T, norm_kind::layer_norm>(problem.scales, text, args, target)
                           : norm_source<T, norm_kind::rms_norm>(problem.scales, text, args, target);
    });
  });
}

}  // namespace tilewright::jit
