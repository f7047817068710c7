// SPDX-License-Identifier: MIT
#include <tilewright/jit/grouped.hpp>

#include <optional>
#include <type_traits>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>

#include "operation.hpp"

namespace tilewright::jit {
namespace {

const grouped_args& grouped_args_of(const void* args) { return *static_cast<const grouped_args*>(args); }

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

std::string operands_text(const grouped_problem& p) {
  return std::string(p.a_along_k ? "tw::operand_major::k, " : "tw::operand_major::mn, ") +
         (p.b_along_k ? "tw::operand_major::k" : "tw::operand_major::mn");
}

/// The same with scales for blocks along k.
template <index_t I>
host_half scaled_hopper_half(bool has_one) {
  using enum operand_major;
  using kernel = grouped_gemm_kernel<
      grouped<block_scaled<gemm_hopper<fp8_ocp_t, k, k, grouped_tiles[I], bfloat16_t>>, group_kind::rows>>;
  host_half half = half_of<kernel>();
  half.check = [has_one](const void* args) {
    const char* const why = kernel::check(*static_cast<const block_scaled_args*>(args));
    return why ? why : check_epilogue_of(grouped_args_of(args), has_one, {2, sizeof(bfloat16_t)});
  };
  return half;
}
/// Nothing where the kernels for Hopper cannot compute the problem.
std::optional<grouped_kernel> find_scaled_hopper(const block_scaled_problem& p, const block_scaled_args& args) {
  if (p.result != element::bf16) return std::nullopt;
  const index_t tile = choose_grouped_tile(args, 132, 1, true);
  host_half half;
  [&]<index_t... I>(sequence<I...>) {
    ((tile == I ? void(half = scaled_hopper_half<I>(has_epilogue(args))) : void()), ...);
  }(make_sequence<grouped_tiles.size()>{});
  if (!half.check || half.check(&args)) return std::nullopt;
  return grouped_kernel{"hopper_" + std::to_string(tile),
                        "tw::block_scaled<tw::gemm_hopper<" + type_name(element::fp8) +
                            ", tw::operand_major::k, tw::operand_major::k, tw::grouped_tiles[" + std::to_string(tile) +
                            "], " + type_name(p.result) + ">>",
                        "kernels/gemm/choice/grouped_choice.hpp", std::move(half)};
}

/// A kernel for Hopper with tile number I of grouped_tiles. T is as long as the elements.
template <class T, class R, operand_major B, group_kind Kind, index_t I>
host_half hopper_half(bool has_one) {
  constexpr operand_major a = Kind == group_kind::k ? operand_major::mn : operand_major::k;
  using kernel = grouped_gemm_kernel<grouped<gemm_hopper<T, a, B, grouped_tiles[I], R>, Kind>>;
  host_half half = half_of<kernel>();
  half.check = [has_one](const void* args) {
    const char* const why = kernel::check(grouped_args_of(args));
    return why ? why : check_epilogue_of(grouped_args_of(args), has_one, {2, sizeof(R)});
  };
  return half;
}
template <class T, class R, operand_major B>
host_half hopper_half_of_rows(index_t tile, bool has_one) {
  host_half half;
  [&]<index_t... I>(sequence<I...>) {
    ((tile == I ? void(half = hopper_half<T, R, B, group_kind::rows, I>(has_one)) : void()), ...);
  }(make_sequence<grouped_tiles.size()>{});
  return half;
}

/// Nothing where the kernels for Hopper cannot compute the problem.
std::optional<grouped_kernel> find_hopper(const grouped_problem& p, const grouped_args& args) {
  const bool by_rows = p.groups == group_kind::rows, is_fp8 = p.type == element::fp8, has_one = has_epilogue(args);
  const bool is_16_bits = p.type == element::f16 || p.type == element::bf16;
  if (!(is_16_bits && p.result == p.type) && !(is_fp8 && p.result == element::bf16)) return std::nullopt;
  const index_t tile = by_rows ? choose_grouped_tile(args, 132, is_fp8 ? 1 : 2) : 1;
  using enum operand_major;
  host_half half;
  if (by_rows && p.a_along_k && p.b_along_k)
    half = is_fp8 ? hopper_half_of_rows<fp8_ocp_t, bfloat16_t, k>(tile, has_one)
                  : hopper_half_of_rows<half_t, half_t, k>(tile, has_one);
  else if (by_rows && p.a_along_k && is_16_bits)
    half = hopper_half_of_rows<half_t, half_t, mn>(tile, has_one);
  else if (!by_rows && !p.a_along_k && !p.b_along_k && is_16_bits)
    half = hopper_half<half_t, half_t, mn, group_kind::k, 1>(has_one);
  if (!half.check || half.check(&args)) return std::nullopt;
  return grouped_kernel{"hopper_" + std::to_string(tile),
                        "tw::gemm_hopper<" + type_name(p.type) + ", " + operands_text(p) + ", tw::grouped_tiles[" +
                            std::to_string(tile) + "], " + type_name(p.result) + ">",
                        "kernels/gemm/choice/grouped_choice.hpp", std::move(half)};
}

/// The host half of a kernel for any target. Args: grouped_args or block_scaled_args.
template <class Args>
host_half portable_half(const checked_gemm& kernel, bool by_rows, const grid_order& order, bool has_one) {
  host_half half;
  half.check = [kernel, by_rows, has_one](const void* given) {
    const Args& args = *static_cast<const Args*>(given);
    const char* why = args.a && args.b && args.c ? nullptr : "a pointer is null: a, b or c";
    why = why ? why : detail::check_lengths(args, kernel);
    why = why ? why : detail::check_result_memory(args, kernel);
    why = why ? why : detail::check_offsets(args, kernel);
    if constexpr (std::is_same_v<Args, block_scaled_args>) why = why ? why : detail::check_block_scales(args);
    why = why ? why : check_epilogue_of(args, has_one, {kernel.vector, kernel.result_bytes});
    return why ? why : detail::check_groups(args, by_rows, kernel.tile_m, kernel.tile_n);
  };
  half.prepare = [kernel, by_rows, order](const void* args, const launch_facts& facts) {
    const auto made = detail::plan_groups(*static_cast<const Args*>(args), by_rows, kernel.tile_m, kernel.tile_n, order,
                                          facts.resident_clusters);
    return host_half::prepared{as_bytes(made), {made.blocks, 1, 1}};
  };
  return half;
}

/// The kernel with the widest vector that memory allows.
template <class Args>
grouped_kernel find_portable(const grouped_problem& p, const Args& args, const std::string& target) {
  const index_t bytes = size_of(p.type);
  const bool by_rows = p.groups == group_kind::rows;
  const char* why = nullptr;
  for (index_t vector = 16 / bytes; vector > 0; vector /= 2) {
    const bool is_small = by_rows && detail::has_short_groups(args) && bytes == 2 && vector == 8;
    const auto [tile, order] = with_arch(target, [&]<class Arch>(of_type<Arch>) {
      const block_tile all = bytes == 4   ? default_block_tile<Arch, float>()
                             : bytes == 2 ? default_block_tile<Arch, half_t>()
                                          : default_block_tile<Arch, int8_t>();
      return std::pair(all, detail::default_grid_order<Arch>());
    });
    const index_t side = is_small ? 64 : tile.m;
    const checked_gemm kernel{side, side, tile.k, p.a_along_k, p.b_along_k, bytes, size_of(p.result), vector};
    host_half half = portable_half<Args>(kernel, by_rows, order, has_epilogue(args));
    why = half.check(&args);
    if (why) continue;
    return {(is_small ? "64x64_v" : "128x128_v") + std::to_string(vector),
            std::string(is_small ? "tw::gemm_64x64" : "tw::gemm_policy") + "<tw::arch::current, " +
                type_name_on(p.type, target) + ", " + operands_text(p) + ", " + std::to_string(vector) + ">",
            is_small ? "kernels/gemm/named_policies.hpp" : "", std::move(half)};
  }
  throw error(std::string("grouped_gemm: ") + why);
}

/// The text of a policy for the groups of a problem.
kernel_source source_of(const char* operation, const grouped_problem& problem, const grouped_args& args,
                        grouped_kernel chosen, const std::string& target) {
  const bool by_rows = problem.groups == group_kind::rows;
  kernel_source s;
  s.name = std::string(operation) + (by_rows ? "_rows_" : "_k_") + chosen.name + "_" +
           operands_name(gemm_problem{problem.type, problem.result, problem.a_along_k, problem.b_along_k, args});
  s.code = "struct policy : tw::grouped<" + chosen.policy + ", tw::group_kind::" + (by_rows ? "rows" : "k") +
           "> {\n  using result_type = " + type_name_on(problem.result, target) +
           ";\n  using epilogue = tw::epilogue::" + (has_epilogue(args) ? "from_args" : "alpha_beta") + ";\n};\n";
  s.kernel = "tw::grouped_gemm_kernel<policy>";
  s.uses = {"kernels/gemm/grouped/grouped_gemm.hpp"};
  if (!chosen.uses.empty()) s.uses.push_back(chosen.uses);
  if (target.starts_with("sm_")) s.uses.push_back("kernels/gemm/portable/multi_stage_pipeline.hpp");
  s.host = std::move(chosen.host);
  return s;
}

}  // namespace

kernel_request block_scaled_gemm(const block_scaled_problem& problem) {
  return remembered([problem](const std::string& target) {
    block_scaled_args args = problem.args;
    stand_ins stand_in;
    stand_in(args.a, args.b, args.c, args.a_scales, args.b_scales);
    const grouped_problem like{element::fp8, problem.result, true, true, group_kind::rows, args};
    std::optional<grouped_kernel> chosen;
    if (target == "sm_90a") chosen = find_scaled_hopper(problem, args);
    if (!chosen) {
      chosen = find_portable(like, args, target);
      chosen->policy = "tw::block_scaled<" + chosen->policy + ">";
    }
    return source_of("block_scaled_gemm", like, args, std::move(*chosen), target);
  });
}

kernel_request grouped_gemm(const grouped_problem& problem) {
  if (problem.groups == group_kind::none) throw error("grouped_gemm: groups divide rows or k");
  return remembered([problem](const std::string& target) {
    grouped_args args = problem.args;
    stand_ins stand_in;
    stand_in(args.a, args.b, args.c);
    std::optional<grouped_kernel> chosen;
    if (target == "sm_90a") chosen = find_hopper(problem, args);
    if (!chosen) chosen = find_portable(problem, args, target);
    return source_of("grouped_gemm", problem, args, std::move(*chosen), target);
  });
}

}  // namespace tilewright::jit
