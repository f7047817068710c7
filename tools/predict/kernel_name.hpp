// SPDX-License-Identifier: MIT
// Block tiles from the names of AMD's kernels.
#pragma once

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace predict {

namespace tw = tilewright;

/// Who wrote a kernel, by its name.
enum class library { ck, ck_tile, assembly, flydsl, opus, tilewright, unnamed };
const char* name_of(library l);

struct named_kernel {
  library family = library::unnamed;
  /// Empty where the name has no tile ("native", "auto": a library picks it).
  std::optional<tw::cdna_gemm_kernel> tile;
};

/// The tile of a kernel of aiter's tuning tables. `element_bits`: of A and B.
named_kernel parse_kernel_name(std::string_view name, tw::index_t element_bits);

}  // namespace predict
