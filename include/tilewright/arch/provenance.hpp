// SPDX-License-Identifier: MIT
// Grades of hardware facts: documented, measured, inferred, disputed, unknown.
#pragma once

#include <tilewright/config/config.hpp>

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

}  // namespace tilewright::arch
