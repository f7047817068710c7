// SPDX-License-Identifier: MIT
// Views that are larger than their memory, in launches that register none; allocations of all sizes and alignments.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/allocations.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include "fault_text.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#if !TILEWRIGHT_ADDRESS_SANITIZER
namespace tilewright {
namespace {

/// One wave reads 4 bytes by lane, from `first` on; the view has no bounds of its own.
std::string fault_of_reading(const void* memory, index_t first) {
  try {
    emulator::launch({.target = &arch::gfx942::value,
                      .grid = {1},
                      .block_size = 64,
                      .lds_bytes = 0,
                      .check_lds = emulator::lds_checks::on},
                     [=] {
                       const auto buffer = exec::make_global_buffer(static_cast<const char*>(memory), 1 << 22);
                       exec::buffer_load<int>(buffer, first + exec::thread_id() * 4);
                     });
  } catch (const emulator::fault& f) {
    std::string text = f.what();
    const auto line = text.find(" (allocations");
    return text.erase(line, text.find(')', line) + 1 - line);
  }
  return "";
}

TEST(Allocations, ViewsThatAreTooLargeAreFoundAtTheirFirstUse) {
  for (const std::size_t bytes : {256u, 260u, 4000u, 4096u, 1u << 18, 3u << 20}) {
    const auto memory = std::make_unique<char[]>(bytes);
    const auto size = index_t(bytes);
    EXPECT_EQ(fault_of_reading(memory.get(), size - 256), "") << bytes;
    EXPECT_EQ(fault_of_reading(memory.get(), 0), "") << bytes;
    EXPECT_EQ(fault_of_reading(memory.get(), size - 252),
              "thread 63 of block (0, 0, 0) reads 4 bytes of global memory 0 bytes after the end of an allocation of " +
                  std::to_string(bytes) + " bytes: a view is larger than its memory");
  }
  const auto part = std::make_unique<char[]>(254);
  EXPECT_NE(fault_of_reading(part.get(), 0).find("0 bytes after the end of an allocation of 254 bytes"),
            std::string::npos);
}

TEST(Allocations, MemoryThatHasBeenFreed) {
  auto before = std::make_unique<char[]>(3000), memory = std::make_unique<char[]>(3000);
  const char* const at = memory.get();
  memory.reset();
  EXPECT_NE(fault_of_reading(at, 0), "");
  EXPECT_EQ(fault_of_reading(before.get(), 0), "");
}

TEST(Allocations, NothingIsKnownOfOtherMemory) {
  static char constant[256];
  char local[256];
  const std::unique_ptr<void, void (*)(void*)> c(std::malloc(256), std::free);
  for (const void* memory :
       {static_cast<const void*>(constant), static_cast<const void*>(local), static_cast<const void*>(c.get())})
    EXPECT_EQ(fault_of_reading(memory, 0), "");
}

TEST(Allocations, KeepTheirContentsAndAlignment) {
  const auto work = [](unsigned seed, bool* is_right) {
    struct piece {
      unsigned char* data;
      std::size_t bytes, alignment;
      unsigned char value;
    };
    std::vector<piece> pieces;
    for (unsigned i = 0; i < 4000; ++i) {
      seed = seed * 1664525 + 1013904223;
      if (pieces.size() > 50 || (seed >> 9 & 3) == 0) {
        if (pieces.empty()) continue;
        const piece p = pieces[seed % pieces.size()];
        for (std::size_t b = 0; b < p.bytes; ++b) *is_right = *is_right && p.data[b] == p.value;
        ::operator delete(p.data, std::align_val_t(p.alignment));
        pieces[seed % pieces.size()] = pieces.back();
        pieces.pop_back();
        continue;
      }
      const std::size_t bytes = (seed >> 5) % (1u << (seed >> 24) % 13),
                        alignment = std::size_t{1} << (seed >> 13) % 11;
      auto* const data = static_cast<unsigned char*>(::operator new(bytes, std::align_val_t(alignment)));
      *is_right = *is_right && reinterpret_cast<std::uintptr_t>(data) % alignment == 0 &&
                  emulator::program_allocations.fault(reinterpret_cast<char*>(data), long_index_t(bytes)).empty();
      pieces.push_back({data, bytes, alignment, static_cast<unsigned char>(i)});
      std::fill_n(data, bytes, static_cast<unsigned char>(i));
    }
    for (const piece& p : pieces) ::operator delete(p.data, std::align_val_t(p.alignment));
  };
  bool first = true, second = true;
  std::thread other(work, 7, &second);
  work(1, &first);
  other.join();
  EXPECT_TRUE(first && second);
}

}  // namespace
}  // namespace tilewright
#endif
