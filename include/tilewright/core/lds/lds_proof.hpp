// SPDX-License-Identifier: MIT
// Proofs that an access to LDS is free of bank conflicts, for static_assert and for concepts.
#pragma once

#include <tilewright/core/lds/lds_access.hpp>
#include <tilewright/core/lds/lds_legality.hpp>

namespace tilewright {

/// Which rows of the tables a proof may rest on.
enum class proof_basis : signed char {
  all_rows,
  evidence,  // documented or measured rows; a proof holds under every reading of a disputed row
};

/// One kind of access by a block: distribution, layout and target.
template <class Arch, auto Descriptor, class Distribution, class T, lds_access_kind Kind>
struct lds_access {
  using arch = Arch;
  /// Through a template argument, because clang evaluates the initialiser of a variable more than once.
  using examined = number<detail::examine(Arch::value, graph_of(Descriptor), Distribution::encoding, sizeof(T), Kind)>;
  static constexpr lds_legality legality = examined::value.legality;         ///< whether the target can make the access
  static constexpr lds_access_analysis analysis = examined::value.analysis;  ///< its conflicts
  /// every row of the tables that it needs is documented or measured
  static constexpr bool rests_on_evidence = tilewright::arch::rests_on_evidence(Arch::value, analysis.op);
};

/// No two lanes of a phase meet in a bank.
template <class Access>
concept ConflictFree = Access::legality.is_legal() && Access::analysis.worst_degree == 1;

/// The same, and the target's table knows it from a manual or a measurement.
template <class Access>
concept ConflictFreeByEvidence = ConflictFree<Access> && Access::rests_on_evidence;

/// The same as a function, for a descriptor that is at hand.
template <class Arch, proof_basis Basis = proof_basis::all_rows, class Descriptor, class Distribution>
constexpr bool is_conflict_free(const Descriptor& descriptor, Distribution, index_t element_bytes,
                                lds_access_kind kind) {
  const detail::examined_access a =
      detail::examine(Arch::value, graph_of(descriptor), Distribution::encoding, element_bytes, kind);
  return a.legality.is_legal() && a.analysis.is_conflict_free() &&
         (Basis == proof_basis::all_rows || arch::rests_on_evidence(Arch::value, a.analysis.op));
}

/// The weakest grade of the rows that a proof of these accesses rests on. For a disputed row the worse reading counts.
template <class First, class... Accesses>
constexpr arch::grade proof_grade() {
  arch::grade result = First::analysis.known_by;
  ((result = weaker(result, Accesses::analysis.known_by)), ...);
  return result;
}

/// The words of a failed proof: compilers print them with their numbers.
namespace found {
template <index_t>
struct degree;
template <index_t>
struct extra_cycles;
template <index_t>
struct phase;
template <index_t>
struct bank;
template <index_t, index_t>
struct lanes;
template <index_t Row, index_t Column>
struct at;
template <char Grade>
struct known_by;
template <index_t Value, index_t Limit>
struct value_and_limit;

template <class... Facts>
inline constexpr bool conflict = true;
template <class... Facts>
inline constexpr bool assumption = true;
template <class... Facts>
inline constexpr bool fault = true;
}  // namespace found

namespace detail {

template <lds_fault Fault, class Numbers>
TILEWRIGHT_HD constexpr void require_legal() {
  constexpr bool wrong = found::fault<Numbers>;
  if constexpr (Fault == lds_fault::tile_too_large) {
    static_assert(!wrong, "LDS proof: the distribution's tile is longer than the layout; distribute a tile that fits");
  } else if constexpr (Fault == lds_fault::too_many_lanes) {
    static_assert(
        !wrong, "LDS proof: the distribution has more lanes than a wave of the target; distribute over its wave size");
  } else if constexpr (Fault == lds_fault::narrow_ldmatrix) {
    static_assert(
        !wrong,
        "LDS proof: ldmatrix reads rows of 16 contiguous, aligned bytes; the layout or the distribution leaves fewer");
  } else if constexpr (Fault == lds_fault::transposing_width) {
    static_assert(!wrong,
                  "LDS proof: a transposing read takes 8 contiguous, aligned bytes of each lane, in elements of 1 or 2 "
                  "bytes; the layout or the distribution has others");
  } else if constexpr (Fault == lds_fault::outside_of_lds) {
    static_assert(!wrong, "LDS proof: the access leaves the LDS that a block may have");
  } else if constexpr (Fault == lds_fault::no_such_instruction) {
    static_assert(!wrong, "LDS proof: the target has no LDS instruction of this kind and width");
  } else if constexpr (Fault != lds_fault::none) {
    static_assert(!wrong, "LDS proof: the distribution does not fit the layout");
  }
}

template <class... Facts>
TILEWRIGHT_HD constexpr void require_no_conflict() {
  static_assert(!found::conflict<Facts...>,
                "LDS proof: lanes of one phase want different words of one bank; swizzle or pad the layout "
                "(choose_lds_layout finds the best one)");
}

template <class... Facts>
TILEWRIGHT_HD constexpr void require_evidence() {
  static_assert(!found::assumption<Facts...>,
                "LDS proof: the table's row for this instruction is inferred or unknown; measure it (with_lds_row) or "
                "accept proof_basis::all_rows");
}

template <class Access, proof_basis Basis>
TILEWRIGHT_HD constexpr bool require_proof() {
  constexpr lds_legality legality = Access::legality;
  if constexpr (!legality.is_legal()) {
    require_legal<legality.fault, found::value_and_limit<legality.value, legality.limit>>();
  } else {
    constexpr lds_access_analysis a = Access::analysis;
    if constexpr (a.worst_degree != 1) {
      require_no_conflict<found::degree<a.worst_degree>, found::extra_cycles<a.conflicts>, found::phase<a.phase>,
                          found::bank<a.bank>, found::lanes<a.lanes[0], a.lanes[1]>,
                          found::at<a.coordinates[0][0], a.coordinates[0][1]>,
                          found::at<a.coordinates[1][0], a.coordinates[1][1]>>();
    }
    if constexpr (Basis == proof_basis::evidence && !Access::rests_on_evidence) {
      require_evidence<found::known_by<letter(a.known_by)>>();
    }
  }
  return true;
}

}  // namespace detail

/// For static_assert(require_conflict_free<accesses...>()): true, or a message of the compiler that names degree, extra
/// cycles, phase, bank, the two lanes, and the tile coordinates of what they access.
template <class... Accesses>
TILEWRIGHT_HD constexpr bool require_conflict_free() {
  return (detail::require_proof<Accesses, proof_basis::all_rows>() && ...);
}
template <proof_basis Basis, class... Accesses>
TILEWRIGHT_HD constexpr bool require_conflict_free() {
  return (detail::require_proof<Accesses, Basis>() && ...);
}

}  // namespace tilewright
