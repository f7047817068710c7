// SPDX-License-Identifier: MIT
// Layouts by name.
#include "layout_spec.hpp"

#include "words.hpp"

#include <tilewright/core/lds/layout_presets.hpp>

namespace tilewright_layout {

namespace tw = tilewright;
using enum tw::transform_kind;
using tw::place_transform, tw::detail::is_power_of_two, tw::detail::log2_floor, tw::lds_tile, tw::swizzled_layout;

const char* const layout_help =
    "plain                   row after row\n"
    "padded[:BYTES]          row after row, BYTES (default 16) left free behind each\n"
    "xor[:LAYER]             the XOR preshuffle: chunks of 16 bytes are permuted within LAYER rows (default: as many "
    "as share a row of banks)\n"
    "swizzle:B,M,S           byte address a becomes a ^ ((a & mask) >> S), where mask is B bits from bit M + S on\n"
    "row-xor[:F0,F1,...]     chunk c of row r lies at place c ^ (XOR of Fi over the bits i set in r); alone: one that "
    "serves all targets\n"
    "base-tile:RxC           what R x C lanes access with 16 bytes each lies together, lane after lane\n"
    "solve                   what the library finds for the accesses given";

namespace {

std::string decimal(index_t n) { return std::to_string(n); }

void require_power_of_two_tile(const std::string& name, const lds_tile& tile) {
  if (is_power_of_two(tile.rows) && is_power_of_two(tile.cols) && tile.row_bytes() >= 16) return;
  throw refusal("--layout " + name +
                " needs a tile whose lengths are powers of two and whose rows have at least 16 bytes; " +
                decimal(tile.rows) + "x" + decimal(tile.cols) + " has rows of " + decimal(tile.row_bytes()) + " bytes");
}

named_layout padded(const std::string& text, const lds_tile& tile, index_t bytes) {
  if (bytes % tile.element_bytes != 0) {
    throw refusal("--layout " + text + ": the padding must be a multiple of an element's " +
                  decimal(tile.element_bytes) + " bytes");
  }
  return {text, "rows padded by " + decimal(bytes) + " bytes",
          "rows of " + decimal(tile.row_bytes()) + " bytes, " + decimal(bytes) + " bytes free behind each",
          tw::padded_layout(tile, bytes)};
}

named_layout xor_layout(const std::string& text, const lds_tile& tile, index_t layer) {
  require_power_of_two_tile(text, tile);
  if (!is_power_of_two(layer) || layer > tile.rows) {
    throw refusal("--layout " + text + ": the layer must be a power of two and at most the tile's " +
                  decimal(tile.rows) + " rows");
  }
  const std::string title = layer > 1 ? "XOR swizzle of " + decimal(layer) + " rows together" : "XOR swizzle";
  return layout_of(text, title, tw::xor_preshuffle_layout(tile, layer));
}

named_layout base_tile(const std::string& text, const lds_tile& tile, const std::string& shape) {
  const std::vector<index_t> threads = lengths_of(shape, "--layout " + text + ": the lanes", 2);
  const index_t cols = threads[1] * 16 / tile.element_bytes;
  if (tile.rows % threads[0] != 0 || tile.cols % cols != 0) {
    throw refusal("--layout " + text + ": the tile is no multiple of a base tile's " + decimal(threads[0]) + "x" +
                  decimal(cols));
  }
  return {text, "base tiles of " + decimal(threads[0]) + " x " + decimal(threads[1]) + " lanes",
          "base tiles of " + decimal(threads[0]) + "x" + decimal(cols) + " one after the other",
          tw::base_tile_layout(tile, threads[0], threads[1])};
}

named_layout row_xor(const std::string& text, const lds_tile& tile) {
  require_power_of_two_tile(text, tile);
  if (!tw::detail::has_row_xor_layout(tile.row_bytes())) {
    throw refusal("--layout " + text + " is known for rows of 64, 128 and 256 bytes, not of " +
                  decimal(tile.row_bytes()) + "; name the numbers, as in row-xor:1,2,4");
  }
  return layout_of(text, "XOR of rows for all targets", tw::row_xor_layout(tile));
}

named_layout row_xor(const std::string& text, const lds_tile& tile, const std::vector<std::string>& numbers) {
  require_power_of_two_tile(text, tile);
  swizzled_layout layout = tw::swizzled_rows(tile, tile.row_bytes());
  const index_t bits = log2_floor(tile.rows), chunks = layout.chunks_per_row();
  if (index_t(numbers.size()) > bits) {
    throw refusal("--layout " + text + ": a tile of " + decimal(tile.rows) + " rows takes at most " + decimal(bits) +
                  " numbers");
  }
  for (const std::string& number : numbers) {
    layout.flips.push_back(number_of(number, "--layout " + text + ": a number of row-xor", 0, chunks - 1));
  }
  return layout_of(text, "rows XORed with " + joined(numbers, ", "), layout);
}

named_layout byte_swizzle(const std::string& text, const lds_tile& tile, const std::vector<std::string>& numbers) {
  if (numbers.size() != 3) throw refusal("--layout " + text + ": swizzle takes three numbers, as in swizzle:3,4,3");
  require_power_of_two_tile(text, tile);
  const index_t b = number_of(numbers[0], "--layout " + text + ": B", 1, 10),
                m = number_of(numbers[1], "--layout " + text + ": M", 2, 4),
                s = number_of(numbers[2], "--layout " + text + ": S", 1, 20);
  const index_t element_bits = log2_floor(tile.element_bytes), bits = log2_floor(tile.bytes());
  if (m < element_bits) {
    throw refusal("--layout " + text + ": M must be at least " + decimal(element_bits) +
                  ", so that elements stay whole");
  }
  if (s < b) throw refusal("--layout " + text + ": S must be at least B, so that the swizzle is a permutation");
  if (b + m + s > bits) {
    throw refusal("--layout " + text + ": B + M + S must be at most " + decimal(bits) + ", as the tile has 2^" +
                  decimal(bits) + " bytes");
  }
  if (bits - m - s > tw::transform_spec::max_parameters - 2) {
    throw refusal("--layout " + text +
                  ": the tile has too many rows of 2^(M + S) bytes; take a larger S or a smaller tile");
  }
  return layout_of(text, "Swizzle<" + joined(numbers, ", ") + ">", tw::byte_swizzle_layout(tile, b, m, s));
}

}  // namespace

/// "row bits 0 and 1, column bit 6", of the bits of a chunk's number; column bits are those of the byte in the row.
std::string bits_text(const swizzled_layout& layout, unsigned bits) {
  std::vector<std::string> of_row, of_column;
  const index_t col_bits = log2_floor(layout.chunks_per_row());
  for (index_t bit = 0; bits >> bit != 0; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (bit < col_bits) {
      of_column.push_back(decimal(bit + log2_floor(layout.chunk_bytes)));
    } else {
      of_row.push_back(decimal(bit - col_bits));
    }
  }
  const auto listed = [](const char* what, const std::vector<std::string>& numbers) {
    if (numbers.empty()) return std::string();
    return std::string(what) + (numbers.size() > 1 ? " bits " : " bit ") + joined(numbers, ", ");
  };
  const std::string both = of_row.empty() || of_column.empty() ? "" : " and ";
  return listed("row", of_row) + both + listed("byte", of_column);
}

named_layout layout_of(const std::string& name, const std::string& title, const swizzled_layout& layout) {
  if (layout.is_plain()) return {name, title, "row after row", tw::detail::make_lds_graph(layout)};
  const bool is_in_order = layout.places.size() == 1 && (layout.places[0] & (layout.places[0] + 1)) == 0;
  std::string text;
  if (is_in_order) {
    const index_t bank_row = layout.chunks_per_bank_row() * layout.chunk_bytes, row = layout.tile.row_bytes();
    text = bank_row > row   ? decimal(bank_row / row) + " rows side by side"
           : bank_row < row ? decimal(row / bank_row) + " parts of a row one after the other"
                            : "row after row";
  } else {
    for (index_t i = 0; i < layout.places.size(); ++i)
      text +=
          (i == 0 ? "a chunk's place in its bank row is made of " : ", then ") + bits_text(layout, layout.places[i]);
  }
  index_t count = layout.flips.size();
  while (count > 0 && layout.flips[count - 1] == 0) --count;
  std::vector<std::string> flips;
  for (index_t i = 0; i < count; ++i) flips.push_back(decimal(layout.flips[i]));
  if (!flips.empty())
    text += ", the place of a chunk of " + decimal(layout.chunk_bytes) + " bytes XORed with " + joined(flips, ", ") +
            (is_in_order ? " for the bits of its bank row's number" : " for the other bits");
  return {name, title, text, tw::detail::make_lds_graph(layout)};
}

named_layout layout_of(const std::string& text, const tw::arch::target& target, const lds_tile& tile) {
  const std::size_t colon = text.find(':');
  const std::string word = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool alone = colon == std::string::npos;
  if (word == "plain" && alone) return {text, "plain rows", "row after row", tw::plain_layout(tile)};
  if (word == "padded")
    return padded(text, tile, alone ? 16 : number_of(rest, "--layout " + text + ": the padding", 1, 1 << 12));
  if (word == "xor") {
    index_t banks = 32;
    if (const auto* row = target.find(tw::arch::lds_op::read_b128)) {
      for (const auto& service : row->readings) banks = service.banks == 32 ? 32 : banks;
      if (row->readings.size() == 1) banks = row->readings[0].banks;
    }
    const index_t layer = tw::min(tile.rows, tw::max(1, banks * tw::arch::lds_bank_bytes / tile.row_bytes()));
    return xor_layout(text, tile, alone ? layer : number_of(rest, "--layout " + text + ": the layer", 1));
  }
  if (word == "swizzle") return byte_swizzle(text, tile, split(rest, ','));
  if (word == "row-xor") return alone ? row_xor(text, tile) : row_xor(text, tile, split(rest, ','));
  if (word == "base-tile") return base_tile(text, tile, rest);
  throw refusal("--layout " + text +
                " is not known; there are plain, padded[:BYTES], xor[:LAYER], swizzle:B,M,S, row-xor[:F0,F1,...], "
                "base-tile:RxC and solve");
}

tw::tensor_graph with_runs_limited(const tw::tensor_graph& graph, const lds_tile& tile, index_t elements) {
  // A swizzle that changes nothing, of which nothing is assumed.
  const index_t pieces = tile.cols / elements;
  tw::detail::placed_spec nothing = place_transform(swizzle, {0, 1}, {0, 1}, tile.rows, pieces);
  for (index_t i = 0; i < log2_floor(tile.rows); ++i) nothing.spec.parameters.push_back(0);
  const tw::tensor_graph split = tw::transform_graph(graph, place_transform(pass_through, {0}, {0}, tile.rows),
                                                     place_transform(unmerge, {1}, {1, 2}, pieces, elements));
  const tw::tensor_graph limited =
      tw::transform_graph(split, nothing, place_transform(pass_through, {2}, {2}, elements));
  return tw::transform_graph(limited, place_transform(pass_through, {0}, {0}, tile.rows),
                             place_transform(merge, {1, 2}, {1}, pieces, elements));
}

}  // namespace tilewright_layout
