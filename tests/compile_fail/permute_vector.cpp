// SPDX-License-Identifier: MIT
// Squares of 16 x 16 bytes need more registers and LDS than a tile of bytes is worth.
// EXPECT: permute: vectors have up to 16 bytes, of elements of one byte up to 8
// EXPECT(gcc): tile_distribution_encoding: a factor must be at least 1
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/tensor/permute.hpp>

using kernel = tilewright::permute<tilewright::arch::gfx942, unsigned char, 16>;
constexpr int bytes = kernel::lds_bytes;
