// SPDX-License-Identifier: MIT
// Matrix instructions by name, and the patterns in which a wave holds their operands.
#include "pattern_matrix.hpp"

#include "../program/text.hpp"
#include "words.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/operand_copy.hpp>

#include <algorithm>

namespace tilewright_layout {

namespace tw = tilewright;
namespace arch = tilewright::arch;
using tw::distribution_encoding, tw::lds_tile;

namespace {

std::string shape_of(index_t m, index_t n, index_t k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

/// The shape of one instruction of the group, as its vendor names it: two m16n8k16 make one 16x16x16.
std::string vendor_shape(arch::matrix_op op) {
  const arch::matrix_instruction i = describe(op);
  return tw::detail::uses_ldmatrix(op) ? shape_of(i.m, i.n / 2, i.k) : shape_of(i.m, i.n, i.k / num_issues(op));
}

}  // namespace

std::string family_of(const arch::target& target) {
  using enum arch::instruction_set;
  return target.isa == cdna ? "mfma" : target.isa == rdna ? "wmma" : "mma";
}

bool is_vendor_name(const std::string& word, std::string& family, std::string& shape) {
  const auto numbers = [&](std::size_t at, const char* separators) {
    std::string result;
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && (at >= word.size() || word[at++] != separators[i])) return std::string();
      const std::size_t first = at;
      while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
      if (first == at || at - first > 4) return std::string();
      result += (i > 0 ? "x" : "") + word.substr(first, at - first);
    }
    return result;
  };
  for (const char* const name : {"mfma", "wmma"}) {
    if (!word.starts_with(std::string("v_") + name + "_")) continue;
    const std::size_t x = word.find('x');
    std::size_t first = x == std::string::npos ? word.size() : x;
    while (first > 0 && word[first - 1] >= '0' && word[first - 1] <= '9') --first;
    family = name;
    shape = numbers(first, " xx");
    return true;
  }
  if (!word.starts_with("mma.")) return false;
  family = "mma";
  const std::size_t m = word.find(".m");
  shape = m == std::string::npos ? "" : numbers(m + 2, " nk");
  return true;
}

arch::matrix_op matrix_op_of(const std::string& text, const std::string& family, const std::string& shape,
                             const std::string& operand, const arch::target& target, const lds_tile& tile,
                             const std::function<bool(arch::matrix_op)>& fits) {
  std::vector<std::string> known;
  const bool is_known = family == family_of(target);
  for (const bool of_group : {true, false}) {
    for (const arch::matrix_op op : target.matrix_ops) {
      const arch::matrix_instruction i = describe(op);
      const std::string name = of_group ? shape_of(i.m, i.n, i.k) : vendor_shape(op);
      if ((operand != "c" && element_bytes(op) != tile.element_bytes) || !fits(op)) continue;
      if (is_known && (name == shape || shape.empty())) return op;
      const std::string listed = family_of(target) + ":" + (tw::detail::uses_ldmatrix(op) ? vendor_shape(op) : name);
      if (std::find(known.begin(), known.end(), listed) == known.end()) known.push_back(listed);
    }
  }
  throw refusal("pattern " + text + ": " + target.name + " has no such matrix instruction for elements of " +
                std::to_string(tile.element_bytes) + " bytes; it has " +
                (known.empty() ? "none" : joined(known, ", ")));
}

named_pattern transposing_pattern(const std::string& text, const std::string& shape, const std::string& operand,
                                  const arch::target& target, const lds_tile& tile) {
  const arch::matrix_op op =
      matrix_op_of(text, family_of(target), shape, operand, target, tile,
                   [&](arch::matrix_op candidate) { return tw::reads_transposed(target, candidate); });
  const arch::matrix_instruction i = describe(op);
  if (operand != "a" && operand != "b")
    throw refusal("pattern " + text + ": the operand is a or b, not '" + operand + "'");
  const index_t rows = operand == "a" ? i.m : i.n;
  if (tile.rows % i.k != 0 || tile.cols % rows != 0) {
    throw refusal("pattern " + text + ": a tile of " + std::to_string(tile.rows) + "x" + std::to_string(tile.cols) +
                  " is no multiple of the operand's " + std::to_string(i.k) + "x" + std::to_string(rows) +
                  ": k runs down the rows");
  }
  const distribution_encoding e = operand == "a"
                                      ? tw::detail::a_encoding({tile.cols, i.n, tile.rows, 1, 1, op}, true, true)
                                      : tw::detail::b_encoding({i.m, tile.cols, tile.rows, 1, 1, op}, true, true);
  return {program::printable(text), tw::detail::with_dimensions_exchanged(e), tw::fragment_access(op, true), 16};
}

distribution_encoding operand_encoding(const std::string& text, arch::matrix_op op, const std::string& operand,
                                       bool addresses, const lds_tile& tile) {
  const arch::matrix_instruction i = describe(op);
  const index_t rows = operand == "b" ? i.n : i.m, cols = operand == "c" ? i.n : i.k;
  if (operand != "a" && operand != "b" && (operand != "c" || addresses)) {
    throw refusal("pattern " + text + ": the operand is " + (addresses ? "a or b" : "a, b or c") + ", not '" + operand +
                  "'");
  }
  if (tile.rows % rows != 0 || tile.cols % cols != 0) {
    throw refusal("pattern " + text + ": a tile of " + std::to_string(tile.rows) + "x" + std::to_string(tile.cols) +
                  " is no multiple of the operand's " + std::to_string(rows) + "x" + std::to_string(cols));
  }
  if (operand == "a") return tw::detail::a_encoding({tile.rows, i.n, tile.cols, 1, 1, op}, addresses);
  if (operand == "b") return tw::detail::b_encoding({i.m, tile.rows, tile.cols, 1, 1, op}, addresses);
  return tw::detail::c_encoding({tile.rows, tile.cols, i.k, 1, 1, op});
}

}  // namespace tilewright_layout
