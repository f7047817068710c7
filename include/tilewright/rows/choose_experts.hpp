// SPDX-License-Identifier: MIT
// Routing of tokens to experts: the k largest logits of each token, with softmax weights.
#pragma once

#include <tilewright/rows/row_column.hpp>
#include <tilewright/rows/row_exponents.hpp>

namespace tilewright {

/// For each token the `choices` experts with the largest logits, in descending order, the first of equal ones first.
template <class T>
struct choose_experts_args {
  const T* x = nullptr;       // logits: tokens rows of experts elements
  index_t* expert = nullptr;  // tokens x choices
  float* weight = nullptr;    // tokens x choices
  index_t tokens = 0, experts = 0, choices = 0;
  long_index_t x_stride = 0;  // in elements
  bool is_normalised = true;  // weights of a token add up to 1: softmax of the chosen logits; else of all logits
};

/// Tile: the lanes of one wave share a row, and hold all experts. A logit that is NaN is chosen last, as expert -1 with
/// weight 0.
template <class Arch, class T, row_tile Tile>
struct choose_experts {
  using arch = Arch;
  using args_type = choose_experts_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(block::waves_per_row == 1,
                "choose_experts: the lanes of one wave share a row; give the threads more vectors for more experts");
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.tokens, args.experts, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, Tile.rows())) return why;
    if (args.experts > Tile.cols()) return "there are more experts than the tile holds: use a tile with more vectors";
    if (args.choices < 1 || args.choices > args.experts || args.choices > Tile.threads_per_row)
      return "choices must be positive, and at most the experts and the lanes that share a row";
    if (!args.expert || !args.weight) return "a pointer is null: expert or weight";
    const long_index_t n = long_index_t{args.tokens} * args.choices;
    if (n > 0x7fffffff / 4) return "there are more than 2^29 choices";
    const detail::row_matrix matrices[] = {detail::row_array(args.expert, n), detail::row_array(args.weight, n), x};
    return detail::check_results(matrices, 2);
  }
  static constexpr exec::block_index grid(const args_type& args) { return {ceil_div(args.tokens, Tile.rows()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    constexpr float nan = bit_cast<float>(0x7fc00000u);
    constexpr index_t none = 0x7fffffff;
    const block rows(exec::block_id().x * Tile.rows(), args.tokens, args.experts);
    auto logits = cast_tile<float>(rows.load(args.x, args.x_stride, 0));
    detail::row_exponents<block> exponents;
    if (!args.is_normalised) {
      auto copy = logits;
      exponents.add(rows, copy, 0);
      exponents.finish({});
    }
    rows.mask(logits, 0, nan);  // a NaN loses against all numbers
    const index_t lane = index_t(unsigned(exec::lane_id()) % unsigned(Tile.threads_per_row));
    float largest = 0, sum = 0, own_weight = 0;
    index_t own_expert = -1;
    TILEWRIGHT_UNROLL(1)
    for (index_t choice = 0; choice < args.choices; ++choice) {
      auto best = block::reduce_own(logits, max);
      block::reduce_threads(max, {}, best);
      auto expert = detail::first_equal(rows, logits, best, 0, none);
      block::reduce_threads(min, {}, expert);
      const float value = best.thread_buffer[0];
      const index_t found = expert.thread_buffer[0];
      if (choice == 0) largest = value;
      const float weight = found == none ? 0.0f : exec::exp2((value - largest) * detail::log2_e);
      sum += weight;
      if (lane == choice) {
        own_weight = weight;
        own_expert = found == none ? -1 : found;
      }
      detail::change_at(rows, logits, 0, expert, [](float) { return bit_cast<float>(0x7fc00000u); });
    }
    const float share = args.is_normalised
                            ? exec::rcp(sum)
                            : exec::exp2((largest - exponents.largest.thread_buffer[0]) * detail::log2_e) *
                                  exec::rcp(exponents.sum.thread_buffer[0]);
    const long_index_t bytes = long_index_t{args.tokens} * args.choices * 4;
    const index_t row =
        rows.first_row + block::of_rows::calculate_index(get_partition_index<typename block::of_rows>())[0];
    const index_t place =
        lane < args.choices && row < args.tokens ? (row * args.choices + lane) * 4 : exec::out_of_bounds_offset;
    exec::buffer_store(exec::make_global_buffer(args.weight, bytes), place, own_weight * share);
    exec::buffer_store(exec::make_global_buffer(args.expert, bytes), place, own_expert);
  }
};

}  // namespace tilewright
