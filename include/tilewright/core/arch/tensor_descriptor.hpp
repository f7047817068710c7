// SPDX-License-Identifier: MIT
// The descriptor with which gfx1250's tensor data mover (TDM) loads a two-dimensional tile into LDS.
#pragma once

#include <tilewright/core/base/math.hpp>

namespace tilewright::arch {

/// Groups 0 and 1 of a descriptor, in scalar registers. AMD's manual of CDNA 5 was not read for it; the layout is what
/// three independent public programs agree on: LLVM's lowering of amdgpu.make_dma_descriptor (MLIR, AMDGPUToROCDL),
/// Triton's AMD backend (TDMUtility.cpp) and AMD's emulator rocjitsu (tensor_dma.h).
///
///   group 0   bits 1:0    1: one tile                       group 1   15:0     workgroups that share a load
///             31          rows are gathered                           17:16    log2 of an element's bytes
///             63:32       LDS address                                 18       arrive at a barrier in LDS
///             120:64      global address                              19       repeat with increments
///             127:126     2                                           20       pad
///                                                                     24:22    log2 of the dwords between pads, less 1
///   group 1   79:48       elements of a row in the tensor             31:25    dwords of a pad, less 1
///             111:80      rows in the tensor                          47:32    address of the barrier
///             127:112     elements of a row in the tile               143:128  rows in the tile
///             207:160     elements from one row to the next
///
/// What lies outside of the tensor is loaded as 0. Not known, or told differently by these sources, and not used here:
/// lengths of 0 (without bounds, or nothing), what a mask of workgroups does if not all of them issue the load,
/// alignment, speed, and the order among tiles of different waves.
struct tensor_descriptor {
  unsigned group0[4];  ///< with LDS address 0
  unsigned group1[8];  ///< sizes, pads and strides
};

/// A tile of rows x row_elements at the first element of a tensor of tensor_rows x tensor_row_elements, all at least 1.
struct tensor_tile {
  unsigned rows, row_elements;                ///< of the tile, less than 65,536
  unsigned tensor_rows, tensor_row_elements;  ///< of the tensor from the tile's first element on
  long long row_stride;                       ///< elements from one row to the next, less than 2^48
  index_t element_bytes;                      ///< 1, 2, 4 or 8
  index_t pad_bytes;                          ///< after each row in LDS: a multiple of 4, at most 512; 0: none
  unsigned workgroup_mask = 0;  ///< bit r: the workgroup of rank r of the cluster loads this tile, too; 0: no cluster
};

/// Whether pads can follow rows of this many bytes: powers of two from 8 to 1,024.
TILEWRIGHT_HD constexpr bool can_pad_rows(index_t row_bytes) {
  return row_bytes >= 8 && row_bytes <= 1024 && (row_bytes & (row_bytes - 1)) == 0;
}

/// The descriptor of a tile whose first element is at `global_address`.
TILEWRIGHT_HD constexpr tensor_descriptor pack_tensor_descriptor(const tensor_tile& t,
                                                                 unsigned long long global_address) {
  const auto log2 = [](unsigned n) { return unsigned(tilewright::detail::lowest_set_bit(n)); };
  const unsigned every = t.row_elements * unsigned(t.element_bytes) / 4, pad = unsigned(t.pad_bytes) / 4;
  const unsigned long long stride = static_cast<unsigned long long>(t.row_stride);
  return {{1, 0, unsigned(global_address), unsigned(global_address >> 32) | 2u << 30},
          {t.workgroup_mask | log2(unsigned(t.element_bytes)) << 16 |
               (t.pad_bytes > 0 ? 1u << 20 | (log2(every) - 1) << 22 | (pad - 1) << 25 : 0u),
           t.tensor_row_elements << 16, t.tensor_row_elements >> 16 | t.tensor_rows << 16,
           t.tensor_rows >> 16 | t.row_elements << 16, t.rows, unsigned(stride), unsigned(stride >> 32), 0}};
}

}  // namespace tilewright::arch
