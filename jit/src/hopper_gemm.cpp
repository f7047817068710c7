// SPDX-License-Identifier: MIT
#include "hopper_gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

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
            constexpr vector_alignment promise{Vector, sizeof(half_t)};
            return why || !has_epilogue(args) ? why : epilogue::detail::check<epilogue::from_args>(args, promise);
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

/// Returns the kernel that p.policy names. Without a policy, the kernel that the model ranks first. -1: no kernel fits.
/// `SMs` of an H100: the choice must not depend on where a kernel is made.
gemm_choice choose(const gemm_problem& p, const product_functions& f) {
  constexpr index_t SMs = 132;
  const auto can = [&](index_t i) { return f[i].check && !f[i].check(p.args); };
  if (!p.policy.empty()) {
    for (gemm_choice given{}; given.kernel < kernels::size; ++given.kernel) {
      const std::size_t length = kernels::name(given.kernel).size();
      if (p.policy.substr(0, p.policy.find(',')) != kernels::name(given.kernel) || !can(given.kernel)) continue;
      const std::string parts = p.policy.substr(std::min(length + 2, p.policy.size()));
      given.parts = parts == name_of_parts(1) ? 1 : parts.starts_with("k in ") ? std::atoi(parts.c_str() + 5) : 0;
      const bool splits = given.kernel < num_tiles && !hopper_gemm_tiles[given.kernel].ping_pong;
      if (kernels::name(given) == p.policy && given.parts >= 0 && (given.parts < 2 || splits)) return given;
    }
    return {-1};
  }
  for (index_t i = num_tiles; i < kernels::size; ++i)
    if (can(i)) return {i};
  const index_t bytes = p.type == element::fp8 ? 1 : 2;
  hopper_gemm_choice best{.tile = -1, .clocks = 1e300};
  for_each_hopper_kernel(p.args, {bytes, p.a_along_k, p.b_along_k}, SMs, 1, [&](const hopper_gemm_choice& c) {
    if (c.clocks < best.clocks && can(c.tile)) best = c;
  });
  return {best.tile, best.parts};
}

}  // namespace

std::optional<kernel_source> hopper_gemm(const gemm_problem& p) {
  const product_functions* const f = find_functions(p);
  if (f == nullptr || p.args.split_k != 1 || p.has_gate) return std::nullopt;
  const gemm_choice chosen = choose(p, *f);
  if (chosen.kernel < 0) return std::nullopt;
  const std::string types = type_name(p.type) + ", tw::operand_major::" + (p.a_along_k ? "k" : "mn") +
                            ", tw::operand_major::" + (p.b_along_k ? "k" : "mn") + ", ";
  const std::string end =
      type_name(p.result) + ", tw::epilogue::" + (has_epilogue(p.args) ? "from_args" : "alpha_beta") + ">";
  kernel_source s;
  const functions& host = (*f)[chosen.kernel];
  if (chosen.kernel < num_tiles) {
    s.name = "gemm_hopper_" + kernels::name(chosen.kernel);
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
    s.name = "gemm_" + kernels::name(chosen.kernel);
    s.code = "struct policy : tw::small_m_policy<" + types + (wide && p.a_along_k ? "8, " : "1, ") +
             (wide ? "8, " : "1, ") + end + " {};\n";
    s.kernel = "tw::small_m_gemm<policy>";
    s.uses = {"kernels/gemm/hopper/small_m_gemm.hpp"};
  }
  s.name += "_" + operands_name(p);
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
