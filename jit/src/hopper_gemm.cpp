// SPDX-License-Identifier: MIT
#include "hopper_gemm.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_tile_family.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>

namespace tilewright::jit {
namespace {

using enum operand_major;
using detail::hopper_gemm_facts;

/// check() and prepare() of a kernel.
struct functions {
  std::function<const char*(const gemm_args&)> check;
  std::function<host_half::prepared(const gemm_args&, const launch_facts&)> prepare;
};

/// The same with what an epilogue reads, `vector` elements at once.
std::function<const char*(const gemm_args&)> with_epilogue(std::function<const char*(const gemm_args&)> check,
                                                           index_t vector) {
  return [check = std::move(check), vector](const gemm_args& args) {
    const char* const why = check(args);
    const vector_alignment guarantee{vector, sizeof(half_t)};
    return why || !has_epilogue(args) ? why : epilogue::detail::check<epilogue::from_args>(args, guarantee);
  };
}

template <class DeviceArgs>
host_half::prepared as_bytes(const DeviceArgs& made, const grid_size& grid) {
  const auto* const bytes = reinterpret_cast<const char*>(&made);
  return {{bytes, bytes + sizeof made}, {grid.x, grid.y, grid.z}};
}

/// Of any tile: the host knows it at run time only.
functions functions_of(const hopper_gemm_tile& tile, const hopper_gemm_operands& operands) {
  const hopper_gemm_facts kernel = detail::facts_of(tile, operands);
  functions f;
  f.check = with_epilogue([kernel](const gemm_args& g) { return detail::check_hopper_gemm(kernel, g); },
                          tile.unaligned ? 1 : 2);
  f.prepare = [kernel](const gemm_args& g, const launch_facts& facts) {
    const auto planned = [&]<index_t Products>(number<Products>) {
      const auto made = detail::plan_hopper_gemm<Products>(kernel, g, facts.resident_clusters, facts.make_tensor_map);
      host_half::prepared prepared = as_bytes(made, {made.blocks, 1, 1});
      prepared.starts_alone = made.starts_alone;
      return prepared;
    };
    host_half::prepared result = kernel.tile().products == 1 ? planned(number<1>{}) : planned(number<2>{});
    if (kernel.can_split_all_tiles) {
      // Its grid is the same for all elements and epilogues.
      using sum = detail::sum_after_hopper_gemm<
          detail::split_k_sum<arch::sm90, float, half_t, gemm_args, epilogue::alpha_beta, 2>>;
      const grid_size next = sum::grid(g);
      const auto* const given = reinterpret_cast<const char*>(&g);
      result.follower_args = {given, given + sizeof g};
      result.follower_grid = {next.x, next.y, next.z};
    }
    return result;
  };
  return f;
}

template <operand_major A, operand_major B, index_t Vector>
functions functions_of_small_m() {
  using kernel = small_m_gemm<small_m_policy<half_t, A, B, A == k ? Vector : 1, Vector>>;
  return {with_epilogue([](const gemm_args& g) { return kernel::check(g); }, Vector == 1 ? 1 : 4),
          [](const gemm_args& g, const launch_facts& facts) {
            const auto made = kernel::prepare(g, facts);
            return as_bytes(made, kernel::grid(made));
          }};
}
/// What the host does depends on the elements' size only, so half_t stands for bfloat16_t as well.
template <index_t Vector>
functions functions_of_small_m(const hopper_gemm_operands& o) {
  return o.a_along_k ? (o.b_along_k ? functions_of_small_m<k, k, Vector>() : functions_of_small_m<k, mn, Vector>())
                     : (o.b_along_k ? functions_of_small_m<mn, k, Vector>() : functions_of_small_m<mn, mn, Vector>());
}
functions functions_of(const gemm_choice& c, const hopper_gemm_operands& o) {
  return c.kernel == gemm_kernel_kind::tile      ? functions_of(c.tile, o)
         : c.kernel == gemm_kernel_kind::small_m ? functions_of_small_m<8>(o)
                                                 : functions_of_small_m<1>(o);
}

/// Nothing if no Hopper kernel has these operands.
std::optional<hopper_gemm_operands> operands_of(const gemm_problem& p) {
  const bool is_fp8 = p.type == element::fp8 && p.result == element::bf16 && p.a_along_k && p.b_along_k;
  using enum arch::matrix_element;
  if (is_fp8) return hopper_gemm_operands{fp8_ocp, bf16, true, true};
  if ((p.type != element::f16 && p.type != element::bf16) || p.result != p.type) return std::nullopt;
  const arch::matrix_element e = p.type == element::f16 ? f16 : bf16;
  return hopper_gemm_operands{e, e, p.a_along_k, p.b_along_k};
}

/// Whether there is such a kernel and it takes the arguments, with k split as chosen.
bool can_compute(gemm_args args, const gemm_choice& c, const hopper_gemm_operands& o, bool as_given) {
  const bool exists = c.kernel == gemm_kernel_kind::tile ? detail::facts_of(c.tile, o).fits() : o.element_bytes() == 2;
  args.split_k = as_given || c.kernel != gemm_kernel_kind::tile ? 1 : std::max(c.split_k, 1);
  return exists && !functions_of(c, o).check(args);
}

/// The tile as the problem's policy has it; its n counts the columns of both products.
hopper_gemm_tile with_products_of(const gemm_problem& p, hopper_gemm_tile tile) {
  tile.products = p.has_gate ? 2 : 1;
  return tile;
}

/// Choices that can compute the problem and their predicted clocks, the fastest first. SMs of an H100: the choice must
/// not depend on where a kernel is made.
std::vector<std::pair<double, gemm_choice>> ranked(const gemm_problem& p, const hopper_gemm_operands& o) {
  constexpr index_t SMs = 132;
  const bool may_split = p.args.split_k == 0 || p.args.workspace;
  gemm_args args = p.args;
  alignas(16) static char somewhere[16];
  if (args.workspace == nullptr) args.workspace = somewhere;  // without one in the problem, a launch may have it
  args.split_k = 1;
  gemm_args both = args;  // with a gate, the columns of both products
  if (p.has_gate) both.n *= 2;
  std::vector<std::pair<double, gemm_choice>> list;
  const auto consider = [&](gemm_choice c, double clocks) {
    c.tile = with_products_of(p, c.tile);
    if (can_compute(args, c, o, false)) list.push_back({clocks, c});
  };
  const auto consider_linked = [&](const auto& tiles, bool unaligned, index_t max_split_k) {
    for_each_kernel_of(tiles, both, {o.element_bytes(), o.a_along_k, o.b_along_k}, SMs, max_split_k,
                       [&](const hopper_gemm_choice& c) {
                         if (c.tile.unaligned == unaligned) consider({.tile = c.tile, .split_k = c.split_k}, c.clocks);
                       });
    std::sort(list.begin(), list.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  };
  if (p.for_all_lengths && p.has_gate) {
    consider_linked(linked_gate_tiles, false, 1);
  } else if (p.for_all_lengths) {
    consider_linked(linked_hopper_tiles, false, may_split ? 16 : 1);
  } else {
    for (const hopper_gemm_choice& c : rank_tiles_of_family(both, o, SMs, may_split ? 16 : 1, 1.1, p.has_gate ? 2 : 1))
      consider({.tile = c.tile, .split_k = c.split_k}, c.clocks);
  }
  if (!list.empty() || p.has_gate) return list;
  // Rows that TMA cannot load: kernels of small M first.
  for (const gemm_kernel_kind kind : {gemm_kernel_kind::small_m, gemm_kernel_kind::small_m_v1})
    consider({.kernel = kind}, 0);
  if (p.for_all_lengths)
    consider_linked(linked_hopper_tiles, true, 1);
  else
    consider_linked(hopper_gemm_tiles, true, 1);
  return list;
}

std::string kernel_name(const gemm_problem& p, const gemm_choice& c) {
  return (c.kernel == gemm_kernel_kind::tile ? "gemm_hopper_" : "gemm_") + kernel_name_of(c) + "_" + operands_name(p);
}

}  // namespace

std::string text_of(const hopper_gemm_tile& t) {
  std::string s = "tw::hopper_gemm_tile{.m = " + std::to_string(t.m) + ", .n = " + std::to_string(t.n);
  const auto add = [&](const char* member, index_t value) {
    s += std::string(", .") + member + " = " + std::to_string(value);
  };
  add("cluster_m", t.cluster_m);
  add("cluster_n", t.cluster_n);
  add("consumers", t.consumers);
  add("blocks", t.blocks);
  for (const auto& [member, is_set] :
       {std::pair{"swap_ab", t.swap_ab}, std::pair{"ping_pong", t.ping_pong}, std::pair{"unaligned", t.unaligned}})
    if (is_set) s += std::string(", .") + member + " = true";
  return s + "}";
}

std::vector<gemm_candidate> rank_hopper_gemm(const gemm_problem& p) {
  const std::optional<hopper_gemm_operands> operands = operands_of(p);
  if (!operands || p.args.split_k > 1) return {};
  std::vector<std::pair<double, gemm_choice>> all;
  if (p.policy.empty()) {
    all = ranked(p, *operands);
  } else if (std::optional<gemm_choice> given = choice_named(p.policy)) {
    given->tile = with_products_of(p, given->tile);
    if (can_compute(p.args, *given, *operands, true)) all.push_back({0, *given});
  }
  std::vector<gemm_candidate> list;
  for (const auto& [clocks, choice] : all)
    list.push_back(
        {.kernel = kernel_name(p, choice),
         .choice = name_of(choice),
         .reason = p.policy.empty() ? "the model predicts " + std::to_string(long(clocks)) + " clocks" : "as asked for",
         .workspace_bytes = choice.split_k == 1 ? 0 : hopper_gemm_workspace::bytes});
  return list;
}

kernel_source hopper_gemm(const gemm_problem& p, const std::string& choice) {
  const std::optional<hopper_gemm_operands> operands = operands_of(p);
  std::optional<gemm_choice> chosen = choice_named(choice);
  chosen->tile = with_products_of(p, chosen->tile);
  const std::string types = type_name(p.type) + ", tw::operand_major::" + (p.a_along_k ? "k" : "mn") +
                            ", tw::operand_major::" + (p.b_along_k ? "k" : "mn") + ", ";
  const std::string end = type_name(p.result) + ", tw::epilogue::" + epilogue_name(p) + ">";
  kernel_source s;
  if (chosen->kernel == gemm_kernel_kind::tile) {
    s.code = "struct policy : tw::gemm_hopper<" + types + text_of(chosen->tile) + ", " + end +
             (p.has_gate ? " { static constexpr index_t products = 2; };\n" : " {};\n");
    s.kernel = "tw::gemm_kernel<policy>";
    const bool may_be_split = detail::facts_of(chosen->tile, *operands).can_split_all_tiles && !chosen->tile.unaligned;
    if (chosen->split_k < 2 && !(p.for_all_lengths && may_be_split)) {  // none follows
      s.code += "struct kernel_alone : tw::gemm_kernel<policy> { using followed_by = void; };\n";
      s.kernel = "kernel_alone";
    }
    s.uses = {"kernels/gemm/choice/hopper_gemm_choice.hpp", "kernels/gemm/hopper/hopper_gemm_kernel.hpp"};
  } else {
    const bool wide = chosen->kernel == gemm_kernel_kind::small_m;
    s.code = "struct policy : tw::small_m_policy<" + types + (wide && p.a_along_k ? "8, " : "1, ") +
             (wide ? "8, " : "1, ") + end + " {};\n";
    s.kernel = "tw::small_m_gemm<policy>";
    s.uses = {"kernels/gemm/hopper/small_m_gemm.hpp"};
  }
  s.name = kernel_name(p, *chosen);
  const functions host = functions_of(*chosen, *operands);
  s.host.check = [check = host.check](const void* args) {
    const auto& given = *static_cast<const gemm_args*>(args);
    const char* const why = check_pointers(given);
    return why ? why : check(given);
  };
  s.host.prepare = [split_k = chosen->split_k, host](const void* args, const launch_facts& facts) {
    gemm_args given = *static_cast<const gemm_args*>(args);
    if (split_k == 1) given.workspace = nullptr;
    given.split_k = std::max(split_k, 1);
    if (host.check(given)) given.split_k = 1;  // no workspace, or other lengths
    return host.prepare(given, facts);
  };
  s.host.name = name_of_split_k(chosen->split_k);
  return s;
}

}  // namespace tilewright::jit
