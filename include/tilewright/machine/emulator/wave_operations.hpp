// SPDX-License-Identifier: MIT
// Shuffles, votes, matrix instructions, and LDS accesses in which lanes exchange what they address.
#pragma once

#include <tilewright/core/arch/transposing_read.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/machine/emulator/matrix/matrix_emulation.hpp>
#include <tilewright/machine/emulator/rendezvous.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace tilewright::emulator {

/// What one lane contributes: the byte of LDS that it addresses, and the words that it receives or stores.
struct matrix_access {
  index_t address = 0;         ///< byte in LDS that the lane addresses
  array<unsigned, 4> words{};  ///< what the lane stores or receives
};

/// Transposing reads; arch::source_of_transposing_read says where each element comes from. lane_at(lane) is the
/// matrix_access of a lane of the wave.
template <class LaneAt>
void read_transposed(arch::lds_op op, index_t element_bytes, index_t wave_size, const char* lds, LaneAt lane_at) {
  for (index_t lane = 0; lane < wave_size; ++lane) {
    char* const to = reinterpret_cast<char*>(lane_at(lane).words.data());
    for (index_t element = 0; element < arch::access_bytes(op) / element_bytes; ++element) {
      const arch::lane_element from = arch::source_of_transposing_read(op, {lane, element});
      __builtin_memcpy(to + element * element_bytes, lds + lane_at(from.lane).address + from.element * element_bytes,
                       std::size_t(element_bytes));
    }
  }
}

/// ldmatrix of four 8 x 8 matrices of 16-bit elements: lane l addresses row l % 8 of matrix l / 8; of each matrix, lane
/// i receives words i % 4 of row i / 4. (PTX ISA, "ldmatrix")
template <class LaneAt>
void read_matrices(const char* lds, LaneAt lane_at) {
  for (index_t lane = 0; lane < 32; ++lane) {
    for (index_t matrix = 0; matrix < 4; ++matrix)
      __builtin_memcpy(&lane_at(lane).words[matrix], lds + lane_at(8 * matrix + lane / 4).address + 4 * (lane % 4), 4);
  }
}

/// stmatrix, the reverse; transposed, lane l addresses column l % 8 of matrix l / 8.
template <class LaneAt>
void write_matrices(char* lds, bool transposed, LaneAt lane_at) {
  for (index_t lane = 0; lane < 32; ++lane) {
    for (index_t i = 0; i < 8; ++i) {  // elements of 16 bits
      const index_t matrix = i / 2, row = lane / 4, col = lane % 4 * 2 + i % 2;
      char* const to = lds + lane_at(8 * matrix + (transposed ? col : row)).address + 2 * (transposed ? row : col);
      __builtin_memcpy(to, reinterpret_cast<const char*>(lane_at(lane).words.data()) + 2 * i, 2);
    }
  }
}

class wave_operations final : public rendezvous {
 public:
  /// For the waves of one cluster; the references must outlive it.
  wave_operations(const arch::target& target, const cluster_shape& shape, cluster& threads, lds_recorder& recorder)
      : rendezvous(target, shape, threads, recorder),
        target_(target),
        lanes_(std::size_t(shape.num_threads())),
        instructions_(std::size_t(shape.num_threads() / target.wave_size)) {}

  unsigned shuffle(thread_context& self, unsigned value, index_t source_lane, call_site where) override {
    lane_state& mine = lane_of(self);
    mine.value = value;
    mine.source_lane = source_lane & (target_.wave_size - 1);
    meet(self, meeting::shuffle, where, [&] {
      lane_state* lanes = wave_lanes(self);
      for (index_t i = 0; i < target_.wave_size; ++i) lanes[i].received = lanes[lanes[i].source_lane].value;
    });
    return mine.received;
  }

  std::uint64_t ballot(thread_context& self, bool condition, call_site where) override {
    lane_state& mine = lane_of(self);
    mine.value = condition;
    meet(self, meeting::vote, where, [&] {
      lane_state* lanes = wave_lanes(self);
      std::uint64_t result = 0;
      for (index_t i = 0; i < target_.wave_size; ++i) result |= std::uint64_t{lanes[i].value} << i;
      for (index_t i = 0; i < target_.wave_size; ++i) lanes[i].votes = result;
    });
    return mine.votes;
  }

  void mma(thread_context& self, arch::matrix_op op, arch::matrix_element a_element, arch::matrix_element b_element,
           void* c, const void* a, const void* b, call_site where) override {
    if (!target_.supports(op, a_element, b_element))
      refuse(self, std::string("asks for a matrix instruction that ") + target_.name + " does not have", where);
    matrix_instruction_of_wave& mine = instructions_[std::size_t(self.wave_number)];
    const meeting others_at = waits_at(self);
    if (others_at == meeting::none) {
      mine.op = op;
      mine.a_element = a_element;
      mine.b_element = b_element;
    } else if (others_at == meeting::mma &&
               (mine.op != op || mine.a_element != a_element || mine.b_element != b_element)) {
      refuse(self, "reaches another matrix instruction", where, " than the lanes of its wave before it");
    }
    mine.operands[self.lane_id] = {static_cast<const char*>(a), static_cast<const char*>(b), static_cast<char*>(c)};
    meet(self, meeting::mma, where, [&] {
      const matrix_emulator& emulator = emulators_.of(op);
      if (const index_t lane = emulator.find_unequal_copies(mine.operands.data()); lane >= 0) {
        const thread_context& other = lanes_of(self.wave_number)[lane];
        refuse(other, "passes a matrix instruction", where,
               " other operands than the lane that must hold a copy of them");
      }
      emulator.run(a_element, b_element, mine.operands.data());
      ++num_matrix_instructions_;
    });
  }
  /// Matrix instructions so far, of waves.
  long_index_t num_matrix_instructions() const { return num_matrix_instructions_; }

  array<unsigned, 4> ldmatrix_x4(thread_context& self, index_t address, bool transposed, call_site where) override {
    require(self, arch::lds_op::ldmatrix, "ldmatrix", where);
    self.record(arch::lds_op::ldmatrix, address, arch::access_bytes(arch::lds_op::ldmatrix), where);
    const meeting at = transposed ? meeting::transposing_ldmatrix : meeting::ldmatrix;
    return access_together(self, at, {address, {}}, where, [&](auto lane_at) {
      if (transposed) {
        read_transposed(arch::lds_op::ldmatrix, 2, target_.wave_size, self.lds, lane_at);
      } else {
        read_matrices(self.lds, lane_at);
      }
    });
  }

  void stmatrix_x4(thread_context& self, index_t address, const array<unsigned, 4>& words, bool transposed,
                   call_site where) override {
    require(self, arch::lds_op::stmatrix, "stmatrix", where);
    self.record(arch::lds_op::stmatrix, address, arch::access_bytes(arch::lds_op::stmatrix), where);
    const meeting at = transposed ? meeting::transposing_stmatrix : meeting::stmatrix;
    access_together(self, at, {address, words}, where,
                    [&](auto lane_at) { write_matrices(self.lds, transposed, lane_at); });
  }

  array<unsigned, 2> transposing_read(thread_context& self, index_t address, index_t element_bytes,
                                      call_site where) override {
    const arch::lds_op op = arch::transposing_read_op(element_bytes);
    require(self, op, arch::instruction_name(arch::instruction_set::cdna, op), where);
    self.record(op, address, arch::access_bytes(op), where);
    const meeting at = element_bytes == 2 ? meeting::transposing_read_16 : meeting::transposing_read_8;
    const array<unsigned, 4> result = access_together(self, at, {address, {}}, where, [&](auto lane_at) {
      read_transposed(op, element_bytes, target_.wave_size, self.lds, lane_at);
    });
    return {{result[0], result[1]}};
  }

 private:
  /// What a lane passes to an operation of its wave, and what it receives.
  struct lane_state {
    index_t source_lane = 0;           // shuffle
    unsigned value = 0, received = 0;  // shuffle, ballot
    std::uint64_t votes = 0;           // ballot
    matrix_access access;
  };
  struct matrix_instruction_of_wave {
    arch::matrix_op op{};
    arch::matrix_element a_element{}, b_element{};
    array<matrix_operands, 64> operands{};
  };

  void require(const thread_context& self, arch::lds_op op, const char* instruction, call_site where) const {
    if (!target_.supports(op))
      refuse(self, std::string("asks for ") + instruction + ", which " + target_.name + " does not have", where);
  }

  lane_state& lane_of(const thread_context& self) { return lanes_[std::size_t(self.number)]; }
  /// States of the lanes of the thread's wave.
  lane_state* wave_lanes(const thread_context& self) { return &lanes_[std::size_t(self.number - self.lane_id)]; }

  /// An access in which lanes exchange what they address; `complete` performs it for the wave.
  template <class Complete>
  array<unsigned, 4> access_together(thread_context& self, meeting at, const matrix_access& access, call_site where,
                                     Complete complete) {
    lane_state& mine = lane_of(self);
    mine.access = access;
    meet(self, at, where,
         [&] { complete([&](index_t lane) -> matrix_access& { return wave_lanes(self)[lane].access; }); });
    return mine.access.words;
  }

  const arch::target& target_;
  std::vector<lane_state> lanes_;
  std::vector<matrix_instruction_of_wave> instructions_;  // by wave
  matrix_emulators emulators_;
  long_index_t num_matrix_instructions_ = 0;
};

}  // namespace tilewright::emulator
