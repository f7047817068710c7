// SPDX-License-Identifier: MIT
#include "hopper_gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/gemm_kernels.hpp>

namespace tilewright::jit {
namespace {

using enum operand_major;

/// check() and prepare() of a kernel.
struct functions {
  const char* (*check)(const gemm_args&) = nullptr;
  host_half::prepared (*prepare)(const void*, const launch_facts&) = nullptr;
};
/// Of the kernel with an epilogue as well, which reads `Vector` elements at once.
template <class Kernel, index_t Vector>
constexpr functions functions_of() {
  return {[](const gemm_args& args) {
            const char* const why = Kernel::check(args);
            constexpr vector_alignment guarantee{Vector, sizeof(half_t)};
            return why || !has_epilogue(args) ? why : epilogue::detail::check<epilogue::from_args>(args, guarantee);
          },
          [](const void* args, const launch_facts& facts) {
            const auto made = Kernel::prepare(*static_cast<const gemm_args*>(args), facts);
            const auto* const bytes = reinterpret_cast<const char*>(&made);
            const auto grid = Kernel::grid(made);
            host_half::prepared result{{bytes, bytes + sizeof made}, {grid.x, grid.y, grid.z}};
            if constexpr (detail::HasFollower<Kernel>) {
              const auto* const given = static_cast<const char*>(args);
              const auto next = Kernel::followed_by::grid(*static_cast<const gemm_args*>(args));
              result.follower_args = {given, given + sizeof(gemm_args)};
              result.follower_grid = {next.x, next.y, next.z};
            }
            return result;
          }};
}

using kernels = gemm_kernels<gemm_product<half_t, k, k>>;  // their names and numbers are the same for all products
constexpr index_t num_tiles = kernels::small_m;

/// What the host does depends on the elements' size only, so half_t stands for bfloat16_t as well.
template <class T, class R, operand_major A, operand_major B>
constexpr auto tiles_of() {
  return []<index_t... Is>(std::integer_sequence<index_t, Is...>) {
    return std::array<functions, num_tiles>{functions_of<gemm_kernel<gemm_hopper<T, A, B, hopper_gemm_tiles[Is], R>>,
                                                         hopper_gemm_tiles[Is].unaligned ? 1 : 2>()...};
  }(std::make_integer_sequence<index_t, num_tiles>{});
}
struct product_functions {
  std::array<functions, num_tiles> tiles;
  std::array<functions, 2> small_m;  // with vectors, and without

  const functions& operator[](index_t kernel) const {
    return kernel < num_tiles ? tiles[std::size_t(kernel)] : small_m[std::size_t(kernel - num_tiles)];
  }
};
template <operand_major A, operand_major B>
const product_functions& functions_16_bits() {
  using small_m = small_m_gemm<small_m_policy<half_t, A, B, A == k ? 8 : 1, 8>>;
  using without_vectors = small_m_gemm<small_m_policy<half_t, A, B, 1, 1>>;
  static constexpr product_functions f{tiles_of<half_t, half_t, A, B>(),
                                       {functions_of<small_m, 4>(), functions_of<without_vectors, 1>()}};
  return f;
}
const product_functions* find_functions(const gemm_problem& p) {
  if ((p.type == element::f16 || p.type == element::bf16) && p.result == p.type)
    return p.a_along_k ? (p.b_along_k ? &functions_16_bits<k, k>() : &functions_16_bits<k, mn>())
                       : (p.b_along_k ? &functions_16_bits<mn, k>() : &functions_16_bits<mn, mn>());
  static constexpr product_functions fp8{tiles_of<fp8_ocp_t, bfloat16_t, k, k>(), {}};
  return p.type == element::fp8 && p.result == element::bf16 && p.a_along_k && p.b_along_k ? &fp8 : nullptr;
}

/// The number of the kernel with this name, and how it splits k; nothing if there is none.
std::optional<gemm_choice> read_choice(const std::string& policy) {
  const std::optional<choice_name> name = choice_name::parse(policy);
  for (gemm_choice c{.kernel = 0, .parts = name ? name->parts : 0}; name && c.kernel < kernels::size; ++c.kernel) {
    const bool splits = c.kernel < num_tiles && !hopper_gemm_tiles[c.kernel].ping_pong;
    if (name->tile == kernels::name(c.kernel) && (c.parts < 2 || splits)) return c;
  }
  return std::nullopt;
}

std::string kernel_name(const gemm_problem& p, const gemm_choice& c) {
  return (c.kernel < num_tiles ? "gemm_hopper_" : "gemm_") + kernels::name(c.kernel) + "_" + operands_name(p);
}

/// Calls consider(choice, clocks) for those that can compute the problem. SMs of an H100: the choice must not depend on
/// where a kernel is made.
template <class Consider>
void for_each_choice(const gemm_problem& p, const product_functions& f, Consider consider) {
  constexpr index_t SMs = 132;
  const bool may_split = p.args.split_k == 0;
  gemm_args args = p.args;
  alignas(16) static char somewhere[16];
  if (may_split && args.workspace == nullptr) args.workspace = somewhere;
  args.split_k = 1;
  const auto can = [&](index_t i) { return f[i].check && !f[i].check(args); };
  for (index_t i = num_tiles; i < kernels::size; ++i) {
    if (!can(i)) continue;
    for_each_small_m_kernel(args, i == kernels::small_m, SMs, [&](index_t parts, double clocks) {
      if (may_split || parts == (args.workspace ? 0 : 1)) consider(gemm_choice{i, may_split ? parts : 0}, clocks);
    });
  }
  const index_t bytes = p.type == element::fp8 ? 1 : 2;
  for_each_hopper_kernel(args, {bytes, p.a_along_k, p.b_along_k}, SMs, may_split ? 16 : 1,
                         [&](const hopper_gemm_choice& c) {
                           gemm_args split = args;
                           split.split_k = std::max(c.parts, 1);
                           if (f[c.tile].check && !f[c.tile].check(split))
                             consider(gemm_choice{c.tile, c.parts}, c.clocks);
                         });
}

}  // namespace

std::vector<gemm_candidate> rank_hopper_gemm(const gemm_problem& p) {
  const product_functions* const f = find_functions(p);
  if (f == nullptr || p.args.split_k > 1 || p.has_gate) return {};
  std::vector<std::pair<double, gemm_choice>> all;
  if (!p.policy.empty()) {
    const std::optional<gemm_choice> given = read_choice(p.policy);
    gemm_args args = p.args;
    args.split_k = 1;
    if (given && (*f)[given->kernel].check && !(*f)[given->kernel].check(args)) all.push_back({0, *given});
  } else {
    for_each_choice(p, *f, [&](const gemm_choice& c, double clocks) { all.push_back({clocks, c}); });
  }
  // Without a workspace of its own the caller gets the kernels of small M wherever they can compute it.
  std::sort(all.begin(), all.end(), [&](const auto& x, const auto& y) {
    const auto order = [&](const std::pair<double, gemm_choice>& e) {
      return std::tuple(p.args.split_k == 0 || e.second.kernel < num_tiles, e.first, e.second.kernel, e.second.parts);
    };
    return order(x) < order(y);
  });
  std::vector<gemm_candidate> list;
  for (const auto& [clocks, choice] : all)
    list.push_back(
        {.kernel = kernel_name(p, choice),
         .choice = kernels::name(choice),
         .reason = p.policy.empty() ? "the model predicts " + std::to_string(long(clocks)) + " clocks" : "as asked for",
         .workspace_bytes = choice.parts == 1 ? 0 : hopper_gemm_workspace::bytes});
  return list;
}

kernel_source hopper_gemm(const gemm_problem& p, const std::string& choice) {
  const product_functions* const f = find_functions(p);
  const gemm_choice chosen = *read_choice(choice);
  const std::string types = type_name(p.type) + ", tw::operand_major::" + (p.a_along_k ? "k" : "mn") +
                            ", tw::operand_major::" + (p.b_along_k ? "k" : "mn") + ", ";
  const std::string end =
      type_name(p.result) + ", tw::epilogue::" + (has_epilogue(p.args) ? "from_args" : "alpha_beta") + ">";
  kernel_source s;
  const functions& host = (*f)[chosen.kernel];
  if (chosen.kernel < num_tiles) {
    s.code = "struct policy : tw::gemm_hopper<" + types + "tw::hopper_gemm_tiles[" + std::to_string(chosen.kernel) +
             "], " + end + " {};\n";
    s.kernel = "tw::gemm_kernel<policy>";
    if (chosen.parts < 2) {  // none follows
      s.code += "struct kernel_alone : tw::gemm_kernel<policy> { using followed_by = void; };\n";
      s.kernel = "kernel_alone";
    }
    s.uses = {"kernels/gemm/choice/hopper_gemm_choice.hpp", "kernels/gemm/hopper/hopper_gemm_kernel.hpp"};
  } else {
    const bool wide = chosen.kernel == kernels::small_m;
    s.code = "struct policy : tw::small_m_policy<" + types + (wide && p.a_along_k ? "8, " : "1, ") +
             (wide ? "8, " : "1, ") + end + " {};\n";
    s.kernel = "tw::small_m_gemm<policy>";
    s.uses = {"kernels/gemm/hopper/small_m_gemm.hpp"};
  }
  s.name = kernel_name(p, chosen);
  s.host.check = [check = host.check](const void* args) {
    const auto& given = *static_cast<const gemm_args*>(args);
    const char* const why = check_pointers(given);
    return why ? why : check(given);
  };
  s.host.prepare = [chosen, host](const void* args, const launch_facts& facts) {
    gemm_args given = *static_cast<const gemm_args*>(args);
    if (chosen.parts == 1) given.workspace = nullptr;
    given.split_k = std::max(chosen.parts, 1);
    if (host.check(given)) given.split_k = 1;  // no workspace, or other lengths
    return host.prepare(&given, facts);
  };
  s.host.name = name_of_parts(chosen.parts);
  return s;
}

}  // namespace tilewright::jit
