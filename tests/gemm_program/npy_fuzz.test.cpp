// SPDX-License-Identifier: MIT
// Damaged NumPy files: reading ends in a matrix or in one sentence, and takes no more memory than the file.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "../property/text_mutator.hpp"
#include "npy.hpp"
#include "scratch_folder.hpp"

namespace {
thread_local std::size_t largest_allocation = 0;
}

// Replaced for this whole test program, to see the largest allocation.
void* operator new(std::size_t bytes) {
  largest_allocation = bytes > largest_allocation ? bytes : largest_allocation;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace gemm_program {
namespace {

using tilewright::property::scaled;

tilewright::property::text_mutator make_mutator(unsigned seed) {
  return {seed,
          {"-", "(", ")", "{", "}", ",", "'", "9999999999999", "18446744073709551616", "0", "1", "'shape': (1, 1), ",
           "True", "<f4", "<u2", "\n", "\xff\xff\xff\xff", "[", "L"}};
}

/// Now and then what says how long the header is.
std::string damage(tilewright::property::text_mutator& mutate, std::string bytes) {
  if (mutate.below(4) == 0) bytes[8] = static_cast<char>(mutate.below(256));
  return mutate(bytes);
}

std::vector<std::string> seeds() {
  return {npy_bytes("{'descr': '<f2', 'fortran_order': False, 'shape': (3, 5), }", std::string(30, 'a')),
          npy_bytes("{'descr': '<V2', 'fortran_order': True, 'shape': (3, 5), }", std::string(30, 'a'), 2),
          npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }", std::string(60, 'a'), 3)};
}

TEST(GemmNpyFuzz, DamagedHeadersAreParsedOrRefused) {
  auto mutate = make_mutator(1);
  std::int64_t parsed = 0, refused = 0;
  for (const std::string& seed : seeds())
    for (long i = 0; i < scaled(50000); ++i) {
      const std::string bytes = damage(mutate, seed);
      try {
        const npy_header header = parse_npy_header(bytes, static_cast<std::int64_t>(bytes.size()), "m.npy");
        ASSERT_EQ(header.data_offset + header.data_bytes(), static_cast<std::int64_t>(bytes.size()));
        ++parsed;
      } catch (const refusal& error) {
        ASSERT_EQ(std::string_view(error.what()).find_first_of("\n\r"), std::string::npos);
        ++refused;
      }
    }
  EXPECT_GT(parsed, scaled(100));
  EXPECT_GT(refused, scaled(100000));
}

element type_of(npy_scalar scalar) {
  switch (scalar) {
    case npy_scalar::bf16: return element::bf16;
    case npy_scalar::byte: return element::e4m3;
    case npy_scalar::i8: return element::i8;
    case npy_scalar::i32: return element::i32;
    default: return element::f16;
  }
}

TEST(GemmNpyFuzz, DamagedFilesTakeNoMoreMemoryThanTheirSize) {
  const scratch_folder folder;
  const std::string name = folder / "m.npy";
  auto mutate = make_mutator(2);
  for (const std::string& seed : seeds())
    for (long i = 0; i < scaled(500); ++i) {
      const std::string bytes = damage(mutate, seed);
      write_bytes(name, bytes);
      largest_allocation = 0;
      try {
        npy_reader reader(name);
        const matrix m = reader.read(type_of(reader.header().scalar));
        ASSERT_EQ(static_cast<std::int64_t>(m.bytes.size()), m.batch * m.rows * m.cols * bytes_of(m.type));
      } catch (const refusal&) {
      }
      // Sentences and the reader itself are small; everything else is at most as large as the file.
      ASSERT_LE(largest_allocation, bytes.size() + 4096);
    }
  EXPECT_EQ(folder.file_count(), 1);
}

}  // namespace
}  // namespace gemm_program
