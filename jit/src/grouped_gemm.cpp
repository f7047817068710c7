// SPDX-License-Identifier: MIT
#include <tilewright/jit/grouped.hpp>

#include <optional>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/grouped/expert_gemm.hpp>

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

  bool by_rows() const { return form != grouped_form::k; }
  bool is_of_experts() const { return form == grouped_form::gate_up || form == grouped_form::down; }
  index_t products() const { return form == grouped_form::gate_up ? 2 : 1; }
  bool has_epilogue() const { return !is_of_experts() && jit::has_epilogue(args); }
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

template <class Policy, grouped_form Form>
using policy_of_form = detail::conditional_t<
    Form == grouped_form::gate_up, expert_gate_up<Policy>,
    detail::conditional_t<Form == grouped_form::down, expert_down<Policy>,
                          grouped<Policy, Form == grouped_form::k ? group_kind::k : group_kind::rows>>>;

template <grouped_form Form>
constexpr bool is_of_experts_v = Form == grouped_form::gate_up || Form == grouped_form::down;
/// The tiles that a form chooses from.
template <grouped_form Form>
constexpr array<hopper_gemm_tile, 4> tiles_of = is_of_experts_v<Form> ? expert_tiles : grouped_tiles;

/// A kernel for Hopper with tile number I of its form. T is as long as the elements.
template <class T, class R, operand_major B, grouped_form Form, index_t I>
host_half hopper_half(bool has_one) {
  constexpr operand_major a = Form == grouped_form::k ? operand_major::mn : operand_major::k;
  using kernel = grouped_gemm_kernel<policy_of_form<gemm_hopper<T, a, B, tiles_of<Form>[I], R>, Form>>;
  host_half half = half_of<kernel>();
  if (is_of_experts_v<Form>) return half;
  half.check = [has_one](const void* args) {
    const char* const why = kernel::check(*static_cast<const typename kernel::args_type*>(args));
    return why ? why : check_epilogue_of(grouped_args_of(args), has_one, {2, sizeof(R)});
  };
  return half;
}
template <class T, class R, operand_major B, grouped_form Form = grouped_form::rows>
host_half hopper_half_of_rows(index_t tile, bool has_one) {
  host_half half;
  [&]<index_t... I>(sequence<I...>) {
    ((tile == I ? void(half = hopper_half<T, R, B, Form, I>(has_one)) : void()), ...);
  }(make_sequence<grouped_tiles.size()>{});
  return half;
}
/// T and R: as long as the elements of A and C.
template <class T, class R>
host_half hopper_half_of_experts(grouped_form form, index_t tile) {
  return form == grouped_form::gate_up ? hopper_half_of_rows<T, R, operand_major::k, grouped_form::gate_up>(tile, false)
                                       : hopper_half_of_rows<T, R, operand_major::k, grouped_form::down>(tile, false);
}
/// Of weights of 16 bits that are contiguous along n, with the second tile.
host_half hopper_half_along_n(grouped_form form) {
  return form == grouped_form::gate_up ? hopper_half<half_t, half_t, operand_major::mn, grouped_form::gate_up, 1>(false)
                                       : hopper_half<half_t, half_t, operand_major::mn, grouped_form::down, 1>(false);
}

/// Nothing where the kernels for Hopper cannot compute the problem.
std::optional<grouped_kernel> find_hopper(const form_problem& p, const expert_args& args) {
  const bool is_fp8 = p.type == element::fp8, has_one = p.has_epilogue();
  const bool is_16_bits = p.type == element::f16 || p.type == element::bf16;
  if (!(is_16_bits && p.result == p.type) && !(is_fp8 && p.result == element::bf16)) return std::nullopt;
  grouped_args all = args;
  all.n *= p.products();
  const bool has_tiles = p.by_rows() && (p.b_along_k || !p.is_of_experts());
  const index_t tile = !has_tiles          ? 1
                       : p.is_of_experts() ? choose_expert_tile(all, p.products() == 2, 132)
                                           : choose_grouped_tile(all, 132, is_fp8 ? 1 : 2);
  using enum operand_major;
  host_half half;
  if (p.is_of_experts() && p.b_along_k)
    half = is_fp8 ? hopper_half_of_experts<fp8_ocp_t, bfloat16_t>(p.form, tile)
                  : hopper_half_of_experts<half_t, half_t>(p.form, tile);
  else if (p.is_of_experts() && is_16_bits)
    half = hopper_half_along_n(p.form);
  else if (p.form == grouped_form::rows && p.a_along_k && p.b_along_k)
    half = is_fp8 ? hopper_half_of_rows<fp8_ocp_t, bfloat16_t, k>(tile, has_one)
                  : hopper_half_of_rows<half_t, half_t, k>(tile, has_one);
  else if (p.form == grouped_form::rows && p.a_along_k && is_16_bits)
    half = hopper_half_of_rows<half_t, half_t, mn>(tile, has_one);
  else if (p.form == grouped_form::k && !p.a_along_k && !p.b_along_k && is_16_bits)
    half = hopper_half<half_t, half_t, mn, grouped_form::k, 1>(has_one);
  if (!half.check || half.check(&args)) return std::nullopt;
  return grouped_kernel{"hopper_" + std::to_string(tile),
                        "tw::gemm_hopper<" + type_name(p.type) + ", " + operands_text(p) +
                            (p.is_of_experts() ? ", tw::expert_tiles[" : ", tw::grouped_tiles[") + std::to_string(tile) + "], " + type_name(p.result) + ">",
                        "kernels/gemm/choice/grouped_choice.hpp", std::move(half)};
}

/// What a portable kernel of a form refuses, beyond what all refuse.
const char* check_form(const form_problem& p, const void* given, const checked_gemm& kernel) {
  const vector_alignment promise{kernel.vector, kernel.result_bytes};
  if (!p.is_of_experts()) return check_epilogue_of(grouped_args_of(given), p.has_epilogue(), promise);
  const expert_args& args = expert_args_of(given);
  if (p.form == grouped_form::down) return epilogue::expert_bias::check(args, promise);
  const char* const why = check_gathered(args, kernel.element_bytes, 0x7fffffff);
  return why ? why : epilogue::expert_swiglu::check(args, promise);
}

/// The host half of a kernel for any target.
host_half portable_half(const form_problem& p, const checked_gemm& kernel, const grid_order& order) {
  host_half half;
  half.check = [p, kernel](const void* given) {
    const grouped_args& args = grouped_args_of(given);
    const index_t a_rows = p.form == grouped_form::gate_up ? expert_args_of(given).tokens : 0;
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
  if (p.form == grouped_form::gate_up) return "tw::expert_gate_up<" + policy + ">";
  if (p.form == grouped_form::down) return "tw::expert_down<" + policy + ">";
  return "tw::grouped<" + policy + ", tw::group_kind::" + (p.by_rows() ? "rows" : "k") + ">";
}

kernel_source source_of(const form_problem& p, const std::string& target) {
  expert_args args = p.args;
  stand_ins stand_in;
  stand_in(args.a, args.b, args.c);
  if (p.form == grouped_form::gate_up) stand_in(args.source);
  if (p.is_of_experts()) stand_in(args.ends);
  std::optional<grouped_kernel> chosen;
  if (target == "sm_90a") chosen = find_hopper(p, args);
  if (!chosen) chosen = find_portable(p, args, target);
  constexpr const char* names[] = {"grouped_gemm_rows_", "grouped_gemm_k_", "expert_gate_up_", "expert_down_"};
  gemm_problem operands{p.type, p.result, p.a_along_k, p.b_along_k};
  if (!p.is_of_experts()) operands.args = args;
  kernel_source s;
  s.name = names[int(p.form)] + chosen->name + "_" + operands_name(operands);
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
                 {}};
  static_cast<grouped_args&>(p.args) = problem.args;
  return remembered([p](const std::string& target) { return source_of(p, target); });
}

kernel_request expert_gemm(const expert_problem& problem) {
  const form_problem p{problem.is_gate_up ? grouped_form::gate_up : grouped_form::down,
                       problem.type,
                       problem.result,
                       true,
                       problem.b_along_k,
                       problem.args};
  return remembered([p](const std::string& target) { return source_of(p, target); });
}

}  // namespace tilewright::jit
