// SPDX-License-Identifier: MIT
#include <tilewright/jit/narrow_gemm.hpp>

#include <algorithm>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/dequantising_pipeline.hpp>

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

/// What narrow_gemm's check() asks of B, by its bits.
const char* check_b(const narrow_args& g, index_t bits) {
  return bits == 4 ? detail::check_narrow_b<stand_in<4>>(g) : detail::check_narrow_b<stand_in<8>>(g);
}

/// The host half of narrow_gemm: of one kernel's tile and vector. check_a: of A's memory.
template <class Args, class CheckA>
host_half any_target_half(const checked_gemm& kernel, index_t block_size, const narrow_format& format, CheckA check_a) {
  host_half half;
  half.check = [=](const void* given) {
    const Args& g = *static_cast<const Args*>(given);
    checked_gemm by_elements = kernel;
    by_elements.vector = 1;
    const char* why = check_format(g, format, kernel.vector, kernel.result_bytes);
    why = why ? why : detail::check_lengths(g, kernel);
    why = why ? why : detail::check_result_memory(g, kernel);
    why = why ? why : check_b(g, format.bits);
    why = why ? why : check_a(g);
    why = why ? why : detail::check_offsets(g, by_elements);
    if (!why && g.split_k != 1) why = "this kernel does not split k; use a policy that does";
    if (!why && (g.batch > 65535 ||
                 long_index_t(ceil_div(g.m, kernel.tile_m)) * ceil_div(g.n, kernel.tile_n) * block_size > 0xffffffffLL))
      why = "the grid has too many blocks; use several launches";
    const vector_alignment c{kernel.vector, kernel.result_bytes};
    if (!why && !(g.n % kernel.vector == 0 && c.is_met_by(g.c, c.result_bytes, g.ldc, g.batch_stride_c)))
      why =
          "this kernel moves whole vectors of C: n, ldc and addresses must be multiples; use the kernel with vector 1";
    return why;
  };
  half.grid = [kernel](const void* given) {
    const Args& g = *static_cast<const Args*>(given);
    return block_grid{ceil_div(g.m, kernel.tile_m) * ceil_div(g.n, kernel.tile_n), 1, g.batch};
  };
  return half;
}

/// Elements of C that memory allows to move at once: 8 or 1.
index_t c_vector_of(const narrow_args& g, index_t bytes) {
  return g.n % 8 == 0 && vector_alignment{8, bytes}.is_met_by(g.c, bytes, g.ldc, g.batch_stride_c) ? 8 : 1;
}

std::string policy_members(const narrow_args& g, element result) {
  return " {\n  using result_type = " + type_name(result) + ";\n  using epilogue = tw::epilogue::" + epilogue_of(g) +
         ";\n};\n";
}

std::string tile_name(const block_tile& t) { return std::to_string(t.m) + "x" + std::to_string(t.n); }

block_tile tile_for(index_t m, const std::string& target) {
  return with_arch(target, [m]<class Arch>(of_type<Arch>) { return detail::dequantising_tile<Arch, half_t>(m); });
}

/// Any number of rows on any target.
kernel_source any_target_source(const narrow_gemm_problem& p, const std::string& target) {
  const narrow_args& g = p.args;
  const block_tile tile = tile_for(g.m, target);
  const index_t vector = c_vector_of(g, size_of(p.result));
  kernel_source s;
  s.name = "narrow_gemm_" + p.format.name + "_" + tile_name(tile) + "_v" + std::to_string(vector) + "_" +
           short_name(p.type) + "_to_" + short_name(p.result) + (has_epilogue(g) ? "_epilogue" : "");
  s.code = p.format.code + "\nstruct policy : tw::dequantising_policy<tw::arch::current, " + type_name(p.type) +
           ", tw::plain_format<" + type_name(p.type) + ">, " + p.format.type +
           ", tw::detail::dequantising_tile<tw::arch::current, " + type_name(p.type) + ">(" + std::to_string(tile.m) +
           "), " + std::to_string(vector) + ">" + policy_members(g, p.result);
  s.kernel = "tw::narrow_gemm<policy>";
  s.uses = {"kernels/gemm/scaled/narrow_gemm.hpp"};
  const checked_gemm kernel{tile.m, tile.n, tile.k, true, true, 2, size_of(p.result), vector, 1, p.format.bits, 16};
  s.host = any_target_half<narrow_args>(kernel, tile.block_size(), p.format, [](const narrow_args& given) {
    return detail::check_narrow_a<plain_format<half_t>>(given);
  });
  return s;
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
  s.code.replace(first, last - first,
                 "tw::grouped<" + s.code.substr(first, last - first) + ", tw::group_kind::rows>");
  s.kernel = "tw::grouped_gemm_kernel<policy>";
  s.uses = {"kernels/gemm/grouped/grouped_dequantising.hpp"};
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
  if (p.format.bits != 4 && p.format.bits != 8) throw error("narrow_gemm: elements of B have 4 or 8 bits");
  require_matrix_instruction("narrow_gemm", p.type, target);
  if (p.args.groups > 0) return grouped_source(p, target);
  const bool is_hopper = target == "sm_90a" || target == "sm_90";
  return is_hopper && p.args.m <= 16 ? small_m_source(p) : any_target_source(p, target);
}

}  // namespace

narrow_format narrow_format_of(const std::string& name) {
  if (name == "mxfp4") return {};
  if (name == "nvfp4") return {.name = "nvfp4", .type = "tw::nvfp4_format", .group = 16};
  if (name == "mxfp8") return {.name = "mxfp8", .type = "tw::mxfp8_format", .bits = 8};
  if (name == "int8") return {.name = "int8", .type = "tw::int8_groups<>", .bits = 8, .group = 0};
  if (name == "e4m3") return {.name = "e4m3", .type = "tw::e4m3_groups<>", .bits = 8, .group = 0};
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
    throw error("narrow_gemm: '" + name +
                "' is no format; there are mxfp4, nvfp4, mxfp8, int8, e4m3, and such as "
                "int4_128_bf16 and int4_zero_128_bf16, with groups of 32, 64 or a multiple of 128");
  return {
      .name = name,
      .type = (has_zeros ? "tw::int4_zero_groups<" : "tw::int4_groups<") + std::to_string(group) + ", " + scale + ">",
      .group = group,
      .has_zero_points = has_zeros};
}

kernel_request narrow_gemm(const narrow_gemm_problem& problem) {
  return remembered([problem](const std::string& target) { return source_of(problem, target); });
}

}  // namespace tilewright::jit
