// SPDX-License-Identifier: MIT
// Reads of LDS in which a lane receives what other lanes address: ldmatrix and transposing reads, on the CPU.
#pragma once

#include <tilewright/arch/transposing_read.hpp>
#include <tilewright/util/array.hpp>

#include <cstddef>

namespace tilewright::exec {
inline namespace host {

/// The part of a lane in such a read: the byte of LDS that it addresses, and what it receives.
struct matrix_read {
  index_t address = 0;
  array<unsigned, 4> result{};
};

/// Transposing: where each element comes from, arch::source_of_transposing_read says.
/// read_of(lane) is the matrix_read of a lane of the wave.
template <class ReadOf>
void read_transposed(arch::lds_op op, index_t element_bytes, index_t wave_size, const char* lds, ReadOf read_of) {
  for (index_t lane = 0; lane < wave_size; ++lane) {
    char* const to = reinterpret_cast<char*>(read_of(lane).result.data());
    for (index_t element = 0; element < arch::access_bytes(op) / element_bytes; ++element) {
      const arch::lane_element from = arch::source_of_transposing_read(op, {lane, element});
      __builtin_memcpy(to + element * element_bytes, lds + read_of(from.lane).address + from.element * element_bytes,
                       std::size_t(element_bytes));
    }
  }
}

/// ldmatrix of four 8 x 8 matrices of 16-bit elements: lane l addresses row l % 8 of matrix l / 8; of each matrix, lane
/// i receives words i % 4 of row i / 4. (PTX ISA, "ldmatrix")
template <class ReadOf>
void read_matrices(const char* lds, ReadOf read_of) {
  for (index_t lane = 0; lane < 32; ++lane) {
    for (index_t matrix = 0; matrix < 4; ++matrix)
      __builtin_memcpy(&read_of(lane).result[matrix], lds + read_of(8 * matrix + lane / 4).address + 4 * (lane % 4), 4);
  }
}

}  // namespace host
}  // namespace tilewright::exec
