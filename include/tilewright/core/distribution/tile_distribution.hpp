// SPDX-License-Identifier: MIT
// Computes with a distribution: where a thread's elements are in the tile.
#pragma once

#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>

namespace tilewright {

namespace detail {

/// Named in a failed static_assert, so that the message has the id.
template <int Major, int Minor>
inline constexpr bool is_factor_owned_well = false;

template <encoding_fault Fault, int Major, int Minor>
TILEWRIGHT_HD constexpr bool require_sound_encoding() {
  if constexpr (Fault == encoding_fault::unknown_factor) {
    static_assert(is_factor_owned_well<Major, Minor>,
                  "tile_distribution_encoding: an id names a factor that does not exist; ids are (0, i) for R and (1 + "
                  "d, i) for factor i of dimension d");
  } else if constexpr (Fault == encoding_fault::owned_twice) {
    static_assert(is_factor_owned_well<Major, Minor>,
                  "tile_distribution_encoding: a factor has two owners; give each (major, minor) id to one P or one Y");
  } else if constexpr (Fault == encoding_fault::owned_by_none) {
    static_assert(is_factor_owned_well<Major, Minor>,
                  "tile_distribution_encoding: a factor has no owner; give each (major, minor) id to one P or one Y");
  } else if constexpr (Fault == encoding_fault::replicated_per_thread) {
    static_assert(is_factor_owned_well<Major, Minor>,
                  "tile_distribution_encoding: an R factor is listed in Y; only threads replicate, list it in a P");
  } else if constexpr (Fault == encoding_fault::bad_length) {
    static_assert(is_factor_owned_well<Major, Minor>, "tile_distribution_encoding: a factor must be at least 1");
  }
  return true;
}

template <encoding_check Check>
inline constexpr bool is_sound_encoding_v = require_sound_encoding<Check.fault, Check.id.major, Check.id.minor>();

/// One factor that partition indices own: digit p[p] / divisor % length (all of the quotient
/// if length is 0) moves x[x] by stride.
struct digit_place {
  index_t p, divisor, length, x, stride;
};

/// The factors of the tile, without those of R, that partition indices own.
using digit_list = inplace_vector<digit_place, distribution_encoding::max_p * distribution_encoding::max_factors>;
TILEWRIGHT_HD constexpr digit_list digit_places(const distribution_encoding& e) {
  digit_list places;
  for (index_t i = 0; i < e.ndim_p(); ++i) {
    index_t divisor = 1;
    for (index_t j = e.p[i].size(); j-- > 0;) {
      const rh_id id = e.p[i][j];
      const index_t length = e.length(id);
      if (id.major != 0) places.push_back({i, divisor, j == 0 ? 0 : length, id.major - 1, e.stride(id)});
      divisor *= length;
    }
  }
  return places;
}

/// Called with constants: not a template, so that it is instantiated for no distribution.
TILEWRIGHT_HD constexpr void add_digit(index_t* x, const index_t* p, index_t i, index_t divisor, index_t length,
                                       index_t d, index_t stride) {
  const unsigned quotient = unsigned(p[i]) / unsigned(divisor);
  x[d] += index_t(length == 0 ? quotient : quotient % unsigned(length)) * stride;
}

}  // namespace detail

/// A tile's distribution over the threads of a block. P: {wave, lane}, or {lane} for a tile of one wave. Y: what a
/// thread holds; element d of its registers is y in row-major order.
template <distribution_encoding Encoding>
struct tile_distribution {
  static_assert(detail::is_sound_encoding_v<check_encoding(Encoding)>);

  static constexpr distribution_encoding encoding = Encoding;                  ///< as a value
  static constexpr index_t ndim_x = Encoding.ndim_x();                         ///< dimensions of the tile
  static constexpr index_t ndim_y = Encoding.ndim_y();                         ///< dimensions of what a thread holds
  static constexpr index_t ndim_p = Encoding.ndim_p();                         ///< partition indices
  static constexpr index_t num_elements = Encoding.num_elements_per_thread();  ///< of a thread

  /// Of the tile.
  static constexpr multi_index<ndim_x> x_lengths = [] {
    multi_index<ndim_x> lengths{};
    for (index_t x = 0; x < ndim_x; ++x) lengths[x] = Encoding.x_length(x);
    return lengths;
  }();
  /// Of what a thread holds.
  static constexpr multi_index<ndim_y> y_lengths = [] {
    multi_index<ndim_y> lengths{};
    for (index_t y = 0; y < ndim_y; ++y) lengths[y] = Encoding.y_length(y);
    return lengths;
  }();

  /// Elements along dimension i of y.
  TILEWRIGHT_HD static constexpr index_t get_y_length(index_t i) { return Encoding.y_length(i); }
  /// Elements of a thread.
  TILEWRIGHT_HD static constexpr index_t get_num_of_element_y() { return num_elements; }
  /// Elements along each dimension of the tile.
  TILEWRIGHT_HD static constexpr multi_index<ndim_x> get_lengths() {
    constexpr multi_index<ndim_x> lengths = x_lengths;
    return lengths;
  }
  /// Elements along each dimension of y.
  TILEWRIGHT_HD static constexpr multi_index<ndim_y> get_y_lengths() {
    constexpr multi_index<ndim_y> lengths = y_lengths;
    return lengths;
  }

  /// Distance in a thread's registers between neighbours along each y.
  TILEWRIGHT_HD static constexpr multi_index<ndim_y> calculate_y_strides() {
    multi_index<ndim_y> strides{};
    for (index_t i = 0; i < ndim_y; ++i) strides[i] = Encoding.y_stride(i);
    return strides;
  }

  /// Number of a thread's register for an index in y.
  TILEWRIGHT_HD static constexpr index_t y_to_register(const multi_index<ndim_y>& y) {
    index_t d = 0;
    for (index_t i = 0; i < ndim_y; ++i) d = d * Encoding.y_length(i) + y[i];
    return d;
  }

  /// The part of the position in the tile that y decides; the same for every thread. Add it to calculate_index(p).
  TILEWRIGHT_HD static constexpr multi_index<ndim_x> y_to_x(const multi_index<ndim_y>& y) {
    multi_index<ndim_x> x{};
    for (index_t i = 0; i < ndim_y; ++i) x[Encoding.y[i].major - 1] += y[i] * Encoding.stride(Encoding.y[i]);
    return x;
  }

  /// Position in the tile of a thread's element y = 0.
  TILEWRIGHT_HD static constexpr multi_index<ndim_x> calculate_index(const multi_index<ndim_p>& p) {
    multi_index<ndim_x> x{};
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      (detail::add_digit(x.data(), p.data(), constant(places[Is].p), constant(places[Is].divisor),
                         constant(places[Is].length), constant(places[Is].x), constant(places[Is].stride)),
       ...);
    }(make_sequence<places.count>{});
    return x;
  }

  /// Threads that a block needs: waves times lanes.
  TILEWRIGHT_HD static constexpr index_t num_threads() {
    index_t n = 1;
    for (index_t i = 0; i < ndim_p; ++i) n *= Encoding.p_length(i);
    return n;
  }

 private:
  static constexpr detail::digit_list places = detail::digit_places(Encoding);
};

/// From CK Tile's encoding type, or from an encoding value wrapped in number<>.
template <class Encoding>
TILEWRIGHT_HD constexpr auto make_static_tile_distribution(Encoding) {
  static_assert(detail::TileDistributionEncoding<Encoding>,
                "make_static_tile_distribution: an encoding is needed: tile_distribution_encoding<...>{}, or a value "
                "as number<encoding>{}");
  if constexpr (detail::TileDistributionEncoding<Encoding>) return tile_distribution<Encoding::value>{};
}

namespace detail {

template <class T>
inline constexpr bool is_tile_distribution_v = false;
template <distribution_encoding Encoding>
inline constexpr bool is_tile_distribution_v<tile_distribution<Encoding>> = true;

}  // namespace detail
template <class T>
concept TileDistribution = detail::is_tile_distribution_v<T>;

namespace detail {

template <class T>
struct distribution_of {
  static_assert(TileDistribution<T>, "a tile distribution or the encoding of one is needed");
};
template <TileDistribution T>
struct distribution_of<T> {
  using type = T;
};
template <TileDistributionEncoding T>
struct distribution_of<T> {
  using type = tile_distribution<T::value>;
};

/// The distribution itself, or that of an encoding type: CK Tile's documents name either.
template <class T>
using distribution_of_t = typename detail::distribution_of<detail::remove_const_t<T>>::type;

}  // namespace detail

}  // namespace tilewright
