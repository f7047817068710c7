// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>
#include <tilewright/kernels/rows/norm_gradient.hpp>
#include <tilewright/kernels/rows/norm_gradient_choice.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {
namespace {

/// With its pointers, and with a number of parts.
norm_gradient_args<void> complete(const norm_gradient_problem& p) {
  norm_gradient_args<void> args = p.args;
  stand_ins stand_in;
  stand_in(args.dy, args.s, args.weight, args.rstd, args.dx, args.dweight, args.partials);
  if (p.kind == norm_kind::layer_norm) stand_in(args.mean);
  if (args.num_partials == 0) args.num_partials = 1;
  return args;
}

template <class T, norm_kind Kind>
kernel_source gradient_source(const row_kernel_text& text, const norm_gradient_args<void>& given,
                              const std::string& target) {
  using kernel = row_norm_gradient<arch::sm90, T, row_tile{64, 64, 2, 16 / sizeof(T)}, Kind>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  const row_tile tile = choose_norm_gradient_tile(target_of(target), sizeof(T), args.cols,
                                                  has_aligned_rows<kernel>(args, sizeof(T)), Kind);
  kernel_source s = row_kernel<kernel>(text, args, tile);
  const index_t across = detail::norm_partials_across(tile);
  host_half sum;
  sum.grid = [across](const void* launched) {
    return grid_of(detail::grid_of_norm_partials(*static_cast<const typename kernel::args_type*>(launched), across));
  };
  s.host.next = std::make_shared<const host_half>(std::move(sum));
  return s;
}

template <norm_kind Kind>
bool is_aligned(const norm_gradient_problem& p) {
  return with_float(p.type, [&]<class T>(of_type<T>) {
    using kernel = row_norm_gradient<arch::sm90, T, row_tile{64, 64, 2, 16 / sizeof(T)}, Kind>;
    return has_aligned_rows<kernel>(std::bit_cast<typename kernel::args_type>(complete(p)), sizeof(T));
  });
}

}  // namespace

kernel_request norm_gradient(const norm_gradient_problem& problem) {
  require_float("norm_gradient", problem.type);
  return remembered([problem](const std::string& target) {
    const bool is_layer_norm = problem.kind == norm_kind::layer_norm;
    const row_kernel_text text{
        .name = std::string(is_layer_norm ? "layer_norm_gradient_" : "rms_norm_gradient_") + short_name(problem.type),
        .before = "tw::row_norm_gradient<tw::arch::current, " + type_name(problem.type) + ", ",
        .after = ", " + kind_text("norm_kind", problem.kind) + ">",
        .uses = "kernels/rows/norm_gradient.hpp"};
    const norm_gradient_args<void> args = complete(problem);
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return is_layer_norm ? gradient_source<T, norm_kind::layer_norm>(text, args, target)
                           : gradient_source<T, norm_kind::rms_norm>(text, args, target);
    });
  });
}

index_t choose_num_partials(const norm_gradient_problem& problem, const kernel& loaded) {
  const bool aligned = problem.kind == norm_kind::layer_norm ? is_aligned<norm_kind::layer_norm>(problem)
                                                             : is_aligned<norm_kind::rms_norm>(problem);
  const row_tile tile{.vector = problem.type == element::f32 ? 4 : 8, .unaligned = !aligned};
  return tilewright::choose_num_partials(problem.args.rows, loaded.resident_clusters(), tile);
}

}  // namespace tilewright::jit
