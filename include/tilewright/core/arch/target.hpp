// SPDX-License-Identifier: MIT
// What the library knows about a GPU: a value that any compiler can compute with.
#pragma once

#include <tilewright/core/arch/lds_op.hpp>
#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/core/base/config.hpp>

namespace tilewright::arch {

/// Who vouches for a fact. Every row of the LDS tables carries a grade and, in words, its source.
enum class grade : signed char {
  vendor,         // V: documented by the maker of the hardware
  third_party,    // M: measured by others
  inferred,       // I: carried over from a relative or from another instruction
  disputed,       // D: sources contradict each other; the table carries both readings
  unknown,        // U: no source; the table carries an assumption
  measured_here,  // H: measured by this project
};

/// The letter that the tables in the documentation use.
TILEWRIGHT_HD constexpr char letter(grade g) {
  constexpr char letters[] = {'V', 'M', 'I', 'D', 'U', 'H'};
  return letters[static_cast<int>(g)];
}

/// Somebody saw it: documented or measured. A proof that must not rest on assumptions accepts only such rows.
TILEWRIGHT_HD constexpr bool is_evidence(grade g) {
  return g == grade::vendor || g == grade::third_party || g == grade::measured_here;
}

/// The grade of what rests on two facts. From weak to strong: unknown, inferred, disputed, measured by others; what the
/// maker documents is as good as what this project measures.
TILEWRIGHT_HD constexpr grade weaker(grade a, grade b) {
  constexpr signed char strength[] = {4, 3, 1, 2, 0, 4};
  return strength[static_cast<int>(b)] < strength[static_cast<int>(a)] ? b : a;
}

/// How the LDS serves one kind of instruction. The number of banks belongs here: gfx950 has 64 for some reads, else 32.
struct lds_service {
  lds_phases phases;                ///< which lanes are served together
  index_t banks = 0;                ///< that a phase can use
  grade known_by = grade::unknown;  ///< how certain that is
  const char* source = "";          ///< document or measurement
  index_t clocks = 0;               ///< of one wave's instruction without conflicts; NVIDIA: wavefronts; 0: unknown
  /// Two consecutive phases are one where every lane l shares its address with lane l ^ 1, or every lane with lane
  /// l ^ 2; inactive lanes share with any. Measured on an H100 for reads of 8 and 16 bytes.
  bool merges_where_lanes_share = false;

  /// The same with pairs of phases merged.
  TILEWRIGHT_HD constexpr lds_service merged() const {
    lds_service two = *this;
    two.phases.lanes_per_phase *= 2;
    two.clocks /= 2;
    return two;
  }
};

/// Bytes that a bank delivers at once, on every target.
inline constexpr index_t lds_bank_bytes = 4;

/// A row of a target's LDS table. Where sources disagree it has two readings.
struct lds_instruction {
  lds_op op = lds_op::read_b32;             ///< the instruction
  inplace_vector<lds_service, 2> readings;  ///< one, or two that contradict each other
};

/// Formats of 8-bit floating-point numbers: those of the Open Compute Project,
/// or those without infinities and negative zero.
enum class fp8_kind : signed char { none, fnuz, ocp };

/// All that the library knows of a GPU; docs/contributing/adding_a_target.md shows how to make one.
struct target {
  const char* name = "";                        ///< in lower case, as compilers name it
  instruction_set isa = instruction_set::cdna;  ///< whose assembly it has
  index_t wave_size = 0;                        ///< lanes
  index_t lds_bytes = 0;                        ///< most that one block may have
  index_t lds_granule = 0;                      ///< allocations are rounded up to a multiple of this many bytes
  index_t lds_pool_bytes = 0;       ///< that the blocks of a compute unit (WGP, SM) share; 0: as much as one may have
  index_t lds_reserved_bytes = 0;   ///< that each block takes from the pool in addition to its allocation
  index_t max_lds_offset = 0xffff;  ///< largest constant in bytes that an LDS instruction adds to its address
  grade lds_size_known_by = grade::unknown;  ///< how certain lds_bytes is
  const char* lds_size_source = "";          ///< document
  index_t max_threads_per_block = 1024;      ///< that it can launch
  index_t num_dies = 1;                      ///< to which blocks go round-robin, each with an L2 of its own
  index_t max_vgprs = 0;                     ///< 32-bit registers of a lane, accumulation registers included
  index_t registers_per_simd = 512;          ///< 32-bit registers of a lane that the waves of a SIMD share
  index_t simds_per_cu = 4;                  ///< of a compute unit
  index_t cus_per_pool = 1;          ///< compute units that share lds_pool_bytes: the two of a workgroup processor
  index_t max_vector_bytes = 16;     ///< of one memory access by a lane
  bool buffer_instructions = false;  ///< global accesses whose bounds the hardware checks
  inplace_vector<index_t, 5> direct_to_lds_bytes =
      {};                                         ///< per lane, of copies from global memory that bypass registers
  bool has_tensor_mover = false;                  ///< tiles to LDS by a descriptor: core/arch/tensor_descriptor.hpp
  inplace_vector<matrix_op, 16> matrix_ops = {};  ///< that it executes
  bool has_wgmma = false;                         ///< is_wgmma(op), with operands of f16, bf16 and fp8_ocp
  /// Blocks that run together; more than 1 where there are Hopper's barriers, TMA and wgmma.
  index_t max_cluster = 1;
  index_t least_clang = 19;                               ///< oldest version of clang that compiles for it; AMD only
  bool multiplies_bf16 = true;                            ///< matrix instructions of 16 bits take bf16, too
  fp8_kind fp8 = fp8_kind::none;                          ///< that matrix instructions take
  inplace_vector<lds_instruction, num_lds_ops> lds = {};  ///< rows of its LDS table

  /// The row of an instruction; nullptr if the target does not have it.
  TILEWRIGHT_HD constexpr const lds_instruction* find(lds_op op) const {
    for (const lds_instruction& row : lds) {
      if (row.op == op) return &row;
    }
    return nullptr;
  }
  /// Whether the target has the LDS instruction.
  TILEWRIGHT_HD constexpr bool supports(lds_op op) const { return find(op) != nullptr; }

  /// Whether the target has the matrix instruction.
  TILEWRIGHT_HD constexpr bool supports(matrix_op op) const {
    return tilewright::detail::contains(matrix_ops, op) || (is_wgmma(op) && has_wgmma);
  }
  /// The same for operands of one kind of element.
  TILEWRIGHT_HD constexpr bool supports(matrix_op op, matrix_element element) const {
    using enum matrix_op;
    if (!supports(op) || bytes_of(element) != element_bytes(op)) return false;
    if (is_wgmma(op)) return element == matrix_element::fp8_ocp || bytes_of(element) == 2;
    if (element == matrix_element::bf16) return multiplies_bf16;
    const bool only_i8 =
        op == mfma_16x16x16_b8_x4 || op == mfma_32x32x8_b8_x4 || op == mfma_16x16x64_b8 || op == mfma_32x32x32_b8;
    if (element == matrix_element::i8)
      return op != mfma_16x16x128_b8 && op != mfma_32x32x64_b8 && op != wmma_16x16x128_b8_gfx1250;
    if (!is_fp8(element)) return true;
    const bool is_ocp = element == matrix_element::fp8_ocp || element == matrix_element::bf8_ocp;
    return !only_i8 && fp8 == (is_ocp ? fp8_kind::ocp : fp8_kind::fnuz);
  }
  /// The same for operands of two kinds: any mixture of 8-bit floating-point numbers, else both the same.
  TILEWRIGHT_HD constexpr bool supports(matrix_op op, matrix_element a, matrix_element b) const {
    return supports(op, a) && supports(op, b) && (a == b || (is_fp8(a) && is_fp8(b)));
  }
  /// Whether copies from global memory to LDS without registers can have this many bytes per lane.
  TILEWRIGHT_HD constexpr bool supports_direct_to_lds(index_t bytes_per_lane) const {
    return tilewright::detail::contains(direct_to_lds_bytes, bytes_per_lane);
  }
};

/// Whether AMD makes it: LDS instructions are ds_ ones, copies past registers fill LDS lane after lane.
TILEWRIGHT_HD constexpr bool is_amd(const target& t) { return t.isa != instruction_set::ptx; }

/// The instruction's name in the target's assembly.
TILEWRIGHT_HD constexpr const char* instruction_name(const target& t, lds_op op) { return instruction_name(t.isa, op); }

/// The target with one row of its LDS table added, or replaced: for own measurements, and for new architectures.
TILEWRIGHT_HD constexpr target with_lds_row(target t, const lds_instruction& row) {
  for (lds_instruction& known : t.lds) {
    if (known.op == row.op) {
      known = row;
      return t;
    }
  }
  t.lds.push_back(row);
  return t;
}

/// The LDS table of a relative, as rows of a target of which nothing was published: what is known there is inferred
/// here, what is disputed or unknown stays so.
TILEWRIGHT_HD constexpr inplace_vector<lds_instruction, num_lds_ops> inferred_rows(const target& relative,
                                                                                   const char* source) {
  inplace_vector<lds_instruction, num_lds_ops> rows = relative.lds;
  for (lds_instruction& row : rows) {
    for (lds_service& reading : row.readings) {
      if (!is_evidence(reading.known_by)) continue;
      reading.known_by = grade::inferred;
      reading.source = source;
    }
  }
  return rows;
}

/// No reading of the instruction's row is inferred or unknown. A cost is always the worse of two readings, so that a
/// proof that rests on a disputed row holds in either reading.
TILEWRIGHT_HD constexpr bool rests_on_evidence(const target& target, lds_op op) {
  const lds_instruction* row = target.find(op);
  if (row == nullptr) return false;
  for (const lds_service& reading : row->readings) {
    if (!is_evidence(reading.known_by) && reading.known_by != grade::disputed) return false;
  }
  return true;
}

/// A list of values for target's members.
template <class T, index_t Capacity, class... Values>
TILEWRIGHT_HD constexpr inplace_vector<T, Capacity> list_of(Values... values) {
  inplace_vector<T, Capacity> result;
  (result.push_back(static_cast<T>(values)), ...);
  return result;
}

/// A row of a target's LDS table; with two readings where sources disagree.
TILEWRIGHT_HD constexpr lds_instruction lds_row(lds_op op, const lds_service& only) {
  return {op, list_of<lds_service, 2>(only)};
}
TILEWRIGHT_HD constexpr lds_instruction lds_row(lds_op op, const lds_service& one, const lds_service& other) {
  return {op, list_of<lds_service, 2>(one, other)};
}

/// What must hold for any table: phases cover the wave, the counts are powers of two, no instruction is listed twice.
TILEWRIGHT_HD constexpr bool is_consistent(const target& t) {
  unsigned seen = 0;
  for (const lds_instruction& row : t.lds) {
    if (seen >> index_t(row.op) & 1u) return false;
    seen |= 1u << index_t(row.op);
    for (const lds_service& s : row.readings) {
      const index_t lanes = s.phases.lanes_per_phase;
      if (s.phases.wave_size != t.wave_size || lanes <= 0 || (lanes & (lanes - 1)) != 0) return false;
      if (s.banks <= 0 || (s.banks & (s.banks - 1)) != 0 || s.banks > 64) return false;
      if (!every_lane_is_served_once(s.phases)) return false;
    }
    if (row.readings.empty()) return false;
  }
  for (const matrix_op op : t.matrix_ops) {
    if (describe(op).wave_size() != t.wave_size) return false;
  }
  return t.lds_bytes > 0 && t.lds_bytes % t.lds_granule == 0;
}

}  // namespace tilewright::arch
