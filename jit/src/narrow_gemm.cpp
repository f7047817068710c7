// SPDX-License-Identifier: MIT
#include <tilewright/jit/narrow_gemm.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/hopper_narrow_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/dequantising_pipeline.hpp>
#include <tilewright/kernels/gemm/scaled/scaled_mfma_pipeline.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>

#include "operation.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

/// What the host does depends on the bits of an element alone.
template <index_t Bits>
struct stand_in : operand_format<unsigned, 32 / Bits, float, 0> {
  template <class T>
  static array<T, 32 / Bits> decode(unsigned);
};
template <index_t Bits, index_t Rows, index_t CVector>
host_half half_for() {
  return half_of<small_m_gemm<narrow_policy<half_t, stand_in<Bits>, Rows, CVector>>>();
}
template <index_t Bits>
host_half half_for(index_t rows, index_t c_vector) {
  if (rows == 8) return c_vector == 4 ? half_for<Bits, 8, 4>() : half_for<Bits, 8, 1>();
  return c_vector == 4 ? half_for<Bits, 16, 4>() : half_for<Bits, 16, 1>();
}

const char* check_format(const narrow_args& g, const narrow_format& f, index_t c_vector, index_t result_bytes) {
  if (const char* why = check_pointers(g)) return why;
  if (f.has_zero_points && !g.b_zeros) return "this narrow format needs b_zeros";
  if (g.ld_b_scales != 0 && g.ld_b_scales < (f.group == 0 ? 1 : ceil_div(g.k, f.group)))
    return "ld_b_scales is smaller than the scales of a column";
  return has_epilogue(g) ? epilogue::detail::check<epilogue::from_args>(g, {c_vector, result_bytes}) : nullptr;
}

std::string epilogue_of(const narrow_args& g) { return has_epilogue(g) ? "from_args" : "alpha_beta"; }

/// Up to 16 rows on Hopper.
kernel_source small_m_source(const narrow_gemm_problem& p) {
  const narrow_args& g = p.args;
  const index_t rows = g.m <= 8 ? 8 : 16, bytes = size_of(p.result),
                c_vector =
                    g.n % 4 == 0 && vector_alignment{4, bytes}.is_met_by(g.c, bytes, g.ldc, g.batch_stride_c) ? 4 : 1;
  kernel_source s;
  s.name = "narrow_gemm_" + p.format.name + "_m" + std::to_string(rows) + "_v" + std::to_string(c_vector) + "_" +
           short_name(p.type) + "_to_" + short_name(p.result) + (has_epilogue(g) ? "_epilogue" : "");
  s.code = p.format.code + "\nstruct policy : tw::narrow_policy<" + type_name(p.type) + ", " + p.format.type + ", " +
           std::to_string(rows) + ", " + std::to_string(c_vector) + ", " + type_name(p.result) +
           ", tw::epilogue::" + epilogue_of(g) + "> {};\n";
  s.kernel = "tw::small_m_gemm<policy>";
  s.uses = {"kernels/gemm/hopper/small_m_gemm.hpp"};
  s.host = p.format.bits == 4 ? half_for<4>(rows, c_vector) : half_for<8>(rows, c_vector);
  s.host.check = [check = s.host.check, format = p.format, c_vector, bytes](const void* args) {
    const char* const why = check_format(*static_cast<const narrow_args*>(args), format, c_vector, bytes);
    return why ? why : check(args);
  };
  s.host.name = std::to_string(p.format.bits) + "_bits_" + std::to_string(p.format.group) + "_m" + std::to_string(rows);
  return s;
}

std::string types_of(element type, element result, bool has_one) {
  return short_name(type) + "_to_" + short_name(result) + (has_one ? "_epilogue" : "");
}

// More rows on Hopper

/// What the kernel is compiled for, beside the lengths.
struct hopper_types {
  std::string type;                           ///< of A, as text
  arch::matrix_element element;               ///< the same
  std::string types;                          ///< in the kernel's name
  tilewright::jit::element result;            ///< of C
  narrow_args (*args_of)(const void* given);  ///< the kernel's, from those of the call
};

/// Nothing where that kernel cannot compute the problem.
std::optional<kernel_source> find_hopper_source(const void* args, const narrow_format& f, const hopper_types& t) {
  narrow_args g = t.args_of(args);
  if (f.scale_bytes == 0 || (f.bits != 4 && f.bits != 8) || g.split_k > 1) return std::nullopt;
  const hopper_narrow_tile chosen = choose_narrow_tile(g.m, g.n, g.k);
  const hopper_gemm_tile& tile = chosen.tile;
  const index_t element_bytes = arch::bytes_of(t.element),
                tile_k = std::max(chosen.tile_k_of(f.bits, f.group, f.scale_bytes), 128 / element_bytes);
  const arch::matrix_element result = t.result == element::f16 ? arch::matrix_element::f16 : arch::matrix_element::bf16;
  const detail::narrow_gemm_facts kernel =
      detail::narrow_facts_of(tile, {t.element, result, true, true},
                              {tile.m, tile_k, f.bits, f.group, f.scale_bytes, f.has_zero_points ? 1 : 0});
  if (!kernel.fits()) return std::nullopt;
  const auto check = [kernel, f](const narrow_args& of) {
    checked_gemm checked = kernel.kernel.checked();
    checked.b_bits = f.bits, checked.a_bits = 8 * checked.element_bytes;
    const char* why = check_format(of, f, 2, checked.result_bytes);
    why = why ? why : detail::check_lengths(of, checked);
    if (!why && !detail::is_aligned(of.workspace)) why = "the workspace is not aligned to 16 bytes";
    why = why ? why : detail::check_result_memory(of, checked);
    return why ? why : detail::check_narrow_operands(kernel, of);
  };
  stand_ins stand_in;
  stand_in(g.a, g.b, g.c, g.b_scales, g.b_zeros);
  if (check(g)) return std::nullopt;
  kernel_source s;
  s.host.check = [check, args_of = t.args_of](const void* given) { return check(args_of(given)); };
  s.host.prepare = [kernel, args_of = t.args_of](const void* given, const launch_facts& facts) {
    const auto made = detail::plan_narrow_gemm(kernel, args_of(given), facts);
    return host_half::prepared{jit::as_bytes(made), {made.blocks, 1, 1}};
  };
  const std::string m = std::to_string(tile.m), n = std::to_string(tile.n), k = std::to_string(tile_k);
  s.name = "hopper_narrow_gemm_" + f.name + "_" + m + "x" + n + "x" + k + "_" + t.types;
  s.code = f.code + "\nstruct policy : tw::hopper_narrow_policy<" + t.type + ", tw::operand_major::k, " + f.type +
           ", tw::hopper_gemm_tile{.m = " + m + ", .n = " + n + ", .swap_ab = true}, " + k + ", " +
           type_name(t.result) + ", tw::epilogue::" + epilogue_of(g) + "> {};\n";
  s.kernel = "tw::hopper_narrow_gemm<policy>";
  s.uses = {"kernels/gemm/hopper/hopper_narrow_gemm.hpp"};
  s.host.name = "hopper_" + std::to_string(f.bits) + "_bits_" + std::to_string(f.group) + "_" + m + "x" + n;
  return s;
}
std::optional<kernel_source> find_hopper_source(const narrow_gemm_problem& p) {
  if (p.result != p.type) return std::nullopt;
  return find_hopper_source(
      &p.args, p.format,
      {type_name(p.type), p.type == element::f16 ? arch::matrix_element::f16 : arch::matrix_element::bf16,
       types_of(p.type, p.result, has_epilogue(p.args)), p.result,
       [](const void* given) { return *static_cast<const narrow_args*>(given); }});
}
/// Rows of e4m3 times MXFP4: the scales of A's rows are factors of C's.
std::optional<kernel_source> find_hopper_source(const narrow_operands_problem& p, const std::string& target) {
  const scaled_args& g = p.args;
  if (target != "sm_90a" || p.a_format.name != "e4m3" || p.format.name != "mxfp4" || p.result != element::bf16 ||
      g.row_scale || g.batch != 1 || g.ld_a_scales > 1)
    return std::nullopt;
  return find_hopper_source(
      &p.args, p.format,
      {"tw::fp8_ocp_t", arch::matrix_element::fp8_ocp, "e4m3_to_bf16_epilogue", p.result, [](const void* given) {
         const auto& all = *static_cast<const scaled_args*>(given);
         static const float any = 1;  // where only lengths are given
         narrow_args args = all;
         args.row_scale = all.a_scales ? static_cast<const float*>(all.a_scales) : &any;
         return args;
       }});
}

// Every target

/// The kernel narrow_gemm of a block tile.
struct any_target_kernel {
  block_tile tile;
  index_t vector;  ///< of C
  bool splits;     ///< k
  index_t result_bytes;
  narrow_format a_format, b_format;  ///< bits of A: 16 where it is plain
  index_t scale_vector = 0;          ///< of scaled matrix instructions: scales that a lane loads at once; 0: others
  checked_gemm checked() const {
    return {tile.m, tile.n, tile.k, true, true, 2, result_bytes, vector, 1, b_format.bits, a_format.bits};
  }
};

const char* check_a(const narrow_args& g, const any_target_kernel&) {
  return detail::check_narrow_a<plain_format<half_t>>(g);
}
const char* check_a(const scaled_args& g, const any_target_kernel& kernel) {
  const narrow_format& f = kernel.a_format;
  if (!detail::is_aligned(g.a) || long_index_t(g.lda) * f.bits % 128 != 0 || g.batch_stride_a * f.bits % 128 != 0)
    return "rows of A must start at multiples of 16 bytes: a, lda and batch_stride_a";
  if (g.a && !g.a_scales) return "a narrow A needs a_scales";
  if (g.ld_a_scales != 0 && g.ld_a_scales < ceil_div(g.k, std::max(f.group, 1)))
    return "ld_a_scales is smaller than the scales of a row";
  return kernel.scale_vector == 0 ? nullptr : detail::check_scaled_mfma(g, kernel.scale_vector);
}

const char* check_splits(const narrow_args& g, const any_target_kernel& kernel) {
  if (!kernel.splits) return g.split_k == 1 ? nullptr : "this kernel does not split k; use a policy that does";
  if (g.split_k < 1 || g.split_k > std::min(65535, ceil_div(g.k, kernel.tile.k)))
    return "split_k is not positive, or larger than the number of block tiles along k, or than 65535";
  if (long_index_t(ceil_div(g.m, kernel.tile.m)) * ceil_div(g.n, kernel.tile.n) * g.batch > detail::split_k_counters)
    return "split_k takes 1024 tiles of C, of all problems";
  return g.workspace ? nullptr : "split_k needs a workspace, of workspace_bytes(args)";
}

template <class Args>
const char* check_any_target(const Args& g, const any_target_kernel& kernel) {
  const checked_gemm checked = kernel.checked();
  checked_gemm by_elements = checked;
  by_elements.vector = 1;
  const narrow_format& f = kernel.b_format;
  const char* why = check_format(g, f, kernel.vector, kernel.result_bytes);
  why = why ? why : detail::check_lengths(g, checked);
  why = why ? why : detail::check_result_memory(g, checked);
  why = why ? why : detail::check_narrow_b(g, f.bits, f.group, f.has_zero_points);
  why = why ? why : check_a(g, kernel);
  why = why ? why : detail::check_offsets(g, by_elements);
  why = why ? why : check_splits(g, kernel);
  const block_tile& tile = kernel.tile;
  if (!why && (g.batch > 65535 ||
               long_index_t(ceil_div(g.m, tile.m)) * ceil_div(g.n, tile.n) * tile.block_size() > 0xffffffffLL))
    why = "the grid has too many blocks; use several launches";
  const vector_alignment c{kernel.vector, kernel.result_bytes};
  if (!why && !(g.n % kernel.vector == 0 && c.is_met_by(g.c, c.result_bytes, g.ldc, g.batch_stride_c)))
    why = "this kernel moves whole vectors of C: n, ldc and addresses must be multiples; use the kernel with vector 1";
  return why;
}

template <class Args>
host_half half_of_any_target(const any_target_kernel& kernel) {
  host_half half;
  half.check = [kernel](const void* given) { return check_any_target(*static_cast<const Args*>(given), kernel); };
  half.grid = [tile = kernel.tile](const void* given) {
    const Args& g = *static_cast<const Args*>(given);
    return block_grid{ceil_div(g.m, tile.m) * ceil_div(g.n, tile.n), g.split_k, g.batch};
  };
  return half;
}

/// Elements of C that memory allows to move at once: 8 or 1.
index_t c_vector_of(const narrow_args& g, index_t bytes) {
  return g.n % 8 == 0 && vector_alignment{8, bytes}.is_met_by(g.c, bytes, g.ldc, g.batch_stride_c) ? 8 : 1;
}

block_tile tile_for(index_t m, const std::string& target) {
  return with_arch(target, [m]<class Arch>(of_type<Arch>) { return detail::dequantising_tile<Arch, half_t>(m); });
}

/// The text of a kernel whose policy begins as given.
template <class Args>
kernel_source any_target_source(const any_target_kernel& kernel, const Args& g, const std::string& formats,
                                const std::string& policy, element type, element result) {
  kernel_source s;
  s.name = "narrow_gemm_" + formats + "_" + std::to_string(kernel.tile.m) + "x" + std::to_string(kernel.tile.n) + "_v" +
           std::to_string(kernel.vector) + "_" + types_of(type, result, has_epilogue(g)) +
           (kernel.splits ? "_split" : "");
  s.code = kernel.a_format.code + kernel.b_format.code + "\nstruct policy : " + policy + ", " +
           std::to_string(kernel.vector) + "> {\n" +
           (kernel.splits ? "  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;\n" : "") +
           "  using result_type = " + type_name(result) + ";\n  using epilogue = tw::epilogue::" + epilogue_of(g) +
           ";\n};\n";
  s.kernel = "tw::narrow_gemm<policy>";
  s.uses = {"kernels/gemm/scaled/narrow_gemm.hpp"};
  s.host = half_of_any_target<Args>(kernel);
  return s;
}

std::string dequantising_policy_text(element type, const std::string& a, const std::string& b, const block_tile& tile) {
  return "tw::dequantising_policy<tw::arch::current, " + type_name(type) + ", " + a + ", " + b +
         ", tw::detail::dequantising_tile<tw::arch::current, " + type_name(type) + ">(" + std::to_string(tile.m) + ")";
}

kernel_source any_target_source(const narrow_gemm_problem& p, const std::string& target) {
  const narrow_args& g = p.args;
  const block_tile tile = tile_for(g.m, target);
  const narrow_format plain{.name = "", .type = "tw::plain_format<" + type_name(p.type) + ">", .bits = 16, .group = 0};
  const any_target_kernel kernel{tile,    c_vector_of(g, size_of(p.result)), g.split_k > 1, size_of(p.result), plain,
                                 p.format};
  return any_target_source(kernel, g, p.format.name, dequantising_policy_text(p.type, plain.type, p.format.type, tile),
                           p.type, p.result);
}

bool has_small_m(const narrow_gemm_problem& p, const std::string& target) {
  return is_hopper(target) && p.args.m <= 16 && p.format.bits != 6 && p.args.split_k <= 1;
}

void require_format(const narrow_format& f) {
  if (f.bits != 4 && f.bits != 6 && f.bits != 8)
    throw error("narrow_gemm: elements of narrow formats have 4, 6 or 8 bits");
}

/// Groups of rows, on any target: the kernel of a dense GEMM for each of them.
kernel_source grouped_source(const narrow_gemm_problem& p, const std::string& target) {
  const narrow_args& g = p.args;
  narrow_gemm_problem of_one = p;
  of_one.args.m = ceil_div(g.m, g.groups);  // which decides the tile
  const block_tile tile = tile_for(of_one.args.m, target);
  kernel_source s = any_target_source(of_one, target);
  s.name = "grouped_" + s.name;
  const std::string dense = "struct policy : ";
  const std::size_t first = s.code.find(dense) + dense.size(), last = s.code.find(" {\n  using result_type", first);
  s.code.replace(first, last - first, "tw::grouped<" + s.code.substr(first, last - first) + ", tw::group_kind::rows>");
  s.kernel = "tw::grouped_gemm_kernel<policy>";
  s.uses = {"kernels/gemm/grouped/grouped_gemm.hpp", "kernels/gemm/scaled/narrow_gemm.hpp"};
  s.host.check = [dense_check = s.host.check, tile](const void* given) {
    const char* const why = dense_check(given);
    return why ? why : detail::check_groups(*static_cast<const narrow_args*>(given), true, tile.m, tile.n);
  };
  const grid_order order =
      with_arch(target, []<class Arch>(of_type<Arch>) { return detail::default_grid_order<Arch>(); });
  s.host.grid = {};
  s.host.prepare = [tile, order](const void* args, const launch_facts& facts) {
    const auto made = detail::plan_groups(*static_cast<const narrow_args*>(args), true, tile.m, tile.n, order,
                                          facts.resident_clusters);
    return host_half::prepared{jit::as_bytes(made), {made.blocks, 1, 1}};
  };
  return s;
}

kernel_source source_of(const narrow_gemm_problem& p, const std::string& target) {
  if ((p.type != element::f16 && p.type != element::bf16) || (p.result != p.type && p.result != element::f32))
    throw error("narrow_gemm: A is f16 or bf16, and C has its type or f32");
  require_format(p.format);
  require_matrix_instruction("narrow_gemm", p.type, target);
  if (p.args.groups > 0) return grouped_source(p, target);
  if (has_small_m(p, target)) return small_m_source(p);
  if (target == "sm_90a")
    if (std::optional<kernel_source> found = find_hopper_source(p)) return *found;
  return any_target_source(p, target);
}

// Both operands

/// 16 rows of 6 bits have less than a word for each thread of their tile.
block_tile decoding_tile_for(const narrow_operands_problem& p, const std::string& target) {
  return tile_for(p.a_format.bits == 6 ? std::max(p.args.m, 33) : p.args.m, target);
}

/// The tile of scaled matrix instructions for both formats, 0 rows where the problem has none.
block_tile scaled_tile_for(const narrow_operands_problem& p, const std::string& target) {
  const auto has_one = [](const narrow_format& f) { return f.name.rfind("mxfp", 0) == 0; };
  if (target != "gfx950" || !has_one(p.a_format) || !has_one(p.format)) return {};
  const index_t bits = std::max(p.a_format.bits, p.format.bits);
  const scaled_args& g = p.args;
  const block_tile tile = detail::scaled_mfma_tile_for(bits, g.m > 128 && g.n > 128 ? 256 : 128);
  return detail::check_scaled_mfma(g, tile.num_k_steps()) ? block_tile{} : tile;
}

kernel_source source_of(const narrow_operands_problem& p, const std::string& target) {
  if (p.result != element::bf16 && p.result != element::f32)
    throw error("narrow_gemm: C of two narrow operands is bf16 or f32");
  require_format(p.a_format), require_format(p.format);
  if (p.a_format.has_zero_points) throw error("narrow_gemm: A has no zero points");
  require_matrix_instruction("narrow_gemm", element::bf16, target);
  if (std::optional<kernel_source> found = find_hopper_source(p, target)) return *found;
  const scaled_args& g = p.args;
  const std::string formats = p.a_format.name + "_x_" + p.format.name;
  any_target_kernel kernel{scaled_tile_for(p, target),
                           c_vector_of(g, size_of(p.result)),
                           g.split_k > 1,
                           size_of(p.result),
                           p.a_format,
                           p.format};
  if (kernel.tile.m > 0) {
    kernel.scale_vector = kernel.tile.num_k_steps();
    const std::string types = p.a_format.type + ", " + p.format.type;
    kernel_source s = any_target_source(kernel, g, "scaled_" + formats,
                                        "tw::scaled_mfma_policy<" + types + ", tw::scaled_mfma_tile<" + types + ">(" +
                                            std::to_string(kernel.tile.m) + ")",
                                        element::bf16, p.result);
    s.uses.push_back("kernels/gemm/scaled/scaled_mfma_pipeline.hpp");
    return s;
  }
  kernel.tile = decoding_tile_for(p, target);
  return any_target_source(kernel, g, formats,
                           dequantising_policy_text(element::bf16, p.a_format.type, p.format.type, kernel.tile),
                           element::bf16, p.result);
}

/// With tiles of that size.
index_t splits_of(const narrow_args& g, const block_tile& tile, index_t compute_units) {
  const long_index_t tiles = long_index_t(ceil_div(g.m, tile.m)) * ceil_div(g.n, tile.n) * g.batch;
  if (tiles > detail::split_k_counters) return 1;
  // At least four tiles along k for each block, and two blocks for each compute unit.
  return std::max(1, std::min({index_t(2 * compute_units / tiles), ceil_div(g.k, tile.k) / 4, 16}));
}

}  // namespace

narrow_format narrow_format_of(const std::string& name) {
  static const std::map<std::string, std::pair<index_t, index_t>> mx_and_nv{
      // bits and group
      {"mxfp4", {4, 32}},      {"nvfp4", {4, 16}},      {"mxfp8", {8, 32}},
      {"mxfp8_e5m2", {8, 32}}, {"mxfp6_e2m3", {6, 32}}, {"mxfp6_e3m2", {6, 32}}};
  if (const auto found = mx_and_nv.find(name); found != mx_and_nv.end())
    return {.name = name,
            .type = "tw::" + name + "_format",
            .bits = found->second.first,
            .group = found->second.second,
            .scale_bytes = 1};
  if (name == "int8" || name == "e4m3")
    return {.name = name, .type = "tw::" + name + "_groups<>", .bits = 8, .group = 0, .scale_bytes = 4};
  const bool has_zeros = name.starts_with("int4_zero_");
  const std::string rest = name.substr(std::min(name.size(), std::size_t(has_zeros ? 10 : 5)));
  const std::size_t digits = rest.find_first_not_of("0123456789");
  const std::string type = digits == rest.npos ? "" : rest.substr(digits);
  const std::string scale = type == "_f16"    ? "tw::half_t"
                            : type == "_bf16" ? "tw::bfloat16_t"
                            : type == "_f32"  ? "float"
                                              : "";
  const int group = digits == 0 || digits > 7 || scale.empty() ? -1 : std::stoi(rest.substr(0, digits));
  if (!name.starts_with("int4_") || (group != 32 && group != 64 && (group < 0 || group % 128 != 0)))
    throw error(
        "narrow_gemm: '" + name +
        "' is no format; there are mxfp4, nvfp4, mxfp8, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, int8, e4m3, and such as "
        "int4_128_bf16 and int4_zero_128_bf16, with groups of 32, 64 or a multiple of 128");
  return {
      .name = name,
      .type = (has_zeros ? "tw::int4_zero_groups<" : "tw::int4_groups<") + std::to_string(group) + ", " + scale + ">",
      .group = group,
      .has_zero_points = has_zeros,
      .scale_bytes = type == "_f32" ? 4 : 2};
}

kernel_request narrow_gemm(const narrow_gemm_problem& problem) {
  return remembered([problem](const std::string& target) { return source_of(problem, target); });
}
kernel_request narrow_gemm(const narrow_operands_problem& problem) {
  return remembered([problem](const std::string& target) { return source_of(problem, target); });
}

long_index_t narrow_gemm_workspace(const narrow_gemm_problem& p, const std::string& target) {
  if (has_small_m(p, target) || (target == "sm_90a" && find_hopper_source(p))) return hopper_gemm_workspace::bytes;
  return p.args.split_k > 1 ? workspace_bytes(p.args) : 0;
}
long_index_t narrow_gemm_workspace(const narrow_operands_problem& p, const std::string& target) {
  if (find_hopper_source(p, target)) return hopper_gemm_workspace::bytes;
  return p.args.split_k > 1 ? workspace_bytes(p.args) : 0;
}

index_t narrow_gemm_splits(const narrow_gemm_problem& p, const std::string& target, index_t compute_units) {
  if (has_small_m(p, target) || (target == "sm_90a" && find_hopper_source(p))) return 1;
  return splits_of(p.args, tile_for(p.args.m, target), compute_units);
}
index_t narrow_gemm_splits(const narrow_operands_problem& p, const std::string& target, index_t compute_units) {
  if (find_hopper_source(p, target)) return 1;
  const block_tile scaled = scaled_tile_for(p, target);
  return splits_of(p.args, scaled.m > 0 ? scaled : decoding_tile_for(p, target), compute_units);
}

}  // namespace tilewright::jit
