// SPDX-License-Identifier: MIT
// Whether the distributions of A, B and C fit a matrix instruction and each other, up to permutations of m, n and k.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright::detail {

/// One digit of a wave's, a lane's or a register's number: number / place % radix moves dimension `dim` of the tile by
/// `step`. dim -1: threads that differ here hold the same elements.
struct owned_digit {
  index_t place, radix, dim, step;
};
using owned_digits = inplace_vector<owned_digit, 10>;

/// The digits of one owner, least significant first. Owner 0: waves, 1: lanes, 2: registers.
TILEWRIGHT_HD constexpr owned_digits digits_of(const distribution_encoding& e, index_t owner) {
  owned_digits digits;
  index_t place = 1;
  const auto append = [&](rh_id id) {
    if (e.length(id) > 1) digits.push_back({place, e.length(id), id.major - 1, id.major == 0 ? 0 : e.stride(id)});
    place *= e.length(id);
  };
  const index_t p = e.ndim_p() - 2 + owner;
  if (owner == 2) {
    for (index_t i = e.ndim_y(); i-- > 0;) append(e.y[i]);
  } else if (p >= 0) {
    for (index_t i = e.p[p].size(); i-- > 0;) append(e.p[p][i]);
  }
  return digits;
}

/// Where the distribution of an operand has a digit that the instruction expects: coordinate `expected` of dimension
/// `dim` is at `found`.
struct moved_digit {
  index_t owner, place, dim, expected, found, radix;
};

enum class product_fault : signed char { none, lengths, threads, registers, element };

/// The first element that disagrees: operand 'A', 'B' or 'C', who holds it, its coordinates in the distribution that
/// was found and in the one that was expected. For faults of another kind `found` and `expected` are numbers.
struct product_verdict {
  product_fault fault = product_fault::none;
  char operand = 'A';
  index_t wave = 0, lane = 0, reg = 0;
  array<index_t, 2> found{}, expected{};
  index_t num_fitting = 0;   // operands that fit by themselves; 4: they fit each other, too
  index_t num_permuted = 0;  // operands with rows or columns in another order than the instruction's
};

/// One operand's distribution, digit by digit against the one that the instruction expects.
class operand_match {
  inplace_vector<moved_digit, 24> moved_;

 public:
  product_verdict verdict{};

  TILEWRIGHT_HD constexpr operand_match(char operand, const distribution_encoding& found,
                                        const distribution_encoding& expected) {
    verdict.operand = operand;
    if (found.ndim_x() != 2 || found.x_length(0) != expected.x_length(0) || found.x_length(1) != expected.x_length(1)) {
      verdict.fault = product_fault::lengths;
      for (index_t d = 0; d < 2; ++d) {
        verdict.found[d] = d < found.ndim_x() ? found.x_length(d) : 0;
        verdict.expected[d] = expected.x_length(d);
      }
      return;
    }
    for (index_t owner = 0; owner < 3 && verdict.fault == product_fault::none; ++owner) match(found, expected, owner);
  }

  TILEWRIGHT_HD constexpr bool fits() const { return verdict.fault == product_fault::none; }

  /// Whether a dimension is in the instruction's order.
  TILEWRIGHT_HD constexpr bool keeps(index_t dim) const {
    for (const moved_digit& d : moved_) {
      if (d.dim == dim && d.found != d.expected) return false;
    }
    return true;
  }

  /// Where the distribution has what the instruction calls coordinate `expected` of a dimension, a power of two or a
  /// multiple of other digits; 0 if no digit determines it.
  TILEWRIGHT_HD constexpr index_t image(index_t dim, index_t expected) const {
    for (const moved_digit& d : moved_) {
      if (d.dim == dim && d.expected <= expected && expected < d.expected * d.radix && expected % d.expected == 0)
        return d.found * (expected / d.expected);
    }
    return 0;
  }

  /// Compares the permutation of a dimension with another operand's. The blame is on the one that permutes.
  TILEWRIGHT_HD constexpr product_verdict compare(index_t dim, const operand_match& other, index_t other_dim) const {
    for (const bool swapped : {false, true}) {
      const operand_match& one = swapped ? other : *this;
      const operand_match& two = swapped ? *this : other;
      const index_t d1 = swapped ? other_dim : dim, d2 = swapped ? dim : other_dim;
      for (const moved_digit& d : one.moved_) {
        const index_t elsewhere = d.dim == d1 ? two.image(d2, d.expected) : d.found;
        if (elsewhere == d.found) continue;
        if (d.found != d.expected) return one.fault_at(d, d1, elsewhere);
        for (const moved_digit& e : two.moved_) {
          if (e.dim == d2 && e.expected <= d.expected && d.expected < e.expected * e.radix)
            return two.fault_at({e.owner, e.place * (d.expected / e.expected), e.dim, d.expected, elsewhere, 1}, d2,
                                d.found);
        }
      }
    }
    return {};
  }

 private:
  TILEWRIGHT_HD constexpr void name_holder(index_t owner, index_t place) {
    (owner == 0 ? verdict.wave : owner == 1 ? verdict.lane : verdict.reg) = place;
  }
  TILEWRIGHT_HD constexpr product_verdict fault_at(const moved_digit& d, index_t dim, index_t expected) const {
    operand_match copy = *this;
    copy.verdict.fault = product_fault::element;
    copy.name_holder(d.owner, d.place);
    copy.verdict.found[dim] = d.found;
    copy.verdict.expected[dim] = expected;
    return copy.verdict;
  }
  TILEWRIGHT_HD constexpr void match(const distribution_encoding& found, const distribution_encoding& expected,
                                     index_t owner) {
    owned_digits f = digits_of(found, owner), e = digits_of(expected, owner);
    index_t num_found = 1, num_expected = 1;
    for (const owned_digit& d : f) num_found *= d.radix;
    for (const owned_digit& d : e) num_expected *= d.radix;
    if (num_found != num_expected) {
      verdict.fault = owner == 2 ? product_fault::registers : product_fault::threads;
      verdict.found[0] = num_found;
      verdict.expected[0] = num_expected;
      return;
    }
    // Both lists are cut at the same places.
    for (index_t i = 0, j = 0; i < f.size() && j < e.size();) {
      const index_t radix = min(f[i].radix, e[j].radix);
      if (f[i].dim != e[j].dim || f[i].radix % radix != 0 || e[j].radix % radix != 0) {
        verdict.fault = product_fault::element;
        name_holder(owner, f[i].place);
        if (f[i].dim >= 0) verdict.found[f[i].dim] = f[i].step;
        if (e[j].dim >= 0) verdict.expected[e[j].dim] = e[j].step;
        return;
      }
      if (f[i].dim >= 0) moved_.push_back({owner, f[i].place, f[i].dim, e[j].step, f[i].step, radix});
      if (f[i].step != e[j].step) verdict.num_permuted = 1;
      const auto cut = [&](owned_digits& list, index_t& at) {
        owned_digit& d = list[at];
        d = {d.place * radix, d.radix / radix, d.dim, d.step * radix};
        at += d.radix == 1;
      };
      cut(f, i);
      cut(e, j);
    }
  }
};

/// The distributions of A (m x k), B (n x k) and C (m x n) against those of an instruction.
TILEWRIGHT_HD constexpr product_verdict check_product(const distribution_encoding (&found)[3],
                                                      const distribution_encoding (&expected)[3]) {
  const operand_match a('A', found[0], expected[0]), b('B', found[1], expected[1]), c('C', found[2], expected[2]);
  const index_t num_fitting = a.fits() + b.fits() + c.fits();
  const index_t num_permuted = a.verdict.num_permuted + b.verdict.num_permuted + c.verdict.num_permuted;
  const auto counted = [&](product_verdict verdict) {
    verdict.num_fitting = verdict.fault == product_fault::none ? 4 : num_fitting;
    verdict.num_permuted = num_permuted;
    return verdict;
  };
  for (const operand_match* m : {&a, &b, &c}) {
    if (!m->fits()) return counted(m->verdict);
  }
  for (const product_verdict& pair : {a.compare(1, b, 1), c.compare(0, a, 0), c.compare(1, b, 0)}) {
    if (pair.fault != product_fault::none) return counted(pair);
  }
  return counted({});
}

}  // namespace tilewright::detail
