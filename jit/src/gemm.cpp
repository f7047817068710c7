// SPDX-License-Identifier: MIT
#include <tilewright/jit/gemm.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/core/base/math.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/choice/choice_name.hpp>
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

#include "constants.hpp"
#include "gemm_reports.hpp"
#include "hopper_gemm.hpp"
#include "source_text.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

int bytes_of(element e) {
  switch (e) {
    case element::f32:
    case element::i32: return 4;
    case element::f16:
    case element::bf16: return 2;
    default: return 1;
  }
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// Elements that lengths, strides and pointers allow to move at once, up to 16 bytes of A's.
int widest_vector(const gemm_problem& p) {
  const gemm_args& g = p.args;
  const auto all_are_multiples = [&](long_index_t v) {
    for (const long_index_t x : {long_index_t(p.a_along_k ? g.k : g.m), long_index_t(p.b_along_k ? g.k : g.n),
                                 long_index_t(g.n), long_index_t(g.lda), long_index_t(g.ldb), long_index_t(g.ldc),
                                 long_index_t(g.residual ? g.ld_residual : 0), g.batch_stride_a, g.batch_stride_b,
                                 g.batch_stride_c, g.product_stride_b, g.residual ? g.batch_stride_residual : 0})
      if (x % v != 0) return false;
    return true;
  };
  for (const void* pointer :
       {g.a, g.b, static_cast<const void*>(g.c), g.bias, g.residual, static_cast<const void*>(g.column_scale)})
    if (!is_aligned(pointer)) return 1;
  int v = 16 / bytes_of(p.type);
  while (v > 1 && !all_are_multiples(v)) v /= 2;
  return v;
}

/// Elements that a problem's kernel moves at once.
int vector_of(const gemm_problem& p) {
  const int widest = widest_vector(p);
  return p.for_all_lengths && widest * bytes_of(p.type) < 16 ? 1 : widest;
}

/// A tile of a target, and in how many slices k is.
struct portable_choice {
  const gemm_static_report* report;
  std::string policy, last_argument;  // as in gemm_reports
  choice_name name;                   // parts: 1 or more
  double seconds = 0;

  std::string choice() const { return name.split_k == 1 && !name.stream_k ? name.tile : name.text(); }
};

/// Whether the library has a policy's tile for the elements of a problem, in vectors of this length. Large tiles exist
/// for 16-bit elements in whole vectors, those for few rows and direct copies if rows of both are contiguous along k as
/// well; with a gate, waves have an even number of instructions along n.
bool has_tile(const gemm_problem& p, const std::string& name, const block_tile& tile, int vector) {
  if (p.has_gate && tile.n < 128) return false;
  if (name == "16x64" || name == "direct_128x128" || name.starts_with("deep_"))
    return bytes_of(p.type) == 2 && vector == 8 && p.a_along_k && p.b_along_k;
  return tile.m * tile.n <= 128 * 128 ? name == "128x128" || bytes_of(p.type) == 2
                                      : bytes_of(p.type) == 2 && vector == 8;
}

/// Times are those of 16-bit elements with the same number of bytes along k.
std::vector<portable_choice> rank_portable(const gemm_problem& p, const std::string& target) {
  const gemm_reports& known = gemm_reports_of(target);
  const int vector = vector_of(p);
  const gemm_args& g = p.args;
  const std::optional<choice_name> asked = choice_name::parse(p.policy);
  const gemm_lengths lengths{g.m, (p.has_gate ? 2ll : 1ll) * g.n,
                             ceil_div<long_index_t>(g.k * long_index_t(bytes_of(p.type)), 2), g.batch};
  std::vector<portable_choice> list;
  if (!has_matrix_instruction(p.type, target)) return list;
  for (std::size_t i = 0; i < known.names.size(); ++i) {
    const gemm_static_report& r = known.reports[i];
    if (!has_tile(p, known.names[i], r.tile, vector)) continue;
    const auto add = [&](index_t split, bool stream_k = false) {
      list.push_back({&r,
                      known.policies[i],
                      known.last_arguments[i],
                      {known.names[i], split, stream_k},
                      estimate_gemm(r, *known.gpu, lengths, split, stream_k).seconds});
    };
    if (!p.policy.empty()) {
      if (asked && asked->tile == known.names[i])
        add(asked->split_k > 0 ? asked->split_k : std::max(g.split_k, 1), asked->stream_k);
    } else if (g.split_k > 0) {
      // A slice has a tile at least; if it cannot, the other tiles say so.
      if (r.tile.m > 32 || ceil_div<long_index_t>(lengths.k, r.tile.k) >= g.split_k) add(g.split_k);
    } else {
      for_each_portable_kernel(
          array<gemm_static_report, 1>{{r}}, *known.gpu, lengths, !p.has_gate,
          [&](const gemm_estimate& e) { add(e.split_k, e.stream_k); }, !p.for_all_lengths);
    }
  }
  std::sort(list.begin(), list.end(), [](const portable_choice& x, const portable_choice& y) {
    return std::tuple(x.seconds, x.report, x.name.split_k) < std::tuple(y.seconds, y.report, y.name.split_k);
  });
  return list;
}

std::string portable_name(const gemm_problem& p, const choice_name& c) {
  return "gemm_" + c.tile + "_" + operands_name(p) + "_v" + std::to_string(vector_of(p)) +
         (c.stream_k      ? "_stream_k"
          : c.split_k > 1 ? "_split"
                          : "");
}

/// The base class of the policy.
std::string policy_base(const gemm_problem& p, const std::string& target, const portable_choice& choice) {
  const auto major = [](bool along_k) { return along_k ? "tw::operand_major::k" : "tw::operand_major::mn"; };
  return (choice.name.tile == "128x128" ? "tw::gemm_policy" : choice.policy) + "<tw::arch::current, " +
         type_name(p.type, target == "gfx942") + ", " + major(p.a_along_k) + ", " + major(p.b_along_k) + ", " +
         std::to_string(vector_of(p)) + choice.last_argument + ">";
}

/// A kernel for all lengths has a kernel that follows it.
const char* split_kind_of(const gemm_problem& p, const portable_choice& choice) {
  const block_tile& tile = choice.report->tile;
  const long_index_t tiles = long_index_t(ceil_div(p.args.m, tile.m)) * ceil_div(p.args.n, tile.n) * p.args.batch;
  const bool fixes_up = !p.for_all_lengths && split_k_kind_for(*choice.report->target, tiles) == split_k_kind::fix_up;
  return fixes_up ? "fix_up" : "workspace";
}

/// The arguments' constants, of the kernel or of the problem that check() and grid() are evaluated for.
constants constants_of(const gemm_args& g) {
  constants c;
  if (g.beta == 0) c.set_float("beta", 0);
  c.set("batch", g.batch).set("split_k", g.split_k);
  c.set("m", g.m).set("n", g.n).set("k", g.k).set("lda", g.lda).set("ldb", g.ldb).set("ldc", g.ldc);
  c.set("batch_stride_a", g.batch_stride_a).set("batch_stride_b", g.batch_stride_b);
  c.set("batch_stride_c", g.batch_stride_c);
  if (g.product_stride_b != 0) c.set("product_stride_b", g.product_stride_b);
  if (g.split_k > 1) c.points("workspace");
  if (g.residual) c.set("ld_residual", g.ld_residual).set("batch_stride_residual", g.batch_stride_residual);
  return c;
}

/// Whether a launch is the problem that the kernel was made for.
const char* compare(const gemm_args& p, const gemm_args& g) {
  if (g.m != p.m || g.n != p.n || g.k != p.k || g.batch != p.batch || g.split_k != p.split_k)
    return "the kernel was made for other lengths";
  if (g.lda != p.lda || g.ldb != p.ldb || g.ldc != p.ldc || g.batch_stride_a != p.batch_stride_a ||
      g.batch_stride_b != p.batch_stride_b || g.batch_stride_c != p.batch_stride_c ||
      g.product_stride_b != p.product_stride_b)
    return "the kernel was made for other strides";
  if (p.residual && (g.ld_residual != p.ld_residual || g.batch_stride_residual != p.batch_stride_residual))
    return "the kernel was made for other strides of the residual";
  if (!p.residual && g.residual) return "the kernel was made without a residual";
  if (p.beta == 0 && g.beta != 0) return "the kernel was made for a beta of 0";
  if (p.split_k > 1 && !g.workspace) return "split_k needs a workspace, of workspace_bytes(args)";
  return nullptr;
}

const char* check_memory(const checked_gemm& kernel, const gemm_args& g) {
  if (const char* why = check_pointers(g)) return why;
  if (const char* why = detail::check_lengths(g, kernel)) return why;
  return detail::check_result_memory(g, kernel);
}

/// What a kernel for all lengths is.
struct general_gemm {
  checked_gemm kernel;
  int block_size = 0, wave_size = 0;
  bool has_epilogue = false, splits = false;

  long_index_t tiles(const gemm_args& g) const {
    return long_index_t(ceil_div(g.m, kernel.tile_m)) * ceil_div(g.n, kernel.tile_n / kernel.products);
  }
  /// The grid of the kernel that adds up slices: split_k_sum's.
  block_grid sum_grid(const gemm_args& g) const {
    const int rows = 128 / wave_size, columns = 4 * wave_size;
    return {ceil_div(g.n, columns) * ceil_div(g.m, rows), 1, g.batch};
  }
};

/// What a launch must keep whose kernel was made for all lengths.
const char* check_launch(const general_gemm& general, const gemm_args& g) {
  const checked_gemm& kernel = general.kernel;
  if (!general.splits && g.split_k != 1) return "the kernel was made for GEMMs that are not split along k";
  if (g.split_k < 1 || g.split_k > std::min(65535, ceil_div(g.k, kernel.tile_k)))
    return "split_k is not positive, or larger than the number of block tiles along k, or than 65535";
  if (general.splits && !g.workspace) return "split_k needs a workspace, of workspace_bytes(args)";
  if (g.batch > 65535) return "the batch has more than 65535 problems";
  if (general.tiles(g) * general.block_size > 0xffffffffll ||
      (general.splits && long_index_t(ceil_div(g.n, 4 * general.wave_size)) * g.m * general.wave_size > 0xffffffffll))
    return "the grid would have 2^32 threads or more; use several launches";
  const char* const why = check_memory(kernel, g);
  return why ? why : detail::check_offsets(g, kernel);
}

const char* check_epilogue(const gemm_args& g, bool has_one, bool moves_vectors) {
  if (has_epilogue(g) && !has_one) return "the kernel was made without an epilogue";
  for (const void* x :
       {g.a, g.b, static_cast<const void*>(g.c), g.bias, g.residual, static_cast<const void*>(g.column_scale)})
    if (moves_vectors && !is_aligned(x)) return "the kernel moves vectors: pointers must be multiples of 16 bytes";
  return nullptr;
}

host_half half_for_all_lengths(const general_gemm& general) {
  const auto args_of = [](const void* args) -> const gemm_args& { return *static_cast<const gemm_args*>(args); };
  host_half half;
  half.check = [general, args_of](const void* args) {
    const char* const why = check_launch(general, args_of(args));
    return why ? why : check_epilogue(args_of(args), general.has_epilogue, general.kernel.vector > 1);
  };
  half.grid = [general, args_of](const void* args) {
    const gemm_args& g = args_of(args);
    return block_grid{int(general.tiles(g)), g.split_k, g.batch};
  };
  if (!general.splits) return half;
  host_half sum;
  sum.grid = [general, args_of](const void* args) { return general.sum_grid(args_of(args)); };
  half.next = std::make_shared<const host_half>(std::move(sum));
  return half;
}

std::string portable_code(const gemm_problem& p, const std::string& target, const portable_choice& choice) {
  return "inline char jit_memory[16];\nconstexpr void* jit_somewhere(void*) { return jit_memory; }\n"
         "struct policy : " +
         policy_base(p, target, choice) + " {\n  using result_type = " + type_name(p.result, target == "gfx942") +
         ";\n  using epilogue = tw::epilogue::" + epilogue_name(p) + ";\n" +
         (p.has_gate ? "  static constexpr index_t products = 2;\n" : "") +
         (choice.name.split_k > 1 && !choice.name.stream_k
              ? "  static constexpr tw::split_k_kind split_k = tw::split_k_kind::" +
                    std::string(split_kind_of(p, choice)) + ";\n"
              : "") +
         "};\nusing general_gemm = tw::" + (choice.name.stream_k ? "stream_k_gemm" : "gemm_kernel") + "<policy>;\n";
}

kernel_source portable_gemm(gemm_problem p, const std::string& target, const portable_choice& choice) {
  gemm_args& g = p.args;
  const int vector = vector_of(p);
  g.split_k = choice.name.split_k;
  const bool for_all_lengths = p.for_all_lengths || (is_nvidia(target) && g.split_k == 1);
  kernel_source s;
  s.name = portable_name(p, choice.name);
  s.code = portable_code(p, target, choice);
  s.kernel = "general_gemm";
  if (!is_nvidia(target) && !for_all_lengths) {
    s.code += constants_of(g).kernel("exact_gemm", s.kernel);
    s.kernel = "exact_gemm";
  }
  const block_tile& tile = choice.report->tile;
  const int bytes = bytes_of(p.type), tile_k = std::max(tile.k * 2 / bytes, 32);  // of other elements about as long
  const checked_gemm kernel{
      tile.m, tile.n, tile_k, p.a_along_k, p.b_along_k, bytes, bytes_of(p.result), vector, p.has_gate ? 2 : 1};
  s.uses = {choice.name.stream_k ? "kernels/gemm/stream_k_gemm.hpp" : "kernels/gemm/gemm_kernel.hpp"};
  if (choice.name.tile != "128x128") s.uses.push_back("kernels/gemm/named_policies.hpp");
  if (!choice.last_argument.empty()) s.uses.push_back("kernels/gemm/choice/cdna_tile_family.hpp");
  if (p.has_gate) s.uses.push_back("kernels/gemm/two_products.hpp");
  if (is_nvidia(target)) s.uses.push_back("kernels/gemm/portable/multi_stage_pipeline.hpp");
  if (for_all_lengths) {
    s.host = half_for_all_lengths(
        {kernel, tile.block_size(), choice.report->target->wave_size, applies_epilogue(p), g.split_k > 1});
    return s;
  }
  s.name += "_" + std::to_string(g.m) + "x" + std::to_string(g.n) + "x" + std::to_string(g.k);
  s.problem = constants_of(g).initializer("tw::gemm_args");
  s.host.check = [made_for = g, kernel](const void* args) {
    const auto& given = *static_cast<const gemm_args*>(args);
    if (const char* why = compare(made_for, given)) return why;
    if (const char* why = check_epilogue(given, has_epilogue(made_for), kernel.vector > 1)) return why;
    return check_memory(kernel, given);
  };
  return s;
}

void require_problem(const gemm_problem& p) {
  const gemm_args& g = p.args;
  if (g.m < 1 || g.n < 1 || g.k < 1) throw refused("gemm: m, n and k must be positive");
  if (g.split_k < 0) throw refused("gemm: split_k must be positive, or 0 for the library's choice");
  if (p.has_gate && (has_epilogue(g) || g.split_k > 1))
    throw refused("gemm: a GEMM with a gate has no epilogue and is not split along k");
}

[[noreturn]] void refuse_policy(const gemm_problem& p, const std::string& target) {
  if (!has_matrix_instruction(p.type, target))
    throw refused("gemm: " + target + " has no matrix instruction for " + short_name(p.type) +
                  (is_hopper(target) && p.type == element::fp8
                       ? " but wgmma, which takes A row-major, B column-major, both in whole vectors, and writes bf16"
                       : ""));
  for (const std::string& name : gemm_reports_of(target).names)
    if (const auto asked = choice_name::parse(p.policy); asked && asked->tile == name)
      throw refused("gemm: the policy " + name + " needs 16-bit elements in whole vectors of 16 bytes" +
                    (p.has_gate ? ", and with a gate 128 columns" : ""));
  throw refused("gemm: there is no policy '" + p.policy + "' for " + target);
}

}  // namespace

std::string type_name(element e, bool is_amd_fnuz) {
  switch (e) {
    case element::f16: return "tw::half_t";
    case element::bf16: return "tw::bfloat16_t";
    case element::f32: return "float";
    case element::fp8: return is_amd_fnuz ? "tw::fp8_fnuz_t" : "tw::fp8_ocp_t";
    case element::bf8: return is_amd_fnuz ? "tw::bf8_fnuz_t" : "tw::bf8_ocp_t";
    case element::i8: return "tw::int8_t";
    case element::i32: break;
  }
  return "int";
}
std::string short_name(element e) {
  constexpr const char* names[] = {"f16", "bf16", "f32", "fp8", "bf8", "i8", "i32"};
  return names[int(e)];
}
const char* check_pointers(const gemm_args& g) { return g.a && g.b && g.c ? nullptr : "a pointer is null: a, b or c"; }
bool applies_epilogue(const gemm_problem& p) {
  return has_epilogue(p.args) || (p.for_all_lengths && !p.has_gate && p.type != element::i8);
}
std::string epilogue_name(const gemm_problem& p) {
  return p.has_gate ? "swiglu" : applies_epilogue(p) ? "from_args" : "alpha_beta";
}
std::string operands_name(const gemm_problem& p) {
  return short_name(p.type) + (p.a_along_k ? "_ak" : "_am") + (p.b_along_k ? "_bk" : "_bn") + "_to_" +
         short_name(p.result) +
         (p.has_gate            ? "_gate"
          : applies_epilogue(p) ? "_epilogue"
                                : "");
}

std::vector<gemm_candidate> rank_gemm(const gemm_problem& p, const std::string& target) {
  require_problem(p);
  std::vector<gemm_candidate> list;
  if (is_hopper(target)) list = rank_hopper_gemm(p);
  for (const portable_choice& c : rank_portable(p, target)) {
    gemm_args split = p.args;
    split.split_k = c.name.split_k;
    list.push_back({.kernel = portable_name(p, c.name),
                    .choice = c.choice(),
                    .reason = p.policy.empty()
                                  ? "the model predicts " + std::to_string(long(c.seconds * 1e6 + 0.5)) + " us"
                                  : "as asked for",
                    .split_k = c.name.split_k,
                    .workspace_bytes = c.name.stream_k      ? stream_k_workspace_bytes(split, c.report->tile)
                                       : c.name.split_k > 1 ? workspace_bytes(split)
                                                            : 0});
  }
  if (list.empty()) refuse_policy(p, target);
  return list;
}

kernel_request gemm(const gemm_problem& problem) {
  return remembered([problem](const std::string& target) {
    require_problem(problem);
    if (is_hopper(target)) {
      const std::vector<gemm_candidate> hopper = rank_hopper_gemm(problem);
      if (!hopper.empty()) return hopper_gemm(problem, hopper.front().choice);
    }
    const std::vector<portable_choice> list = rank_portable(problem, target);
    if (list.empty()) refuse_policy(problem, target);
    return portable_gemm(problem, target, list.front());
  });
}

}  // namespace tilewright::jit
