// SPDX-License-Identifier: MIT
// A convolution's inputs, and its result by loops.
#pragma once

#include <vector>

#include "convolution.hpp"

namespace convolution_example {

/// A problem with its memory: small integers, so that every sum is exact.
struct problem {
  convolution_args args;
  std::vector<half_t> x, w, y;

  explicit problem(const convolution_args& shape) : args(shape) {
    fill(x, args.images * args.height * args.width * args.channels, 3);
    fill(w, args.filters * args.filter_height * args.filter_width * (args.channels / args.groups), 7);
    fill(y, args.images * args.out_height() * args.out_width() * args.filters, 1);
    args.x = x.data();
    args.w = w.data();
    args.y = y.data();
  }
  problem(const problem&) = delete;

  static void fill(std::vector<half_t>& values, index_t count, index_t step) {
    for (index_t i = 0; i < count; ++i) values.push_back(half_t(float(i * step % 5 - 2)));
  }

  /// One element of the result.
  float expected(index_t image, index_t oh, index_t ow, index_t f) const {
    const convolution_args& a = args;
    const index_t depth = a.channels / a.groups, group = f / (a.filters / a.groups);
    float sum = 0;
    for (index_t r = 0; r < a.filter_height; ++r) {
      for (index_t s = 0; s < a.filter_width; ++s) {
        const index_t h = oh * a.stride + r * a.dilation - a.pad, v = ow * a.stride + s * a.dilation - a.pad;
        if (h < 0 || h >= a.height || v < 0 || v >= a.width) continue;
        const half_t* pixel = &x[std::size_t(((image * a.height + h) * a.width + v) * a.channels + group * depth)];
        const half_t* weight = &w[std::size_t(((f * a.filter_height + r) * a.filter_width + s) * depth)];
        for (index_t c = 0; c < depth; ++c) sum += float(pixel[c]) * float(weight[c]);
      }
    }
    return sum;
  }

  /// How many elements of y are wrong.
  index_t count_wrong() const {
    index_t wrong = 0, i = 0;
    for (index_t image = 0; image < args.images; ++image) {
      for (index_t oh = 0; oh < args.out_height(); ++oh) {
        for (index_t ow = 0; ow < args.out_width(); ++ow) {
          for (index_t f = 0; f < args.filters; ++f)
            wrong += float(y[std::size_t(i++)]) != float(half_t(expected(image, oh, ow, f)));
        }
      }
    }
    return wrong;
  }
};

/// A plain one, and one with everything: strides, dilation, groups, a partial tile in each dimension.
inline constexpr convolution_args plain{.images = 2, .height = 9, .width = 11, .channels = 16, .filters = 24, .pad = 1};
inline constexpr convolution_args general{.images = 2,
                                          .height = 14,
                                          .width = 19,
                                          .channels = 48,
                                          .filters = 80,
                                          .filter_height = 5,
                                          .stride = 2,
                                          .pad = 3,
                                          .dilation = 2,
                                          .groups = 2};

}  // namespace convolution_example
