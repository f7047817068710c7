// SPDX-License-Identifier: MIT
// Accesses to LDS in which lanes exchange what they address: ldmatrix, stmatrix and transposing reads, on the CPU.
#pragma once

#include <tilewright/arch/transposing_read.hpp>
#include <tilewright/util/array.hpp>

#include <cstddef>

namespace tilewright::emulator {

/// What one lane contributes: the byte of LDS that it addresses, and the words that it receives or stores.
struct matrix_access {
  index_t address = 0;
  array<unsigned, 4> words{};
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

}  // namespace tilewright::emulator
