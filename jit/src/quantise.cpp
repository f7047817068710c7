// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include <tilewright/jit/error.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {
namespace {

template <class T, scale_kind Scales, class Function>
kernel_source quantise_source(const row_kernel_text& text, const quantise_args<void, void>& given,
                              const std::string& target) {
  using kernel = tilewright::quantise_rows<arch::sm90, T, int8_t, row_tile{}, Scales, Function>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  if constexpr (Scales == scale_kind::per_row) return row_kernel<kernel>(text, args, target, sizeof(T));
  row_tile tile = choose_group_scales_tile(args.cols, sizeof(T));
  tile.unaligned = !has_aligned_rows<kernel>(args, sizeof(T));
  return row_kernel<kernel>(text, args, tile);
}

}  // namespace

kernel_request quantise_rows(const quantise_problem& problem) {
  require_float("quantise_rows", problem.type);
  if (!is_8_bits(problem.result) || problem.scales == scale_kind::none)
    throw error("quantise_rows: the result is fp8, bf8 or i8, with scales per row or per 128 elements");
  return remembered([problem](const std::string& target) {
    quantise_args<void, void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y, args.scale);
    const row_kernel_text text{
        .name = "quantise_" + short_name(problem.type) + name_of(problem.result, problem.scales),
        .before = "tw::quantise_rows<tw::arch::current, " + type_name(problem.type) + ", " +
                  type_name_on(problem.result, target) + ", ",
        .after = ", " + kind_text("scale_kind", problem.scales) + ", " + problem.function.type + ">",
        .uses = "kernels/rows/quantise_rows.hpp",
        .code = problem.function.code};
    const bool is_per_row = problem.scales == scale_kind::per_row;
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      const auto make = [&]<class Function>(Function) {
        return is_per_row ? quantise_source<T, scale_kind::per_row, Function>(text, args, target)
                          : quantise_source<T, scale_kind::per_128, Function>(text, args, target);
      };
      return args.x2 ? make(swiglu_function{}) : make(copy_function{});  // functions of two elements, and of one
    });
  });
}

}  // namespace tilewright::jit
