// SPDX-License-Identifier: MIT
// Access patterns by name.
#include "pattern.hpp"

#include "../program/text.hpp"
#include "encoding_text.hpp"
#include "pattern_matrix.hpp"
#include "words.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>

namespace tilewright_layout {

namespace tw = tilewright;
namespace arch = tilewright::arch;
using tw::distribution_encoding, tw::lds_tile;

const char* const pattern_help =
    "rows:BYTES[:ORDER]      lanes lie along a row, then along the next; each moves BYTES at once. ORDER is "
    "block-raked (default), warp-raked or thread-raked\n"
    "column:BYTES            each lane has a row of its own; neighbouring lanes move BYTES of neighbouring rows\n"
    "mfma:MxNxK[:a|b|c]      what a wave holds of an operand (default a) of the target's matrix instruction; wmma and "
    "mma likewise.\n"
    "                        The vendor's name does as well: v_mfma_f32_16x16x32_f16, v_wmma_f32_16x16x16_f16, "
    "mma.m16n8k16\n"
    "ldmatrix[:a|b]          the addresses that a wave gives to ldmatrix for an operand of mma\n"
    "ldmatrix.trans[:a|b]    the same for a tile whose rows are k: (K, M) or (K, N)\n"
    "stmatrix                the addresses that a wave gives to stmatrix for 16x16 of a result\n"
    "ds_read_b128[:ORDER]    rows:16B with the instruction's name, as ds_store_b64 or ld.shared.v4.b32\n"
    "ds_read_b64_tr_b16[:MxNxK][:a|b]   likewise of gfx950, and ds_read_b64_tr_b8; default the first mfma that it "
    "serves\n"
    "encoding:...            any distribution, as H(2,4,16)(4,8)P(1.1)(1.2,2.0)Y(1.0,2.1): the factors of each "
    "dimension; who owns\n"
    "                        factor major.minor: wave, lane, and the registers Y. R(2) before H replicates";

namespace {

/// "16B"
index_t bytes_of(const std::string& word, const std::string& text, const lds_tile& tile) {
  if (word.empty() || word.back() != 'B')
    throw refusal("pattern " + text + ": the width is a number of bytes, as in rows:16B");
  const index_t bytes = number_of(word.substr(0, word.size() - 1), "pattern " + text + ": the width in bytes", 1, 16);
  if (!tw::detail::is_power_of_two(bytes) || bytes % tile.element_bytes != 0 || tile.row_bytes() % bytes != 0) {
    throw refusal("pattern " + text + ": a width must be a power of two, a multiple of an element's " +
                  std::to_string(tile.element_bytes) + " bytes and a divisor of a row's " +
                  std::to_string(tile.row_bytes()));
  }
  return bytes;
}

index_t waves_of(index_t threads, const arch::target& target, index_t pieces, const std::string& text) {
  if (threads % target.wave_size != 0) {
    throw refusal("--threads " + std::to_string(threads) + " is no multiple of the " +
                  std::to_string(target.wave_size) + " lanes of a wave");
  }
  index_t waves = threads > 0 ? threads / target.wave_size : tw::max(1, 256 / target.wave_size);
  while (threads == 0 && waves > 1 && pieces < waves * target.wave_size) waves /= 2;
  if (pieces < waves * target.wave_size) {
    throw refusal("pattern " + text + ": the tile has " + std::to_string(pieces) + " pieces for " +
                  std::to_string(waves * target.wave_size) +
                  " threads; take a larger tile, a smaller width or fewer --threads");
  }
  return waves;
}

distribution_encoding rows_encoding(const std::string& text, const std::string& order, const arch::target& target,
                                    const lds_tile& tile, index_t bytes, index_t threads) {
  using enum tw::tile_distribution_pattern;
  const index_t vector = bytes / tile.element_bytes;
  const index_t waves = waves_of(threads, target, tile.bytes() / bytes, text);
  const tw::tile_copy_2d copy{tile.rows, tile.cols, vector, waves, target.wave_size};
  if (tw::divide_copy(copy).fault != tw::detail::pattern_fault::none) {
    throw refusal("pattern " + text + ": " + std::to_string(waves * target.wave_size) + " threads do not share " +
                  std::to_string(tile.rows) + " rows of " + std::to_string(tile.row_bytes() / bytes) +
                  " pieces evenly; take lengths that are powers of two, or other --threads");
  }
  if (order == "block-raked") return make_pattern_encoding(block_raked, copy);
  if (order == "warp-raked") return make_pattern_encoding(warp_raked, copy);
  if (order == "thread-raked") return make_pattern_encoding(thread_raked, copy);
  throw refusal("pattern " + text + ": the order is block-raked, warp-raked or thread-raked, not '" + order + "'");
}

/// Lanes along the rows' numbers first; then waves along them, then lanes and waves along a row.
distribution_encoding column_encoding(const std::string& text, const arch::target& target, const lds_tile& tile,
                                      index_t bytes, index_t threads) {
  const index_t vector = bytes / tile.element_bytes, pieces = tile.row_bytes() / bytes;
  const index_t waves = waves_of(threads, target, tile.rows * pieces, text);
  const index_t lanes_down = tw::detail::gcd(tile.rows, target.wave_size), lanes_along = target.wave_size / lanes_down;
  const index_t waves_down = tw::detail::gcd(tile.rows / lanes_down, waves), waves_along = waves / waves_down;
  if (pieces % (lanes_along * waves_along) != 0) {
    throw refusal("pattern " + text + ": " + std::to_string(waves * target.wave_size) + " threads do not share " +
                  std::to_string(tile.rows) + " rows of " + std::to_string(pieces) +
                  " pieces evenly; take lengths that are powers of two, or other --threads");
  }
  distribution_encoding e;
  e.h.push_back({});
  for (const index_t f : {tile.rows / lanes_down / waves_down, waves_down, lanes_down}) e.h[0].push_back(f);
  e.h.push_back({});
  for (const index_t f : {pieces / lanes_along / waves_along, waves_along, lanes_along, vector}) e.h[1].push_back(f);
  e.p.push_back({});
  e.p.push_back({});
  e.p[0].push_back({2, 1});
  e.p[0].push_back({1, 1});
  e.p[1].push_back({2, 2});
  e.p[1].push_back({1, 2});
  e.y.push_back({1, 0});
  e.y.push_back({2, 0});
  e.y.push_back({2, 3});
  return e;
}

/// Bytes that a lane moves with the LDS instruction of this name, ds_read_b128 or st.shared.v4.b32; 0: none that moves
/// them as they are has it.
index_t width_of_instruction(const std::string& word, const arch::target& target, bool is_write) {
  using enum arch::instruction_set;
  for (const arch::lds_instruction& row : target.lds) {
    if (word.empty() || row.op >= arch::lds_op::ldmatrix || !arch::exchange_of(row.op).is_identity()) continue;
    const std::string name = instruction_name(target, row.op);
    const bool is_it = word == name;
    if (!is_it && word != instruction_name(cdna, row.op) && word != instruction_name(rdna, row.op) &&
        word != instruction_name(ptx, row.op))
      continue;
    if (!is_it) throw refusal("pattern " + word + ": " + target.name + " calls it " + name);
    const bool writes = arch::is_write(row.op);
    if (writes != is_write)
      throw refusal("pattern " + word + (writes ? " writes; give it to --write" : " reads; give it to --read"));
    if (arch::access_bytes(row.op) == 12)
      throw refusal("pattern " + word +
                    ": tiles are moved in vectors of 1 to 16 bytes that are powers of two, never 12");
    return arch::access_bytes(row.op);
  }
  return 0;
}

distribution_encoding given_encoding(const std::string& text, const arch::target& target, const lds_tile& tile) {
  const distribution_encoding e = encoding_of_text(text);
  if (e.ndim_x() != 2 || e.x_length(0) != tile.rows || e.x_length(1) != tile.cols) {
    throw refusal("encoding:" + text + " does not distribute a tile of " + std::to_string(tile.rows) + "x" +
                  std::to_string(tile.cols));
  }
  if (e.p_length(e.ndim_p() - 1) != target.wave_size) {
    throw refusal("encoding:" + text + " has " + std::to_string(e.p_length(e.ndim_p() - 1)) + " lanes; a wave of " +
                  target.name + " has " + std::to_string(target.wave_size));
  }
  return e;
}

}  // namespace

named_pattern pattern_of(const std::string& text, const arch::target& target, const lds_tile& tile, bool is_write,
                         index_t threads) {
  named_pattern pattern{
      program::printable(text), {}, is_write ? tw::lds_access_kind::write : tw::lds_access_kind::read, 16};
  if (text.starts_with("encoding:")) {
    pattern.distribution = given_encoding(text.substr(9), target, tile);
    return pattern;
  }
  const std::vector<std::string> words = split(text, ':');
  const auto word = [&](std::size_t i, const std::string& otherwise) {
    return i < words.size() ? words[i] : otherwise;
  };
  const auto no_more_than = [&](std::size_t most) {
    if (words.size() > most) throw refusal("pattern " + text + " has too many parts");
  };
  std::string family, shape;
  const auto any = [](arch::matrix_op) { return true; };
  if (words[0] == "rows") {
    no_more_than(3);
    pattern.max_bytes = bytes_of(word(1, ""), text, tile);
    pattern.distribution = rows_encoding(text, word(2, "block-raked"), target, tile, pattern.max_bytes, threads);
  } else if (words[0] == "column") {
    no_more_than(2);
    pattern.max_bytes = bytes_of(word(1, ""), text, tile);
    pattern.distribution = column_encoding(text, target, tile, pattern.max_bytes, threads);
  } else if (is_vendor_name(words[0], family, shape)) {
    no_more_than(2);
    if (shape.empty())
      throw refusal("pattern " + text + " names no shape, as v_mfma_f32_16x16x32_f16 and mma.m16n8k16 do");
    const arch::matrix_op op = matrix_op_of(text, family, shape, word(1, "a"), target, tile, any);
    pattern.distribution = operand_encoding(text, op, word(1, "a"), false, tile);
  } else if (words[0] == "mfma" || words[0] == "wmma" || words[0] == "mma") {
    no_more_than(3);
    const arch::matrix_op op = matrix_op_of(text, words[0], word(1, "?"), word(2, "a"), target, tile, any);
    pattern.distribution = operand_encoding(text, op, word(2, "a"), false, tile);
  } else if (words[0] == "ldmatrix.trans" || words[0] == "ds_read_b64_tr_b16" || words[0] == "ds_read_b64_tr_b8") {
    const bool names_shape = words.size() > 1 && words[1].find('x') != std::string::npos;
    no_more_than(names_shape ? 3 : 2);
    if (is_write) throw refusal("pattern " + text + " reads; give it to --read");
    const arch::lds_op op = arch::transposing_op(target, tile.element_bytes);
    const std::string has = words[0] == "ldmatrix.trans" ? "ldmatrix" : words[0];
    if (has != arch::instruction_name(target, op)) {
      throw refusal("pattern " + text + ": " + target.name + " has no such instruction for elements of " +
                    std::to_string(tile.element_bytes) + " bytes");
    }
    return transposing_pattern(text, names_shape ? words[1] : "", word(names_shape ? 2 : 1, "a"), target, tile);
  } else if (words[0] == "ldmatrix" || words[0] == "stmatrix") {
    const bool stores = words[0] == "stmatrix";
    no_more_than(stores ? 1 : 2);
    if (is_write != stores)
      throw refusal("pattern " + text + (stores ? " writes; give it to --write" : " reads; give it to --read"));
    if (!target.supports(stores ? arch::lds_op::stmatrix : arch::lds_op::ldmatrix))
      throw refusal("pattern " + text + ": " + target.name + " has no " + words[0]);
    // Four 8x8 matrices of a result lie like those of operand A.
    pattern.kind = stores ? tw::lds_access_kind::stmatrix : tw::lds_access_kind::ldmatrix;
    const arch::matrix_op op = matrix_op_of(text, family_of(target), "", "a", target, tile, tw::detail::uses_ldmatrix);
    pattern.distribution = operand_encoding(text, op, word(1, "a"), true, tile);
  } else if (const index_t bytes = width_of_instruction(words[0], target, is_write); bytes > 0) {
    no_more_than(2);
    pattern.max_bytes = bytes_of(std::to_string(bytes) + "B", text, tile);
    pattern.distribution = rows_encoding(text, word(1, "block-raked"), target, tile, bytes, threads);
  } else {
    throw refusal(
        "pattern " + text + " is not known; there are rows:BYTES, column:BYTES, " + family_of(target) +
        ":MxNxK, ldmatrix, ldmatrix.trans, stmatrix, names of instructions and encoding:..., as --help explains");
  }
  return pattern;
}

}  // namespace tilewright_layout
