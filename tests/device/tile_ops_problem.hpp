// SPDX-License-Identifier: MIT
// Inputs of the tile operations' kernel, and its results computed element by element.
#pragma once

#include "tile_ops.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tile_ops {

struct problem {
  std::vector<float> in = std::vector<float>(size);
  std::vector<half_t> in_half = std::vector<half_t>(size);
  std::vector<std::vector<float>> out{num_results, std::vector<float>(size, -77.0f)};

  problem() {
    for (index_t i = 0; i < size; ++i) in[std::size_t(i)] = float((i * 37 + i / cols * 11) % 401 - 200) / 4;
    for (index_t i = 0; i < size; ++i) in_half[std::size_t(i)] = half_t(in[std::size_t(i)]);
  }
  arguments args() {
    arguments a{in.data(), in_half.data(), {}};
    for (std::size_t i = 0; i < num_results; ++i) a.out[i] = out[i].data();
    return a;
  }
  float at(index_t r, index_t c) const { return in[std::size_t(r * cols + c)]; }

  std::vector<float> expected(result which) const {
    std::vector<float> values(size, -77.0f);
    for (index_t r = 0; r < rows; ++r) {
      for (index_t c = 0; c < cols; ++c) {
        float& value = values[std::size_t(r * cols + c)];
        switch (which) {
          case elementwise: value = r == c ? 100.0f : 2 * at(r, c) + 1; break;
          case positions: value = float(1000 * r + c); break;
          case converted:
            value = detail::float_from_fp8_bits<tilewright::detail::fp8_format::e4m3>(
                detail::fp8_bits_from_float<tilewright::detail::fp8_format::e4m3>(at(r, c)));
            break;
          case shuffled:
          case kept_in_lds:
          case permuted: value = at(r, c); break;
          case transposed:
          case transposed_in_lds: values[std::size_t(c * rows + r)] = at(r, c); break;
          case sliced: value = at((r + rows / 2) % rows, c); break;
          case row_sums: values[std::size_t(r)] = c == 0 ? at(r, c) : values[std::size_t(r)] + at(r, c); break;
          case col_max: values[std::size_t(c)] = r == 0 ? at(r, c) : std::max(values[std::size_t(c)], at(r, c)); break;
          case scanned:
            value = 0;
            for (index_t i = 0; i <= r; ++i) {
              for (index_t j = 0; j <= c; ++j) value += at(i, j);
            }
            break;
          case broadcast: {
            float row = 0, column = at(0, c);
            for (index_t i = 0; i < cols; ++i) row += at(r, i);
            for (index_t i = 0; i < rows; ++i) column = std::max(column, at(i, c));
            value = 2 * at(r, c) + row - column;
            break;
          }
          case updated: value = at(r, c) + 3; break;
          case copied: value = float(half_t(at(r, c))); break;
          case num_results: break;
        }
      }
    }
    return values;
  }

  /// The first wrong element of any result, or nothing. Sums are of quarters: exact in any order.
  std::string first_difference() const {
    static const char* const names[] = {"elementwise", "positions",  "converted", "shuffled", "kept_in_lds",
                                        "permuted",    "transposed", "sliced",    "row_sums", "col_max",
                                        "scanned",     "broadcast",  "updated",   "copied",   "transposed_in_lds"};
    for (int which = 0; which < num_results; ++which) {
      const std::vector<float> wanted = expected(result(which));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const float found = out[std::size_t(which)][i];
        if (found == wanted[i]) continue;
        return std::string(names[which]) + ", element " + std::to_string(i) + ": " + std::to_string(found) +
               " instead of " + std::to_string(wanted[i]);
      }
    }
    return "";
  }
};

}  // namespace tile_ops
