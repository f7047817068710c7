// SPDX-License-Identifier: MIT
// The kernel on rows that has the tile for a problem.
#pragma once

#include <bit>
#include <string>

#include <tilewright/kernels/rows/row_choice.hpp>
#include <tilewright/kernels/rows/row_scales.hpp>

#include "operation.hpp"

namespace tilewright::jit {

/// A kernel on rows as text: its type is before + tile + after.
struct row_kernel_text {
  std::string name;  // of the operation, with what is part of the text
  std::string before, after, uses, code = {};
};

/// The text of a tile, as a template argument.
std::string text_of(const row_tile& tile);

/// The request's source. Kernel: an instance with any tile, whose check() and grid() take another one.
template <class Kernel>
kernel_source row_kernel(const row_kernel_text& text, const typename Kernel::args_type& args, const row_tile& tile) {
  using args_type = typename Kernel::args_type;
  require_fit(text.name, Kernel::check(args, tile));
  kernel_source s;
  s.name = text.name + "_" + std::to_string(tile.most_cols()) + (tile.unaligned ? "_unaligned" : "");
  s.code = text.code;
  s.kernel = text.before + text_of(tile) + text.after;
  s.uses = {text.uses};
  s.host.check = [tile](const void* given) { return Kernel::check(*static_cast<const args_type*>(given), tile); };
  s.host.grid = [tile](const void* given) {
    return grid_of(Kernel::grid(*static_cast<const args_type*>(given), tile));
  };
  return s;
}

/// The same with the tile that launch_rows chooses. element_bytes: of x.
template <class Kernel>
kernel_source row_kernel(const row_kernel_text& text, const typename Kernel::args_type& args, const std::string& target,
                         index_t element_bytes) {
  return row_kernel<Kernel>(text, args,
                            choose_tile_of(row_lengths, target_of(target), element_bytes, args.cols,
                                           has_aligned_rows<Kernel>(args, element_bytes), row_limits_of<Kernel>()));
}

/// How results with scales are part of a name: "_to_fp8_per_row"; nothing without scales.
std::string name_of(element result, scale_kind scales);

/// A value of an enumeration of the library as text.
template <class Kind>
std::string kind_text(const char* type, Kind kind) {
  return std::string("tw::") + type + "(" + std::to_string(int(kind)) + ")";
}

}  // namespace tilewright::jit
