// SPDX-License-Identifier: MIT
// Random encodings: sound ones own every element, embedding composes positions, vectors are what they guarantee.
#include "../core/distribution/naive_distribution.hpp"
#include "random_encoding.hpp"

#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/viz/text.hpp>

#include <gtest/gtest.h>

namespace tilewright::property {
namespace {

TEST(RandomEncodings, AreSoundAndOwnEveryElement) {
  check_property([](tape& choices) -> std::string {
    const distribution_encoding e = make_random_encoding(choices, choices.between(1, 2), choices.between(1, 2));
    if (!check_encoding(e).is_sound()) return "refused: " + to_string(e);
    const std::string fault = naive::ownership_fault(e);
    return fault.empty() ? "" : fault + ": " + to_string(e);
  });
}

// Whatever one id is changed to, check says no, or the encoding still owns every element.
TEST(RandomEncodings, WithOneWrongIdAreRefused) {
  check_property([](tape& choices) -> std::string {
    distribution_encoding e = make_random_encoding(choices, 2, 2);
    std::vector<rh_id*> ids;
    for (auto& list : e.p) {
      for (rh_id& id : list) ids.push_back(&id);
    }
    for (rh_id& id : e.y) ids.push_back(&id);
    rh_id& id = *choices.one_of(ids);
    id = {static_cast<signed char>(choices.between(-1, 4)), static_cast<signed char>(choices.between(-1, 7))};
    if (!check_encoding(e).is_sound()) return "";
    const std::string fault = naive::ownership_fault(e);
    return fault.empty() ? "" : fault + ", but accepted: " + to_string(e);
  });
}

TEST(RandomEncodings, EmbedComposesPositions) {
  check_property([](tape& choices) -> std::string {
    const index_t ndim_x = choices.between(1, 2), outer_p = choices.between(1, 2), inner_p = choices.between(1, 2);
    const distribution_encoding outer = make_random_encoding(choices, ndim_x, outer_p),
                                inner = make_random_encoding(choices, ndim_x, inner_p);
    index_t p_factors[2] = {}, threads = 1;
    for (const distribution_encoding* e : {&outer, &inner}) {
      for (index_t i = 0; i < e->p.size(); ++i) p_factors[1 - i] += e->p[e->p.size() - 1 - i].size();
      for (const index_t n : naive::partition_lengths(*e)) threads *= n;
      for (const index_t n : naive::y_lengths(*e)) threads *= n;
    }
    if (max(p_factors[0], p_factors[1]) > 6 || outer.y.size() + inner.y.size() > 8 || threads > 20000) return "";
    const distribution_encoding both = embed(outer, inner);
    const std::string about = to_string(outer) + " with " + to_string(inner) + " inside";
    if (!check_encoding(both).is_sound()) return "refused: " + about;
    // Positions of the outer element and of the inner tile, aligned at their last partition index.
    const std::size_t num_p = std::size_t(max(outer_p, inner_p));
    const auto partial = [&](const naive::indices& p, std::size_t n) {
      return naive::indices(p.end() - std::ptrdiff_t(n), p.end());
    };
    std::string fault;
    const naive::indices inner_lengths = naive::partition_lengths(inner),
                         outer_lengths = naive::partition_lengths(outer);
    naive::indices inner_full(num_p, 1), outer_full(num_p, 1);
    std::copy(inner_lengths.begin(), inner_lengths.end(), inner_full.end() - std::ptrdiff_t(inner_lengths.size()));
    std::copy(outer_lengths.begin(), outer_lengths.end(), outer_full.end() - std::ptrdiff_t(outer_lengths.size()));
    naive::each_index(outer_full, [&](const naive::indices& op) {
      naive::each_index(inner_full, [&](const naive::indices& ip) {
        naive::indices p(num_p);
        for (std::size_t i = 0; i < num_p; ++i) p[i] = op[i] * inner_full[i] + ip[i];
        naive::each_index(naive::y_lengths(outer), [&](const naive::indices& oy) {
          naive::each_index(naive::y_lengths(inner), [&](const naive::indices& iy) {
            naive::indices y = oy;
            y.insert(y.end(), iy.begin(), iy.end());
            const auto of_outer = naive::position(outer, partial(op, outer_lengths.size()), oy);
            const auto of_inner = naive::position(inner, partial(ip, inner_lengths.size()), iy);
            const auto of_both = naive::position(both, p, y);
            for (std::size_t d = 0; d < of_both.size(); ++d) {
              if (of_both[d] != of_outer[d] * inner.x_length(index_t(d)) + of_inner[d]) fault = "position: " + about;
            }
          });
        });
      });
    });
    return fault;
  });
}

// Along the chosen y a thread's neighbours are neighbours in the tile,
// and each vector begins at a multiple of its length.
TEST(RandomEncodings, ChosenVectorsAreContiguousAndAligned) {
  check_property([](tape& choices) -> std::string {
    const distribution_encoding e = make_random_encoding(choices, 2, 2);
    if (e.y.empty()) return "";
    const multi_index<2> runs{{choices.one_of<index_t>({1, 2, 4, 8, 12}), choices.one_of<index_t>({16, 1, 3, 4, 6})}};
    const index_t element_bytes = choices.one_of<index_t>({2, 1, 4});
    const detail::vector_choice v = tilewright::detail::choose_vector(e, runs, element_bytes);
    const index_t x = e.y[v.dim_y].major - 1;
    const std::string about =
        "vector of " + std::to_string(v.length) + " along y " + std::to_string(v.dim_y) + ": " + to_string(e);
    if (v.length * element_bytes > 16 || !detail::is_power_of_two(v.length) || runs[x] % v.length != 0 ||
        e.y_length(v.dim_y) % v.length != 0)
      return about;
    std::string fault;
    naive::each_index(naive::partition_lengths(e), [&](const naive::indices& p) {
      naive::each_index(naive::y_lengths(e), [&](const naive::indices& y) {
        naive::indices first = y;
        const std::size_t dim = std::size_t(v.dim_y);
        first[dim] -= y[dim] % v.length;
        naive::indices expected = naive::position(e, p, first);
        if (expected[std::size_t(x)] % v.length != 0 && v.length > 1) fault = "not aligned, " + about;
        expected[std::size_t(x)] += y[dim] - first[dim];
        if (naive::position(e, p, y) != expected) fault = "not contiguous, " + about;
      });
    });
    return fault;
  });
}

}  // namespace
}  // namespace tilewright::property
