// SPDX-License-Identifier: MIT
#include <tilewright/jit/grouped.hpp>

#include <optional>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/grouped/expert_gemm.hpp>

#include "hopper_groups.hpp"
#include "operation.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

/// Which kernel: groups of rows or of k, the first or the second GEMM of experts.
enum class grouped_form { rows, k, gate_up, down };

/// What a request is made of. Of rows and k, the kernel takes the grouped_args among `args`.
struct form_problem {
  grouped_form form;
  element type, result;
  bool a_along_k, b_along_k;
  expert_args args;
  bool for_all_lengths = false;
  bool gathers = false;  // rows of A, as expert_args::source says

  bool by_rows() const { return form != grouped_form::k; }
  bool is_of_experts() const { return form == grouped_form::gate_up || form == grouped_form::down; }
  index_t products() const { return form == grouped_form::gate_up ? 2 : 1; }
  bool has_epilogue() const { return !is_of_experts() && tilewright::has_epilogue(args); }
};

const grouped_args& grouped_args_of(const void* args) { return *static_cast<const grouped_args*>(args); }
const expert_args& expert_args_of(const void* args) { return *static_cast<const expert_args*>(args); }

/// What the host knows of a kernel, and the text of its policy without groups.
struct grouped_kernel {
  std::string name, policy, uses;
  host_half host;
};

/// promise: what the epilogue may read at once.
const char* check_epilogue_of(const grouped_args& args, bool has_one, vector_alignment promise) {
  if (!has_epilogue(args)) return nullptr;
  return has_one ? epilogue::detail::check<epilogue::from_args>(args, promise)
                 : "the kernel was made without an epilogue";
}

std::string operands_text(const form_problem& p) {
  return std::string(p.a_along_k ? "tw::operand_major::k, " : "tw::operand_major::mn, ") +
         (p.b_along_k ? "tw::operand_major::k" : "tw::operand_major::mn");
}

/// limit: of bytes, as in check_gathered().
const char* check_gate_up(const expert_args& args, bool gathers, index_t element_bytes, long_index_t limit,
                          vector_alignment promise) {
  if (!gathers) return epilogue::expert_swiglu<false>::check(args, promise);
  const char* const why = check_gathered(args, element_bytes, limit);
  return why ? why : epilogue::expert_swiglu<true>::check(args, promise);
}

/// The host half of a kernel for Hopper.
host_half hopper_half(const form_problem& p, const detail::hopper_gemm_facts& kernel) {
  const vector_alignment promise{2, kernel.lds.result_bytes};
  const auto check = [has_one = p.has_epilogue(), promise](const grouped_args& g) {
    return check_epilogue_of(g, has_one, promise);
  };
  switch (p.form) {
    case grouped_form::rows: return half_of_groups<group_kind::rows, 1, grouped_args>(kernel, false, check);
    case grouped_form::k: return half_of_groups<group_kind::k, 1, grouped_args>(kernel, false, check);
    case grouped_form::down:
      return half_of_groups<group_kind::rows, 1, expert_args>(
          kernel, false, [promise](const expert_args& g) { return epilogue::expert_bias::check(g, promise); });
    case grouped_form::gate_up: break;
  }
  return half_of_groups<group_kind::rows, 2, expert_args>(kernel, p.gathers,
                                                          [promise, gathers = p.gathers](const expert_args& g) {
                                                            return check_gate_up(g, gathers, 1, 1ll << 62, promise);
                                                          });
}

hopper_gemm_tile tile_of(const form_problem& p, const expert_args& args, const hopper_gemm_operands& o,
                         const grouped_kernel_kind& kind) {
  grouped_args all = args;
  all.n *= p.products();
  if (p.is_of_experts() && p.b_along_k) return expert_tiles[choose_expert_tile(all, p.products() == 2, 132)];
  if (!p.by_rows() || p.is_of_experts()) return grouped_tiles[1];
  return p.for_all_lengths ? grouped_tiles[choose_grouped_tile(all, 132, o.element_bytes())]
                           : choose_tile_for_groups(args, o, kind);
}

/// Nothing where the kernels for Hopper cannot compute the problem.
std::optional<grouped_kernel> find_hopper(const form_problem& p, const expert_args& args) {
  using enum arch::matrix_element;
  const bool is_fp8 = p.type == element::fp8, is_16_bits = p.type == element::f16 || p.type == element::bf16;
  if (!(is_16_bits && p.result == p.type) && !(is_fp8 && p.result == element::bf16)) return std::nullopt;
  if (p.by_rows() ? !p.a_along_k || (is_fp8 && !p.b_along_k) : p.a_along_k || p.b_along_k || is_fp8)
    return std::nullopt;
  const hopper_gemm_operands o{is_fp8 ? fp8_ocp : f16, is_fp8 ? bf16 : f16, p.a_along_k, p.b_along_k};
  const grouped_kernel_kind kind{.products = p.products(), .gathers_a = p.gathers};
  const hopper_gemm_tile tile = tile_of(p, args, o, kind);
  host_half half = hopper_half(p, kind.facts_of(tile, o));
  if (half.check(&args)) return std::nullopt;
  return grouped_kernel{"hopper_" + name_of(tile),
                        policy_text(type_name(p.type), operands_text(p), tile, type_name(p.result)),
                        "kernels/gemm/choice/grouped_choice.hpp", std::move(half)};
}

/// What a portable kernel of a form refuses, beyond what all refuse.
const char* check_form(const form_problem& p, const void* given, const checked_gemm& kernel) {
  const vector_alignment promise{kernel.vector, kernel.result_bytes};
  if (!p.is_of_experts()) return check_epilogue_of(grouped_args_of(given), p.has_epilogue(), promise);
  const expert_args& args = expert_args_of(given);
  if (p.form == grouped_form::down) return epilogue::expert_bias::check(args, promise);
  return check_gate_up(args, p.gathers, kernel.element_bytes, 0x7fffffff, promise);
}

/// The host half of a kernel for any target.
host_half portable_half(const form_problem& p, const checked_gemm& kernel, const grid_order& order) {
  host_half half;
  half.check = [p, kernel](const void* given) {
    const grouped_args& args = grouped_args_of(given);
    const index_t a_rows = p.gathers ? expert_args_of(given).tokens : 0;
    const char* why = args.a && args.b && args.c ? nullptr : "a pointer is null: a, b or c";
    why = why ? why : check_form(p, given, kernel);
    why = why ? why : detail::check_lengths(args, kernel);
    why = why ? why : detail::check_result_memory(args, kernel, a_rows);
    why = why ? why : detail::check_offsets(args, kernel);
    return why ? why : detail::check_groups(args, p.by_rows(), kernel.tile_m, kernel.tile_n / kernel.products);
  };
  half.prepare = [p, kernel, order](const void* given, const launch_facts& facts) {
    const auto prepared = [&](const auto& args) {
      const auto made = detail::plan_groups(args, p.by_rows(), kernel.tile_m, kernel.tile_n / kernel.products, order,
                                            facts.resident_clusters);
      return host_half::prepared{as_bytes(made), {made.blocks, 1, 1}};
    };
    return p.is_of_experts() ? prepared(expert_args_of(given)) : prepared(grouped_args_of(given));
  };
  return half;
}

/// The kernel with the widest vector that memory allows.
grouped_kernel find_portable(const form_problem& p, const expert_args& args, const std::string& target) {
  if (!has_matrix_instruction(p.type, target))
    throw error("grouped_gemm: " + target + " has no matrix instruction for " + short_name(p.type) +
                " that takes these operands");
  const index_t bytes = size_of(p.type);
  const char* why = nullptr;
  for (index_t vector = 16 / bytes; vector > 0; vector /= 2) {
    const bool is_small =
        p.by_rows() && p.products() == 1 && detail::has_short_groups(args) && bytes == 2 && vector == 8;
    const auto [tile, order] = with_arch(target, [&]<class Arch>(of_type<Arch>) {
      const block_tile all = bytes == 4   ? default_block_tile<Arch, float>()
                             : bytes == 2 ? default_block_tile<Arch, half_t>()
                                          : default_block_tile<Arch, int8_t>();
      return std::pair(all, detail::default_grid_order<Arch>());
    });
    const index_t side = is_small ? 64 : tile.m;
    const checked_gemm kernel{side,   side,        tile.k, p.a_along_k, p.b_along_k, bytes, size_of(p.result),
                              vector, p.products()};
    host_half half = portable_half(p, kernel, order);
    why = half.check(&args);
    if (why) continue;
    return {(is_small ? "64x64_v" : "128x128_v") + std::to_string(vector),
            std::string(is_small ? "tw::gemm_64x64" : "tw::gemm_policy") + "<tw::arch::current, " +
                type_name_on(p.type, target) + ", " + operands_text(p) + ", " + std::to_string(vector) + ">",
            is_small ? "kernels/gemm/named_policies.hpp" : "", std::move(half)};
  }
  throw error(std::string(p.is_of_experts() ? "expert_gemm: " : "grouped_gemm: ") + why);
}

/// The text around a policy that makes it one of the form.
std::string form_text(const form_problem& p, const std::string& policy) {
  if (p.form == grouped_form::gate_up) return "tw::expert_gate_up<" + policy + (p.gathers ? ">" : ", false>");
  if (p.form == grouped_form::down) return "tw::expert_down<" + policy + ">";
  return "tw::grouped<" + policy + ", tw::group_kind::" + (p.by_rows() ? "rows" : "k") + ">";
}

kernel_source source_of(const form_problem& p, const std::string& target) {
  expert_args args = p.args;
  stand_ins stand_in;
  stand_in(args.a, args.b, args.c);
  if (p.gathers) stand_in(args.source);
  if (p.is_of_experts()) stand_in(args.ends);
  std::optional<grouped_kernel> chosen;
  if (target == "sm_90a") chosen = find_hopper(p, args);
  if (!chosen) chosen = find_portable(p, args, target);
  constexpr const char* names[] = {"grouped_gemm_rows_", "grouped_gemm_k_", "expert_gate_up_", "expert_down_"};
  gemm_problem operands{p.type, p.result, p.a_along_k, p.b_along_k};
  if (!p.is_of_experts()) operands.args = args;
  kernel_source s;
  s.name = std::string(names[int(p.form)]) + (p.products() == 2 && !p.gathers ? "rows_" : "") + chosen->name + "_" +
           operands_name(operands);
  s.code = "struct policy : " + form_text(p, chosen->policy) +
           " {\n  using result_type = " + type_name_on(p.result, target) + ";\n";
  if (!p.is_of_experts())
    s.code +=
        std::string("  using epilogue = tw::epilogue::") + (p.has_epilogue() ? "from_args" : "alpha_beta") + ";\n";
  s.code += "};\n";
  s.kernel = "tw::grouped_gemm_kernel<policy>";
  s.uses = {p.is_of_experts() ? "kernels/gemm/grouped/expert_gemm.hpp" : "kernels/gemm/grouped/grouped_gemm.hpp"};
  if (!chosen->uses.empty()) s.uses.push_back(chosen->uses);
  if (target.starts_with("sm_")) s.uses.push_back("kernels/gemm/portable/multi_stage_pipeline.hpp");
  s.host = std::move(chosen->host);
  return s;
}

}  // namespace

kernel_request grouped_gemm(const grouped_problem& problem) {
  if (problem.groups == group_kind::none) throw error("grouped_gemm: groups divide rows or k");
  form_problem p{problem.groups == group_kind::rows ? grouped_form::rows : grouped_form::k,
                 problem.type,
                 problem.result,
                 problem.a_along_k,
                 problem.b_along_k,
                 {},
                 problem.for_all_lengths};
  static_cast<grouped_args&>(p.args) = problem.args;
  return remembered([p](const std::string& target) { return source_of(p, target); });
}

kernel_request expert_gemm(const expert_problem& problem) {
  const form_problem p{.form = problem.is_gate_up ? grouped_form::gate_up : grouped_form::down,
                       .type = problem.type,
                       .result = problem.result,
                       .a_along_k = true,
                       .b_along_k = problem.b_along_k,
                       .args = problem.args,
                       .gathers = problem.is_gate_up && problem.gathers};
  return remembered([p](const std::string& target) { return source_of(p, target); });
}

}  // namespace tilewright::jit
