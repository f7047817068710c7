// SPDX-License-Identifier: MIT
#include <tilewright/jit/narrow_gemm.hpp>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>

#include "operation.hpp"

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

kernel_source source_of(const narrow_gemm_problem& p, const std::string& target) {
  const narrow_args& g = p.args;
  if (target != "sm_90a" && target != "sm_90")
    throw error("narrow_gemm: " + target + " has no kernel for narrow weights; there is one for sm_90a");
  if ((p.type != element::f16 && p.type != element::bf16) || (p.result != p.type && p.result != element::f32))
    throw error("narrow_gemm: A is f16 or bf16, and C has its type or f32");
  if (p.format.bits != 4 && p.format.bits != 8) throw error("narrow_gemm: elements of B have 4 or 8 bits");
  if (g.m > 16)
    throw error("narrow_gemm: narrow weights are multiplied with up to 16 rows of A; dequantise B for more");
  const index_t rows = g.m <= 8 ? 8 : 16, bytes = size_of(p.result),
                c_vector =
                    g.n % 4 == 0 && vector_alignment{4, bytes}.is_met_by(g.c, bytes, g.ldc, g.batch_stride_c) ? 4 : 1;
  kernel_source s;
  s.name = "narrow_gemm_" + p.format.name + "_m" + std::to_string(rows) + "_v" + std::to_string(c_vector) + "_" +
           short_name(p.type) + "_to_" + short_name(p.result) + (has_epilogue(g) ? "_epilogue" : "");
  s.code = p.format.code + "\nstruct policy : tw::narrow_policy<" + type_name(p.type) + ", " + p.format.type + ", " +
           std::to_string(rows) + ", " + std::to_string(c_vector) + ", " + type_name(p.result) +
           ", tw::epilogue::" + (has_epilogue(g) ? "from_args" : "alpha_beta") + "> {};\n";
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

}  // namespace

kernel_request narrow_gemm(const narrow_gemm_problem& problem) {
  return remembered([problem](const std::string& target) { return source_of(problem, target); });
}

}  // namespace tilewright::jit
