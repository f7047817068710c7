// SPDX-License-Identifier: MIT
// LDS byte address of every lane, per instruction of a tile access.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/descriptor/tensor_descriptor.hpp>
#include <tilewright/core/distribution/access_plan.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>
#include <tilewright/core/lds/lds_fault.hpp>

namespace tilewright {

/// The graph of a descriptor with the values of its run-time parameters filled in: the whole layout as one value.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr tensor_graph graph_of(const tensor_descriptor<Graph>& descriptor) {
  tensor_graph graph = Graph;
  for (tensor_graph::node& node : graph.nodes) {
    const detail::transform_parameters p = node.parameters(descriptor.values.data());
    for (index_t i = 0; i < node.spec.parameters.size(); ++i) node.spec.parameters[i] = p[i];
    node.first_value = 0;
  }
  graph.num_values = 0;
  return graph;
}

/// The instructions of one tile access: one for each wave of the block and each vector that a thread holds. The layout
/// is a graph without run-time values, its offsets count elements from the start of the tile. A pattern refers to both;
/// they must outlive it.
class lds_access_pattern {
 public:
  /// Dimensions of a tile, and of what a thread holds, at most.
  static constexpr index_t max_x = distribution_encoding::max_x, max_y = distribution_encoding::max_y;
  using position = multi_index<max_x>;

  /// How offsets follow from positions.
  enum class addresses_are : signed char { xor_of_terms, sum_of_terms, arbitrary };

  /// Element sizes are powers of two up to 16 bytes.
  TILEWRIGHT_HD constexpr lds_access_pattern(const tensor_graph& graph, const distribution_encoding& encoding,
                                             index_t element_bytes)
      : graph_(&graph), encoding_(&encoding), element_bytes_(element_bytes) {
    vector_ = detail::choose_vector(graph, encoding, element_bytes);
    waves_ = encoding.ndim_p() == 1 ? 1 : encoding.p_length(0);
    lanes_ = encoding.p_length(encoding.ndim_p() - 1);
    accesses_ = encoding.num_elements_per_thread() / vector_.length;
    origin_ = offset(position{});
    if (detail::is_power_of_two(element_bytes) && detail::is_power_of_two(lanes_) &&
        detail::factors_own_bits(encoding) && detail::is_f2_linear(graph)) {
      rule_ = addresses_are::xor_of_terms;
      bits_ = detail::find_offset_bits<max_x>(graph);
      knows_bits_ = true;
    } else if (detail::is_linear(graph)) {
      rule_ = addresses_are::sum_of_terms;
    }
    find_lane_offsets();
  }

  /// Refuses temporaries, which are gone when the expression ends.
  template <class Graph, class Encoding>
    requires(!detail::is_lvalue_reference_v<Graph> || !detail::is_lvalue_reference_v<Encoding>)
  TILEWRIGHT_HD constexpr lds_access_pattern(Graph&&, Encoding&&, index_t) {
    static_assert(sizeof(Graph) == 0,
                  "lds_access_pattern: it refers to the layout and to the distribution; give names to both");
  }

  /// How offsets follow from positions.
  TILEWRIGHT_HD constexpr addresses_are rule() const { return rule_; }
  /// Elements of an access.
  TILEWRIGHT_HD constexpr const detail::vector_choice& vector() const { return vector_; }
  /// Bytes of an element.
  TILEWRIGHT_HD constexpr index_t element_bytes() const { return element_bytes_; }
  /// Bytes of an access of a lane.
  TILEWRIGHT_HD constexpr index_t bytes_per_lane() const { return vector_.length * element_bytes_; }
  /// Dimensions of the tile.
  TILEWRIGHT_HD constexpr index_t ndim_x() const { return encoding_->ndim_x(); }
  /// Waves of the block.
  TILEWRIGHT_HD constexpr index_t num_waves() const { return waves_; }
  /// Lanes of a wave.
  TILEWRIGHT_HD constexpr index_t num_lanes() const { return lanes_; }
  /// Accesses of a lane.
  TILEWRIGHT_HD constexpr index_t num_access() const { return accesses_; }

  /// Position in the tile of the first element of an access.
  TILEWRIGHT_HD constexpr position position_of(index_t wave, index_t lane, index_t access) const {
    position x{};
    add_partition(x, encoding_->ndim_p() - 1, lane);
    if (encoding_->ndim_p() == 2) add_partition(x, 0, wave);
    for (index_t i = encoding_->ndim_y(); i-- > 0;) {
      const index_t step = i == vector_.dim_y ? vector_.length : 1, length = encoding_->y_length(i) / step;
      x[encoding_->y[i].major - 1] += access % length * step * encoding_->stride(encoding_->y[i]);
      access /= length;
    }
    return x;
  }

  /// Offset of an element from the start of the layout.
  TILEWRIGHT_HD constexpr index_t offset(const position& x) const {
    if (knows_bits_) return bits_.offset(x);
    index_t hidden[tensor_graph::max_hidden] = {};
    detail::lower_all(*graph_, nullptr, x.data(), hidden);
    return hidden[0];
  }

  /// Byte that lane 0 of an instruction addresses.
  TILEWRIGHT_HD constexpr index_t first_address(index_t wave, index_t access) const {
    return offset(position_of(wave, 0, access)) * element_bytes_;
  }

  /// Byte addresses of the lanes of an instruction; -1 from the last lane on.
  TILEWRIGHT_HD constexpr lds_addresses addresses(index_t wave, index_t access) const {
    lds_addresses result{};
    const index_t first = rule_ == addresses_are::arbitrary ? 0 : offset(position_of(wave, 0, access));
    for (index_t lane = 0; lane < result.size(); ++lane) {
      if (lane >= lanes_) {
        result[lane] = -1;
      } else if (rule_ == addresses_are::arbitrary) {
        result[lane] = offset(position_of(wave, lane, access)) * element_bytes_;
      } else if (rule_ == addresses_are::xor_of_terms) {
        result[lane] = (first ^ lane_offset_[lane]) * element_bytes_;
      } else {
        result[lane] = (first + lane_offset_[lane]) * element_bytes_;
      }
    }
    return result;
  }

  /// Which lane's element lies at each place when a wave's instruction writes LDS lane after lane: global memory must
  /// be read in this order. Place i is `i * bytes` above the lowest address; -1 if no lane's element lies there.
  TILEWRIGHT_HD constexpr array<index_t, 64> lanes_by_address(index_t wave, index_t access) const {
    const lds_addresses address = addresses(wave, access);
    index_t lowest = address[0];
    for (index_t lane = 1; lane < lanes_; ++lane) lowest = min(lowest, address[lane]);
    array<index_t, 64> result{};
    for (index_t& lane : result) lane = -1;
    for (index_t lane = 0; lane < lanes_; ++lane) {
      const index_t distance = address[lane] - lowest, place = distance / bytes_per_lane();
      if (place < lanes_ && distance % bytes_per_lane() == 0) result[place] = lane;
    }
    return result;
  }

  /// Lowest and highest byte at which an access of any lane of any wave begins.
  TILEWRIGHT_HD constexpr array<index_t, 2> address_range() const {
    index_t lowest = origin_, highest = origin_;
    if (rule_ == addresses_are::arbitrary || !detail::has_power_of_two_lengths(*encoding_)) {
      for (index_t wave = 0; wave < waves_; ++wave) {
        for (index_t access = 0; access < accesses_; ++access) {
          for (index_t lane = 0; lane < lanes_; ++lane) {
            const index_t here = offset(position_of(wave, lane, access));
            lowest = min(lowest, here);
            highest = max(highest, here);
          }
        }
      }
      return {{lowest * element_bytes_, highest * element_bytes_}};
    }
    array<unsigned, 32> basis{};  // by highest bit
    for (index_t d = 0; d < encoding_->ndim_x(); ++d) {
      const index_t length = encoding_->x_length(d),
                    vector = encoding_->y[vector_.dim_y].major == d + 1 ? vector_.length : 1;
      position unit{};
      if (rule_ == addresses_are::sum_of_terms) {
        unit[d] = length - vector;
        const index_t distance = offset(unit) - origin_;
        lowest += min(distance, 0);
        highest += max(distance, 0);
        continue;
      }
      for (unit[d] = vector; unit[d] < length; unit[d] *= 2) {
        unsigned v = unsigned(offset(unit) ^ origin_);
        while (v != 0 && basis[31 - __builtin_clz(v)] != 0) v ^= basis[31 - __builtin_clz(v)];
        if (v != 0) basis[31 - __builtin_clz(v)] = v;
      }
    }
    for (index_t bit = 31; bit-- > 0;) {
      if (basis[bit] == 0) continue;
      highest = max(highest, highest ^ index_t(basis[bit]));
      lowest = min(lowest, lowest ^ index_t(basis[bit]));
    }
    return {{lowest * element_bytes_, highest * element_bytes_}};
  }

  /// Bits of an offset that the thread's own position or the tile's origin may flip, where rule() is xor_of_terms.
  TILEWRIGHT_HD constexpr index_t bits_of_others() const {
    array<index_t, max_x> own{};
    for (index_t x = 0; x < ndim_x(); ++x) own[x] = detail::bits_of_y(*encoding_, x);
    return bits_.flipped_by_others(own);
  }

  /// What each bit of the lane flips in the address, where rule() is xor_of_terms.
  TILEWRIGHT_HD constexpr array<index_t, 6> address_of_lane_bit() const {
    array<index_t, 6> result{};
    for (index_t bit = 0; bit < 6 && 1 << bit < lanes_; ++bit) result[bit] = lane_offset_[1 << bit] * element_bytes_;
    return result;
  }

 private:
  TILEWRIGHT_HD constexpr void add_partition(position& x, index_t p, index_t value) const {
    const auto& ids = encoding_->p[p];
    for (index_t i = ids.size(); i-- > 0;) {
      const index_t length = encoding_->length(ids[i]);
      if (ids[i].major != 0) x[ids[i].major - 1] += value % length * encoding_->stride(ids[i]);
      value /= length;
    }
  }

  /// Offset of each lane's first element, less that of lane 0.
  TILEWRIGHT_HD constexpr void find_lane_offsets() {
    if (rule_ == addresses_are::xor_of_terms) {
      for (index_t lane = 1; lane < lanes_; ++lane) {
        const index_t rest = lane & (lane - 1);
        lane_offset_[lane] =
            rest == 0 ? offset(position_of(0, lane, 0)) ^ origin_ : lane_offset_[rest] ^ lane_offset_[lane ^ rest];
      }
    } else if (rule_ == addresses_are::sum_of_terms) {
      array<index_t, max_x> stride{};
      for (index_t d = 0; d < encoding_->ndim_x(); ++d) stride[d] = index_t(detail::step_along(*graph_, d).factor);
      for (index_t lane = 1; lane < lanes_; ++lane) {
        const position x = position_of(0, lane, 0);
        for (index_t d = 0; d < encoding_->ndim_x(); ++d) lane_offset_[lane] += x[d] * stride[d];
      }
    }
  }

  const tensor_graph* graph_;
  const distribution_encoding* encoding_;
  index_t element_bytes_;
  detail::vector_choice vector_;
  index_t waves_ = 1, lanes_ = 1, accesses_ = 1, origin_ = 0;
  addresses_are rule_ = addresses_are::arbitrary;
  array<index_t, 64> lane_offset_{};
  bool knows_bits_ = false;
  detail::offset_bits<max_x> bits_;
};

}  // namespace tilewright
