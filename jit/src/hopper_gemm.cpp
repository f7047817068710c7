// SPDX-License-Identifier: MIT
#include "hopper_gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include <tilewright/gemm/gemm_kernels.hpp>
#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

using enum operand_major;

/// check() and prepare() of a kernel.
struct functions {
  const char* (*check)(const gemm_args&) = nullptr;
  host_half::prepared (*prepare)(const void*, const launch_facts&) = nullptr;
};
template <class Kernel>
constexpr functions functions_of() {
  return {[](const gemm_args& args) { return Kernel::check(args); },
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

constexpr index_t num_tiles = specialized_tiles.size();

/// What the host does depends on the elements' size only, so half_t stands for bfloat16_t as well.
template <class T, class R, operand_major A, operand_major B>
constexpr auto tiles_of() {
  return []<index_t... Is>(std::integer_sequence<index_t, Is...>) {
    return std::array<functions, num_tiles>{
        functions_of<gemm_kernel<gemm_specialized<T, A, B, specialized_tiles[Is], R>>>()...};
  }(std::make_integer_sequence<index_t, num_tiles>{});
}
template <operand_major A, operand_major B>
constexpr std::array<functions, 2> few_rows_of() {
  constexpr index_t a = A == k ? 8 : 1;
  return {functions_of<few_rows_gemm<few_rows_policy<half_t, A, B, a, 8>>>(),
          functions_of<few_rows_gemm<few_rows_policy<half_t, A, B, 1, 1>>>()};
}

struct product_functions {
  std::array<functions, num_tiles> tiles;
  std::array<functions, 2> few_rows;  // with vectors, and without
};
template <operand_major A, operand_major B>
const product_functions& functions_16_bits() {
  static constexpr product_functions f{tiles_of<half_t, half_t, A, B>(), few_rows_of<A, B>()};
  return f;
}
const product_functions* find_functions(const gemm_problem& p) {
  if ((p.type == element::f16 || p.type == element::bf16) && p.result == p.type)
    return p.a_along_k ? (p.b_along_k ? &functions_16_bits<k, k>() : &functions_16_bits<k, mn>())
                       : (p.b_along_k ? &functions_16_bits<mn, k>() : &functions_16_bits<mn, mn>());
  static constexpr product_functions fp8{tiles_of<fp8_ocp_t, bfloat16_t, k, k>(), {}};
  return p.type == element::fp8 && p.result == element::bf16 && p.a_along_k && p.b_along_k ? &fp8 : nullptr;
}

/// A kernel, and what a launch leaves to it: as gemm_choice.
struct choice {
  index_t tile = -1;      // in specialized_tiles
  index_t few_rows = -1;  // 0: with vectors
  index_t parts = 0;      // of k
};

/// `multiprocessors` of an H100: the choice must not depend on where a kernel is made.
choice choose(const gemm_problem& p, const product_functions& f) {
  constexpr index_t multiprocessors = 132;
  if (!p.policy.empty()) {
    const std::string name = p.policy.substr(0, p.policy.find(','));
    choice given{.parts = p.policy.find(", k whole") != std::string::npos ? 1 : 0};
    if (const std::size_t at = p.policy.find(", k in "); at != std::string::npos)
      given.parts = std::atoi(p.policy.c_str() + at + 7);
    for (index_t i = 0; i < num_tiles; ++i)
      if (tilewright::name_of(specialized_tiles[i]) == name && !f.tiles[std::size_t(i)].check(p.args)) given.tile = i;
    for (index_t i = 0; i < 2; ++i) {
      const functions& few = f.few_rows[std::size_t(i)];
      if (name == (i == 0 ? "few_rows" : "few_rows_v1") && few.check && !few.check(p.args)) given.few_rows = i;
    }
    return given;
  }
  if (p.args.m <= 16 && f.few_rows[0].check) {
    for (index_t i = 0; i < 2; ++i)
      if (!f.few_rows[std::size_t(i)].check(p.args)) return {.few_rows = i};
  }
  const index_t bytes = p.type == element::fp8 ? 1 : 2;
  const specialized_choice best = choose_specialized(p.args, {bytes, p.a_along_k, p.b_along_k}, multiprocessors);
  if (f.tiles[std::size_t(best.tile)].check(p.args)) return {};
  return {.tile = best.tile, .parts = best.parts};
}

}  // namespace

std::optional<kernel_source> hopper_gemm(const gemm_problem& p) {
  const product_functions* const f = find_functions(p);
  if (f == nullptr || p.args.split_k != 1) return std::nullopt;
  const choice chosen = choose(p, *f);
  if (chosen.tile < 0 && chosen.few_rows < 0) return std::nullopt;
  const std::string types = type_name(p.type) + ", tw::operand_major::" + (p.a_along_k ? "k" : "mn") +
                            ", tw::operand_major::" + (p.b_along_k ? "k" : "mn") + ", ";
  const std::string end =
      type_name(p.result) + ", tw::epilogue::" + (has_epilogue(p.args) ? "from_args" : "alpha_beta") + ">";
  kernel_source s;
  functions host;
  if (chosen.tile >= 0) {
    host = f->tiles[std::size_t(chosen.tile)];
    s.name = "gemm_hopper_" + tilewright::name_of(specialized_tiles[chosen.tile]);
    s.code = "struct policy : tw::gemm_specialized<" + types + "tw::specialized_tiles[" + std::to_string(chosen.tile) +
             "], " + end + " {};\n";
    s.kernel = "tw::gemm_kernel<policy>";
    if (chosen.parts < 2) {  // none follows
      s.code += "struct kernel_alone : tw::gemm_kernel<policy> { using followed_by = void; };\n";
      s.kernel = "kernel_alone";
    }
    s.uses = {"gemm/specialized_choice.hpp", "gemm/warp_specialized_pipeline.hpp"};
  } else {
    host = f->few_rows[std::size_t(chosen.few_rows)];
    const bool wide = chosen.few_rows == 0;
    s.name = std::string("gemm_few_rows") + (wide ? "" : "_v1");
    s.code = "struct policy : tw::few_rows_policy<" + types + (wide && p.a_along_k ? "8, " : "1, ") +
             (wide ? "8, " : "1, ") + end + " {};\n";
    s.kernel = "tw::few_rows_gemm<policy>";
    s.uses = {"gemm/few_rows_gemm.hpp"};
  }
  s.name += "_" + operands_name(p);
  s.host.check = [check = host.check](const void* args) { return check(*static_cast<const gemm_args*>(args)); };
  s.host.prepare = [chosen, prepare = host.prepare](const void* args, const launch_facts& facts) {
    gemm_args given = *static_cast<const gemm_args*>(args);
    if (chosen.parts == 1) given.workspace = nullptr;
    given.split_k = std::max(chosen.parts, 1);
    return prepare(&given, facts);
  };
  s.host.name = chosen.parts == 0   ? ""
                : chosen.parts == 1 ? "k whole"
                                    : "k in " + std::to_string(chosen.parts) + " parts";
  return s;
}

}  // namespace tilewright::jit
