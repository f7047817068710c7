// SPDX-License-Identifier: MIT
// Which thread owns which element of a tile, as one structural value, and CK Tile's spelling of it as a type.
#pragma once

#include <tilewright/core/base/sequence.hpp>
#include <tilewright/core/base/tuple.hpp>

namespace tilewright {

/// Names one factor: major 0 is the replication R, major 1 + d is dimension d of the tile;
/// minor counts that list's factors.
struct rh_id {
  signed char major = 0;  ///< which list
  signed char minor = 0;  ///< which of its factors
  friend constexpr bool operator==(const rh_id&, const rh_id&) = default;
};

/// Dimension d of the tile has the length product(h[d]); its first factor is the most significant. Every factor belongs
/// to one partition index p (0: wave, last: lane; the first id listed is the most significant) or is one dimension y of
/// what a thread holds. Factors in r replicate: threads that differ only there own the same elements.
struct distribution_encoding {
  /// The most that lists can hold.
  static constexpr index_t max_x = 4, max_factors = 6, max_p = 2, max_y = 8;

  inplace_vector<index_t, max_factors> r;  ///< replication
  /// the factors of each dimension of the tile, most significant first
  inplace_vector<inplace_vector<index_t, max_factors>, max_x> h;
  inplace_vector<inplace_vector<rh_id, max_factors>, max_p> p;  ///< the factors that each partition index selects
  inplace_vector<rh_id, max_y> y;                               ///< the factors that a thread holds, slowest first

  /// Dimensions of the tile.
  TILEWRIGHT_HD constexpr index_t ndim_x() const { return h.size(); }
  /// Partition indices: 1 (lane), or 2 (wave, lane).
  TILEWRIGHT_HD constexpr index_t ndim_p() const { return p.size(); }
  /// Dimensions of what a thread holds.
  TILEWRIGHT_HD constexpr index_t ndim_y() const { return y.size(); }

  /// The length of a factor.
  TILEWRIGHT_HD constexpr index_t length(rh_id id) const {
    return id.major == 0 ? r[id.minor] : h[id.major - 1][id.minor];
  }

  /// How far dimension x of the tile moves when the factor's index grows by 1.
  TILEWRIGHT_HD constexpr index_t stride(rh_id id) const {
    index_t s = 1;
    for (index_t i = id.minor + 1; i < h[id.major - 1].size(); ++i) s *= h[id.major - 1][i];
    return s;
  }

  /// The length of a dimension of the tile.
  TILEWRIGHT_HD constexpr index_t x_length(index_t x) const {
    index_t n = 1;
    for (index_t f : h[x]) n *= f;
    return n;
  }
  /// Values that the factors `ids` take together.
  template <class Ids>
  TILEWRIGHT_HD constexpr index_t num_values(const Ids& ids) const {
    index_t n = 1;
    for (rh_id id : ids) n *= length(id);
    return n;
  }
  /// Values that partition index i takes: waves of a block, lanes of a wave.
  TILEWRIGHT_HD constexpr index_t p_length(index_t i) const { return num_values(p[i]); }
  /// The length of dimension i of y.
  TILEWRIGHT_HD constexpr index_t y_length(index_t i) const { return length(y[i]); }
  /// Distance in a thread's registers, which are in row-major order of y, between neighbours along dimension i of y.
  TILEWRIGHT_HD constexpr index_t y_stride(index_t i) const {
    index_t s = 1;
    while (++i < y.size()) s *= length(y[i]);
    return s;
  }
  /// The part of position x in the tile that number `at` of the factors `ids` decides, the last of which counts
  /// fastest.
  template <class Ids>
  TILEWRIGHT_HD constexpr index_t position_of(const Ids& ids, index_t at, index_t x) const {
    index_t position = 0;
    for (index_t j = ids.size(); j-- > 0; at /= length(ids[j])) {
      if (ids[j].major == x + 1) position += at % length(ids[j]) * stride(ids[j]);
    }
    return position;
  }
  /// Whether each thread is at the same place along dimension x as along `other_x` of another distribution. Partition
  /// indices are digits of the position, so single ones decide.
  TILEWRIGHT_HD constexpr bool places_threads_like(const distribution_encoding& other, index_t x,
                                                   index_t other_x) const {
    if (ndim_p() != other.ndim_p()) return false;
    for (index_t i = 0; i < ndim_p(); ++i) {
      if (p_length(i) != other.p_length(i)) return false;
      for (index_t at = 1; at < p_length(i); ++at) {
        if (position_of(p[i], at, x) != other.position_of(other.p[i], at, other_x)) return false;
      }
    }
    return true;
  }
  /// The product of the lengths of y.
  TILEWRIGHT_HD constexpr index_t num_elements_per_thread() const { return num_values(y); }
  friend constexpr bool operator==(const distribution_encoding&, const distribution_encoding&) = default;
};

namespace detail {

/// Whether the factors of all dimensions are powers of two, so that y owns bits of the position.
TILEWRIGHT_HD constexpr bool has_power_of_two_lengths(const distribution_encoding& e) {
  unsigned bad = 0;
  for (const auto& h : e.h) {
    for (const index_t factor : h) bad |= unsigned(factor) & unsigned(factor - 1);
  }
  return bad == 0;
}

template <index_t... Is>
TILEWRIGHT_HD constexpr inplace_vector<index_t, distribution_encoding::max_factors> factors_of(sequence<Is...>) {
  static_assert(sizeof...(Is) <= distribution_encoding::max_factors,
                "tile_distribution_encoding: a list has more factors than an encoding holds (6)");
  inplace_vector<index_t, distribution_encoding::max_factors> result;
  (result.push_back(Is), ...);
  return result;
}

template <class List, index_t... Majors, index_t... Minors>
TILEWRIGHT_HD constexpr List ids_of(sequence<Majors...>, sequence<Minors...>) {
  static_assert(sizeof...(Majors) == sizeof...(Minors),
                "tile_distribution_encoding: as many minor as major ids are needed");
  static_assert(sizeof...(Majors) <= List::capacity(),
                "tile_distribution_encoding: more ids than an encoding holds (6 in a P, 8 in Y)");
  [[maybe_unused]] const auto byte = [](index_t id) { return static_cast<signed char>(id >= 0 && id < 128 ? id : -1); };
  List result;
  (result.push_back({byte(Majors), byte(Minors)}), ...);
  return result;
}

/// What CK Tile's functions of encodings take: tile_distribution_encoding<...>, or a value wrapped in number<>.
template <class T>
concept TileDistributionEncoding = requires { requires __is_same(decltype(T::value), const distribution_encoding); };

/// Why an encoding is none. bad_length: less than 1; replicated_per_thread: a factor of R in y.
enum class encoding_fault { none, unknown_factor, owned_twice, owned_by_none, replicated_per_thread, bad_length };

/// A fault and the factor that it is about.
struct encoding_check {
  encoding_fault fault = encoding_fault::none;
  rh_id id = {-1, -1};

  TILEWRIGHT_HD constexpr bool is_sound() const { return fault == encoding_fault::none; }
};

}  // namespace detail

/// Every factor has exactly one owner (one of length 1 needs none); only threads,
/// never one thread's registers, may replicate.
TILEWRIGHT_HD constexpr detail::encoding_check check_encoding(const distribution_encoding& e) {
  using enum detail::encoding_fault;
  index_t owners[1 + distribution_encoding::max_x][distribution_encoding::max_factors] = {};
  const auto factors = [&](index_t major) { return major == 0 ? e.r.size() : e.h[major - 1].size(); };
  const auto known = [&](rh_id id) {
    return id.major >= 0 && id.major <= e.ndim_x() && id.minor >= 0 && id.minor < factors(id.major);
  };
  for (const auto& ids : e.p) {
    for (rh_id id : ids) {
      if (!known(id)) return {unknown_factor, id};
      if (owners[id.major][id.minor]++) return {owned_twice, id};
    }
  }
  for (rh_id id : e.y) {
    if (!known(id)) return {unknown_factor, id};
    if (id.major == 0) return {replicated_per_thread, id};
    if (owners[id.major][id.minor]++) return {owned_twice, id};
  }
  for (signed char major = 0; major <= e.ndim_x(); ++major) {
    for (signed char minor = 0; minor < factors(major); ++minor) {
      if (e.length({major, minor}) < 1) return {bad_length, {major, minor}};
      if (!owners[major][minor] && e.length({major, minor}) > 1) return {owned_by_none, {major, minor}};
    }
  }
  return {};
}

/// CK Tile's spelling. Rs: sequence; Hs: tuple of sequences, one for each dimension;
/// Ps: tuples of sequences of ids; Ys: sequences.
template <class Rs, class Hs, class Ps2RHsMajor, class Ps2RHsMinor, class Ys2RHsMajor, class Ys2RHsMinor>
struct tile_distribution_encoding {
  static_assert(
      sizeof(Rs) == 0,
      "tile_distribution_encoding: R and both Y lists are sequences, H and both P lists are tuples of sequences");
};

template <index_t... Rs, class... Hs, class... PMajors, class... PMinors, class YsMajor, class YsMinor>
struct tile_distribution_encoding<sequence<Rs...>, tuple<Hs...>, tuple<PMajors...>, tuple<PMinors...>, YsMajor,
                                  YsMinor> {
  static_assert(sizeof...(PMajors) == sizeof...(PMinors),
                "tile_distribution_encoding: as many minor as major P lists are needed");
  static_assert(sizeof...(Hs) <= distribution_encoding::max_x && sizeof...(PMajors) <= distribution_encoding::max_p,
                "tile_distribution_encoding: an encoding holds 4 dimensions and 2 partition indices (wave, lane)");

  /// The encoding of these lists.
  static constexpr distribution_encoding value = [] {
    using encoding = distribution_encoding;
    encoding e;
    e.r = detail::factors_of(sequence<Rs...>{});
    (e.h.push_back(detail::factors_of(Hs{})), ...);
    (e.p.push_back(detail::ids_of<inplace_vector<rh_id, encoding::max_factors>>(PMajors{}, PMinors{})), ...);
    e.y = detail::ids_of<inplace_vector<rh_id, encoding::max_y>>(YsMajor{}, YsMinor{});
    return e;
  }();
};

}  // namespace tilewright
