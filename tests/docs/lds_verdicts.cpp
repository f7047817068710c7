// SPDX-License-Identifier: MIT
// Prints the verdict tables of docs/lds_layouts.md: every layout on every target, for every row length,
// element and instruction.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace tilewright;
using arch::target;

constexpr index_t tile_rows = 64;

/// Rows x (lanes along a row) chunks of 16 bytes, one for each lane, lanes down the rows first;
/// `repeat` accesses along the row.
distribution_encoding operand(index_t rows, index_t lanes_along_k, index_t repeat, index_t replicas,
                              index_t element_bytes) {
  distribution_encoding e;
  e.r.push_back(replicas);
  e.h.push_back({});
  e.h.push_back({});
  e.h[0].push_back(rows);
  for (const index_t f : {lanes_along_k, repeat, 16 / element_bytes}) e.h[1].push_back(f);
  e.p.push_back({});
  for (const rh_id id : {rh_id{0, 0}, rh_id{2, 0}, rh_id{1, 0}}) e.p[0].push_back(id);
  e.y.push_back({2, 1});
  e.y.push_back({2, 2});
  return e;
}

/// The wave writes row after row.
distribution_encoding write_rows(const target& t, const lds_tile& tile) {
  const index_t lanes_along_k = tile.row_bytes() / 16, lane_rows = t.wave_size / lanes_along_k;
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  for (const index_t f : {tile.rows / lane_rows, lane_rows}) e.h[0].push_back(f);
  for (const index_t f : {lanes_along_k, 16 / tile.element_bytes}) e.h[1].push_back(f);
  e.p.push_back({});
  for (const rh_id id : {rh_id{1, 1}, rh_id{2, 0}}) e.p[0].push_back(id);
  e.y.push_back({1, 0});
  e.y.push_back({2, 1});
  return e;
}

/// What a target does with a tile, in the order of the table's cells.
std::vector<lds_use> uses_of(const target& t, const lds_tile& tile) {
  const index_t bytes = tile.element_bytes;
  std::vector<lds_use> uses{{write_rows(t, tile), lds_access_kind::write}};
  if (t.supports(arch::lds_op::ldmatrix)) {
    uses.push_back({operand(16, 2, 1, 1, bytes), lds_access_kind::ldmatrix});
  } else if (t.wave_size == 64) {
    uses.push_back({operand(16, 4, 1, 1, bytes), lds_access_kind::read});
    uses.push_back({operand(32, 2, 1, 1, bytes), lds_access_kind::read});
  } else if (t.supports(arch::matrix_op::wmma_16x16x16_gfx11)) {
    uses.push_back({operand(16, 1, 2, 2, bytes), lds_access_kind::read});
  } else {
    uses.push_back({operand(16, 2, 1, 1, bytes), lds_access_kind::read});
  }
  return uses;
}

/// "1 / 1 / 2": the worst degree of each use.
std::string cell(const target& t, const tensor_graph& layout, const std::vector<lds_use>& uses, index_t element_bytes) {
  std::string text;
  for (const lds_use& use : uses) {
    const auto a = analyze_lds_access(t, layout, use.distribution, element_bytes, use.kind);
    text += (text.empty() ? "" : " / ") + std::to_string(a.worst_degree);
  }
  return text;
}

struct row {
  std::string name;
  tensor_graph (*layout)(const lds_tile&);
};

const row presets[] = {
    {"plain", [](const lds_tile& t) { return plain_layout(t); }},
    {"padded by 8 B", [](const lds_tile& t) { return padded_layout(t, 8); }},
    {"padded by 16 B", [](const lds_tile& t) { return padded_layout(t, 16); }},
    {"padded by 32 B", [](const lds_tile& t) { return padded_layout(t, 32); }},
    {"XOR preshuffle, MLdsLayer 1",
     [](const lds_tile& t) { return detail::make_lds_graph(xor_preshuffle_layout(t, 1)); }},
    {"XOR preshuffle, MLdsLayer 2",
     [](const lds_tile& t) { return detail::make_lds_graph(xor_preshuffle_layout(t, 2)); }},
    {"XOR preshuffle, MLdsLayer 4",
     [](const lds_tile& t) { return detail::make_lds_graph(xor_preshuffle_layout(t, 4)); }},
    {"`Swizzle<1, 4, 3>`", [](const lds_tile& t) { return detail::make_lds_graph(byte_swizzle_layout(t, 1, 4, 3)); }},
    {"`Swizzle<2, 4, 3>`", [](const lds_tile& t) { return detail::make_lds_graph(byte_swizzle_layout(t, 2, 4, 3)); }},
    {"`Swizzle<3, 4, 3>`", [](const lds_tile& t) { return detail::make_lds_graph(byte_swizzle_layout(t, 3, 4, 3)); }},
    {"base tiles of 8 x 4 lanes", [](const lds_tile& t) { return base_tile_layout(t, 8, 4); }},
    {"base tiles of 16 x 4 lanes", [](const lds_tile& t) { return base_tile_layout(t, 16, 4); }},
    {"row XOR", [](const lds_tile& t) { return detail::make_lds_graph(row_xor_layout(t)); }},
};

/// The verdict is a matter of bytes: it must not depend on the element. Anything else is an error of this program.
template <class CellOf>
std::string for_every_element(index_t row_bytes, CellOf cell_of) {
  std::string common;
  for (const index_t bytes : {1, 2, 4}) {
    const std::string text = cell_of(lds_tile{tile_rows, row_bytes / bytes, bytes});
    if (!common.empty() && text != common) {
      std::fprintf(stderr, "lds_verdicts: elements of %d bytes: %s, of fewer: %s\n", bytes, text.c_str(),
                   common.c_str());
      std::exit(1);
    }
    common = text;
  }
  return common;
}

void print_table(index_t row_bytes) {
  std::printf("Rows of %d bytes: K = %d of 8 bits, %d of 16 bits, %d of 32 bits.\n\n| layout |", row_bytes, row_bytes,
              row_bytes / 2, row_bytes / 4);
  for (const target* t : arch::all_targets) std::printf(" %s |", t->name);
  std::printf("\n|---|");
  for (index_t i = 0; i < arch::all_targets.size(); ++i) std::printf("---|");
  std::printf("\n");
  for (const row& preset : presets) {
    std::printf("| %s |", preset.name.c_str());
    for (const target* t : arch::all_targets)
      std::printf(" %s |", for_every_element(row_bytes, [&](const lds_tile& tile) {
                             return cell(*t, preset.layout(tile), uses_of(*t, tile), tile.element_bytes);
                           }).c_str());
    std::printf("\n");
  }
  std::printf("| found for the target |");
  for (const target* t : arch::all_targets)
    std::printf(" %s |", for_every_element(row_bytes, [&](const lds_tile& tile) {
                           const std::vector<lds_use> uses = uses_of(*t, tile);
                           const auto choice = choose_lds_layout(&t, 1, tile, uses.data(), index_t(uses.size()));
                           return cell(*t, detail::make_lds_graph(choice.layout), uses, tile.element_bytes);
                         }).c_str());
  std::printf("\n");
}

/// The reads above are those of the matrix instructions: the same addresses as by their lane maps.
void compare_with_lane_maps() {
  using enum arch::matrix_op;
  const lds_tile tile{tile_rows, 32, 2};
  const struct {
    const target* t;
    arch::matrix_op op;
    index_t use;
  } cases[] = {{&arch::gfx942::value, mfma_16x16x16_x2, 1},     {&arch::gfx942::value, mfma_32x32x8_x2, 2},
               {&arch::gfx950::value, mfma_16x16x32, 1},        {&arch::gfx950::value, mfma_32x32x16, 2},
               {&arch::gfx1100::value, wmma_16x16x16_gfx11, 1}, {&arch::gfx1201::value, wmma_16x16x16_gfx12, 1}};
  for (const auto& c : cases) {
    const distribution_encoding by_map = encoding_of(arch::describe(c.op).a),
                                here = uses_of(*c.t, tile)[std::size_t(c.use)].distribution;
    const tensor_graph layout = plain_layout(tile);
    const lds_access_pattern one(layout, by_map, 2), other(layout, here, 2);
    if (one.addresses(0, 0) == other.addresses(0, 0)) continue;
    std::fprintf(stderr, "lds_verdicts: the operand of %s is not read so\n", c.t->name);
    std::exit(1);
  }
}

}  // namespace

int main() {
  compare_with_lane_maps();
  for (const index_t row_bytes : {64, 128, 256}) {
    if (row_bytes > 64) std::printf("\n");
    print_table(row_bytes);
  }
}
