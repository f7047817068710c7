// SPDX-License-Identifier: MIT
#include <tilewright/jit/grouped.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/block_scaled_tiles.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

#include "hopper_groups.hpp"
#include "operation.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

const block_scaled_args& scaled_args_of(const void* args) { return *static_cast<const block_scaled_args*>(args); }

const char* check_scaled_epilogue(const block_scaled_args& args, bool has_one, vector_alignment guarantee) {
  if (!has_epilogue(args)) return nullptr;
  return has_one ? epilogue::detail::check<epilogue::from_args>(args, guarantee)
                 : "the kernel was made without an epilogue";
}

struct scaled_kernel {
  std::string name, policy, uses;  // the policy without groups
  host_half host;
};

/// A block tile, its name, and its block_scaled_tile, or "".
struct scaled_tile {
  block_tile tile;
  std::string name, argument;
};

/// The host half of a dense kernel for Hopper.
host_half scaled_half(const detail::hopper_gemm_facts& kernel,
                      std::function<const char*(const block_scaled_args&)> check) {
  host_half half;
  half.check = [kernel, check = std::move(check)](const void* given) {
    const char* const why = detail::check_hopper_gemm(kernel, scaled_args_of(given));
    return why ? why : check(scaled_args_of(given));
  };
  half.prepare = [kernel](const void* given, const launch_facts& facts) {
    const auto made =
        detail::plan_hopper_gemm<1>(kernel, scaled_args_of(given), facts.resident_clusters, facts.make_tensor_map);
    host_half::prepared prepared{as_bytes(made), {made.blocks, 1, 1}};
    prepared.starts_alone = made.starts_alone;
    return prepared;
  };
  return half;
}

/// Nothing where the kernels for Hopper cannot compute the problem.
std::optional<scaled_kernel> find_scaled_hopper(const block_scaled_args& args, element result) {
  if (result != element::bf16) return std::nullopt;
  const hopper_gemm_operands o{arch::matrix_element::fp8_ocp, arch::matrix_element::bf16, true, true};
  const grouped_kernel_kind kind{.is_block_scaled = true};
  const hopper_gemm_tile tile = choose_tile_for_groups(args, o, kind);
  const auto check = [has_one = has_epilogue(args)](const block_scaled_args& g) {
    const char* const why = detail::check_block_scales(g);
    return why ? why : check_scaled_epilogue(g, has_one, {2, sizeof(bfloat16_t)});
  };
  const detail::hopper_gemm_facts kernel = kind.facts_of(tile, o);
  host_half half = args.groups == 0 ? scaled_half(kernel, check)
                                    : half_of_groups<group_kind::rows, 1, block_scaled_args>(kernel, false, check);
  if (half.check(&args)) return std::nullopt;
  return scaled_kernel{
      "hopper_" + name_of(tile),
      "tw::block_scaled<" +
          policy_text(type_name(element::fp8), "tw::operand_major::k, tw::operand_major::k", tile, type_name(result)) +
          ">",
      "kernels/gemm/choice/grouped_choice.hpp", std::move(half)};
}

/// What the splits of a dense problem must keep; nullptr: they do.
const char* check_scaled_splits(const block_scaled_args& args, const checked_gemm& kernel, bool splits) {
  if (args.split_k < 1 || args.split_k > ceil_div(args.k, kernel.tile_k))
    return "split_k is not positive, or larger than the number of block tiles along k";
  if (!splits) return args.split_k == 1 ? nullptr : "the kernel was made for problems that are not split along k";
  if (!args.workspace) return "split_k needs a workspace, of workspace_bytes(args)";
  const long_index_t tiles = long_index_t(ceil_div(args.m, kernel.tile_m)) * ceil_div(args.n, kernel.tile_n);
  return tiles * args.batch > detail::split_k_counters ? "split_k takes 1024 tiles of C, of all problems" : nullptr;
}

/// What a launch of stream_k_gemm must keep; nullptr: it does.
const char* check_scaled_stream_k(const block_scaled_args& args) {
  if (args.split_k < 1 || args.split_k > detail::split_k_counters)
    return "split_k is the number of blocks that run at the same time, from 1 to 1024";
  return args.workspace ? nullptr : "stream-K needs a workspace, of stream_k_workspace_bytes(args, tile)";
}

/// How the blocks of a dense kernel share k.
enum class sharing { none, slices, stream_k };

/// The host half of a kernel for any target.
host_half scaled_portable_half(const checked_gemm& kernel, const block_tile& tile, const grid_order& order,
                               bool has_one, bool is_dense, sharing k) {
  host_half half;
  half.check = [kernel, has_one, is_dense, k](const void* given) {
    const block_scaled_args& args = scaled_args_of(given);
    const char* why = args.a && args.b && args.c ? nullptr : "a pointer is null: a, b or c";
    why = why ? why : detail::check_lengths(args, kernel);
    why = why ? why : detail::check_result_memory(args, kernel);
    why = why ? why : detail::check_offsets(args, kernel);
    why = why ? why : detail::check_block_scales(args);
    why = why ? why : check_scaled_epilogue(args, has_one, {kernel.vector, kernel.result_bytes});
    if (why) return why;
    if (k == sharing::stream_k) return check_scaled_stream_k(args);
    return is_dense ? check_scaled_splits(args, kernel, k == sharing::slices)
                    : detail::check_groups(args, true, kernel.tile_m, kernel.tile_n);
  };
  if (is_dense) {
    half.grid = [kernel, tile, k](const void* given) {
      const block_scaled_args& args = scaled_args_of(given);
      if (k == sharing::stream_k) return block_grid{detail::stream_k_ranges_of(args, tile, 1).blocks(), 1, 1};
      return block_grid{ceil_div(args.m, kernel.tile_m) * ceil_div(args.n, kernel.tile_n), args.split_k, args.batch};
    };
    return half;
  }
  half.prepare = [kernel, order](const void* args, const launch_facts& facts) {
    const auto made =
        detail::plan_groups(scaled_args_of(args), true, kernel.tile_m, kernel.tile_n, order, facts.resident_clusters);
    return host_half::prepared{as_bytes(made), {made.blocks, 1, 1}};
  };
  return half;
}
/// On MI300X and MI355X the tile that the model chooses, with vectors of `vector` elements.
scaled_tile choose_scaled_tile(const block_scaled_args& args, const std::string& target, index_t vector,
                               bool stream_k) {
  return with_arch(target, [&]<class Arch>(of_type<Arch>) -> scaled_tile {
    for (const arch::cdna_gpu& gpu : arch::cdna_gpus) {
      if (gpu.isa != &Arch::value) continue;
      const block_scaled_tile tile = block_scaled_tiles[choose_block_scaled_tile(gpu, args, vector, stream_k).kernel];
      std::string name = std::to_string(tile.m) + "x" + std::to_string(tile.n);
      if (tile.stages > 1) name += "x" + std::to_string(tile.stages);
      if (tile.ahead > 1) name += "_ahead" + std::to_string(tile.ahead);
      std::string numbers;
      for (const index_t number : {tile.m, tile.n, tile.waves_m, tile.waves_n, tile.stages, tile.ahead})
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
      return {tile.of_block<Arch>(), name, "tw::block_scaled_tile{" + numbers + "}"};
    }
    return {default_block_tile<Arch, int8_t>(), "128x128", ""};
  });
}

/// The kernel with the widest vector that memory allows.
scaled_kernel find_scaled_portable(const block_scaled_problem& problem, const block_scaled_args& args,
                                   const std::string& target) {
  const sharing k_of = problem.stream_k ? sharing::stream_k : args.split_k > 1 ? sharing::slices : sharing::none;
  if (!has_matrix_instruction(element::fp8, target))
    throw error("block_scaled_gemm: " + target + " has no matrix instruction for fp8 that takes these operands");
  const grid_order order =
      with_arch(target, []<class Arch>(of_type<Arch>) { return detail::default_grid_order<Arch>(); });
  const char* why = nullptr;
  for (index_t vector = 16; vector > 0; vector /= 2) {
    const scaled_tile chosen = choose_scaled_tile(args, target, vector, problem.stream_k);
    const block_tile& tile = chosen.tile;
    const checked_gemm kernel{tile.m, tile.n, tile.k, true, true, 1, size_of(problem.result), vector};
    host_half half = scaled_portable_half(kernel, tile, order, has_epilogue(args), args.groups == 0, k_of);
    why = half.check(&args);
    if (why) continue;
    const std::string types = "<tw::arch::current, " + type_name_on(element::fp8, target) + ", ",
                      number = std::to_string(vector), k = "tw::operand_major::k, ";
    return {chosen.name + "_v" + number,
            chosen.argument.empty() ? "tw::block_scaled<tw::gemm_policy" + types + k + k + number + ">>"
                                    : "tw::gemm_block_scaled_tile" + types + number + ", " + chosen.argument + ">",
            "kernels/gemm/choice/block_scaled_tiles.hpp", std::move(half)};
  }
  throw error(std::string("block_scaled_gemm: ") + why);
}

}  // namespace

kernel_request block_scaled_gemm(const block_scaled_problem& problem) {
  return remembered([problem](const std::string& target) {
    block_scaled_args args = problem.args;
    stand_ins stand_in;
    stand_in(args.a, args.b, args.c, args.a_scales, args.b_scales, args.workspace);
    std::optional<scaled_kernel> chosen;
    const bool is_dense = args.groups == 0, stream_k = problem.stream_k;
    if (stream_k && !is_dense) throw error("block_scaled_gemm: groups do not share tiles by stream-K");
    if (target == "sm_90a" && !stream_k) chosen = find_scaled_hopper(args, problem.result);
    if (!chosen) chosen = find_scaled_portable(problem, args, target);
    kernel_source s;
    s.name = std::string(!is_dense          ? "block_scaled_gemm_rows_"
                         : stream_k         ? "block_scaled_gemm_stream_k_"
                         : args.split_k > 1 ? "block_scaled_gemm_split_"
                                            : "block_scaled_gemm_") +
             chosen->name + "_" + operands_name(gemm_problem{element::fp8, problem.result, true, true, args});
    s.code =
        "struct policy : " + (is_dense ? chosen->policy : "tw::grouped<" + chosen->policy + ", tw::group_kind::rows>") +
        " {\n" +
        (is_dense && args.split_k > 1 && !stream_k
             ? "  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;\n"
             : "") +
        "  using result_type = " + type_name_on(problem.result, target) +
        ";\n  using epilogue = tw::epilogue::" + (has_epilogue(args) ? "from_args" : "alpha_beta") + ";\n};\n";
    s.kernel = stream_k   ? "tw::stream_k_gemm<policy>"
               : is_dense ? "tw::gemm_kernel<policy>"
                          : "tw::grouped_gemm_kernel<policy>";
    s.uses = {"kernels/gemm/grouped/grouped_gemm.hpp"};
    if (stream_k) s.uses.push_back("kernels/gemm/stream_k_gemm.hpp");
    if (!chosen->uses.empty()) s.uses.push_back(chosen->uses);
    if (target.starts_with("sm_")) s.uses.push_back("kernels/gemm/portable/multi_stage_pipeline.hpp");
    s.host = std::move(chosen->host);
    return s;
  });
}

}  // namespace tilewright::jit
