// SPDX-License-Identifier: MIT
// Tiles, uses and targets to choose layouts for: random ones, and those of GEMM kernels.
#pragma once

#include "random_access.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/lds/layout_solver.hpp>

#include <bit>

namespace tilewright::random_access {

struct layout_problem {
  lds_tile tile;
  std::vector<lds_use> uses;
  std::vector<const arch::target*> targets;

  lds_legality check() const {
    return check_lds_uses(targets.data(), index_t(targets.size()), tile, uses.data(), index_t(uses.size()));
  }
  lds_layout_choice solve() const {
    return choose_lds_layout(targets.data(), index_t(targets.size()), tile, uses.data(), index_t(uses.size()));
  }
};

/// Up to four uses by random distributions, on up to three targets of one wave size.
inline layout_problem random_problem(random_engine& random) {
  const index_t wave = below(random, 2) == 0 ? 32 : 64, bytes = 1 << below(random, 3);
  layout_problem p{{16 << below(random, 3), (32 << below(random, 3)) / bytes, bytes}, {}, {}};
  for (index_t i = 1 + below(random, 4); i > 0; --i)
    p.uses.push_back({random_distribution(random, p.tile, wave),
                      below(random, 2) == 0 ? lds_access_kind::read : lds_access_kind::write});
  std::vector<const arch::target*> same_wave;
  for (const arch::target* t : arch::all_targets) {
    if (t->wave_size == wave) same_wave.push_back(t);
  }
  std::shuffle(same_wave.begin(), same_wave.end(), random);
  p.targets.assign(same_wave.begin(), same_wave.begin() + 1 + below(random, 3));
  return p;
}

/// Whether any layout that is linear over bits and keeps the widest vectors whole has at most this degree, by a search
/// that shares nothing with the library's: the bits of the bank are chosen one after the other, each as the parity of
/// some bits of the chunk's number, and the differences of each phase's lanes are listed, not spanned.
class exhaustive_search {
 public:
  enum class answer { no, yes, given_up };

  explicit exhaustive_search(const layout_problem& p) {
    const tensor_graph plain = packed_graph(p.tile.rows, p.tile.cols);
    index_t chunk = 4;
    for (const lds_use& use : p.uses)
      chunk = max(chunk, lds_access_pattern(plain, use.distribution, p.tile.element_bytes).bytes_per_lane());
    for (const lds_use& use : p.uses) {
      const index_t bytes = lds_access_pattern(plain, use.distribution, p.tile.element_bytes).bytes_per_lane();
      for (const arch::target* t : p.targets) {
        for (const arch::lds_service& service :
             t->find(detail::lds_op_of(use.kind, bytes, p.tile.element_bytes))->readings)
          demands_.push_back(demand_of(service, p.tile, use.distribution, bytes, chunk));
      }
    }
    chunk_bits_ = detail::log2_floor(chunk);
    num_bits_ = detail::log2_floor(p.tile.bytes() / chunk);
    for (const demand& d : demands_) {
      num_rows_ = max(num_rows_, d.rows);
      for (const unsigned v : d.apart) used_ |= v >> chunk_bits_;
    }
  }

  answer has_degree(index_t degree, long most_nodes) {
    degree_ = std::size_t(degree);
    nodes_left_ = most_nodes;
    std::vector<std::vector<unsigned>> apart;
    for (const demand& d : demands_) apart.push_back(d.apart);
    const bool found = choose(0, apart, 0, used_);
    return found ? answer::yes : nodes_left_ < 0 ? answer::given_up : answer::no;
  }

 private:
  /// Differences (0 is one) of the lanes of phase 0 that no bit inside of the chunk keeps in other banks; how many bank
  /// bits above the chunk the instruction sees.
  struct demand {
    std::vector<unsigned> apart;
    index_t rows = 0;
  };

  static demand demand_of(const arch::lds_service& service, const lds_tile& tile, const distribution_encoding& e,
                          index_t bytes, index_t chunk) {
    const auto byte_of = [&](index_t lane) {
      const naive::indices x = naive::position(e, {0, lane}, naive::indices(naive::y_lengths(e).size(), 0));
      return unsigned((x[0] * tile.cols + x[1]) * tile.element_bytes);
    };
    const index_t lanes = naive::partition_lengths(e)[1];
    bool shared[2] = {service.merges_where_lanes_share, service.merges_where_lanes_share};
    for (index_t lane = 0; lane < lanes; ++lane) {
      for (const index_t i : {0, 1}) shared[i] = shared[i] && byte_of(lane) == byte_of(lane ^ (i + 1));
    }
    const unsigned unit = unsigned(max(4, bytes)), bank_row = unsigned(service.banks * 4);
    std::set<unsigned> differences;
    for (index_t lane = 0; lane < lanes; ++lane) {
      for (const index_t phase : {0, 1}) {
        if (phase == 1 && !shared[0] && !shared[1]) continue;
        if ((service.phases.lanes_of(phase) >> lane & 1) == 0) continue;
        const unsigned v = (byte_of(lane) ^ byte_of(0)) / unit * unit;
        if (v % bank_row % unsigned(chunk) == 0) differences.insert(v);
      }
    }
    return {{differences.begin(), differences.end()}, max(0, detail::log2_floor(index_t(bank_row) / chunk))};
  }

  /// Chooses the bank's bits from `row` on. Those of one width are as good in any order and with others added to them,
  /// so that each has a highest bit of its own, which those after it leave alone: `free`.
  bool choose(index_t row, const std::vector<std::vector<unsigned>>& apart, unsigned below, unsigned free) {
    bool starts_width = row == 0, is_done = true;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      const std::size_t left = std::size_t(max(0, demands_[i].rows - row));
      if (apart[i].size() > degree_ << left) return false;
      is_done = is_done && apart[i].size() <= degree_;
      starts_width = starts_width || demands_[i].rows == row;
    }
    if (is_done) return true;
    if (starts_width) below = 1u << num_bits_;
    for (unsigned bits = free; bits != 0; bits = (bits - 1) & free) {
      if (bits >= below) continue;
      if (--nodes_left_ < 0) return false;
      auto next = apart;
      for (std::size_t i = 0; i < demands_.size(); ++i) {
        if (row >= demands_[i].rows) continue;
        std::erase_if(next[i], [&](unsigned v) { return std::popcount((v >> chunk_bits_) & bits) % 2 != 0; });
      }
      const unsigned highest = std::bit_floor(bits);
      if (choose(row + 1, next, highest, free & ~highest)) return true;
    }
    return false;
  }

  std::vector<demand> demands_;
  index_t chunk_bits_ = 0, num_bits_ = 0, num_rows_ = 0;
  unsigned used_ = 0;
  std::size_t degree_ = 1;
  long nodes_left_ = 0;
};

/// A tile of an operand, written by the copy from global memory and read by a matrix instruction: f(problem) for every
/// instruction, up to 256 rows, rows of 32 to 512 bytes, 1 to 8 waves, vectors, both orders in global memory, as it is
/// or transposed in LDS, and on every set of targets of the instruction's wave size.
template <class F>
void for_each_gemm_problem(F&& f) {
  for (index_t number = 0; number <= index_t(arch::matrix_op::wgmma_k16) - 1; ++number) {
    const arch::matrix_op op = arch::matrix_op(number);
    const arch::matrix_instruction instruction = arch::describe(op);
    const index_t bytes = arch::element_bytes(op), wave = instruction.wave_size();
    std::vector<const arch::target*> having;
    for (const arch::target* t : arch::all_targets) {
      if (t->wave_size == wave) having.push_back(t);
    }
    for (unsigned set = 1; set < 1u << having.size(); ++set) {
      layout_problem p;
      bool is_supported = false;  // by one of them; others may read the same way
      for (std::size_t i = 0; i < having.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        p.targets.push_back(having[i]);
        is_supported = is_supported || having[i]->supports(op);
      }
      if (!is_supported) continue;
      for (index_t rows = instruction.m; rows <= 256; rows *= 2) {
        for (index_t k = max(instruction.k, 32 / bytes); k * bytes <= 512; k *= 2) {
          const block_tile tile{rows, instruction.n, k, 1, 1, op};
          for (index_t vector = 1; vector * bytes <= 16; vector *= 2) {
            for (index_t waves = 1; waves <= 8; waves *= 2) {
              for (const bool turned : {false, true}) {
                for (const operand_major major : {operand_major::k, operand_major::mn}) {
                  const index_t chunk = 16 / bytes, copy_rows = turned ? k : rows, copy_k = turned ? rows : k;
                  if (!detail::operand_copy_fits(major, copy_rows, copy_k, waves, wave, vector, chunk)) continue;
                  const distribution_encoding read = detail::a_encoding(tile, true, turned);
                  p.tile = {copy_rows, copy_k, bytes};
                  p.uses = {{operand_copy_encoding(major, copy_rows, copy_k, waves, wave, vector, chunk),
                             lds_access_kind::write},
                            {turned ? detail::with_dimensions_exchanged(read) : read, fragment_access(op, turned)}};
                  if (p.check().is_legal()) f(p);
                }
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace tilewright::random_access
