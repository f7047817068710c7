// SPDX-License-Identifier: MIT
// The pictures of docs/transforms.md: transform_pictures NAME --format svg.
// Each is drawn from the descriptors that the page shows.
#include <tilewright/core.hpp>
#include <tilewright/viz/descriptor_picture.hpp>

#include <cstdio>
#include <functional>
#include <map>

namespace tw = tilewright;
namespace viz = tilewright::viz;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence;

namespace {

constexpr number<1> one;
constexpr number<2> two;
constexpr number<3> three;
constexpr number<4> four;
constexpr number<6> six;
constexpr number<8> eight;

// Row after row, and with two unused elements after each row.
constexpr auto packed = tw::make_naive_tensor_descriptor_packed(make_tuple(four, six));
constexpr auto pitched = tw::make_naive_tensor_descriptor(make_tuple(four, six), make_tuple(eight, one));

// Nothing is copied: the columns of the same memory as rows.
constexpr auto transposed = tw::transform_tensor_descriptor(
    packed, make_tuple(tw::make_pass_through_transform(four), tw::make_pass_through_transform(six)),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<1>{}, sequence<0>{}));

// A border of one element that does not exist.
constexpr auto padded = tw::transform_tensor_descriptor(
    packed, make_tuple(tw::make_pad_transform(four, one, one), tw::make_pad_transform(six, one, one)),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// Rows 1 and 2, columns 2 to 5.
constexpr auto sliced = tw::transform_tensor_descriptor(
    packed, make_tuple(tw::make_slice_transform(four, one, three), tw::make_slice_transform(six, two, six)),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// One index for both dimensions, row by row and column by column.
constexpr auto merged =
    tw::transform_tensor_descriptor(packed, make_tuple(tw::make_merge_transform(make_tuple(four, six))),
                                    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
constexpr auto merged_columns =
    tw::transform_tensor_descriptor(packed, make_tuple(tw::make_merge_transform(make_tuple(six, four))),
                                    make_tuple(sequence<1, 0>{}), make_tuple(sequence<0>{}));

// Two indices for one dimension.
constexpr auto vector = tw::make_naive_tensor_descriptor_packed(make_tuple(number<24>{}));
constexpr auto unmerged =
    tw::transform_tensor_descriptor(vector, make_tuple(tw::make_unmerge_transform(make_tuple(three, eight))),
                                    make_tuple(sequence<0>{}), make_tuple(sequence<0, 1>{}));

// Every window of three neighbours: the matrix of a convolution.
constexpr auto line = tw::make_naive_tensor_descriptor_packed(make_tuple(eight));
constexpr auto windows = tw::transform_tensor_descriptor(
    line, make_tuple(tw::make_embed_transform(make_tuple(six, three), make_tuple(one, one))), make_tuple(sequence<0>{}),
    make_tuple(sequence<0, 1>{}));

// Columns permuted by the row: by exclusive or, and by rotation.
constexpr auto square = tw::make_naive_tensor_descriptor_packed(make_tuple(eight, eight));
constexpr auto xored =
    tw::transform_tensor_descriptor(square, make_tuple(tw::make_xor_transform(make_tuple(eight, eight))),
                                    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
constexpr auto rotated =
    tw::transform_tensor_descriptor(square, make_tuple(tw::make_cyclic_shift_transform(make_tuple(eight, eight))),
                                    make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));

// A ring of four rows, seen as six.
constexpr auto ring = tw::transform_tensor_descriptor(
    packed, make_tuple(tw::make_modulo_transform(four, six), tw::make_pass_through_transform(six)),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));

// One row for all: a dimension that memory does not have.
constexpr auto broadcast = tw::transform_tensor_descriptor(
    line, make_tuple(tw::make_insert_transform(three), tw::make_pass_through_transform(eight)),
    make_tuple(sequence<>{}, sequence<0>{}), make_tuple(sequence<0>{}, sequence<1>{}));

std::string drawn(const std::string& heading, const std::vector<viz::offset_panel>& panels) {
  return viz::offsets_svg(panels, heading, viz::svg_theme::automatic);
}

const std::map<std::string, std::function<std::string()>> pictures{
    {"strides",
     [] {
       return drawn("Lengths and strides",
                    {{"packed", viz::offsets_of(packed), 6}, {"pitched", viz::offsets_of(pitched), 8}});
     }},
    {"transposed",
     [] {
       return drawn("Dimensions in another order",
                    {{"packed", viz::offsets_of(packed), 6}, {"transposed", viz::offsets_of(transposed), 6}});
     }},
    {"pad",
     [] {
       return drawn("Pad and slice", {{"padded", viz::offsets_of(padded), 6}, {"sliced", viz::offsets_of(sliced), 6}});
     }},
    {"merge", [] { return drawn("Merge by rows", {{"merged", viz::offsets_of(merged), 6}}); }},
    {"merge_columns",
     [] { return drawn("Merge by columns", {{"merged_columns", viz::offsets_of(merged_columns), 6}}); }},
    {"unmerge",
     [] {
       return drawn("Unmerge and embed",
                    {{"unmerged", viz::offsets_of(unmerged), 8}, {"windows", viz::offsets_of(windows), 1, 8}});
     }},
    {"xor",
     [] {
       return drawn("Columns permuted by the row",
                    {{"xored", viz::offsets_of(xored), 1, 8}, {"rotated", viz::offsets_of(rotated), 1, 8}});
     }},
    {"modulo",
     [] {
       return drawn("Modulo and insert",
                    {{"ring", viz::offsets_of(ring), 6}, {"broadcast", viz::offsets_of(broadcast), 1, 8}});
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc > 1 ? pictures.find(argv[1]) : pictures.end();
  if (found == pictures.end()) {
    std::fprintf(stderr, "usage: transform_pictures NAME [--format svg], where NAME is one of");
    for (const auto& [name, draw] : pictures) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::printf("%s", found->second().c_str());
}
