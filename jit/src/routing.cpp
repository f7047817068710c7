// SPDX-License-Identifier: MIT
#include <tilewright/jit/routing.hpp>

#include <algorithm>
#include <bit>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/routing/choose_experts_by_score.hpp>
#include <tilewright/kernels/routing/choose_experts_gradient.hpp>
#include <tilewright/kernels/routing/expert_activation.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>

#include "operation.hpp"
#include "row_kernel.hpp"

namespace tilewright::jit {
namespace {

/// MostChoices of a kernel.
index_t room_for_choices(const choose_experts_args<void>& args) {
  index_t choices = 16;
  while (choices < 2048 && choices < std::max(args.choices + args.shared, args.groups)) choices *= 2;
  return choices;
}

template <class T>
kernel_source choose_source(const choose_experts_args<void>& given, const std::string& type,
                            const std::string& short_type, const std::string& target) {
  using kernel = tilewright::choose_experts<arch::sm90, T, 32>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  const index_t choices = room_for_choices(given);
  const char* why = nullptr;
  for (const index_t vector : {index_t(16 / sizeof(T)), index_t{2}, index_t{1}}) {
    const detail::choose_experts_shape shape{sizeof(T), choose_most_experts(args.experts, vector), vector, choices};
    const index_t tokens = shape.block_tokens(target_of(target));
    if ((why = kernel::check(args, shape, tokens))) continue;
    kernel_source s;
    s.name = "choose_experts_" + short_type + "_" + std::to_string(shape.most_experts) + "_v" + std::to_string(vector) +
             (choices > 16 ? "_" + std::to_string(choices) : "");
    s.kernel = "tw::choose_experts<tw::arch::current, " + type + ", " + std::to_string(shape.most_experts) + ", " +
               std::to_string(vector) + ", " + std::to_string(choices) + ">";
    s.uses = {"kernels/routing/choose_experts.hpp"};
    s.host.check = [shape, tokens](const void* launched) {
      return kernel::check(*static_cast<const typename kernel::args_type*>(launched), shape, tokens);
    };
    s.host.grid = [tokens](const void* launched) {
      return grid_of(kernel::grid(*static_cast<const typename kernel::args_type*>(launched), tokens));
    };
    return s;
  }
  throw error(std::string("choose_experts: ") + why);
}

template <class T>
kernel_source choose_by_score_source(const choose_experts_args<void>& given, const std::string& type,
                                     const std::string& short_type, const std::string& target) {
  using kernel = choose_experts_by_score<arch::sm90, T, 32>;
  const detail::experts_by_score_shape shape{choose_most_experts(given.experts, 1), room_for_choices(given)};
  require_fit("choose_experts", kernel::check(std::bit_cast<typename kernel::args_type>(given), shape));
  const std::string room = std::to_string(shape.most_experts), choices = std::to_string(shape.most_choices);
  kernel_source s;
  s.name = "choose_experts_by_score_" + short_type + "_" + room + (shape.most_choices > 16 ? "_" + choices : "");
  s.kernel = "tw::choose_experts_by_score<tw::arch::current, " + type + ", " + room + ", " + choices + ">";
  s.uses = {"kernels/routing/choose_experts_by_score.hpp"};
  s.host.check = [shape](const void* launched) {
    return kernel::check(*static_cast<const typename kernel::args_type*>(launched), shape);
  };
  s.host.grid = [tokens = shape.block_tokens(target_of(target))](const void* launched) {
    return grid_of(kernel::grid(*static_cast<const typename kernel::args_type*>(launched), tokens));
  };
  return s;
}

/// use(of_type<kernel>) with the kernel that has room for the experts.
template <bool LimitsRows, class Use>
auto with_order_kernel(index_t experts, Use use) {
  switch (choose_order_limit(experts)) {
    case 256: return use(of_type<tilewright::order_by_expert<arch::sm90, 256, LimitsRows>>{});
    case 1024: return use(of_type<tilewright::order_by_expert<arch::sm90, 1024, LimitsRows>>{});
    case 2048: return use(of_type<tilewright::order_by_expert<arch::sm90, 2048, LimitsRows>>{});
    default: return use(of_type<tilewright::order_by_expert<arch::sm90, 4096, LimitsRows>>{});
  }
}
template <class Use>
auto with_order_kernel(const order_by_expert_args& args, Use use) {
  return args.capacity > 0 ? with_order_kernel<true>(args.experts, use) : with_order_kernel<false>(args.experts, use);
}

template <class T>
kernel_source choose_gradient_source(const choose_experts_gradient_args<void>& given, const std::string& type,
                                     const std::string& short_type, const std::string& target) {
  using kernel = tilewright::choose_experts_gradient<arch::sm90, T>;
  const index_t tokens = kernel::block_size / target_of(target).wave_size;
  require_fit("choose_experts_gradient", kernel::check(std::bit_cast<typename kernel::args_type>(given), tokens));
  kernel_source s;
  s.name = "choose_experts_gradient_" + short_type;
  s.kernel = "tw::choose_experts_gradient<tw::arch::current, " + type + ">";
  s.uses = {"kernels/routing/choose_experts_gradient.hpp"};
  s.host.check = [tokens](const void* launched) {
    return kernel::check(*static_cast<const typename kernel::args_type*>(launched), tokens);
  };
  s.host.grid = [tokens](const void* launched) {
    return grid_of(kernel::grid(*static_cast<const typename kernel::args_type*>(launched), tokens));
  };
  return s;
}

template <class T, bool IsGradient>
kernel_source activation_source(const row_kernel_text& text, const expert_activation_args<void>& given) {
  using kernel = tilewright::expert_activation<arch::sm90, T, row_tile{64, 64, 1, 16 / sizeof(T)}, IsGradient>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  const bool is_aligned = kernel::check(args) == nullptr;  // what is wrong besides is wrong with any tile
  return row_kernel<kernel>(text, args,
                            choose_expert_rows_tile(sizeof(T), args.cols, is_aligned, expert_rows_kind::combine));
}

template <class T>
kernel_source column_sums_source(const row_kernel_text& text, const expert_column_sums_args<void>& given) {
  using kernel = tilewright::expert_column_sums<arch::sm90, T, row_tile{64, 64, 1, 16 / sizeof(T)}>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  return row_kernel<kernel>(
      text, args,
      choose_expert_rows_tile(sizeof(T), 1, has_aligned_rows<kernel>(args, sizeof(T)), expert_rows_kind::combine));
}

template <class T, expert_rows_kind Kind>
kernel_source rows_source(const row_kernel_text& text, const expert_rows_args<void>& given) {
  using kernel = tilewright::expert_rows<arch::sm90, T, row_tile{64, 64, 1, 16 / sizeof(T)}, Kind>;
  const auto args = std::bit_cast<typename kernel::args_type>(given);
  const bool is_aligned = has_aligned_rows<kernel>(args, sizeof(T));
  return row_kernel<kernel>(text, args, choose_expert_rows_tile(sizeof(T), args.cols, is_aligned, Kind));
}

/// use(of_type<kernel>) with the kernel of a kind.
template <class Use>
auto with_dots_kernel(const expert_dots_problem& p, Use use) {
  using enum expert_dots_kind;
  return p.kind == gate_up ? use(of_type<tilewright::expert_dots<arch::sm90, bfloat16_t, gate_up>>{})
                           : use(of_type<tilewright::expert_dots<arch::sm90, bfloat16_t, down>>{});
}
/// An error message for a problem without a kernel; nullptr: there is one.
const char* check_dots(const expert_dots_problem& given) {
  if (given.type != element::f16 && given.type != element::bf16) return "elements are f16 or bf16";
  expert_dots_problem p = given;
  stand_ins stand_in;
  stand_in(p.args.x, p.args.w, p.args.y, p.args.expert, p.args.weight);
  return with_dots_kernel(p, [&]<class Kernel>(of_type<Kernel>) {
    return Kernel::check(std::bit_cast<typename Kernel::args_type>(p.args));
  });
}

}  // namespace

kernel_request choose_experts(const choose_experts_problem& problem) {
  require_float("choose_experts", problem.type);
  return remembered([problem](const std::string& target) {
    choose_experts_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.expert, args.weight);
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      const std::string type = type_name(problem.type), short_type = short_name(problem.type);
      return args.needs_scores() ? choose_by_score_source<T>(args, type, short_type, target)
                                 : choose_source<T>(args, type, short_type, target);
    });
  });
}

kernel_request choose_experts_gradient(const choose_experts_gradient_problem& problem) {
  require_float("choose_experts_gradient", problem.type);
  return remembered([problem](const std::string& target) {
    choose_experts_gradient_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.forward.x, args.forward.expert, args.forward.weight, args.dweight, args.dx);
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return choose_gradient_source<T>(args, type_name(problem.type), short_name(problem.type), target);
    });
  });
}

kernel_request order_by_expert(const order_by_expert_problem& problem) {
  return remembered([problem](const std::string& target) {
    order_by_expert_args args = problem.args;
    stand_ins stand_in;
    stand_in(args.expert, args.ends, args.source, args.position, args.counts);
    const index_t limit = choose_order_limit(args.experts);
    kernel_source s;
    const bool limits = args.capacity > 0;
    s.name = "order_by_expert_" + std::to_string(limit) + (limits ? "_limited" : "");
    s.kernel = "tw::order_by_expert<tw::arch::current, " + std::to_string(limit) + (limits ? ", true>" : ">");
    s.uses = {"kernels/routing/order_by_expert.hpp"};
    s.host = with_order_kernel(args, [&]<class Kernel>(of_type<Kernel>) {
      require_fit("order_by_expert", Kernel::check(args));
      return half_of<Kernel>();
    });
    const index_t most = limits ? 1024 : 2048;
    if (limit > most && target_of(target).lds_bytes <= 64 * 1024)
      throw error("order_by_expert: more than " + std::to_string(most) + " experts" +
                  (limits ? " with a capacity" : "") + " need more LDS than a block of " + target + " has");
    return s;
  });
}
long_index_t workspace_bytes(const order_by_expert_problem& problem) {
  return with_order_kernel(problem.args, [&]<class Kernel>(of_type<Kernel>) {
    return long_index_t{Kernel::workspace_rows(problem.args.entries)} * problem.args.experts * 4;
  });
}

kernel_request expert_rows(const expert_rows_problem& problem) {
  require_float("expert_rows", problem.type);
  return remembered([problem](const std::string&) {
    expert_rows_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y, args.position);
    const bool scatters = problem.kind == expert_rows_kind::scatter;
    const row_kernel_text text{
        .name = std::string(scatters ? "scatter_rows_" : "combine_rows_") + short_name(problem.type),
        .before = "tw::expert_rows<tw::arch::current, " + type_name(problem.type) + ", ",
        .after = ", " + kind_text("expert_rows_kind", problem.kind) + ">",
        .uses = "kernels/routing/expert_rows.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return scatters ? rows_source<T, expert_rows_kind::scatter>(text, args)
                      : rows_source<T, expert_rows_kind::combine>(text, args);
    });
  });
}

bool can_take_dots(const expert_dots_problem& problem) { return check_dots(problem) == nullptr; }
kernel_request expert_dots(const expert_dots_problem& problem) {
  return remembered([problem](const std::string&) {
    require_fit("expert_dots", check_dots(problem));
    const std::string type = type_name(problem.type);
    kernel_source s;
    s.name = std::string(problem.kind == expert_dots_kind::gate_up ? "gate_up" : "down") + "_dots_" +
             short_name(problem.type);
    s.kernel = "tw::expert_dots<tw::arch::current, " + type + ", " + kind_text("expert_dots_kind", problem.kind) + ">";
    s.uses = {"kernels/routing/expert_dots.hpp"};
    s.host = with_dots_kernel(problem, []<class Kernel>(of_type<Kernel>) { return half_of<Kernel>(); });
    return s;
  });
}

kernel_request expert_column_sums(const expert_column_sums_problem& problem) {
  require_float("expert_column_sums", problem.type);
  return remembered([problem](const std::string&) {
    expert_column_sums_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y, args.ends);
    const row_kernel_text text{.name = "expert_column_sums_" + std::string(short_name(problem.type)),
                               .before = "tw::expert_column_sums<tw::arch::current, " + type_name(problem.type) + ", ",
                               .after = ">",
                               .uses = "kernels/routing/expert_column_sums.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) { return column_sums_source<T>(text, args); });
  });
}

kernel_request expert_activation(const expert_activation_problem& problem) {
  require_float("expert_activation", problem.type);
  return remembered([problem](const std::string&) {
    expert_activation_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y, args.position);
    if (problem.is_gradient) stand_in(args.dy, args.dx, args.weight, args.dweight);
    const row_kernel_text text{
        .name = std::string(problem.is_gradient ? "expert_activation_gradient_" : "expert_activation_") +
                short_name(problem.type),
        .before = "tw::expert_activation<tw::arch::current, " + type_name(problem.type) + ", ",
        .after = problem.is_gradient ? ", true>" : ", false>",
        .uses = "kernels/routing/expert_activation.hpp"};
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      return problem.is_gradient ? activation_source<T, true>(text, args) : activation_source<T, false>(text, args);
    });
  });
}

}  // namespace tilewright::jit
